"""Routes of tables: files, hierarchies, rows and counts, and what each role is told."""

from __future__ import annotations

import csv
import io
import json

import pytest

from api.service.tables.tables import Tables
from tabular.files.parquet import write_parquet
from tabular.files.table_files import read_file

TEXT = "age,town,pay\n30,A,1.5\n40,B,\n30,B,2\n50,=1+1,3\n"


@pytest.fixture
def tables(custodian, service, tmp_path):
    """An original `people` and a release `people-v1`."""
    assert custodian.put("/v1/tables/people", data=TEXT).status_code == 201
    (tmp_path / "release.csv").write_text(TEXT)
    (tmp_path / "release.json").write_text(json.dumps({"columns": []}))
    return service.tables.add("people-v1", "release", tmp_path / "release.csv", dictionary=tmp_path / "release.json")


def test_a_table_comes_in_and_goes_out_again(custodian):
    made = custodian.put("/v1/tables/people", data=TEXT, content_type="text/csv")
    assert (made.status_code, made.headers["Location"]) == (201, "/v1/tables/people")
    assert (made.json["name"], made.json["kind"], made.json["format"]) == ("people", "original", "csv")
    shown = custodian.get("/v1/tables/people")
    assert shown.json["rows"] == 4
    assert [each["name"] for each in shown.json["columns"]] == ["age", "town", "pay"]
    assert shown.json["file"] == "people"
    file = custodian.get("/v1/tables/people/file")
    assert (file.text, file.headers["Cache-Control"]) == (TEXT, "private, no-cache")
    assert custodian.get("/v1/tables/people", headers={"If-None-Match": shown.headers["ETag"]}).status_code == 304
    assert custodian.delete("/v1/tables/people").json == {"deleted": "people"}
    assert custodian.get("/v1/tables/people").status_code == 404


def test_the_dictionary_tells_an_analyst_no_loss_and_no_risk(custodian, auditor, analyst, service, tmp_path):
    itself = {"describes": "protected table", "k": 3, "fields": []}
    measured = {"information_loss": 1.5, "disclosure_risk": 9.5, "highest_linkage": {"value": 2.0}, "left_out": 4}
    for name, text in (("t.csv", TEXT), ("d.json", json.dumps({**itself, **measured}))):
        (tmp_path / name).write_text(text)
    service.tables.add("people-v1", "release", tmp_path / "t.csv", dictionary=tmp_path / "d.json")
    path = "/v1/tables/people-v1/dictionary"
    assert analyst.get(path).json == itself
    assert custodian.get(path).json == auditor.get(path).json == {**itself, **measured}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/tables/people", None),
        ("GET", "/v1/tables/people/file", None),
        ("GET", "/v1/tables/people/rows", None),
        ("GET", "/v1/tables/people/counts?by=age", None),
        ("PUT", "/v1/tables/people/schema", b"{}"),
        ("PUT", "/v1/tables/people/hierarchies/town", b"A;*\nB;*\n=1+1;*\n"),
        ("GET", "/tables/people?kind=original", None),
    ],
)
def test_a_table_that_is_deleted_while_it_is_asked_is_not_there(custodian, service, monkeypatch, method, path, body):
    custodian.put("/v1/tables/people", data=TEXT)
    find = Tables.find

    def find_and_delete(*args, **kwargs):
        table = find(*args, **kwargs)
        service.tables.delete(table)
        return table

    monkeypatch.setattr(Tables, "find", find_and_delete)
    kind = "application/json" if path.endswith("schema") else "text/csv"
    answer = custodian.put(path, data=body, content_type=kind) if method == "PUT" else custodian.get(path)
    assert answer.status_code == 404 and str(service.folder) not in answer.text


