"""What the damaged files of this folder found, each as a test of its own."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from api.verbs.contract import Work
from crawler.archives import read_original
from crawler.crawling.prices import Prices
from graphpriv.store import open_store
from tabular.errors import InvalidInput, InvalidParameter, UnknownName
from tabular.evolution.checkpoint import CheckpointFile
from tabular.files.journal import finish_interrupted
from tabular.loop import document_of, of_document
from tests.crawler.archives.making import zipped
from tests.crawler.archives.test_x_archive import PARTS
from tests.fuzz.deeper import fill, folder, held, signed
from tests.fuzz.kinds import EVOLVED, PLACES, PRICES, TABLES, do, evolving, stored

STORED = Path(__file__).parents[1] / "graphpriv" / "store" / "sqlite" / "version-7.sqlite.gz"
DEEP = "[" * 100_000
BY_PLACES = {
    "file": "t.csv", "schema": "s.toml", "column": "zip", "by": "places", "param": ["file=p.json"], "out": "out.csv",
}  # fmt: skip


@pytest.mark.parametrize("low", ["inf", "nan", "[" * 3000 + "]" * 3000])
def test_a_table_of_prices_with_no_number_is_refused(low):
    with pytest.raises(InvalidInput, match="this is no table of prices"):
        Prices.parsed("x", PRICES.replace("50", low), "p.toml")


def test_a_dictionary_that_is_nested_too_deeply_is_refused():
    files = {**TABLES, "one.csv": TABLES["t.csv"], "one.csv.dictionary.json": DEEP.encode()}
    with folder(files), pytest.raises(InvalidInput, match="this is not a data dictionary"):
        do("table measure", original="t.csv", masked="one.csv", columns=["age"])


@pytest.mark.parametrize("above", [5, None, True, "Town", {"a": 1}])
def test_a_path_of_places_that_is_no_list_is_refused(above):
    files = {**TABLES, "p.json": json.dumps({**PLACES, "08001": above}).encode()}
    with folder(files), pytest.raises(InvalidInput, match="has no path"):
        do("table hierarchy", **BY_PLACES)


def test_half_of_a_pair_in_a_place_is_refused_and_nothing_is_written():
    places = {name: ["\ud800", *above] for name, above in PLACES.items()}
    with folder({**TABLES, "p.json": json.dumps(places).encode()}) as here:
        with pytest.raises(InvalidInput, match="not valid Unicode"):
            do("table hierarchy", **BY_PLACES)
        assert not (here / "out.csv").exists()


def test_a_part_of_an_archive_without_a_name_is_refused(tmp_path):
    zipped(tmp_path / "a.zip", {**PARTS, "?": "x"})
    data = (tmp_path / "a.zip").read_bytes()
    at = data.rindex(b"PK\x01\x02")
    # The list of parts says that the name has no characters, and that a comment has one more.
    data = data[: at + 28] + b"\0\0" + data[at + 30 : at + 32] + b"\1\0" + data[at + 34 :]
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(InvalidInput):
        read_original(tmp_path / "a.zip")


def test_a_part_whose_lzma_is_damaged_is_refused(tmp_path):
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_LZMA) as packed:
        for name, content in PARTS.items():
            packed.writestr(name, content)
    data = bytearray(into.getvalue())
    at = data.index(b"data/account.js") + len("data/account.js") + 12
    data[at : at + 20] = b"\xff" * 20
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(InvalidInput):
        read_original(tmp_path / "a.zip")


#: What stops a reader of a store in ways that are not foreseen.
DAMAGES = {
    "the document of a crawl": "UPDATE crawl_records SET data = '{\"current\": {\"user\": 1}}' WHERE kind = 'crawl'",
    "a seal": "UPDATE summaries SET data = 5 WHERE number = 1",
    "the parameters of a run": "INSERT INTO runs (graph, verb, parameters, version, input_hash, created) "
    "VALUES (1, 'protect', '[1', '', '', '')",
    "deep parameters": "INSERT INTO runs (graph, verb, parameters, version, input_hash, created) "
    f"VALUES (1, 'protect', '{DEEP}', '', '', '')",
    "the columns of a graph": "UPDATE graphs SET private = ''",
    "the columns of a graph, no list": "UPDATE graphs SET private = '0.5'",
    "a count that is none": "UPDATE graphs SET users = zeroblob(99)",
    "the secret": "UPDATE secret SET secret = 'x'",
    "the parameters of a release": "INSERT OR REPLACE INTO releases (graph, k, method, parameters) "
    "VALUES (1, 2, 'm', '5')",
    "a table": "DROP TABLE topics",
    "a column": "ALTER TABLE users RENAME COLUMN place TO home",
    "a text": "UPDATE users SET id = CAST(x'fffe' AS TEXT) WHERE number = 1",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_store_is_told_by_the_check_and_by_whoever_meets_it(damage, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = gzip.decompress(STORED.read_bytes())
    Path("s.db").write_bytes(data)
    with open_store("file:s.db", create=False) as store:
        assert store.check() == []
        store.backup("s.bak")
    for path in ("s.db", "s.bak"):
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(DAMAGES[damage])
    try:
        assert do("store check").document["problems"]
    except InvalidInput as error:
        assert "restore a backup" in str(error)
    for verb, options in (("graph show", {"name": "town"}), ("graph export", {"name": "town", "out": "g.json"})):
        try:
            do(verb, **options)
        except InvalidInput as error:
            assert "\n" not in str(error)
    with pytest.raises(InvalidInput, match="nothing was restored"):
        do("store restore", file="s.bak", store="file:new.db")


def test_a_seed_that_is_no_number_is_told_by_the_check_though_nothing_seals_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fill(tmp_path, stored())
    with closing(sqlite3.connect("s.bak", isolation_level=None)) as db:
        assert db.execute("UPDATE seeds SET seed = '{}'").rowcount
        db.execute("DELETE FROM summaries WHERE number = 2")
    with pytest.raises(InvalidInput, match="nothing was restored"):
        do("store restore", file="s.bak", store="file:new.db")


def test_figures_that_are_damaged_are_made_anew(tmp_path):
    (tmp_path / "s.db").write_bytes(gzip.decompress(STORED.read_bytes()))
    with open_store(f"file:{tmp_path / 's.db'}", create=False) as store:
        before = store.figures("town")
        for damage in (DEEP, "", "[]", "{"):
            with closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as db:
                assert db.execute("UPDATE summaries SET data = ? WHERE number = 0", [damage]).rowcount
            assert store.figures("town") == before


#: Values of its document that no run keeps.
CHANGES = {"a run that is a text": {"run": "x"}, "a seed that is none": {"seed": "x"}, "no origins": {"origins": []}}


@pytest.mark.parametrize("change", ["no document", "no files", "text", "nan", "not packed", "encrypted", *CHANGES])
def test_a_checkpoint_that_somebody_made_is_refused(change):
    kept = evolving()["best.csv.checkpoint"]
    body = kept[-(len(kept) - kept.index(b"PK")) :]
    with np.load(io.BytesIO(body)) as read:
        arrays = {name: read[name] for name in read.files}
    if change == "no document":
        arrays = {name: array for name, array in arrays.items() if array.dtype != np.uint8 or array.ndim != 1}
    elif change == "no files":
        del arrays["population files"]
    elif change == "text":
        arrays["population gains"] = np.array(["x"])
    elif change in CHANGES:
        part = "population " if change == "no origins" else ""
        inner = {name.removeprefix(part): array for name, array in arrays.items() if name.startswith(part)}
        changed = of_document({**document_of(inner), **CHANGES[change]})
        arrays |= {f"{part}{name}": array for name, array in changed.items()}
    elif change == "nan":
        arrays["history"] = np.full_like(arrays["history"], np.nan)
    into = io.BytesIO()
    np.savez_compressed(into, **arrays)
    made = into.getvalue()
    if change == "not packed":
        made = made[:200] + bytes(100) + made[300:]
    elif change == "encrypted":
        # The first part says so, in its own head and in the list of parts.
        head, listed = made.index(b"PK\x03\x04") + 6, made.index(b"PK\x01\x02") + 8
        made = b"".join(b"\x01" if place in (head, listed) else made[place : place + 1] for place in range(len(made)))
    with folder(evolving()):
        Path("best.csv.checkpoint").write_bytes(signed(made))
        with pytest.raises(InvalidInput, match="checkpoint"):
            CheckpointFile(Path("best.csv.checkpoint")).recall()
            do("table evolve", **EVOLVED, population="p", generations=4, resume=True)


@pytest.mark.parametrize("line", [DEEP, "[]", "5", '"x"', '{"journal": 5}'])
def test_a_journal_that_is_none_stops_no_command(line):
    with folder({".graphpriv-00.journal": line.encode() + b"\n", "mine.txt": b"mine"}) as here:
        before = held(here)
        assert finish_interrupted(here) == []
        assert held(here) == before


def test_an_error_stays_short_however_long_what_it_names_is():
    assert len(str(UnknownName.among("column", "x" * 9999, ["y" * 9999] * 9))) < 2000
    told = str(InvalidParameter.wrong("k", must="be a number", was="x" * 70_000))
    assert len(told) < 2100 and told.startswith("k must be a number, not 'xx") and told.endswith("xx'.")


def test_work_that_fails_on_a_sound_store_is_still_a_bug(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fill(tmp_path, {"s.db": gzip.decompress(STORED.read_bytes())})
    monkeypatch.setattr("crawler.crawling.standing.Standing.of", lambda kept: {}["bug"])
    assert Work(store="file:s.db").opened().check() == []
    with pytest.raises(KeyError):
        do("graph show", name="town")


def test_a_path_that_is_too_long_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="xx: File name too long"):
        do("table describe", file=str(tmp_path / ("x" * 300)))
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(InvalidInput, match="xx: File name too long"):
        do("table compare", file=str(tmp_path / "t.csv"), columns=["a"], html=str(tmp_path / ("x" * 300)))
    with pytest.raises(InvalidInput, match="xx: File name too long"):
        do("table describe", file=str(tmp_path / "t.csv"), schema="x" * 300)
    with pytest.raises(InvalidInput, match="xx: File name too long"):
        do("graph list", store=f"file:{'x' * 300}")


def test_a_column_of_a_record_with_the_end_of_a_line_is_named_in_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b\n" + "1,2\n3,4\n" * 4)
    Path("levels").mkdir()
    for name in "ab":
        Path("levels", f"{name}.csv").write_text("1;*\n2;*\n3;*\n4;*\n")
    asked = {"file": "t.csv", "hierarchies": "levels", "k": 2}
    do("table search", **asked, quasi_identifiers=["a"], out="o.csv", private="p.json")
    record = Path("p.json").read_text()
    Path("p.json").write_text(record.replace('"a"', '"a\\n"'))
    with pytest.raises(InvalidInput) as caught:
        do("table search", **asked, quasi_identifiers=["a"], out="later.csv", previous="p.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("end", ["\n", "\r", "\x85", "\u2028"])
def test_an_end_of_a_line_in_a_name_leaves_an_error_in_one_line(end):
    told = str(UnknownName.among("column", "sex", [f"a{end}b", "income"]))
    assert told == f"No column is called 'sex'; there is a{repr(end)[1:-1]}b, income."
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize("column", ["users", "forgotten"])
def test_billions_of_users_that_are_noted_and_not_there_keep_nobody_waiting(column, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fill(tmp_path, {"s.db": gzip.decompress(STORED.read_bytes())})
    do("graph export", name="town", out="before.json")
    with closing(sqlite3.connect("s.db", isolation_level=None)) as db:
        assert db.execute(f"UPDATE graphs SET {column} = 9223372036854775807 WHERE name = 'town'").rowcount
    do("graph export", name="town", out="after.json")
    assert Path("after.json").read_bytes() == Path("before.json").read_bytes()


def test_a_count_of_crawl_records_that_is_out_of_bounds_is_told_by_the_check(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fill(tmp_path, {"s.db": stored()["s.bak"]})
    assert do("store check").document["problems"] == []
    with closing(sqlite3.connect("s.db", isolation_level=None)) as db:
        assert db.execute("UPDATE crawl_records SET number = ? WHERE kind = 'seal'", [-(2**63)]).rowcount
        assert db.execute("UPDATE crawl_records SET number = 1 WHERE kind = 'page'").rowcount
    assert "its crawl" in str(do("store check").document["problems"])


def test_what_is_noted_of_a_graph_is_told_by_the_check_though_it_is_no_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fill(tmp_path, stored())
    with closing(sqlite3.connect("s.bak", isolation_level=None)) as db:
        assert db.execute("UPDATE graphs SET created = zeroblob(9)").rowcount
    with pytest.raises(InvalidInput, match="nothing was restored"):
        do("store restore", file="s.bak", store="file:new.db")
