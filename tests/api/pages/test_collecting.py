"""The page on which a crawl is begun, and what is begun on the page of a graph that was crawled."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import expect

from api.app import create_app
from graphpriv.store import User, open_store
from graphpriv.store.crawls import CRAWL, ONLY, document
from tests.api.http.conftest import Caller, config  # noqa: F401 (fixture)
from tests.api.http.fakes import FakeJobs
from tests.api.pages.serving import Reader, serving
from tests.crawler.crawling.crawls import made, world

#: 1,638 users who follow 400 each: $6,552 for whom they follow, and $16.38 for themselves.
FORM = {"source": "x", "start": "somebody", "graph": "town", "users": "1638", "posts": "0", "follows": "400"}
COSTS = "$6,568.38"


@pytest.fixture
def jobs():
    return FakeJobs()


@pytest.fixture
def opened(config, jobs, monkeypatch):  # noqa: F811
    """Opens the service with settings and a network's token; a custodian of it."""
    monkeypatch.delenv("GRAPHPRIV_X_TOKEN", raising=False)
    apps = []

    def call(token="made", **more):
        if token:
            monkeypatch.setenv("GRAPHPRIV_X_TOKEN", token)
        open_store(config["STORE"], create=True).close()
        apps.append(create_app(config | more, queue=jobs))
        _, token_made = apps[-1].extensions["graphpriv"].accounts.add("ann", "custodian")
        return Caller(apps[-1].test_client(), token_made.secret)

    yield call
    for each in apps:
        each.extensions["graphpriv"].close()


def sent(caller, do, **changes):
    """The answer to the form, as a browser sends it."""
    return caller("POST", "/collect", data={**FORM, "do": do, **changes})


def seen_in(text):
    return re.search(r'name="seen" value="([^"]*)"', text)[1]


def radio(text, name):
    return re.search(rf'<input type="radio" id="source-{name}"[^>]*>', text)[0]


def test_a_network_without_credentials_names_the_variable_and_cannot_be_chosen(opened, jobs):
    caller = opened(token=None)
    text = caller.get("/collect").text
    assert "set the variable GRAPHPRIV_X_TOKEN" in text and "disabled" in radio(text, "x")
    assert "checked" in radio(text, "bluesky") and "disabled" not in radio(text, "mastodon")
    answer = sent(caller, "begin", seen=seen_in(sent(caller, "cost").text))
    assert (answer.status_code, jobs.all) == (400, {})
    assert 'id="wrong-source"' in answer.text


def test_workers_elsewhere_may_have_credentials_of_their_own(opened):
    text = opened(token=None, WORKERS=0).get("/collect").text
    assert "disabled" not in radio(text, "x") and "set the variable GRAPHPRIV_X_TOKEN" in text


def test_nothing_that_costs_begins_before_the_cost_was_seen(opened, jobs):
    caller = opened()
    answer = sent(caller, "begin")
    assert (answer.status_code, jobs.all) == (200, {})
    assert COSTS in answer.text and "The crawl has not started" in answer.text
    # What was seen is of these figures alone.
    answer = sent(caller, "begin", users="1700", seen=seen_in(answer.text))
    assert (jobs.all, "The crawl has not started" in answer.text) == ({}, True)
    answer = sent(caller, "begin", seen=seen_in(sent(caller, "cost").text))
    assert answer.status_code == 303 and answer.headers["Location"] == "/jobs/job0"
    (job,) = jobs.all.values()
    given = {"source": "x", "start": "somebody", "graph": "town", "users": 1638, "posts": 0, "follows": 400}
    assert (job.verb, job.options) == ("crawl", given)


def test_the_cost_stands_before_the_button_that_begins(opened):
    text = sent(opened(), "cost", budget="900").text
    assert text.index("The crawl stops before it costs more than $900.00") < text.index("Start collecting")
    assert "graphpriv crawl x --start somebody --graph town --users 1638" in text


