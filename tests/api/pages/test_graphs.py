"""The page of a graph and what its canvas draws."""

from __future__ import annotations

import html
import re
import time
from collections import OrderedDict

import pytest

from api.http.routes import graphs as graphs_routes
from api.http.sessions import FIELD
from api.pages import asking, pictures
from tabular.errors import StoreUnavailable
from tests.api.conftest import SMALL
from tests.api.http.conftest import (  # noqa: F401 (fixtures)
    analyst,
    app,
    auditor,
    callers,
    config,
    custodian,
    graphs,
    make,
    service,
)


def test_the_picture_of_a_release_knows_its_own_ids_alone(graphs, custodian, analyst):  # noqa: F811
    released = analyst.get("/graphs/people-v1/picture").json
    original = custodian.get("/graphs/people/picture").json
    assert len(released["ids"]) == released["users"] == original["users"]
    assert not set(released["ids"]) & set(original["ids"])
    assert {len(each["codes"]) for each in released["colours"].values()} == {released["users"]}


def test_a_picture_is_held_for_a_while_and_no_longer(graphs, custodian, monkeypatch):  # noqa: F811
    monkeypatch.setattr(pictures, "_kept", OrderedDict())
    custodian.get("/graphs/people/picture")
    (first,) = pictures._kept.items()
    monkeypatch.setattr(pictures, "_LIFE", 0.2)
    custodian.get("/graphs/people-v1/picture")
    assert len(pictures._kept) == 2
    until = time.monotonic() + 10
    while len(pictures._kept) > 1 and time.monotonic() < until:
        time.sleep(0.01)
    assert [*pictures._kept.items()] == [first]
    # One that was drawn anew meanwhile has a time of its own.
    pictures._drop(first[0], dict(first[1]))
    assert [*pictures._kept] == [first[0]]
    pictures._drop(*first)
    assert not pictures._kept


def test_a_look_at_an_original_is_in_the_log_once(graphs, custodian, auditor, service):  # noqa: F811
    custodian.put("/v1/tables/visits", data="age,town\n30,A\n40,B\n")
    begun = service.log.end()[0]
    for role in (custodian, auditor):
        assert [role.get(path).status_code for path in ("/graphs/people", "/tables/visits")] == [200, 200]
    said = [(each.role, each.action, each.object) for each in reversed(service.log.entries()) if each.number > begun]
    assert said == [
        ("custodian", "graph read", "people"),
        ("custodian", "table read", "visits"),
        ("auditor", "graph describe", "people"),
        ("auditor", "table describe", "visits"),
    ]


def test_each_answer_has_the_request_that_gives_it(graphs, analyst):  # noqa: F811
    text = analyst.get("/graphs/people-v1").text
    shown = re.findall(r"<code>(GET /v1/graphs/[^<]+)</code>", text)
    assert len(shown) == 8 and all("/v1/graphs/release:people-v1" in each for each in shown[:7]), shown


def test_where_both_have_a_name_the_address_says_which(graphs, make, custodian, analyst, tmp_path):  # noqa: F811
    make("graph delete", name="people-v1")
    make("protect", name="people", k=2, into="release:people")
    assert "release</span>" in custodian.get("/graphs/people?kind=release").text
    assert "original</span>" in custodian.get("/graphs/people").text
    assert "release</span>" in analyst.get("/graphs/people").text


def test_above_a_size_there_is_no_picture_and_the_page_says_so(graphs, analyst, monkeypatch):  # noqa: F811
    monkeypatch.setattr(pictures, "MOST", 1)
    text = analyst.get("/graphs/people-v1").text
    assert "<canvas" not in text and "have no picture" in text


@pytest.mark.parametrize("user", ["nobody", "' OR 1=1", "<script>alert(1)</script>"])
def test_an_unknown_user_is_told_without_repeating_the_id(graphs, analyst, user):  # noqa: F811
    answer = analyst.get("/graphs/people-v1", query_string={"user": user})
    assert answer.status_code == 400 and user not in answer.text


def shown_after(client, form):
    """The page that a form of an original leads to."""
    return client.get(client.post("/graphs/people?kind=original", data=form).headers["Location"])