def test_parquet_is_told_by_its_bytes(custodian, tmp_path):
    (tmp_path / "t.csv").write_text(TEXT)
    with (tmp_path / "t.parquet").open("wb") as file:
        write_parquet(file, read_file(tmp_path / "t.csv").table)
    assert custodian.put("/v1/tables/people", data=(tmp_path / "t.parquet").read_bytes()).json["format"] == "parquet"
    assert custodian.get("/v1/tables/people").json["format"] == "parquet"


def test_an_upload_becomes_a_table(custodian):
    id = custodian.post("/v1/uploads", {"size": len(TEXT)}).json["id"]
    custodian.put(f"/v1/uploads/{id}?offset=0", data=TEXT)
    assert custodian.put("/v1/tables/people", json={"upload": id}).status_code == 201
    assert custodian.get("/v1/tables/people").json["rows"] == 4


@pytest.mark.parametrize("body", ["", "a,b\n1\n", b"PAR1nonsense", b"\xff\xfe\x00"])
def test_what_is_no_table_leaves_nothing_behind(custodian, service, body):
    refused = custodian.put("/v1/tables/people", data=body)
    assert refused.status_code == 400
    assert str(service.folder) not in refused.text and "/table" not in refused.text
    assert custodian.get("/v1/tables").json["tables"] == []
    assert list(service.tables.folder.glob("*")) == []


@pytest.mark.parametrize("name", ["release:people", "a:b", ".hidden", "upload-1", "x" * 101, "a%0Ab"])
def test_a_name_that_is_none_is_refused(custodian, name):
    assert custodian.put(f"/v1/tables/{name}", data=TEXT).status_code in (400, 404)


def test_an_original_is_replaced_in_the_state_that_is_named(custodian, tables):
    assert custodian.put("/v1/tables/people", data=TEXT).status_code == 409
    tag = custodian.get("/v1/tables/people").headers["ETag"]
    assert custodian.put("/v1/tables/people", data="age\n1\n2\n", headers={"If-Match": '"x"'}).status_code == 412
    assert custodian.put("/v1/tables/people", data="age\n1\n2\n", headers={"If-Match": tag}).status_code == 200
    assert custodian.get("/v1/tables/people").json["rows"] == 2
    assert custodian.delete("/v1/tables/people", headers={"If-Match": tag}).status_code == 412


def test_names_of_originals_and_releases_are_apart(custodian, analyst, tables):
    assert custodian.put("/v1/tables/people-v1", data="age\n1\n2\n").status_code == 201
    assert custodian.get("/v1/tables/people-v1").json["rows"] == 2
    assert custodian.get("/v1/tables/release:people-v1").json["rows"] == 4
    assert analyst.get("/v1/tables/people-v1").json["rows"] == 4
    assert [each["name"] for each in analyst.get("/v1/tables").json["tables"]] == ["people-v1"]


def test_a_hierarchy_is_kept_if_it_fits_the_column(custodian, tables):
    levels = "30;30-40;*\n40;30-40;*\n50;50;*\n"
    path = "/v1/tables/people/hierarchies/age"
    assert custodian.put(path, data=levels).status_code == 201
    assert custodian.put(path, data=levels).status_code == 200
    assert custodian.get(path).text == levels
    assert custodian.get("/v1/tables/people/hierarchies").json == {"hierarchies": [{"column": "age"}]}
    assert custodian.put(path, data="30;*\n").status_code == 400
    assert custodian.put("/v1/tables/people/hierarchies/nothing", data=levels).status_code == 404
    assert custodian.put("/v1/tables/people/hierarchies/..%2Fx", data=levels).status_code in (400, 404)
    assert custodian.delete(path).status_code == 200
    assert custodian.get(path).status_code == 404


SCHEMA = {"attributes": {"age": {"kind": "ordinal", "role": "quasi-identifier"}, "town": {"role": "sensitive"}}}


