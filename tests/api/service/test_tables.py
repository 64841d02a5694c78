"""Tables as verbs see them: named, read by jobs, made by them."""

from __future__ import annotations

import json

import pytest

from api.service.accounts import Account
from api.service.files import StoredFiles, files_of
from api.service.home import Home
from api.service.tables.tables import Tables
from api.service.uploads import Uploads
from api.verbs import verbs
from api.verbs.contract import Work, perform
from api.verbs.values import made
from tabular.errors import NameTaken, UnknownName

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
    options = {
        "file": files.table("people", account).name,
        "hierarchies": files.hierarchies("people", account).name,
        "quasi_identifiers": ["age"],
        "k": 3,
    }
    found = files_of(home.folder, made(verbs["table search"].method, options))
    assert found["people"].read_text() == ROWS
    assert [each.name for each in found["hierarchies:people"].iterdir()] == ["age.csv"]
    with pytest.raises(UnknownName):
        files.table("people", Account("2", "bob", "analyst", ""))
    with pytest.raises(UnknownName):
        files_of(home.folder, verbs["table describe"].method(file="nobody"))


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


def test_what_was_written_before_tables_gains_them(tmp_path):
    opened = Home(tmp_path / "home", create=True)
    with opened.writing() as db:
        db.execute("DROP TABLE tables")
        db.execute("PRAGMA user_version = 1")
    opened.close()
    again = Home(tmp_path / "home")
    assert Tables(again).all() == []
    again.close()