def asked_by(text, anchor):
    """What the small forms of a page send that lead to an anchor."""
    forms = re.findall(rf'<form class="asks"[^>]*#{anchor}">(.*?)</form>', text, re.DOTALL)
    sent = [dict(re.findall(r'name="([^"]+)" value="([^"]*)"', each)) for each in forms]
    return [{name: html.unescape(value) for name, value in each.items() if name != FIELD} for each in sent]


def test_users_are_chosen_by_place_topic_rank_and_degree(graphs, custodian):  # noqa: F811
    text = custodian.get("/graphs/people?location=United+States&topic=Technology&rank=1&degree=1..").text
    assert "2 of 4 users." in text
    assert "users with Graphpriv-Options: location=United%20States" in text.replace("+", "%20")
    forms = asked_by(text, "neighbours")
    assert [each["user"] for each in forms] == ["bob", "cid"]
    # What was chosen stays in the form, and goes along to the next page and to a user.
    assert 'value="United States"' in text and '<option value="Technology" selected>' in text
    assert all(each["degree"] == "1.." for each in forms)


@pytest.mark.parametrize(
    "wrong", ["degree=many", "location=Atlantis", "topic=Nothing", "rank=1", "rank=9&topic=Sports"]
)
def test_a_choice_that_cannot_be_stays_in_the_form_with_what_is_wrong(graphs, analyst, wrong):  # noqa: F811
    answer = analyst.get(f"/graphs/people-v1?{wrong}")
    assert answer.status_code == 400 and 'aria-invalid="true"' in answer.text and 'role="alert"' in answer.text
    assert "All 4 users." in answer.text


def test_every_answer_can_be_had_from_the_address_beside_it(graphs, analyst, monkeypatch):  # noqa: F811
    monkeypatch.setattr(asking, "_USERS", 3)
    text = analyst.get("/graphs/people-v1?degree=1..&by=topic1&and_by=location:country").text.replace("&amp;", "&")
    addresses = re.findall(r'href="(/v1/graphs/[^"]+)"', text)
    assert len(addresses) == 14
    found = [analyst.get(each) for each in addresses]
    assert {each.status_code for each in found} == {200}
    # All of it, however much of it the page shows.
    assert all(each.json["next"] is None for each in found if each.mimetype == "application/json")
    (users,) = (each for each in addresses if "/users?" in each and "csv" not in each)
    assert len(analyst.get(users).json["rows"]) == 4


def test_users_come_in_pages(graphs, custodian, monkeypatch):  # noqa: F811
    monkeypatch.setattr(asking, "_USERS", 3)
    (form,) = asked_by(custodian.get("/graphs/people?degree=0..").text, "answer-1")
    assert set(form) == {"cursor", "degree"}
    text = shown_after(custodian, form).text
    assert [each["user"] for each in asked_by(text, "neighbours")] == ["dee"] and "First page" in text


def test_users_of_a_release_come_in_pages_that_have_addresses(graphs, analyst, monkeypatch):  # noqa: F811
    monkeypatch.setattr(asking, "_USERS", 3)
    first = analyst.get("/graphs/people-v1?degree=0..").text.replace("&amp;", "&")
    (following,) = re.findall(r'href="([^"]+)">Next page', first)
    assert "cursor=" in following and "degree=0" in following
    text = analyst.get(following).text
    assert len(re.findall(r'user=(\w+)[^"]*#neighbours">', text)) == 1 and "First page" in text


def test_no_address_on_the_page_of_an_original_holds_a_user(graphs, custodian):  # noqa: F811
    first = custodian.get("/graphs/people").text
    near = shown_after(custodian, {"user": "bob", "by": "topic1", "degree": "0.."}).text
    assert "Neighbours of bob" in near and "Graphpriv-Options: user=bob" in near
    users = {each["user"] for each in asked_by(near, "neighbours")}
    assert users == {each["user"] for each in asked_by(first, "neighbours")} == {"ann", "bob", "cid", "dee"}
    for text in (first, near):
        addresses = [*re.findall(r'(?:href|action|src|data-\w+)="([^"]*)"', text)]
        assert len(addresses) > 20
        assert not [each for each in addresses if re.search(r"\b(ann|bob|cid|dee)\b|cursor|after=|degree=", each)]
    assert first.count('method="post"') >= 6 and 'method="get"' not in first + near


