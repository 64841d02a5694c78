"""The stories of the pages, walked in a real browser: custodian, then auditor, then analyst."""

from __future__ import annotations

import json
import re
import time

import numpy as np
import pytest
from playwright.sync_api import expect

from graphpriv import connect
from graphpriv.sweep import sweep
from graphpriv.synthetic import synthetic_graph
from tests.api.conftest import SMALL
from tests.api.pages.serving import graph_file

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def released(served, chromium):
    """The demo's graph, released by five decisions; how many there were and how long they took."""
    # What the workers need is compiled beforehand, into the folder that they share.
    rng = np.random.default_rng(0)
    sweep(synthetic_graph(80, rng=rng), [5], 1, rng=rng)
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(180_000)
    page.goto(served.address)
    page.get_by_label("Your token").fill(served.tokens["custodian"])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Try the demo").click()
    page.get_by_role("link", name="See the graph").wait_for()
    page.goto(served.address)
    began, decisions = time.monotonic(), 0
    for kind, name in (
        ("link", "Release it"),
        ("button", "Next: what must stay useful"),
        ("button", "Next: candidates"),
        ("button", "Next: release"),
        ("button", "Release it"),
    ):
        page.get_by_role(kind, name=name, exact=True).click()
        decisions += 1
    page.get_by_role("link", name="See the release").click()
    took = time.monotonic() - began
    page.goto(f"{served.address}/releases/demo-v1/audit")
    page.get_by_role("button", name="Audit it now").click()
    page.get_by_role("link", name="See the audit").wait_for()
    context.close()
    return decisions, took


def test_a_release_takes_five_decisions_and_less_than_a_minute(released):
    decisions, took = released
    assert decisions == 5 and took < 60


def test_a_custodian_sees_the_picture_the_verdict_and_who_is_exposed(released, signed_in):
    reader = signed_in("custodian")
    page = reader.page
    page.get_by_role("link", name="demo-v1").first.click()
    page.locator("canvas[data-drawn]").wait_for()
    about = page.get_by_role("link", name="see all of them")
    # Users lie close to one another around the middle.
    for far in range(0, 200, 10):
        if not about.count():
            page.locator("canvas[data-drawn]").click(position={"x": 400 + far, "y": 300})
    about.click()
    expect(page.get_by_role("heading", name="Neighbours of")).to_have_count(1)
    # The same by keyboard: the second user from the one with the most links.
    page.locator("canvas[data-drawn]").focus()
    page.keyboard.press("n")
    first = page.locator(".picture .said").inner_text()
    page.keyboard.press("n")
    second = page.locator(".picture .said").inner_text()
    assert second != first and second.startswith("User ")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=f"Neighbours of {second.split()[1].rstrip(':')}").wait_for()
    page.get_by_role("link", name="Audit", exact=True).click()
    expect(page.locator(".verdict")).to_contain_text("At least 10 users share every profile", use_inner_text=True)
    expect(page.get_by_role("heading", name="Who is exposed")).to_have_count(1)
    assert page.get_by_role("heading", name="Risk and loss by k").count() == 1
    assert reader.has_kept_still(), (reader.asked, reader.said)


def test_whom_a_custodian_looks_at_in_an_original_stands_in_no_address(released, signed_in):
    reader = signed_in("custodian")
    page = reader.page
    reader.go("/graphs/demo?kind=original")
    page.locator("canvas[data-drawn]").focus()
    page.keyboard.press("n")
    chosen = page.locator(".picture .said").inner_text().split()[1].rstrip(":")
    page.get_by_role("button", name="see all of them").click()
    page.get_by_role("heading", name=f"Neighbours of {chosen}", exact=True).wait_for()
    near = page.get_by_role("region", name=f"Neighbours of {chosen}, table").get_by_role("button").first
    other = near.inner_text()
    near.click()
    page.get_by_role("heading", name=f"Neighbours of {other}", exact=True).wait_for()
    # Whoever goes back sees what they saw before.
    page.go_back()
    page.get_by_role("heading", name=f"Neighbours of {chosen}", exact=True).wait_for()
    page.get_by_label("Neighbours of user").fill(chosen)
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_role("heading", name=f"Neighbours of {chosen}", exact=True).wait_for()
    # From those who are exposed to the original, too.
    reader.go("/releases/demo-v1/audit")
    exposed = page.locator("[aria-labelledby=exposed] button").first
    worst = exposed.inner_text()
    exposed.click()
    page.get_by_role("heading", name=f"Neighbours of {worst}", exact=True).wait_for()
    assert reader.asked and not [url for url in reader.asked if "user" in url.partition("?")[2]]
    assert not [url for url in reader.asked if {chosen, other, worst} & set(re.split(r"\W+", url.partition("?")[2]))]
    assert reader.has_kept_still(), (reader.asked, reader.said)


