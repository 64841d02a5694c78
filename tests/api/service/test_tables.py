"""Tables as verbs see them: named, read by jobs, made by them."""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from api.service.accounts import Account
from api.service.files import StoredFiles, files_of
from api.service.home import Home
from api.service.tables.columns import ready, standings
from api.service.tables.drafts import GUESSED, KEPT, ChangedMeanwhile, Column
from api.service.tables.tables import Tables
from api.service.uploads.scanner import TooLarge
from api.service.uploads.uploads import Uploads
from api.verbs import verbs
from api.verbs.contract import Work, perform
from api.verbs.values import made
from tabular.errors import InvalidInput, NameTaken, UnknownName
from tabular.hierarchies.drafts import Draft
from tabular.release import ORDER_DRAWN, ORDER_KEPT

ROWS = "age,town\n" + "".join(f"{20 + row % 9},{'ABC'[row % 3]}\n" for row in range(60))


@pytest.fixture
def home(tmp_path):
    opened = Home(tmp_path / "home", create=True)
    yield opened
    opened.close()


@pytest.fixture
def tables(home, tmp_path):
    (tmp_path / "people.csv").write_text(ROWS)
    kept = Tables(home)
    kept.add("people", "original", tmp_path / "people.csv")
    return kept


def test_a_job_reads_a_table_and_its_hierarchies_by_name(tables, home):
    tables.put_hierarchy(tables.at("people"), "age", "".join(f"{age};*\n" for age in range(20, 29)).encode())
    files = StoredFiles(Uploads(home, 10), tables)
    account = Account("1", "ann", "custodian", "")
    assert files.schema("people", account) is None
    options = {
        "file": files.table("people", account).name,
        "hierarchies": files.hierarchies("people", account).name,
        "quasi_identifiers": ["age"],
        "k": 3,
    }
    tables.put_schema(tables.at("people"), {"attributes": {"age": {"role": "quasi-identifier"}}})
    options["schema"] = files.schema("people", account).name
    found = files_of(home.folder, made(verbs["table search"].method, options))
    assert json.loads(found["schema:people"].read_text())["attributes"]["age"] == {"role": "quasi-identifier"}
    assert found["people"].read_text() == ROWS
    assert [each.name for each in found["hierarchies:people"].iterdir()] == ["age.csv"]
    with pytest.raises(UnknownName):
        files.table("people", Account("2", "bob", "analyst", ""))
    with pytest.raises(UnknownName):
        files_of(home.folder, verbs["table describe"].method(file="nobody"))


def test_a_table_is_imported_with_what_is_said_of_its_columns(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "schema.json").write_text(json.dumps({"attributes": {"town": {"role": "sensitive", "title": "Town"}}}))
    verb = verbs["table import"].method(
        file="people.csv", into="people", schema="schema.json", kind=("age=ordinal",), missing=("C",)
    )
    outcome = perform(verb, Work(home=str(home.folder)))
    assert (outcome.document["file"], outcome.document["rows"]) == ("people", 60)
    tables = Tables(home)
    kept = tables.at("people")
    assert kept.kind == "original" and kept.file.read_text() == ROWS
    said = {
        "missing": ["C"],
        "attributes": {"town": {"role": "sensitive", "title": "Town"}, "age": {"kind": "ordinal"}},
    }
    assert tables.schema(kept) == said
    assert tables.described(kept)["columns"] == outcome.document["columns"]
    with pytest.raises(NameTaken):
        perform(verb, Work(home=str(home.folder)))
    perform(verb, Work(home=str(home.folder), again=True))
    (tmp_path / "people.csv").write_text("age,town\n1\n")
    with pytest.raises(InvalidInput, match="line 2"):
        perform(verbs["table import"].method(file="people.csv", into="more"), Work(home=str(home.folder)))
    with pytest.raises(InvalidInput):
        verbs["table import"].method(file="-", into="more").check()
    assert [each.name for each in tables.all()] == ["people"]