def test_what_is_said_of_columns_is_kept_and_used(custodian, tables):
    path = "/v1/tables/people/schema"
    assert custodian.get(path).json == {}
    before = custodian.get("/v1/tables/people")
    said = custodian.put(path, json=SCHEMA)
    assert (said.status_code, custodian.get(path).json) == (200, SCHEMA)
    after = custodian.get("/v1/tables/people")
    assert after.json == said.json and after.headers["ETag"] == said.headers["ETag"] != before.headers["ETag"]
    assert [(each["kind"], each["role"]) for each in after.json["columns"]] == [
        ("ordinal", "quasi-identifier"), ("nominal", "sensitive"), ("continuous", None)
    ]  # fmt: skip
    # A value that stands for a missing one is read so.
    custodian.put(path, json={"missing": ["30"]})
    assert [each["age"] for each in custodian.get("/v1/tables/people/rows").json["rows"]] == [None, 40, None, 50]
    assert custodian.put(path, json={}).json == before.json
    assert custodian.get("/v1/tables/people/rows").json["rows"][0]["age"] == 30


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"attributes": {"agee": {"kind": "nominal"}}}, "the schema: none of its attributes is a column of people"),
        ({"attributes": {"town": {"kind": "continuous"}}}, "people, line 2: the cell of column 'town' is no number."),
        ({"attributes": {"town": {"kind": "ordinal"}}}, "people: 'town' is ordinal and holds text: give its order"),
        ({"attributes": {"age": {"role": "quasi"}}}, "the schema, attributes.age.role: No role is called 'quasi'"),
        ({"kinds": {}}, "the schema: No key is called 'kinds'"),
    ],
)
def test_a_schema_that_does_not_fit_changes_nothing(custodian, service, tables, schema, told):
    custodian.put("/v1/tables/people/schema", json=SCHEMA)
    files = sorted(each.name for each in service.tables.at("people").folder.iterdir())
    refused = custodian.put("/v1/tables/people/schema", json=schema)
    assert refused.status_code == 400 and refused.json["detail"].startswith(told)
    assert custodian.get("/v1/tables/people/schema").json == SCHEMA
    assert sorted(each.name for each in service.tables.at("people").folder.iterdir()) == files


def test_two_who_correct_a_schema_do_not_overwrite_each_other(custodian, tables):
    tag = custodian.get("/v1/tables/people/schema").headers["ETag"]
    assert custodian.put("/v1/tables/people/schema", json=SCHEMA, headers={"If-Match": tag}).status_code == 200
    assert custodian.put("/v1/tables/people/schema", json={}, headers={"If-Match": tag}).status_code == 412


def test_the_next_file_of_a_table_keeps_its_schema_or_is_refused(custodian, service, tables):
    tag = custodian.put("/v1/tables/people/schema", json=SCHEMA).headers["ETag"]
    refused = custodian.put("/v1/tables/people", data="x\n1\n2\n", headers={"If-Match": tag})
    assert refused.status_code == 400 and "none of its attributes" in refused.json["detail"]
    assert custodian.put("/v1/tables/people", data=TEXT + "60,C,1\n", headers={"If-Match": tag}).status_code == 200
    assert custodian.get("/v1/tables/people").json["columns"][0]["kind"] == "ordinal"
    folder = service.tables.at("people").folder
    assert custodian.delete("/v1/tables/people").status_code == 200
    assert not folder.exists()


def test_rows_are_filtered_and_come_in_pages(analyst, tables):
    path = "/v1/tables/people-v1/rows"
    every = analyst.get(path).json
    assert every["total"] == 4 and every["rows"][0] == {"age": 30, "town": "A", "pay": 1.5}
    assert analyst.get(f"{path}?limit=all").json == every
    assert [each["age"] for each in analyst.get(f"{path}?where=town=B").json["rows"]] == [40, 30]
    assert [each["age"] for each in analyst.get(f"{path}?where=town=B&where=age<=35").json["rows"]] == [30]
    assert [each["age"] for each in analyst.get(f"{path}?where=pay=").json["rows"]] == [40]
    assert analyst.get(f"{path}?where=town=' OR ''='").json["rows"] == []
    found, page = [], f"{path}?limit=1&where=age>=30&where=age<=40"
    while page:
        answer = analyst.get(page)
        found += answer.json["rows"]
        link = answer.headers.get("Link")
        page = None if link is None else link[1 : link.index(">")]
    assert [each["age"] for each in found] == [30, 40, 30]


