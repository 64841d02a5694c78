"""Rows over HTTP: the answers are those of the library, for whoever may ask."""

from __future__ import annotations

import csv
import io
import json
from urllib.parse import urlencode

import pytest

from graphpriv.queries import answer, queries
from graphpriv.queries import rows as all_rows
from graphpriv.store import open_store
from tests.api.conftest import SMALL

ASKED = [
    ("users", {}),
    ("users", {"location": "United States", "topic": "Politics"}),
    ("users", {"degree": "1..2"}),
    ("counts", {"by": "location:country,topic1"}),
    ("counts", {"by": "topics", "order": "count"}),
    ("mixing", {"by": "topic1"}),
    ("degrees", {}),
    ("components", {}),
    ("clustering", {}),
]


@pytest.mark.parametrize(("query", "options"), ASKED)
def test_an_answer_is_that_of_the_library(custodian, graphs, config, query, options):
    with open_store(config["STORE"], create=False) as store:
        for name in ("people", "people-v1"):
            expected = answer(store, name, queries[query].make({**options, "limit": 2}))
            path = f"/v1/graphs/{name}/{query}?{urlencode({**options, 'limit': 2})}"
            got = custodian.get(path)
            assert got.json == json.loads(json.dumps(expected.document))
            assert ("Link" in got.headers) == (expected.next is not None)
            every = all_rows(store, name, queries[query].make(options))
            streamed = custodian.get(f"/v1/graphs/{name}/{query}?{urlencode({**options, 'limit': 'all'})}")
            assert streamed.json == json.loads(json.dumps({**every.facts, "rows": list(every), "next": None}))


def test_pages_lead_on_to_the_last(analyst, graphs):
    every = analyst.get("/v1/graphs/people-v1/users?limit=all").json["rows"]
    path, found = "/v1/graphs/people-v1/users?limit=3", []
    while path:
        answer = analyst.get(path)
        found += answer.json["rows"]
        link = answer.headers.get("Link")
        path = None if link is None else link[1 : link.index(">")]
    assert found == every
    assert len(every) == len(SMALL["nodes"])


def test_rows_come_as_csv_by_accept_or_format(analyst, graphs):
    by_accept = analyst.get("/v1/graphs/people-v1/users", headers={"Accept": "text/csv"})
    by_format = analyst.get("/v1/graphs/people-v1/users?format=csv&limit=all")
    assert by_accept.mimetype == by_format.mimetype == "text/csv"
    assert by_accept.data == by_format.data
    assert "Accept" in by_accept.headers["Vary"].split(", ")
    header, *rows = csv.reader(io.StringIO(by_accept.text))
    shown = analyst.get("/v1/graphs/people-v1/users").json["rows"]
    assert [row[header.index("id")] for row in rows] == [row["id"] for row in shown]


def test_neighbours_are_below_their_user(custodian, graphs):
    found = custodian.get("/v1/graphs/people/users/bob/neighbours").json["rows"]
    assert {each["id"] for each in found} == {"ann", "cid", "dee"}
    missing = custodian.get("/v1/graphs/people/users/zoe/neighbours")
    assert missing.status_code == 404
    assert "zoe" not in missing.text


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ("counts", "/by"),
        ("counts?by=nonsense", "/by"),
        ("counts?by=topic1&colour=red", "/colour"),
        ("users?degree=many", "/degree"),
        ("users?limit=0", "/limit"),
        ("users?limit=1.5", "/limit"),
        ("users?cursor=abc", "/cursor"),
        ("users?location=Atlantis", "/location"),
        ("users?user=ann", "/user"),
    ],
)
def test_what_is_wrong_is_pointed_at(analyst, graphs, asked, pointer):
    refused = analyst.get(f"/v1/graphs/people-v1/{asked}")
    assert refused.status_code == 400
    assert [each["pointer"] for each in refused.json["errors"]] == [pointer]


def test_who_may_not_ask_learns_nothing(auditor, analyst, graphs):
    assert auditor.get("/v1/graphs/people/users").status_code == 403
    for asked in ("users", "users?degree=many", "counts"):
        hidden, missing = (analyst.get(f"/v1/graphs/{name}/{asked}") for name in ("people", "nobody"))
        assert hidden.status_code == 404
        assert hidden.text.replace("people", "nobody") == missing.text
        assert "people-v1" not in missing.text


def test_each_look_at_an_original_is_in_the_log(custodian, graphs, service):
    custodian.get("/v1/graphs/people/counts?by=topic1")
    custodian.get("/v1/graphs/people-v1/counts?by=topic1")
    found = custodian.get("/v1/audit-log").json["entries"]
    assert [(each["object"], each["details"]["asked"]) for each in found] == [("people", "counts")]