def test_columns_of_a_table_that_is_too_large_to_be_read_again_are_corrected(tables, monkeypatch):
    table = tables.at("people")
    tables.put_schema(table, {"missing": ["28"], "attributes": {"town": {"role": "sensitive"}}})
    schema = {"missing": ["28"], "attributes": {"age": {"kind": "nominal", "role": "quasi-identifier"}}}
    expected = tables.put_schema(table, schema)
    again = tables.put_schema(table, {"missing": ["28"]})
    monkeypatch.setattr("api.service.tables.tables.takes_long", lambda *_: True)
    assert tables.put_schema(table, schema) == expected != again
    assert tables.described(table) == expected and tables.schema(table) == schema
    files = sorted(each.name for each in table.folder.iterdir())
    for wrong, told in (
        ({"attributes": {"town": {"kind": "continuous"}}}, "people, row 1: the cell of column 'town' is no number"),
        ({"attributes": {"agee": {}}}, "none of its attributes is a column of people"),
        ({"attributes": {"age": {"role": "x"}}}, "No role is called 'x'"),
    ):
        with pytest.raises(InvalidInput, match=told):
            tables.put_schema(table, {"missing": ["28"], **wrong})
    with pytest.raises(TooLarge):
        tables.put_schema(table, {"missing": ["29"]})
    assert sorted(each.name for each in table.folder.iterdir()) == files
    assert tables.schema(table) == schema


def test_columns_stand_by_role_and_hierarchy(tables):
    table = tables.at("people")
    assert [each.lacks for each in standings(tables, table)] == ["needs a role"] * 2
    roles = {"age": {"role": "quasi-identifier"}, "town": {"role": "insensitive"}}
    tables.put_schema(table, {"attributes": roles})
    assert [each.lacks for each in standings(tables, table)] == ["needs a hierarchy", None]
    tables.put_hierarchy(table, "age", "".join(f"{age};*\n" for age in range(20, 29)).encode())
    found = standings(tables, table)
    assert ([each.lacks for each in found], found[0].height, ready(found)) == ([None, None], 1, 2)
    # The next file has values that the hierarchy lacks.
    table.file.with_name("next").write_text(ROWS + "77,A\n78,B\n")
    after = tables.add("people", "original", table.file.with_name("next"), replaced=table)
    found = standings(tables, after)
    assert (found[0].lacks, found[0].unplaced, ready(found)) == ("2 of 11 values not placed", 2, 1)
    assert [each.lacks for each in standings(tables, after)] == [each.lacks for each in found]


def test_a_hierarchy_is_worked_at_step_by_step_and_saved(tables):
    table = tables.at("people")
    column = Column.of(tables, table, "town")
    begun = column.work()
    assert (begun.source, begun.number, begun.draft.values) == (GUESSED, 0, ("A", "B", "C"))
    column.go_on(0, begun.draft.put([0, 1], 1, "AB"))
    with pytest.raises(ChangedMeanwhile):
        column.go_on(0, begun.draft)
    column.go_on(1, column.work().draft.put([2], 1, "AB"), source="by hand")
    assert column.undo(2).draft.levels == (("AB", "AB", "C"),)
    saved = column.save(3)
    assert saved == b"A;AB;*\nB;AB;*\nC;C;*\n" == tables.hierarchy(table, "town").read_bytes()
    assert (column.work().source, column.work().number) == (KEPT, 0)
    with pytest.raises(InvalidInput, match="no step to undo"):
        column.undo(0)
    lacking = Draft.of_rows([["A", "x", "*"]], ["B", "C"])
    column.go_on(0, lacking)
    with pytest.raises(InvalidInput, match="2 values have no place"):
        column.save(1)
    column.discard()
    assert column.work().draft.unplaced == []
    with pytest.raises(UnknownName):
        Column.of(tables, table, "colour")


def test_of_two_who_go_on_with_a_hierarchy_at_once_one_is_told(tables, monkeypatch):
    column = Column.of(tables, tables.at("people"), "town")
    begun, plain = column.work().draft, Column._keep

    def slowly(self, work):
        time.sleep(0.2)
        return plain(self, work)

    monkeypatch.setattr(Column, "_keep", slowly)
    with ThreadPoolExecutor(2) as threads:
        tried = [threads.submit(column.go_on, 0, begun.put([0, 1], 1, label)) for label in ("AB", "BA")]
        failed = [each.exception() for each in tried]
    assert sorted(map(type, failed), key=str) == [type(None), ChangedMeanwhile]
    assert column.work().number == 1


