"""Routes of graphs, and what each role is told of originals."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from api.app import create_app
from api.service.service import Service
from graphpriv.store import open_store
from tests.api.conftest import SMALL
from tests.api.http.conftest import Caller
from tests.crawler.archives.making import zipped
from tests.crawler.archives.test_x_archive import PARTS

BODY = json.dumps(SMALL).encode()


def names(caller):
    return [(each["name"], each["kind"]) for each in caller.get("/v1/graphs").json["graphs"]]


def test_a_graph_comes_in_and_goes_out_again(custodian):
    made = custodian.put("/v1/graphs/people", data=BODY, content_type="application/json")
    assert made.status_code == 201
    assert made.headers["Location"] == "/v1/graphs/people"
    assert (made.json["graph"], made.json["users"]) == ("people", 4)
    assert names(custodian) == [("people", "original")]
    shown = custodian.get("/v1/graphs/people")
    assert (shown.json["graph"], shown.json["kind"], shown.json["users"]) == ("people", "original", 4)
    file = custodian.get("/v1/graphs/people/file")
    assert {each["id"] for each in json.loads(file.data)["nodes"]} == {"ann", "bob", "cid", "dee"}


@pytest.mark.parametrize("format", ["node-link", "graphml", "gexf", "edge-list"])
def test_a_file_in_each_format_has_a_tag_of_its_bytes(custodian, graphs, format):
    first = custodian.get(f"/v1/graphs/people-v1/file?format={format}")
    again = custodian.get(f"/v1/graphs/people-v1/file?format={format}")
    assert first.status_code == 200
    assert first.headers["ETag"] == again.headers["ETag"]
    assert first.data == again.data
    known = custodian.get(
        f"/v1/graphs/people-v1/file?format={format}", headers={"If-None-Match": first.headers["ETag"]}
    )
    assert known.status_code == 304
    if format == "edge-list":
        assert len(zipfile.ZipFile(io.BytesIO(first.data)).namelist()) == 3


def test_a_format_that_is_none_is_told(custodian, graphs):
    assert custodian.get("/v1/graphs/people/file?format=nonsense").status_code == 400
    assert custodian.put("/v1/graphs/new?format=nonsense", data=BODY).status_code == 400
    assert custodian.put("/v1/graphs/new?directed=maybe", data=BODY).status_code == 400


def test_both_doors_tell_figures_that_were_computed_when_the_graph_was_stored(custodian, graphs, make, monkeypatch):
    monkeypatch.setattr("graphpriv.structure.anatomy", None)
    for name in ("people", "people-v1"):
        assert custodian.get(f"/v1/graphs/{name}").json == make("graph show", name=name)


def test_after_a_person_was_forgotten_the_figures_are_there_before_anybody_asks(
    custodian, graphs, service, monkeypatch
):
    monkeypatch.setattr("api.service.service._in_background", lambda work: work())
    assert custodian.delete("/v1/graphs/people/users/bob").status_code == 200
    monkeypatch.setattr("graphpriv.structure.anatomy", None)
    assert custodian.get("/v1/graphs/people").json["users"] == 3


def test_the_figures_have_a_tag(custodian, graphs):
    first = custodian.get("/v1/graphs/people")
    assert custodian.get("/v1/graphs/people").data == first.data
    assert custodian.get("/v1/graphs/people", headers={"If-None-Match": first.headers["ETag"]}).status_code == 304


def test_an_original_is_replaced_only_in_the_state_that_is_named(custodian):
    custodian.put("/v1/graphs/people", data=BODY)
    assert custodian.put("/v1/graphs/people", data=BODY).status_code == 409
    tag = custodian.get("/v1/graphs/people").headers["ETag"]
    assert custodian.put("/v1/graphs/people", data=BODY, headers={"If-Match": '"x"'}).status_code == 412
    smaller = json.dumps({**SMALL, "nodes": SMALL["nodes"][:3], "edges": SMALL["edges"][:2]}).encode()
    assert custodian.put("/v1/graphs/people", data=smaller, headers={"If-Match": tag}).status_code == 200
    assert custodian.get("/v1/graphs/people").json["users"] == 3
    assert custodian.put("/v1/graphs/people", data=BODY, headers={"If-Match": tag}).status_code == 412
    assert custodian.delete("/v1/graphs/people", headers={"If-Match": tag}).status_code == 412
    assert custodian.put("/v1/graphs/other", data=BODY, headers={"If-Match": tag}).status_code == 412


def test_an_upload_replaces_a_graph_only_in_the_state_that_is_named(custodian, graphs):
    tag = custodian.get("/v1/graphs/people").headers["ETag"]
    known = {"upload": "0" * 32}
    assert custodian.put("/v1/graphs/people", json=known).status_code == 409
    assert custodian.put("/v1/graphs/people", json=known, headers={"If-Match": '"x"'}).status_code == 412
    assert custodian.put("/v1/graphs/other", json=known, headers={"If-Match": tag}).status_code == 412


FEWER = [json.dumps({**SMALL, "nodes": SMALL["nodes"][:size], "edges": []}) for size in (3, 4)]


@pytest.mark.parametrize(
    ("path", "change", "kind", "bodies"),
    [
        ("graphs/people", "graph import", "application/json", FEWER),
        ("tables/people", "table put", "text/csv", ["age\n1\n2\n", "age\n3\n4\n"]),
        ("tables/people/schema", "table store", "application/json", ['{"missing": ["9"]}', '{"missing": ["8"]}']),
    ],
)
def test_of_two_changes_at_once_one_is_refused(custodian, monkeypatch, path, change, kind, bodies):
    custodian.put("/v1/graphs/people", data=BODY)
    custodian.put("/v1/tables/people", data="age\n1\n2\n3\n")
    tag = custodian.get(f"/v1/{path}").headers["ETag"]
    both, plain = Barrier(2), Service.note_access

    def noted(self, action, *given, **details):
        plain(self, action, *given, **details)
        if action == change:
            # Both have seen the state that they name, or are about to.
            both.wait(20)

    def put(data):
        alone = replace(custodian, client=custodian.client.application.test_client())
        return alone.put(f"/v1/{path}", data=data, headers={"If-Match": tag}, content_type=kind).status_code

    monkeypatch.setattr(Service, "note_access", noted)
    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(put, bodies)) == [200, 412]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\x1f\x8bx", b"nonsense", gzip.compress(b"[" * 10_000, mtime=0)])
def test_what_is_no_graph_is_refused_and_nothing_is_left(custodian, service, data):
    answer = custodian.put("/v1/graphs/people", data=data)
    assert answer.status_code == 400
    assert str(service.folder) not in answer.text
    assert names(custodian) == []
    assert [each.name for each in service.folder.iterdir() if each.is_dir()] == []


def test_archives_of_networks_are_taken_whole_with_their_posts(custodian, service, tmp_path):
    data = zipped(tmp_path / "ann.zip", PARTS).read_bytes()
    answer = custodian.put("/v1/graphs/ann?format=x-archive", data=data)
    assert (answer.status_code, answer.json["users"], answer.json["posts"]) == (201, 3, 2)
    answer = custodian.put("/v1/graphs/bob?format=twarc2", data=b'{"data": [')
    assert answer.status_code == 400
    assert "line 1: this is not JSON" in answer.text
    assert str(service.folder) not in answer.text
    swelling = zipped(tmp_path / "bomb.zip", {**PARTS, "data/tweets.js": b" " * (9 << 20)}).read_bytes()
    answer = custodian.put("/v1/graphs/bob?format=x-archive", data=swelling)
    assert answer.status_code == 413
    assert ("bob", "original") not in names(custodian)


def test_both_spaces_may_have_a_name(custodian, analyst, graphs):
    custodian.put("/v1/graphs/people-v1", data=BODY)
    assert ("people-v1", "original") in names(custodian) and ("people-v1", "release") in names(custodian)
    assert custodian.get("/v1/graphs/people-v1").json["kind"] == "original"
    assert custodian.get("/v1/graphs/release:people-v1").json["kind"] == "release"
    assert analyst.get("/v1/graphs/people-v1").json["kind"] == "release"
    assert analyst.get("/v1/graphs/original:people-v1").status_code == 404
    assert custodian.delete("/v1/graphs/people-v1").json == {"deleted": "people-v1"}
    assert custodian.get("/v1/graphs/people-v1").json["kind"] == "release"


def test_an_analyst_sees_releases_alone(analyst, graphs):
    assert names(analyst) == [("people-v1", "release")]
    row = analyst.get("/v1/graphs").json["graphs"][0]
    shown = analyst.get("/v1/graphs/people-v1")
    assert "original" not in row and "original" not in shown.json
    assert '"people"' not in shown.text + json.dumps(row)
    for path in ("", "/file", "/mapping", "/users/ann"):
        method = "DELETE" if path == "/users/ann" else "GET"
        hidden, missing = analyst(method, f"/v1/graphs/people{path}"), analyst(method, f"/v1/graphs/nobody{path}")
        assert hidden.status_code == missing.status_code
        assert hidden.text.replace("people", "nobody") == missing.text
    assert analyst.get("/v1/graphs/people-v1/file").status_code == 200
    assert analyst.get("/v1/graphs/people-v1/mapping").status_code == 403


def test_an_analyst_makes_nothing(analyst, graphs):
    for name in ("people", "people-v1", "new"):
        answer = analyst.put(f"/v1/graphs/{name}", data=BODY)
        assert answer.status_code == 403
    assert analyst.delete("/v1/graphs/people-v1").status_code == 403
    assert analyst.delete("/v1/graphs/people").status_code == 404


def test_an_auditor_sees_figures_and_mappings_and_no_raw_profiles(auditor, graphs):
    assert ("people", "original") in names(auditor)
    assert auditor.get("/v1/graphs/people").status_code == 200
    assert auditor.get("/v1/graphs/people/file").status_code == 403
    assert auditor.get("/v1/graphs/people-v1/file").status_code == 200
    mapping = auditor.get("/v1/graphs/people-v1/mapping")
    assert mapping.data.decode().splitlines()[0] == "original,released"
    assert auditor.get("/v1/graphs/people/mapping").status_code == 404
    assert auditor.delete("/v1/graphs/people").status_code == 403


def test_every_access_to_an_original_or_a_mapping_is_in_the_log(custodian, auditor, analyst, service, graphs):
    before = service.log.end()[0]
    custodian.get("/v1/graphs/people")
    custodian.get("/v1/graphs/people/file")
    auditor.get("/v1/graphs/people-v1/mapping")
    custodian.get("/v1/graphs/people-v1/file")
    analyst.get("/v1/graphs/people")
    custodian.delete("/v1/graphs/people/users/ann")
    entries = [(each.account, each.action, each.object) for each in reversed(service.log.entries())][before:]
    assert entries == [
        ("custodian", "graph describe", "people"),
        ("custodian", "graph read", "people"),
        ("auditor", "mapping", "people"),
        ("custodian", "graph forget", "people"),
    ]
    assert service.log.problems() == []


def test_a_person_is_forgotten_and_not_named(custodian, service, config, graphs, tmp_path):
    custodian.put("/v1/graphs/other", data=BODY, headers={"Idempotency-Key": "1"})
    answer = custodian.delete("/v1/graphs/people/users/ann")
    assert answer.status_code == 200
    assert answer.json["graph"] == "people" and answer.json["follows"] == 1
    with open_store(config["STORE"], create=False) as store:
        assert "ann" not in store.load_graph("people").ids
    entry = service.log.entries()[0]
    assert len(entry.details["person"]) == 16
    assert '"ann"' not in json.dumps(entry.document)
    assert custodian.delete("/v1/graphs/people/users/ann").status_code == 404
    assert custodian.delete("/v1/graphs/people-v1/users/ann").status_code in (400, 404)


def test_graphs_come_in_pages(custodian, make, tmp_path):
    path = tmp_path / "g.json"
    path.write_bytes(BODY)
    for number in range(5):
        make("graph import", file=str(path), graph=f"g{number}")
    seen, url = [], "/v1/graphs?limit=2"
    while url:
        answer = custodian.get(url)
        seen += [each["name"] for each in answer.json["graphs"]]
        link = answer.headers.get("Link")
        url = link.split(">")[0].lstrip("<") if link else None
    assert seen == [f"g{number}" for number in range(5)]


def test_without_a_store_graphs_do_not_answer(config):
    app = create_app(config)
    _, made = app.extensions["graphpriv"].accounts.add("ann", "custodian")
    answer = Caller(app.test_client(), made.secret).get("/v1/graphs")
    assert (answer.status_code, answer.json["detail"]) == (503, "The store does not answer.")
