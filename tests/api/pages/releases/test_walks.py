"""Tables on their way to a release, in a real browser: by the guide, and from a search that is watched live."""

from __future__ import annotations

import csv
import io
from collections import Counter
from urllib.request import Request, urlopen

import numpy as np
import pytest
from playwright.sync_api import expect

from graphpriv import connect

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

AGES, TOWNS = range(20, 60), "ABCDEF"


def rows(count, seed=1):
    """People with a name, an age, a town and an illness."""
    rng = np.random.default_rng(seed)
    return [f"n{row},{rng.choice(AGES)},{rng.choice(list(TOWNS))},{rng.choice(['x', 'y'])}" for row in range(count)]


@pytest.fixture(scope="module")
def people(served, tmp_path_factory):
    """An original table with two hierarchies."""
    folder = tmp_path_factory.mktemp("people")
    service = connect(served.address, served.tokens["custodian"])
    (folder / "people.csv").write_text("\n".join(["name,age,zip,illness", *rows(300)]) + "\n")
    service.put("tables/people", folder / "people.csv")
    for column, levels in (
        ("age", "".join(f"{age};{age // 5 * 5}s;{age // 20 * 20}s;*\n" for age in AGES)),
        ("zip", "".join(f"{town};{'near' if town < 'D' else 'far'};*\n" for town in TOWNS)),
    ):
        (folder / f"{column}.csv").write_text(levels)
        service.put(f"tables/people/hierarchies/{column}", folder / f"{column}.csv")
    return "people"


def released(served, name, role="analyst"):
    """A released table as a role downloads it."""
    headers = {"Authorization": f"Bearer {served.tokens[role]}"}
    with urlopen(Request(f"{served.address}/v1/tables/{name}/file", headers=headers)) as answer:
        return list(csv.DictReader(io.StringIO(answer.read().decode())))


def least(found, columns=("age", "zip")):
    """How many rows agree in the columns, at least; rows with * in all of them do not count."""
    classes = Counter(tuple(row[name] for name in columns) for row in found)
    return min(count for cells, count in classes.items() if set(cells) != {"*"})


def test_a_table_is_released_by_five_decisions(served, people, signed_in):
    reader = signed_in("custodian")
    page = reader.page
    page.goto(f"{served.address}/release?table={people}")
    page.get_by_text("Colleagues under contract").click()
    page.get_by_role("button", name="Next: what must stay useful").click()
    page.get_by_role("checkbox", name="zip").check()
    page.get_by_role("button", name="Next: candidates").click()
    page.get_by_role("button", name="Next: release").wait_for()
    every = page.locator("table.candidates tbody tr")
    expect(every).to_have_count(3)
    risks = [float(text.removesuffix(" %")) for text in every.locator("td:nth-child(2)").all_inner_texts()]
    assert risks == sorted(risks, reverse=True)
    # What must stay useful alone is compared.
    expect(page.locator("th.ticked")).to_have_text(["zip ✓"])
    expect(page.get_by_role("img")).to_have_count(1)
    page.get_by_text("Ten rows before and after: full-domain").click()
    assert page.locator("details[open] table.changes tbody tr").count() == 10
    page.get_by_role("radio", name="full-domain").check()
    page.get_by_role("button", name="Next: release").click()
    promise = page.locator(".verdict")
    expect(promise).to_contain_text("at least 4 others in age and zip", use_inner_text=True)
    expect(promise).to_contain_text("Identifiers are dropped: name.", use_inner_text=True)
    page.get_by_label("Name of the release").fill("people-v1")
    page.get_by_role("button", name="Release it").click()
    page.get_by_role("link", name="See the release").click()
    expect(page.get_by_role("heading", name="people-v1")).to_have_count(1)
    page.get_by_role("link", name="Audit", exact=True).click()
    expect(page.locator(".verdict")).to_contain_text("occurs in at least", use_inner_text=True)
    assert reader.has_kept_still(), (reader.asked, reader.said)
    found = released(served, "people-v1")
    assert list(found[0]) == ["age", "zip", "illness"] and len(found) == 300 and least(found) >= 5


@pytest.mark.heavy
def test_going_back_keeps_earlier_candidates_beside_new_ones(served, people, signed_in):
    page = signed_in("custodian").page
    page.goto(f"{served.address}/release?table={people}")
    for audience in ("Colleagues under contract", "Everybody"):
        page.get_by_text(audience).click()
        page.get_by_role("button", name="Next: what must stay useful").click()
        page.get_by_role("button", name="Next: candidates").click()
        page.get_by_role("radio", name=f"mondrian, k {5 if audience != 'Everybody' else 20}").wait_for()
        if audience != "Everybody":
            page.get_by_role("link", name="Who gets it").click()
    expect(page.get_by_role("radio", name="mondrian")).to_have_count(2)


