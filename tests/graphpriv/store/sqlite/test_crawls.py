"""Crawls in the embedded store: the contract, and what the bytes of the files still tell."""

from __future__ import annotations

import gzip
import stat
from pathlib import Path

import pytest

from graphpriv.store import Store, open_store
from graphpriv.store.crawls import FOR_EVER, PAGE, Step, packed
from graphpriv.store.records import Record
from tests.contracts.crawls import CrawlContract, begun


class TestEmbedded(CrawlContract):
    @pytest.fixture
    def address(self, tmp_path: Path) -> str:
        return f"file:{tmp_path / 'graphs.db'}"


def raw(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("graphs.db*")))


@pytest.fixture
def store(tmp_path: Path):
    with open_store(f"file:{tmp_path / 'graphs.db'}", create=True) as store:
        begun(store)
        # Long and random enough not to be packed: what is found in the files is found as it is.
        page = packed({"kind": "following", "user": "4711-4711-4711"}, b"not to be packed")
        store.advance("town", Step(put=(Record(PAGE, "000009", page, FOR_EVER),)), owner="me")
        yield store


def test_the_files_tell_nothing_of_who_was_forgotten(store: Store, tmp_path: Path) -> None:
    page = next(each.data for each in store.records("town", PAGE) if each.id == "000009")
    assert page in raw(tmp_path)
    assert store.forget("town", "4711-4711-4711").erased
    assert page not in raw(tmp_path)
    assert b"4711-4711" not in raw(tmp_path)


def test_the_files_tell_nothing_of_a_graph_that_was_deleted(store: Store, tmp_path: Path) -> None:
    page = next(each.data for each in store.records("town", PAGE) if each.id == "000009")
    store.delete_graph("town")
    assert page not in raw(tmp_path)
    assert b"suspended" not in raw(tmp_path) and b'"by"' not in raw(tmp_path)


def test_the_journal_is_for_its_owner_alone(store: Store, tmp_path: Path) -> None:
    for path in tmp_path.glob("graphs.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_store_from_before_there_were_crawls_takes_one(tmp_path: Path) -> None:
    path = tmp_path / "graphs.db"
    path.write_bytes(gzip.decompress(Path(__file__).with_name("version-5.sqlite.gz").read_bytes()))
    with open_store(f"file:{path}", create=False) as store:
        assert store.check() == []
        assert [(each.name, each.users) for each in store.graphs()] == [("original", 41), ("released", 41)]
        assert [each.handle for each in store.users("original") if each.id == "late"] == ["@late_one"]
        assert len(list(store.posts("original"))) == 1
        begun(store)
        assert store.check() == []