def test_what_is_free_begins_at_once(opened, jobs):
    answer = sent(opened(), "begin", source="bluesky", follows="", budget="")
    assert answer.status_code == 303
    assert next(iter(jobs.all.values())).options["source"] == "bluesky"


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"users": "0"}, "users", "users must be at least 1"),
        ({"users": ""}, "users", "users is missing"),
        ({"posts": "many"}, "posts", "posts must be a whole number"),
        ({"users": "9" * 30}, "users", "users must be from"),
        ({"budget": "0.0001"}, "budget", "to a tenth of a cent"),
        ({"start": "  "}, "start", "Name a user to start from."),
        ({"graph": ""}, "graph", "Give the graph a name."),
        ({"graph": "a\x07b"}, "graph", "graph must be the name of a graph"),
        ({"graph": "taken"}, "graph", "An original already has this name"),
        ({"source": "usenet"}, "", "No source is called"),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_nothing_is_lost(opened, jobs, config, changes, field, said):  # noqa: F811
    caller = opened()
    with open_store(config["STORE"], create=False) as store:
        store.create_graph("taken", directed=True)
    answer = sent(caller, "begin", **changes)
    assert (answer.status_code, jobs.all) == (400, {})
    told = re.search(rf'id="wrong-{field}" role="alert">([^<]*)<', answer.text)[1]
    assert said in told, told
    if field not in changes or changes[field].strip():
        assert 'value="somebody"' in answer.text and 'value="400"' in answer.text
    if field:
        assert f'aria-describedby="wrong-{field}"' in answer.text


def test_who_a_crawl_starts_from_stands_in_no_address(opened):
    text = opened().get("/collect?source=x&users=7&start=somebody").text
    assert 'value="7"' in text and "somebody" not in text


def test_a_graph_of_nobody_has_a_page(opened, config):  # noqa: F811
    caller = opened()
    with open_store(config["STORE"], create=False) as store:
        store.create_graph("empty", directed=True)
    assert caller.get("/graphs/empty").status_code == 200


def test_the_page_of_a_graph_begins_its_enriching_and_says_why_topics_are_folded(opened, jobs, config):  # noqa: F811
    caller = opened()
    with open_store(config["STORE"], create=False) as store:
        store.begin_crawl("town", [document(CRAWL, ONLY, {"source": "x", "wanted": 1, "posts": 0})])
        store.create_graph("other", directed=True)
        for name in ("town", "other"):
            store.add_users(name, [User(id="1", location_text="Barcelona, Spain")])
            store.summarise(name)
    town, other = (caller.get(f"/graphs/{name}").text for name in ("town", "other"))
    folds = [re.search(r'<input type="checkbox" id="fold"[^>]*>', text)[0] for text in (town, other)]
    assert ["checked" in each for each in folds] == [True, False]
    assert "X does not allow anybody to infer" in town and "X does not allow" not in other
    answer = caller("POST", "/graphs/town/enrich", data={"fold_sensitive": "on", "pages": "0"})
    assert answer.status_code == 303
    (job,) = jobs.all.values()
    assert (job.verb, job.options) == ("enrich", {"name": "town", "fold_sensitive": True, "pages": 0})


@pytest.mark.parametrize("providers", ["", "google,tagging"])
def test_the_page_of_a_graph_offers_the_providers_that_the_operator_allows(opened, config, providers):  # noqa: F811
    caller = opened(PROVIDERS=providers)
    with open_store(config["STORE"], create=False) as store:
        store.create_graph("town", directed=True)
    text = caller.get("/graphs/town").text
    assert ("<option>google" in text, "<option>tagging" in text) == (bool(providers),) * 2
    assert "nominatim" not in text
    answer = caller("POST", "/graphs/town/enrich", data={"pages": "0", "places": "nominatim"})
    assert answer.status_code == 400 and "does not offer" in answer.text


def crawled(store, name="town", **more):
    """A graph that a crawl from X has filled so far."""
    kept = {"source": "x", "wanted": 30, "posts": 5, "budget": 2_000_000, "spent": 500_000, "users": {"kept": 12}}
    store.begin_crawl(name, [document(CRAWL, ONLY, {**kept, "ended": "budget", **more})])


def test_a_crawl_that_was_stopped_goes_on_from_the_page_of_its_graph(opened, jobs, config):  # noqa: F811
    caller = opened()
    with open_store(config["STORE"], create=False) as store:
        crawled(store)
    assert 'href="/graphs/town/collect">Go on collecting' in caller.get("/graphs/town").text
    text = caller.get("/graphs/town/collect").text
    for name, value in (("users", "30"), ("posts", "5"), ("budget", "2000"), ("follows", "")):
        assert f'name="{name}" type="number"' in text and re.search(rf'id="{name}"[^>]* value="{value}"', text), name
    # 18 users are left, who likely follow 400 each and post five times.
    assert "$72.63" in text and "on top of 12 kept" in text
    assert "more than $2,000.00 in all" in text and "So far it has cost $500.00." in text
    assert "--graph town --users 30" in text and "--resume" in text
    form = {"users": "40", "posts": "5", "budget": "2000"}
    answer = caller("POST", "/graphs/town/collect", data={**form, "do": "begin"})
    assert (answer.status_code, jobs.all) == (200, {})
    assert "The crawl has not started" in answer.text
    answer = caller("POST", "/graphs/town/collect", data={**form, "do": "begin", "seen": seen_in(answer.text)})
    assert answer.status_code == 303 and answer.headers["Location"] == "/jobs/job0"
    (job,) = jobs.all.values()
    given = {"source": "x", "graph": "town", "users": 40, "posts": 5, "budget": 2000.0, "resume": True}
    assert (job.verb, job.options) == ("crawl", given)
    # Where it fails, its page leads back.
    job.state = "cancelled"
    assert 'href="/graphs/town/collect">Go on collecting' in caller.get("/jobs/job0").text