def test_a_masked_table_becomes_a_release(tables, home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = {"file": "people.csv", "columns": ("age",), "method": "mondrian", "param": ("k=3",)}
    verb = verbs["table protect"].method(**options, out="masked.csv", into="people-v1")
    work = Work(home=str(home.folder), seed=1)
    perform(verb, work)
    made_now = tables.at("release:people-v1")
    assert made_now.file.read_text() == (tmp_path / "masked.csv").read_text()
    assert json.loads(made_now.dictionary.read_bytes()) == json.loads(
        (tmp_path / "masked.csv.dictionary.json").read_text()
    )
    assert tables.described(made_now)["rows"] == 60
    assert made_now.columns.is_file()
    # Done again after a kill it is no obstacle; another release of the name is.
    perform(verb, Work(home=str(home.folder), seed=1, again=True, overwrite=True))
    assert tables.at("release:people-v1") == made_now
    with pytest.raises(NameTaken):
        perform(verb, Work(home=str(home.folder), seed=1, overwrite=True))
    found = files_of(home.folder, verbs["table describe"].method(file="release:people-v1"))
    assert set(found) == {"release:people-v1", "release:people-v1.dictionary.json"}


@pytest.mark.parametrize("name", ["table protect", "table search"])
def test_a_table_of_the_service_tells_nothing_by_the_order_of_its_rows(name, tables, home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "numbered.csv").write_text("number,town\n" + "".join(f"{row},{'ABC'[row % 3]}\n" for row in range(60)))
    options = {"file": "numbered.csv", "role": ("number=insensitive",)}
    options |= {
        "table protect": {"columns": ("town",), "method": "pram", "param": ("retain=0.9",), "measure": False},
        "table search": {"quasi_identifiers": ("town",), "hierarchies": "levels", "k": 3},
    }[name]
    (tmp_path / "levels").mkdir()
    (tmp_path / "levels" / "town.csv").write_text("A;*\nB;*\nC;*\n")

    def numbers(into, **more):
        verb = verbs[name].method(**options, **more, out=f"{into}.csv", into=into)
        document = perform(verb, Work(home=str(home.folder), seed=1)).document
        made_now = tables.at(f"release:{into}")
        told = json.loads(made_now.dictionary.read_bytes())
        rows = [int(line.split(",")[0]) for line in made_now.file.read_text().splitlines()[1:]]
        return rows, told["order"], document.get("written", document)["shuffled"]

    drawn, told, shuffled = numbers("drawn")
    assert sorted(drawn) == list(range(60)) and sum(row == place for place, row in enumerate(drawn)) < 10
    assert (told, shuffled) == (ORDER_DRAWN, True)
    # In the original's order only where somebody says so, and the dictionary tells.
    assert numbers("kept", shuffle=False) == (list(range(60)), ORDER_KEPT, False)


def test_what_was_written_before_tables_gains_them(tmp_path):
    opened = Home(tmp_path / "home", create=True)
    with opened.writing() as db:
        for each in ("tables", "recovery_codes", "second_factors", "half_sessions"):
            db.execute(f"DROP TABLE {each}")
        for table, column in (
            ("answers", "process"),
            ("tokens", "programs"),
            ("tokens", "first"),
            ("uploads", "scanned"),
        ):
            db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        db.execute("PRAGMA user_version = 1")
    opened.close()
    again = Home(tmp_path / "home")
    assert Tables(again).all() == []
    again.close()


def test_what_a_kill_left_in_the_folder_of_a_table_is_deleted_within_the_hour(tables):
    folder = tables.at("people").folder
    before = set(folder.iterdir())
    for name, age in (("new-old", 4000), ("new-young", 0)):
        (folder / name).write_text(ROWS)
        os.utime(folder / name, (time.time() - age,) * 2)
    tables.erase_left()
    assert set(folder.iterdir()) == {*before, folder / "new-young"}
