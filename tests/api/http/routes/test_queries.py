"""Questions about graphs over HTTP; what they answer is tested beside them."""

from __future__ import annotations

import csv
import io
import json
from urllib.parse import quote

import pytest

from graphpriv.queries import queries


def test_every_question_has_a_route(app):
    endpoints = {rule.endpoint for rule in app.url_map.iter_rules()}
    assert {f"query {name}" for name in queries} <= endpoints


def test_users_come_in_pages(custodian, graphs):
    first = custodian.get("/v1/graphs/people/users?limit=3")
    assert [each["id"] for each in first.json["rows"]] == ["ann", "bob", "cid"]
    second = custodian.get(first.headers["Link"].split(">")[0].lstrip("<"))
    assert [each["id"] for each in second.json["rows"]] == ["dee"]
    assert second.json["next"] is None and "Link" not in second.headers


@pytest.mark.parametrize("user", ["zoë €", 'a>; rel="x"', "../..", "x\u202ey", "<b>", "100%41"])
def test_the_next_page_is_found_whatever_a_user_is_called(custodian, user):
    nodes = [{"id": each, "location": None, "topics": ["A"]} for each in (user, "b", "c")]
    edges = [{"source": user, "target": each} for each in ("b", "c")]
    graph = json.dumps({"directed": True, "nodes": nodes, "edges": edges})
    assert custodian.put("/v1/graphs/g", data=graph, content_type="application/octet-stream").status_code == 201
    first = custodian.get(f"/v1/graphs/g/users/{quote(user, safe='')}/neighbours?limit=1")
    # What a header holds that is no Latin letter, the server cannot write.
    assert first.headers["Link"].isascii()
    second = custodian.get(first.headers["Link"].split(">")[0].lstrip("<"))
    assert {each["id"] for page in (first, second) for each in page.json["rows"]} == {"b", "c"}


def test_users_are_chosen_by_place_topic_and_degree(custodian, graphs):
    def ids(query):
        return {each["id"] for each in custodian.get(f"/v1/graphs/people/users?{query}").json["rows"]}

    assert ids("topic=Technology&rank=1") == {"bob", "cid"}
    assert ids("degree=1") == {"ann", "cid", "dee"}
    assert len(ids("location=")) == 1


def test_neighbours_counts_and_mixing(custodian, analyst, graphs):
    found = custodian.get("/v1/graphs/people/users/bob/neighbours").json["rows"]
    assert {each["id"] for each in found} == {"ann", "cid", "dee"}
    assert custodian.get("/v1/graphs/people/users/nobody/neighbours").status_code == 404
    counts = analyst.get("/v1/graphs/people-v1/counts?by=topic1").json
    assert sum(each["users"] for each in counts["rows"]) == 4
    assert analyst.get("/v1/graphs/people-v1/mixing?by=topic1").status_code == 200


def test_all_rows_come_as_csv_or_a_line_each(custodian, graphs):
    answer = custodian.get("/v1/graphs/people/users?format=csv&limit=1")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert (answer.mimetype, [each["id"] for each in rows]) == ("text/csv", ["ann", "bob", "cid", "dee"])
    lines = custodian.get("/v1/graphs/people/users?format=ndjson").text.splitlines()
    assert [json.loads(each)["id"] for each in lines] == ["ann", "bob", "cid", "dee"]
    empty = custodian.get("/v1/graphs/people/users?format=csv&degree=99").text
    assert empty.startswith("id,") and len(empty.splitlines()) == 1


def test_wrong_questions_are_told_with_the_option(custodian, graphs):
    for query, option in (
        ("users?nonsense=1", "/nonsense"), ("users?limit=0", "/limit"), ("users?degree=x", "/degree"),
        ("users?cursor=x", "/cursor"), ("users?format=xml", "/format"), ("counts", "/by"), ("counts?by=x", "/by"),
        ("users?rank=1", "/rank"),
    ):  # fmt: skip
        answer = custodian.get(f"/v1/graphs/people/{query}")
        assert answer.status_code == 400, query
        assert option in answer.json["detail"], answer.json