def test_what_a_form_asked_is_kept_for_who_asked_and_goes_with_whoever_is_forgotten(
    graphs, custodian, auditor, service  # noqa: F811
):  # fmt: skip
    sent = custodian.post("/graphs/people?kind=original", data={"user": "bob"})
    where = sent.headers["Location"]
    assert sent.status_code == 303 and "bob" not in where
    for _ in range(2):
        assert "Neighbours of bob" in custodian.get(where).text
    assert "bob" not in auditor.get(where).text
    assert "no longer kept" in custodian.get("/graphs/people?kind=original&asked=x").text
    assert custodian.post("/graphs/people?kind=original", data={"user": "x" * 10_001}).status_code == 400
    # Neither is it kept for longer than is said, nor can one account push out what others asked.
    begin = time.monotonic()
    clock = [begin]
    service.questions.clock = lambda: clock[0]
    where = custodian.post("/graphs/people?kind=original", data={"user": "bob"}).headers["Location"]
    for number in range(150):
        auditor.post("/graphs/people?kind=original", data={"user": str(number)})
    for moment in (800.0, 1600.0, 2400.0, 3200.0, 3599.0):
        clock[0] = begin + moment
        assert "Neighbours of bob" in custodian.get(where).text
    clock[0] = begin + 3601.0
    assert "no longer kept" in custodian.get(where).text
    where = custodian.post("/graphs/people?kind=original", data={"user": "bob"}).headers["Location"]
    clock[0] += 901.0
    service.questions.let_go()
    assert not service.questions._all and "no longer kept" in custodian.get(where).text
    where = custodian.post("/graphs/people?kind=original", data={"user": "bob"}).headers["Location"]
    custodian.delete("/v1/graphs/people/users/ann")
    assert "no longer kept" in custodian.get(where).text and "Neighbours of bob" not in custodian.get(where).text


def test_users_without_a_place_can_be_asked_for(graphs, custodian):  # noqa: F811
    text = custodian.get("/graphs/people").text
    assert f'<option value="{asking.UNPLACED}">' in text
    rows = custodian.get("/v1/graphs/people/users?location=").json["rows"]
    found = custodian.get("/graphs/people", query_string={"location": asking.UNPLACED}).text
    assert f"{len(rows)} of {len(SMALL['nodes'])} users." in found
    assert "/users with Graphpriv-Options: location=&amp;limit=20" in found, [
        each for each in found.splitlines() if "users?" in each
    ]


def test_a_picture_that_is_there_waits_for_no_other_and_nobody_waits_for_long(graphs, custodian, monkeypatch):  # noqa: F811
    monkeypatch.setattr(pictures, "_PATIENCE", 0.05)
    assert custodian.get("/graphs/people/picture").status_code == 200
    with pictures._drawing:
        assert custodian.get("/graphs/people/picture").status_code == 200
        assert custodian.get("/graphs/people-v1/picture").status_code == 503
    assert custodian.get("/graphs/people-v1/picture").status_code == 200


def test_a_picture_of_a_graph_as_it_was_is_not_kept(graphs, custodian):  # noqa: F811
    before = custodian.get("/graphs/people/picture").json["ids"]
    assert custodian.delete(f"/v1/graphs/people/users/{before[0]}").status_code == 200
    assert custodian.get("/graphs/people/picture").json["ids"] == before[1:]
    kept = [made["ids"] for (name, _), made in pictures._kept.items() if name == "people"]
    assert before[0] not in kept[-1] and before not in kept


def test_a_page_that_has_to_wait_for_the_store_asks_again_by_itself(graphs, custodian, monkeypatch):  # noqa: F811
    def busy(wait):
        def figures(found):
            raise StoreUnavailable("the figures are being computed; ask again.", can_retry=wait)

        return figures

    seen = {}
    for wait in (True, False):
        monkeypatch.setattr(graphs_routes, "figures_of", busy(wait))
        answer = custodian.get("/graphs/people")
        seen[wait] = answer.status_code, "pages/again.js" in answer.text, "reloads by itself" in answer.text
    assert seen == {True: (503, True, True), False: (503, False, False)}
