"""Routes of uploads."""

from __future__ import annotations

import json

import pytest

from api.app import create_app
from graphpriv.store import open_store
from tests.api.conftest import SMALL
from tests.api.http.conftest import Caller
from tests.api.http.fakes import FakeJobs


@pytest.fixture
def jobs():
    return FakeJobs()


@pytest.fixture
def app(config, jobs):
    open_store(config["STORE"], create=True).close()
    made = create_app({**config, "LARGEST_UPLOAD": 1_000_000}, queue=jobs)
    yield made
    made.extensions["graphpriv"].close()


def uploaded(caller, data, step=100, **named):
    begun = caller.post("/v1/uploads", {"size": len(data), **named})
    assert (begun.status_code, begun.json["offset"]) == (201, 0)
    for offset in range(0, len(data), step):
        piece = data[offset : offset + step]
        told = caller.put(f"{begun.headers['Location']}?offset={offset}", data=piece)
        assert told.json["offset"] == offset + len(piece)
    return begun.json["id"]


def test_a_file_goes_up_in_pieces_and_becomes_a_graph_by_a_job(custodian, jobs):
    id = uploaded(custodian, json.dumps(SMALL).encode())
    assert custodian.get(f"/v1/uploads/{id}").json["finished"]
    answer = custodian.put("/v1/graphs/people", json={"upload": id})
    assert answer.status_code == 202
    assert jobs.all["job0"].options == {"format": "node-link", "file": f"upload-{id}", "graph": "people"}


def test_the_end_of_a_name_tells_the_format(custodian, jobs):
    id = uploaded(custodian, b"x", name="my people.graphml")
    assert custodian.put("/v1/graphs/people", json={"upload": id}).status_code == 202
    assert jobs.all["job0"].options == {"file": f"upload-{id}.graphml", "graph": "people"}
    assert custodian.post("/v1/uploads", {"size": 1, "name": 3}).status_code == 400


def test_a_file_in_a_parameter_is_ones_own(custodian, jobs, service, app):
    table, levels = (uploaded(custodian, b"age\n1\n", name="t.csv") for _ in range(2))
    asked = {"file": {"upload": table}, "column": "age", "by": "csv", "out": "h.csv"}
    assert custodian.post("/v1/table/hierarchy", {**asked, "param": [f"file=upload-{levels}.csv"]}).status_code == 202
    assert [each.object for each in service.log.entries()[:2]] == [levels, table]
    other = Caller(app.test_client(), service.accounts.add("other", "custodian")[1].secret)
    asked["file"] = {"upload": uploaded(other, b"x")}
    assert other.post("/v1/table/hierarchy", {**asked, "param": [f"file=upload-{levels}.csv"]}).status_code == 404
    assert other.post("/v1/table/hierarchy", {**asked, "param": ["file=people"]}).status_code == 404


def test_an_edge_list_is_several_uploads(custodian, jobs):
    parts = {role: uploaded(custodian, b"x") for role in ("file", "attributes", "places")}
    assert custodian.put("/v1/graphs/people?format=edge-list", json={"uploads": parts}).status_code == 202
    assert jobs.all["job0"].options["places"] == f"upload-{parts['places']}"
    wrong = custodian.put("/v1/graphs/other", json={"uploads": {"nonsense": parts["file"]}})
    assert wrong.status_code == 400


def test_pieces_have_an_order_and_an_end(custodian):
    begun = custodian.post("/v1/uploads", {"size": 3}).json["id"]
    for query, data, status in (
        ("?offset=1", b"a", 409), ("?offset=0", b"abcd", 413), ("", b"a", 400), ("?offset=x", b"a", 400),
        ("?offset=0", b"ab", 200), ("?offset=0", b"ab", 409), ("?offset=2", b"c", 200), ("?offset=3", b"", 200),
    ):  # fmt: skip
        assert custodian.put(f"/v1/uploads/{begun}{query}", data=data).status_code == status, query
    assert custodian.put("/v1/graphs/people", json={"upload": "none"}).status_code == 404


def test_a_piece_that_is_sent_again_with_its_key_is_answered_as_before(custodian):
    begun = custodian.post("/v1/uploads", {"size": 3}).json["id"]
    for _ in range(2):
        answer = custodian.put(f"/v1/uploads/{begun}?offset=0", data=b"abc", headers={"Idempotency-Key": "1"})
        assert (answer.status_code, answer.json["offset"]) == (200, 3)


@pytest.mark.parametrize(
    "body", [{}, {"size": -1}, {"size": "3"}, {"size": True}, {"size": 1.5}, {"size": 1, "x": 1}, {"name": "a"}]
)
def test_a_size_is_a_whole_number(custodian, body):
    assert custodian.post("/v1/uploads", body).status_code == 400


def test_too_much_is_refused_before_the_first_byte(custodian, auditor, analyst):
    assert custodian.post("/v1/uploads", {"size": 1_000_001}).status_code == 413
    assert custodian.post("/v1/uploads", {"size": 5.0}).status_code == 201
    for caller in (auditor, analyst):
        assert caller.post("/v1/uploads", {"size": 1}).status_code == 403


def test_an_upload_that_is_not_finished_is_not_used(custodian):
    begun = custodian.post("/v1/uploads", {"size": 3}).json["id"]
    answer = custodian.put("/v1/graphs/people", json={"upload": begun})
    assert (answer.status_code, "0 of 3 bytes" in answer.json["detail"]) == (400, True)