def test_a_custodian_downloads_the_release_and_its_plan(released, signed_in):
    page = signed_in("custodian").page
    page.goto(page.url + "graphs/demo-v1")
    with page.expect_download() as loading:
        page.get_by_role("link", name="Download").click()
    assert len(json.loads(loading.value.path().read_text())["nodes"]) == 1638
    page.goto(page.url.replace("/graphs/demo-v1", "/release?graph=demo&who=everybody&step=5"))
    with page.expect_download() as loading:
        page.get_by_role("link", name="Download these choices").click()
    plan = loading.value.path().read_text()
    assert 'verb = "protect"' in plan and "k = 20" in plan
    page.get_by_role("link", name="Which file").click()
    page.get_by_text("Use the plan of an earlier release").click()
    page.get_by_label("Plan", exact=True).set_input_files(
        {"name": "release.toml", "mimeType": "text/plain", "buffer": plan.replace("k = 20", "k = 7").encode()}
    )
    page.get_by_role("button", name="Use it").click()
    expect(page.get_by_role("spinbutton")).to_have_value("7")


def test_going_back_loses_nothing(released, signed_in):
    page = signed_in("custodian").page
    page.goto(f"{page.url}release?graph=demo")
    page.get_by_text("Everybody").click()
    page.get_by_role("button", name="Next: what must stay useful").click()
    page.get_by_text("Who is linked with whom").click()
    page.get_by_role("button", name="Next: candidates").click()
    page.get_by_role("link", name="Who gets it").click()
    expect(page.get_by_role("radio", name="Everybody")).to_be_checked()
    page.go_back()
    page.get_by_role("link", name="What must stay useful").click()
    expect(page.get_by_role("checkbox", name="Who is linked with whom")).to_be_checked()


def test_a_page_whose_job_ends_does_not_hold_back_who_has_just_clicked(released, signed_in, served):
    page = signed_in("custodian").page
    page.goto(f"{served.address}/jobs")
    # As where somebody has clicked on a link, and its page is on its way; two jobs end.
    page.evaluate("() => { window.same = true; dispatchEvent(new Event('beforeunload')); }")
    page.evaluate("() => { follow('done'); follow('done'); }")
    page.wait_for_timeout(1000)
    assert page.evaluate("window.same")
    # It was a download, say: the page is still there, and shows how the job has ended after all.
    page.wait_for_event("load", timeout=20_000)
    assert page.evaluate("window.same") is None


def test_a_file_goes_up_in_pieces_and_is_shown_before_it_is_kept(released, signed_in, tmp_path):
    reader = signed_in("custodian")
    page = reader.page
    path = tmp_path / "people.json"
    # More than one piece: blanks that JSON does not mind.
    path.write_text(json.dumps(SMALL) + " " * (5 * 1024 * 1024))
    page.get_by_role("link", name="Upload a graph").click()
    page.get_by_label("File").set_input_files(path)
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("button", name="Import as an original").click()
    page.get_by_role("link", name="See the graph").click()
    expect(page.get_by_role("heading", name="people")).to_have_count(1)
    assert sum("offset=" in url for url in reader.asked) == 2
    assert any(url.endswith("/events") for url in reader.asked)
    assert reader.has_kept_still(), (reader.asked, reader.said)


def test_where_there_is_no_stream_to_spare_a_job_is_asked_for(released, signed_in):
    reader = signed_in("custodian")
    reader.page.route("**/events", lambda route: route.fulfill(status=503))
    reader.page.get_by_role("button", name="Try the demo").click()
    reader.page.get_by_role("link", name="See the graph").wait_for()


def test_without_scripts_a_file_still_goes_up(released, signed_in, tmp_path):
    page = signed_in("custodian", java_script_enabled=False).page
    path = tmp_path / "few.json"
    path.write_text(json.dumps(SMALL))
    page.get_by_role("link", name="Upload a graph").click()
    page.get_by_label("File").set_input_files(path)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name="Import this graph")).to_have_count(1)
    path.write_text("no graph")
    page.go_back()
    page.get_by_label("File").set_input_files(path)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("alert")).to_contain_text("the file", use_inner_text=True)
    expect(page.get_by_role("button", name="Import as an original")).to_be_disabled()