def test_rows_come_as_csv_that_no_spreadsheet_runs(analyst, tables):
    for query in ("", "&limit=all"):
        text = analyst.get(f"/v1/tables/people-v1/rows?format=csv{query}").text
        assert list(csv.reader(io.StringIO(text)))[-1] == ["50", "'=1+1", "3.0"]


def test_rows_are_counted_by_columns(analyst, tables):
    path = "/v1/tables/people-v1/counts?by=town"
    assert analyst.get(path).json["rows"] == [
        {"town": "=1+1", "rows": 1}, {"town": "A", "rows": 1}, {"town": "B", "rows": 2}
    ]  # fmt: skip
    assert analyst.get(f"{path}&where=age=30").json["total"] == 2
    assert analyst.get(f"{path}&where=age=999").json["total"] == 0
    first = analyst.get(f"{path},age&limit=2")
    assert len(first.json["rows"]) == 2
    rest = analyst.get(f"{path},age&limit=2&cursor={first.json['next']}").json
    assert first.json["rows"] + rest["rows"] == analyst.get(f"{path},age&limit=all").json["rows"]


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ("counts", "/by"),
        ("counts?by=colour", "/by"),
        ("rows?where=colour=red", "/where"),
        ("rows?where=town", "/where"),
        ("rows?where=age>=old", "/where"),
        ("rows?cursor=YWJj", "/cursor"),
    ],
)
def test_what_is_wrong_is_pointed_at(analyst, tables, asked, pointer):
    refused = analyst.get(f"/v1/tables/people-v1/{asked}")
    assert refused.status_code == 400
    assert [each["pointer"] for each in refused.json["errors"]] == [pointer]


def test_who_must_not_know_of_an_original_learns_nothing(auditor, analyst, tables):
    assert auditor.get("/v1/tables/people/rows").status_code == 403
    assert auditor.get("/v1/tables/people").status_code == 200
    for path in ("", "/rows", "/counts", "/file", "/dictionary", "/schema", "/hierarchies/age"):
        hidden, missing = (analyst.get(f"/v1/tables/{name}{path}") for name in ("people", "nobody"))
        assert (hidden.status_code, hidden.text.replace("people", "nobody")) == (404, missing.text)
    assert analyst.put("/v1/tables/people", data=TEXT).status_code == 403


def test_each_look_at_an_original_is_in_the_log(custodian, tables):
    custodian.get("/v1/tables/people/rows")
    custodian.get("/v1/tables/people-v1/rows")
    entries = custodian.get("/v1/audit-log").json["entries"]
    assert [(each["action"], each["object"]) for each in entries] == [("table read", "people"), ("table put", "people")]


def test_only_custodians_make_tables(custodian, auditor, analyst, graphs, tables):
    body = {"name": "people-v1", "out": "m.csv", "into": "made"}
    assert [each.post("/v1/microdata", body).status_code for each in (auditor, analyst)] == [403, 403]
    # Here no jobs run; it gets as far as that.
    assert custodian.post("/v1/microdata", body).status_code == 503
    assert custodian.post("/v1/microdata", {**body, "into": "../made"}).status_code == 400


def test_the_log_has_one_name_of_a_table(custodian, tables):
    before = len(custodian.get("/v1/audit-log").json["entries"])
    for name in ("people", "original:people"):
        custodian.post("/v1/table/describe", {"file": name})
    entries = custodian.get("/v1/audit-log").json["entries"]
    assert len(entries) > before
    assert {each["object"] for each in entries if each["action"] == "table describe"} == {"people"}
