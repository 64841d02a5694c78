"""The page of a graph and what its canvas draws."""

from __future__ import annotations

import re

import pytest

from api.pages import pictures
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


def test_a_look_at_an_original_is_in_the_log_once_for_each_thing_seen(graphs, custodian, service):  # noqa: F811
    custodian.get("/graphs/people")
    assert [each.action for each in service.log.entries()] == ["graph read", "graph describe"]


def test_each_answer_has_the_request_that_gives_it(graphs, analyst):  # noqa: F811
    text = analyst.get("/graphs/people-v1").text
    shown = re.findall(r"<code>(GET /v1/graphs/[^<]+)</code>", text)
    assert len(shown) == 5 and all("/v1/graphs/release:people-v1" in each for each in shown[:4]), shown


def test_where_both_have_a_name_the_address_says_which(graphs, make, custodian, analyst, tmp_path):  # noqa: F811
    make("graph delete", name="people-v1")
    make("protect", name="people", k=2, into="release:people")
    assert "release</span>" in custodian.get("/graphs/people?kind=release").text
    assert "original</span>" in custodian.get("/graphs/people").text
    assert "release</span>" in analyst.get("/graphs/people").text


def test_above_a_size_there_is_no_picture_and_the_page_says_so(graphs, analyst, monkeypatch):  # noqa: F811
    monkeypatch.setattr(pictures, "MOST", 1)
    text = analyst.get("/graphs/people-v1").text
    assert "<canvas" not in text and "has no picture here" in text


@pytest.mark.parametrize("user", ["nobody", "' OR 1=1", "<script>alert(1)</script>"])
def test_an_unknown_user_is_told_without_repeating_the_id(graphs, analyst, user):  # noqa: F811
    answer = analyst.get("/graphs/people-v1", query_string={"user": user})
    assert answer.status_code == 400 and user not in answer.text