def test_an_auditor_sees_figures_and_no_profiles_of_an_original(released, served, signed_in, tmp_path):
    custodian = connect(served.address, served.tokens["custodian"])
    custodian.put("graphs/team", graph_file(tmp_path / "team.json", 240, 1))
    custodian.run("protect", name="original:team", k=10, into="release:team-v1", seed=1)
    reader = signed_in("auditor")
    assert reader.go("/graphs/team") == 200
    assert reader.page.locator("canvas").count() == 0 and "no profiles" in reader.page.content()
    assert reader.go("/releases/team-v1/audit") == 200
    reader.page.get_by_role("button", name="Audit it now").click()
    page = reader.page
    page.get_by_role("link", name="See the audit").click()
    expect(page.locator(".verdict")).to_contain_text("Holds for k 10. Most exposed user: 1 in 1.", use_inner_text=True)
    page.get_by_role("button", name="Compute it for k from 2 to 50").click()
    page.get_by_role("link", name="See risk and loss by k").click()
    assert [f"k {k}" in page.locator("#map ~ div svg").first.inner_html() for k in (2, 3, 5, 10, 20, 50)] == [True] * 6
    exposed = page.get_by_role("region", name="Who is exposed").locator("tbody tr")
    named = [float(each.inner_text().removesuffix(" %")) for each in exposed.locator("td:first-of-type").all()]
    assert len(named) == 50 and named == sorted(named, reverse=True) and named[0] == 100.0
    # Ids lead to no profile, and the list of all is for custodians.
    assert exposed.locator("a").count() == 0 and page.get_by_role("link", name="CSV").count() == 0
    with page.expect_download() as loading:
        page.get_by_role("link", name="Figures (JSON)").click()
    assert json.loads(loading.value.path().read_text())["k"] == 10
    assert reader.go(f"/graphs/team?user={exposed.count()}") == 200 and page.locator("tbody").count() == 0
    assert reader.has_kept_still(), (reader.asked, reader.said)


def test_an_analyst_sees_releases_and_nothing_of_an_original(released, signed_in):
    reader = signed_in("analyst")
    home = reader.page.content()
    assert "demo-v1" in home and "Original" not in home and ">demo<" not in home
    assert reader.page.locator("header nav a").all_inner_texts() == ["Home", "Jobs"]
    assert reader.go("/jobs") == 200 and "No jobs yet." in reader.page.content()
    assert reader.go("/graphs/demo-v1") == 200
    reader.page.locator("canvas[data-drawn]").wait_for()
    assert "original" not in reader.page.content().lower()
    assert reader.has_kept_still(), (reader.asked, reader.said)
    hidden = reader.go("/graphs/demo"), reader.page.content().replace("demo", "none")
    missing = reader.go("/graphs/none"), reader.page.content()
    assert hidden == missing and hidden[0] == 404
    assert [reader.go(path) for path in ("/release", "/upload", "/accounts", "/audit-log")] == [403] * 4


def test_an_analyst_asks_a_release_all_there_is_to_ask_and_finds_no_trace_of_the_original(released, served, signed_in):
    custodian = connect(served.address, served.tokens["custodian"])
    persons = {row["id"] for row in custodian.rows("graphs/demo/users")}
    reader = signed_in("analyst")
    page, seen = reader.page, [reader.page.content()]
    page.get_by_role("link", name="demo-v1").first.click()
    page.locator("canvas[data-drawn]").wait_for()
    seen += [
        page.content(),
        page.request.get(served.address + page.locator("[data-picture]").get_attribute("data-picture")).text(),
    ]
    page.get_by_label("Place and everything in it").fill("Europe")
    page.get_by_label("Neighbours", exact=True).fill("2..")
    page.get_by_label("and by", exact=True).select_option("topic1")
    page.get_by_label("Links between", exact=True).select_option("location:country")
    page.get_by_role("button", name="Ask").click()
    page.get_by_text("of 1,638 users.").wait_for()
    seen.append(page.content())
    sections = {each.locator("h3").inner_text(): each for each in page.locator("section:has(h3)").all()}
    assert list(sections) == [
        "Users", "Users by country and first topic", "Users by first topic", "Links between values: country", "Degrees",
        "Components", "Clustering",
    ]  # fmt: skip
    plots = {title: each.locator("svg").count() for title, each in sections.items()}
    assert plots == dict.fromkeys(sections, 1) | {"Users": 0, "Components": 0}
    assert all(each.locator("table").count() == 1 for each in sections.values())
    assert all("GET /v1/graphs/release:demo-v1/" in each.locator("code").inner_text() for each in sections.values())
    page.get_by_role("link", name="Next page").click()
    expect(page.get_by_label("Place and everything in it")).to_have_value("Europe")
    with page.expect_download() as loading:
        page.locator("section", has=page.get_by_role("heading", name="Users", exact=True)).get_by_role(
            "link", name="CSV"
        ).click()
    lines = loading.value.path().read_text().splitlines()
    assert lines[0].startswith("id,location,topic1") and len(lines) > 21
    page.locator("tbody a").first.click()
    expect(page.get_by_role("heading", name="Neighbours of")).to_have_count(1)
    text = "\n".join([*seen, *lines, page.content()])
    assert len(persons) == 1638 and not [each for each in persons if each in text]
    assert "original" not in text.lower()
    assert reader.has_kept_still(), (reader.asked, reader.said)


def test_whoever_signs_out_is_out(released, signed_in):
    reader = signed_in("analyst")
    reader.page.get_by_role("button", name="Sign out").click()
    reader.page.wait_for_url("**/sign-in")
    assert reader.go("/graphs/demo-v1") == 200 and "/sign-in?next=" in reader.page.url