@pytest.mark.heavy
def test_protections_stand_side_by_side_and_one_is_released(served, people, signed_in):
    page = signed_in("custodian").page
    page.goto(f"{served.address}/tables/{people}?kind=original")
    page.get_by_role("link", name="Compare protections").click()
    page.get_by_label("Protections, one per line").fill("mondrian k=6\nmondrian k=12\nrank-swapping percent=5")
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("link", name="Information loss").click()
    expect(page.locator("th[aria-sort=ascending]")).to_have_text("Information loss", use_inner_text=True)
    expect(page.locator("tbody th")).to_have_count(3)
    page.get_by_role("row", name="mondrian, k 12").get_by_role("link").click()
    expect(page.locator(".verdict")).to_contain_text("at least 11 others", use_inner_text=True)
    page.get_by_label("Name of the release").fill("people-v2")
    page.get_by_role("button", name="Release it").click()
    page.get_by_role("link", name="See the release").wait_for()
    assert least(released(served, "people-v2")) >= 12


@pytest.fixture(scope="module")
def wide(served, tmp_path_factory):
    """A table whose lattice takes long to go through: eight columns of five levels."""
    folder, service = tmp_path_factory.mktemp("wide"), connect(served.address, served.tokens["custodian"])
    names, rng = [f"c{number}" for number in range(8)], np.random.default_rng(2)
    values = rng.integers(0, 16, size=(4000, len(names)))
    lines = [",".join(f"v{value:02}" for value in row) for row in values.tolist()]
    (folder / "wide.csv").write_text("\n".join([",".join(names), *lines]) + "\n")
    service.put("tables/wide", folder / "wide.csv")
    levels = "".join(f"v{value:02};a{value // 2};b{value // 4};c{value // 8};*\n" for value in range(16))
    (folder / "levels.csv").write_text(levels)
    for name in names:
        service.put(f"tables/wide/hierarchies/{name}", folder / "levels.csv")
    return names


def test_a_front_is_watched_live_and_a_node_of_it_is_released(served, wide, signed_in):
    reader = signed_in("custodian")
    page = reader.page
    page.goto(f"{served.address}/search?table=wide")
    for name in wide:
        page.get_by_role("checkbox", name=name).check()
    page.get_by_role("button", name="Search").click()
    # The front is drawn while the page stays: nobody loads it again.
    page.evaluate("window.stayed = true")
    page.locator("#front svg a").first.wait_for()
    assert page.evaluate("window.stayed") and page.get_by_role("button", name="Stop").count() == 1
    page.get_by_role("button", name="Stop").click()
    page.locator(".state.cancelled").wait_for()
    # The keyboard picks a node in the chart; the table beside it has the same ones.
    nodes = page.locator("#front svg a")
    assert page.locator("#front tbody a").count() >= nodes.count() > 1
    nodes.last.focus()
    page.keyboard.press("Enter")
    page.locator("#picked").wait_for()
    first = page.locator("#front tbody tr").first.get_by_role("link")
    address = first.get_attribute("href")
    first.click()
    page.wait_for_url(lambda url: url.endswith(address))
    expect(page.locator("#picked li")).to_have_count(len(wide))
    page.get_by_role("button", name="Ten rows before and after").click()
    page.locator("table.changes").wait_for()
    expect(page.locator("table.changes tbody tr")).to_have_count(10)
    assert page.locator("table.changes ins").count() > 0
    page.get_by_label("Name of the release").fill("wide-v1")
    page.get_by_role("button", name="Release this node").click()
    page.get_by_role("link", name="See the release").wait_for()
    assert reader.has_kept_still(), (reader.asked, reader.said)
    assert least(released(served, "wide-v1"), wide) >= 2


def test_a_node_that_leaves_a_row_alone_is_not_released(served, people, signed_in):
    service = connect(served.address, served.tokens["custodian"])
    names = {"file": f"original:{people}", "quasi_identifiers": ["age", "zip"], "objectives": ["k", "glm"]}
    job = service.start("table search", **names)
    service.result(job)
    page = signed_in("custodian", java_script_enabled=False).page
    page.goto(f"{served.address}/search/{job}?node=0,0")
    button = page.get_by_role("button", name="Release this node")
    assert button.is_disabled() and "Not possible" in page.locator("#why").inner_text()
    form = page.locator("form[action$='/release']").get_attribute("action")
    mark = page.locator("input[name=form]").first.get_attribute("value")
    answer = page.request.post(served.address + form, form={"form": mark, "node": "0,0", "into": "bare"})
    assert answer.status == 400 and "bare" not in [each["name"] for each in service.ask("GET", "tables")["tables"]]
