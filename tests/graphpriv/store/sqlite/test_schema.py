"""Files of other versions, and files that are no stores."""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from graphpriv.protections import protect
from graphpriv.queries import queries, rows
from graphpriv.store import open_store
from graphpriv.store.copies import check_backup
from graphpriv.store.sqlite import schema
from graphpriv.store.sqlite.schema import APPLICATION, STEPS, VERSION
from graphpriv.structure import describe
from tabular.errors import InvalidInput
from tests.contracts.store import little


def dump(path: Path) -> list[str]:
    db = sqlite3.connect(path)
    lines = list(db.iterdump())
    db.close()
    return lines


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A file as version 1 left it: without the note of what is still to be erased."""
    path = tmp_path / "older.db"
    db = sqlite3.connect(path)
    for statement in STEPS[0]:
        db.execute(statement)
    db.execute("INSERT INTO graphs VALUES (1, 'town', 1, '[\"handle\"]', 3, 3, 0, '2026-01-01T00:00:00Z')")
    places = [("world", "world", None), ("Chile", "country", 0), ("Europe", "continent", 0), ("Spain", "country", 2)]
    places += [("Barcelona", "locality", 3), ("Madrid", "locality", 3)]
    db.executemany(
        "INSERT INTO places VALUES (1, ?, ?, ?, ?)",
        [(number, above, name, kind) for number, (name, kind, above) in enumerate(places)],
    )
    topics = ["Politics", "Sports", "Weather", "Chess"]
    db.executemany("INSERT INTO topics VALUES (1, ?, ?)", enumerate(topics))
    db.executemany(
        "INSERT INTO users VALUES (1, ?, ?, ?, ?, ?, ?)",
        [(0, "17", 4, 1, 3, None), (1, "4", 3, 0, 1, 2), (2, "99", None, None, None, None)],
    )
    db.execute("INSERT INTO persons VALUES (1, 0, '@ana_of_the_test', NULL, NULL)")
    db.executemany("INSERT INTO follows VALUES (1, ?, ?)", [(0, 1), (1, 0), (2, 1)])
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute("PRAGMA user_version = 1")
    db.commit()
    db.close()
    return path


def version_in(path: Path) -> int:
    db = sqlite3.connect(path)
    found = schema.version_of(db)
    db.close()
    return found


def test_an_older_file_is_brought_up_to_date_with_all_it_holds(older: Path) -> None:
    with open_store(f"file:{older}", create=False) as store:
        assert version_in(older) == VERSION
        loaded = store.load_graph("town")
        assert loaded.ids == little().ids
        assert loaded.places == little().places
        assert loaded.location.tolist() == little().location.tolist()
        assert loaded.topics.tolist() == little().topics.tolist()
        assert loaded.private == {"handle": ("@ana_of_the_test", None, None)}
        for _ in range(2):
            assert [each["id"] for each in rows(store, "town", queries["users"].make({}))] == ["17", "4", "99"]
        assert store.figures("town")["edges"] == 3
        assert store.check() == []
        assert store.forget("town", "17").erased


def test_a_migration_that_fails_leaves_the_older_file(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = dump(older)
    steps = (*STEPS, ("CREATE TABLE later (number INTEGER)", "CREATE TABLE later (number INTEGER)"))
    monkeypatch.setattr(schema, "STEPS", steps)
    monkeypatch.setattr(schema, "VERSION", len(steps))
    monkeypatch.setattr("graphpriv.store.sqlite.files.VERSION", len(steps))
    with pytest.raises(Exception, match="its tables or texts are not as they were made"):
        open_store(f"file:{older}", create=False)
    monkeypatch.undo()
    assert dump(older) == before
    with open_store(f"file:{older}", create=False):
        assert version_in(older) == VERSION


def test_an_older_backup_is_restored_and_stays_as_it_is(older: Path, tmp_path: Path) -> None:
    before = older.read_bytes()
    with open_store(f"file:{tmp_path / 'now.db'}", create=True) as store:
        store.restore(older)
        assert store.load_graph("town").ids == little().ids
    assert older.read_bytes() == before


def test_a_store_that_version_0_1_0_wrote_opens_and_its_seed_draws_the_release_again(tmp_path: Path) -> None:
    path = tmp_path / "demo.db"
    path.write_bytes(gzip.decompress(Path(__file__).with_name("version-0.1.0.sqlite.gz").read_bytes()))
    with open_store(f"file:{path}", create=False) as store:
        assert store.check() == []
        original, released, mapping = store.load_pair("original", "released")
        assert store.figures("original") == describe(original, rng=np.random.default_rng(0))
        assert [each["id"] for each in rows(store, "released", queries["users"].make({}))] == list(released.ids)
        assert store.check() == []
        (run,) = store.runs("original")
        seed = store.seed("original", "released")
    assert seed is not None
    method = str(run.parameters["method"])
    again = protect(original, run.parameters["k"], method=method, rng=np.random.default_rng(seed))
    assert again.graph == released
    assert again.mapping.tolist() == mapping.tolist()


def test_a_newer_file_is_refused_with_both_versions(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    with open_store(f"file:{path}", create=True):
        pass
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {VERSION + 3}")
    db.close()
    with pytest.raises(InvalidInput, match=f"schema version {VERSION + 3} and this program knows versions up to"):
        open_store(f"file:{path}", create=True)


def test_a_store_that_is_not_there_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"there is no store here.* store or GRAPHPRIV_STORE"):
        open_store(f"file:{tmp_path / 'none.db'}", create=False)
    with pytest.raises(InvalidInput, match="cannot be made"):
        open_store(f"file:{tmp_path / 'no directory' / 'x.db'}", create=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("create", [True, False])
def test_a_file_of_another_program_is_refused_and_left_as_it_is(tmp_path: Path, create: bool) -> None:
    text, other = tmp_path / "text.db", tmp_path / "other.db"
    text.write_text("a text, and long enough to be taken for a header of a database\n" * 40)
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE users (id)")
    db.close()
    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(InvalidInput, match="not a graphpriv store"):
            open_store(f"file:{path}", create=create)
        assert path.read_bytes() == before
    with pytest.raises(InvalidInput):
        open_store(f"file:{tmp_path}", create=create)


@pytest.mark.parametrize("create", [True, False])
def test_an_empty_file_is_a_new_store_and_no_backup(tmp_path: Path, create: bool) -> None:
    path, schemaless = tmp_path / "empty.db", tmp_path / "schemaless.db"
    path.touch()
    db = sqlite3.connect(schemaless)
    db.execute("PRAGMA journal_mode = WAL")
    db.close()
    with pytest.raises(InvalidInput, match="not a graphpriv store"):
        check_backup(path, into=f"file:{tmp_path / 'other.db'}")
    for each in (path, schemaless):
        with open_store(f"file:{each}", create=create) as store:
            assert store.graphs() == []
            assert store.check() == []


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TRIGGER evil AFTER INSERT ON graphs BEGIN DELETE FROM graphs; END",
        "CREATE VIEW evil AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x FROM n",
    ],
)
def test_a_backup_that_runs_something_is_refused(tmp_path: Path, made: str) -> None:
    path = tmp_path / "backup.db"
    with open_store(f"file:{tmp_path / 'store.db'}", create=True) as store:
        store.backup(path)
        db = sqlite3.connect(path)
        db.execute(made)
        db.close()
        with pytest.raises(InvalidInput, match="not a graphpriv store"):
            check_backup(path, into=f"file:{tmp_path / 'store.db'}")
        with pytest.raises(InvalidInput, match="nothing was restored"):
            store.restore(path)