def test_what_goes_on_is_a_crawl_of_a_network_that_can_be_asked(opened, jobs, config):  # noqa: F811
    caller = opened(token=None)
    with open_store(config["STORE"], create=False) as store:
        crawled(store)
        store.create_graph("other", directed=True)
    assert "collect" not in re.sub(r'href="/collect"', "", caller.get("/graphs/other").text)
    for name in ("other", "nobody"):
        assert caller.get(f"/graphs/{name}/collect").status_code == 404
    text = caller.get("/graphs/town/collect").text
    form = {"users": "40", "posts": "5", "do": "begin"}
    answer = caller("POST", "/graphs/town/collect", data={**form, "seen": seen_in(text)})
    assert (answer.status_code, jobs.all) == (400, {})
    assert "set the variable GRAPHPRIV_X_TOKEN" in answer.text
    answer = caller("POST", "/graphs/town/collect", data={**form, "users": "none"})
    assert answer.status_code == 400 and 'id="wrong-users"' in answer.text


def test_a_crawl_that_began_nothing_leads_nowhere(opened, jobs):
    caller = opened()
    assert sent(caller, "begin", source="bluesky", follows="", budget="").status_code == 303
    jobs.all["job0"].state = "failed"
    assert "Go on collecting" not in caller.get("/jobs/job0").text


@pytest.mark.browser
@pytest.mark.xdist_group("browser")
def test_a_custodian_collects_a_graph_sees_it_live_and_finds_its_topics(tmp_path, chromium, monkeypatch):
    with world(made(60), clock=time.time) as there:
        monkeypatch.setenv("GRAPHPRIV_X_TOKEN", "made")
        monkeypatch.setenv("GRAPHPRIV_X_URL", there.url)
        with serving(tmp_path) as served, chromium.new_context() as context:
            reader = Reader(context.new_page(), served.address)
            page = reader.page
            page.set_default_timeout(180_000)
            reader.keep_ears_open()
            reader.sign_in(served.tokens["custodian"])
            page.get_by_role("link", name="Collect", exact=True).click()
            page.get_by_role("radio", name="X charges").check()
            for label, text in (("User to start from", there.start), ("Name of the graph", "town"),
                                ("Users to keep", "30"), ("Latest posts per user", "5")):  # fmt: skip
                page.get_by_label(label).fill(text)
            page.get_by_role("button", name="What would it cost?").click()
            expect(page.locator("#cost")).to_contain_text("$121.05", use_inner_text=True)
            assert there.interface.log == []
            page.get_by_role("button", name="Start collecting").click()
            page.get_by_role("link", name="See the graph").wait_for()
            assert "Users kept 30" in " ".join(page.locator("main").inner_text().split())
            assert there.start not in "".join(reader.asked)
            page.get_by_role("link", name="See the graph").click()
            expect(page.locator("main")).to_contain_text("Collected from x", use_inner_text=True)
            page.get_by_role("link", name="Collect more", exact=True).click()
            page.get_by_label("Users to keep").fill("33")
            page.get_by_role("button", name="Go on collecting").click()
            expect(page.locator("#cost")).to_contain_text("$12.11", use_inner_text=True)
            page.get_by_role("button", name="Go on collecting").click()
            page.get_by_role("link", name="See the graph").wait_for()
            assert "Users kept 33" in " ".join(page.locator("main").inner_text().split())
            page.get_by_role("link", name="See the graph").click()
            page.get_by_text("Find topics and places of its users").click()
            page.get_by_label("Linked pages to read").fill("0")
            page.get_by_role("button", name="Find topics and places").click()
            page.get_by_role("link", name="See the graph").click()
            expect(page.get_by_role("heading", name="town")).to_have_count(1)
            assert reader.has_kept_still(), (reader.asked, reader.said)
