"""Questions about graphs in both stores, and what the options refuse before any store is asked."""

from __future__ import annotations

import sqlite3
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from graphpriv.queries import queries, rows
from graphpriv.store import open_store
from graphpriv.store.sqlite.store import SqliteStore
from graphpriv.synthetic import synthetic_graph
from tabular.errors import InvalidParameter
from tests.contracts.queries import QueryContract, every
from tests.contracts.store import RUN, filled, little, release_of


class TestEmbedded(QueryContract):
    @pytest.fixture
    def address(self, tmp_path: Path) -> str:
        return f"file:{tmp_path / 'graphs.db'}"


@pytest.mark.neo4j
class TestNeo4j(QueryContract):
    @pytest.fixture
    def address(self, neo4j_url: str) -> str:
        return neo4j_url


@pytest.mark.parametrize(
    ("query", "options", "parameter"),
    [
        ("users", {"limit": 0}, "limit"),
        ("users", {"limit": 1001}, "limit"),
        ("users", {"limit": 1.5}, "limit"),
        ("users", {"limit": True}, "limit"),
        ("users", {"cursor": 5}, "cursor"),
        ("users", {"location": 5}, "location"),
        ("users", {"rank": 1}, "rank"),
        ("users", {"topic": "Sports", "rank": 4}, "rank"),
        ("users", {"topic": "Sports", "rank": 1.5}, "rank"),
        ("users", {"degree": "-1"}, "degree"),
        ("users", {"degree": ".."}, "degree"),
        ("users", {"degree": "1..2..3"}, "degree"),
        ("users", {"degree": "٣"}, "degree"),
        ("users", {"degree": 3}, "degree"),
        ("users", {"followers": "many"}, "followers"),
        ("neighbours", {"user": "17", "direction": "both"}, "direction"),
        ("counts", {"by": ""}, "by"),
        ("counts", {"by": "topic4"}, "by"),
        ("counts", {"by": "topic1,topic1"}, "by"),
        ("counts", {"by": "location:galaxy"}, "by"),
        ("counts", {"by": "topic1", "order": "random"}, "order"),
        ("mixing", {"by": "topics"}, "by"),
        ("mixing", {"by": "topic1,topic2"}, "by"),
        ("degrees", {"of": "friends"}, "of"),
    ],
)
def test_a_wrong_option_is_refused_by_its_name(query: str, options: dict[str, object], parameter: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        queries[query].make(options)
    assert caught.value.parameter == parameter
    assert caught.value.must


def test_a_summary_goes_with_the_change_and_comes_with_the_question(tmp_path: Path) -> None:
    path = tmp_path / "graphs.db"

    def pieces() -> int:
        db = sqlite3.connect(path)
        ((count,),) = db.execute("SELECT COUNT(*) FROM summaries")
        db.close()
        return int(count)

    with open_store(f"file:{path}", create=True) as store:
        filled(store)
        assert pieces() == 0
        assert len(every(store, "users", "town")) == 3
        held = pieces()
        assert held > 10
        store.forget("town", "17")
        assert pieces() == 0
        store.save_graph("other", little())
        # And the seals of what was stored, and of what is noted of it.
        assert pieces() == held + 2
        store.delete_graph("other")
        assert pieces() == 0


def test_what_a_summary_held_of_a_forgotten_person_leaves_the_files(tmp_path: Path) -> None:
    path = tmp_path / "graphs.db"
    with open_store(f"file:{path}", create=True) as store:
        store.save_graph("town", little())
        assert b"Barcelona" in content(path)
        assert store.forget("town", "17").erased
        every(store, "users", "town")
        for trace in (b"Barcelona", b"Chess"):
            assert trace not in content(path)


def content(path: Path) -> bytes:
    return b"".join(each.read_bytes() for each in sorted(path.parent.glob(f"{path.name}*")))


def test_questions_about_a_release_read_nothing_of_its_original(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "graphs.db", create=True) as store:
        store.save_graph("town", little())
        store.save_release("town", "out", release_of(little()), seed=1, run=RUN)
        read: list[str] = []
        with store._file.speaking() as db:
            db.set_trace_callback(read.append)
            asked: list[tuple[str, dict[str, str]]] = [
                *[("users", {"location": "Spain"}), ("neighbours", {"user": release_of(little()).graph.ids[0]})],
                *[("counts", {"by": "location,topics"}), ("mixing", {"by": "topic1"}), ("degrees", {})],
                *[("components", {}), ("clustering", {})],
            ]
            for query, options in asked:
                assert every(store, query, "out", **options)
            db.set_trace_callback(None)
    statements = {each for each in read if each.startswith("SELECT") and "FROM graphs LEFT JOIN releases" not in each}
    assert len(statements) > 5
    assert all("graph = 2" in each for each in statements)
    for table in ("mappings", "seeds", "persons", "runs", "follows"):
        assert not any(table in each for each in read)


def test_a_stream_takes_the_memory_of_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphpriv.store.summary.CHUNK", 1024)
    monkeypatch.setattr("graphpriv.queries.contract.STREAMED", 500)
    with open_store(f"file:{tmp_path / 'graphs.db'}", create=True) as store:
        store.save_graph("town", synthetic_graph(20_000, 100_000, rng=np.random.default_rng(1)))
        by_two: dict[str, str] = {"by": "location,topics"}
        asked = (("users", {}, 2), ("counts", by_two, 2), ("mixing", {"by": "location"}, 4))
        for query, options, limit in asked:
            tracemalloc.start()
            count = sum(1 for _ in rows(store, "town", queries[query].make(options)))
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert count > 1_000
            # All rows of users would be 11 MiB.
            assert peak < limit * 2**20, (query, peak)
