"""Contents that changed behind a store are noticed by check, backup and restore."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from graphpriv.store import Post, Run, Store, User, open_store
from graphpriv.store.copies import check_backup
from graphpriv.store.crawls import KINDS, SEEN, Step, document
from graphpriv.store.enriched import Linked
from graphpriv.store.seals import content_of, fits, seal
from tabular.errors import InvalidInput
from tests.contracts.crawls import begun
from tests.contracts.store import POSTS, filled, little, quietly, release_of
from tests.servers import Neo4jServer
from tests.strategies import graphs

HANDLE = "@ana_of_the_test"
CHANGED = "its records are not those that were stored"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graphs.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(f"file:{path}", create=True) as store:
        yield with_release(store)


def with_release(store: Store) -> Store:
    store.save_graph("town", little(), posts=POSTS)
    store.save_release("town", "out", release_of(little()), seed=5, run=Run(verb="protect"))
    return store


#: What a disk or another program may do to an SQLite file, so that every count still fits.
CHANGES = {
    "a handle": "UPDATE persons SET handle = '@ena_of_the_test' WHERE handle = '@ana_of_the_test'",
    "an id": "UPDATE users SET id = '18' WHERE id = '17'",
    "a place of a user": "UPDATE users SET place = 1 WHERE id = '17'",
    "the name of a place": "UPDATE places SET name = 'Barcelone' WHERE name = 'Barcelona'",
    "the name of a topic": "UPDATE topics SET name = 'Chest' WHERE name = 'Chess'",
    "whom somebody follows": "UPDATE follows SET target = 2 WHERE source = 0 AND graph = 1",
    "a post": "UPDATE posts SET text = 'what Ana wrota' WHERE text = 'what Ana wrote'",
    "who wrote a post": "UPDATE posts SET user = 1 WHERE id = 'p3'",
    "whose row it is": "UPDATE mappings SET released = 2 - released",
    "a seed": "UPDATE seeds SET seed = '6'",
    "a released profile": "UPDATE users SET place = NULL WHERE graph = 2",
    "the k that a release promises": "UPDATE releases SET k = k + 1",
    "how a release was made": "UPDATE releases SET method = 'least-lass'",
    "with which parameters": "UPDATE releases SET parameters = '{\"limit\": 0}'",
    "the name of a graph": "UPDATE graphs SET name = 'tomn' WHERE name = 'town'",
    "when it was made": "UPDATE graphs SET created = '1970-01-01T00:00:00.000Z'",
    "what was done with it": "UPDATE runs SET verb = 'protebt'",
    "of what": "UPDATE runs SET input_hash = 'hmac-sha256:00'",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_content_that_changed_is_noticed_by_check_backup_and_restore(
    store: Store, path: Path, tmp_path: Path, change: str
) -> None:
    assert store.check() == []
    store.backup(tmp_path / "good.bak")
    shutil.copy(tmp_path / "good.bak", tmp_path / "bad.bak")
    for file in (path, tmp_path / "bad.bak"):
        with closing(sqlite3.connect(file, isolation_level=None)) as db:
            assert db.execute(CHANGES[change]).rowcount
    assert any(CHANGED in each for each in store.check())
    with pytest.raises(InvalidInput, match=r"the records of graph '\w+' are not those that were stored"):
        store.backup(tmp_path / "other.bak")
    assert not (tmp_path / "other.bak").exists()
    with pytest.raises(InvalidInput, match=f"the backup is not sound, and nothing was restored: .*{CHANGED}"):
        check_backup(tmp_path / "bad.bak", into="file:elsewhere.db")
    # The one before is as it was, and brings everything back.
    store.restore(tmp_path / "good.bak", overwrite=True)
    assert store.check() == [] and store.load_graph("town") == little()


def test_one_bit_of_a_handle_in_the_file_is_noticed(store: Store, path: Path) -> None:
    store.close()
    data = bytearray(path.read_bytes())
    data[data.index(HANDLE.encode()) + 1] ^= 1
    path.write_bytes(data)
    with open_store(f"file:{path}", create=False) as opened:
        assert opened.load_graph("town").private["handle"][0] == "@`na_of_the_test"
        (problem,) = opened.check()
        assert problem.startswith("Graph 'town': ") and CHANGED in problem


A_FIGURE = "UPDATE summaries SET data = CAST(replace(data, 'components', 'compoments') AS BLOB) WHERE number = 0"


A_COLUMN = "UPDATE summaries SET data = zeroblob(length(data)) WHERE number = (1 << 32)"


def test_no_backup_is_made_that_could_not_be_restored_for_its_summary(store: Store, path: Path, tmp_path: Path) -> None:
    for change in (A_FIGURE, A_COLUMN):
        store.backup(tmp_path / "good.bak", overwrite=True)
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            assert db.execute(change).rowcount
        with pytest.raises(InvalidInput, match="are not those that were stored"):
            store.backup(tmp_path / "bad.bak")
        store.restore(tmp_path / "good.bak", overwrite=True)
        assert store.check() == []


def test_figures_that_changed_are_noticed_and_made_anew_after_any_change(store: Store, path: Path) -> None:
    store.summarise("town")
    assert store.check() == []
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        assert db.execute(A_FIGURE).rowcount
    assert any("the summary says something else of figures" in each for each in store.check())
    store.add_users("town", [User(id="5")])
    store.summarise("town")
    assert all("'town'" not in each for each in store.check())


def test_a_run_that_is_added_seals_no_change_that_came_before_it(store: Store, path: Path, tmp_path: Path) -> None:
    store.add_run("out", Run(verb="audit"))
    assert store.check() == []
    store.backup(tmp_path / "good.bak")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(CHANGES["the k that a release promises"])
    store.add_run("out", Run(verb="audit"))
    assert any(CHANGED in each for each in store.check())
    store.restore(tmp_path / "good.bak", overwrite=True)
    store.add_run("out", Run(verb="audit"))
    store.delete_graph("town")
    assert store.check() == [] and len(store.runs("out")) == 3


def test_what_is_changed_through_the_store_is_sealed_again(store: Store, tmp_path: Path) -> None:
    steps = [
        lambda: store.add_users("town", [User(id="5", handle="@five")]),
        lambda: store.add_posts("town", [Post(id="p9", user="5", text="new")]),
        lambda: store.forget("town", "17"),
        lambda: store.save_graph("town", little(), overwrite=True),
        lambda: store.delete_graph("town"),
    ]
    for number, step in enumerate(steps):
        step()
        store.backup(tmp_path / f"{number}.bak")
        check_backup(tmp_path / f"{number}.bak", into="file:elsewhere.db")
        assert store.check() == []


#: The same for what is kept of a crawl.
OF_CRAWLS = {
    "a document": "UPDATE crawl_records SET data = CAST(replace(data, 'kept', 'gone') AS BLOB) WHERE id = '17'",
    "half a document": "UPDATE crawl_records SET data = substr(data, 1, 5) WHERE kind = 'visited' AND id = '17'",
    "a raw answer": "UPDATE crawl_records SET data = CAST('y' || substr(data, 2) AS BLOB) WHERE kind = 'page'",
    "when an answer goes": "UPDATE crawl_records SET number = number - 1 WHERE kind = 'page' AND id = '000001'",
    "whose record it is": "UPDATE crawl_records SET id = '18' WHERE kind = 'visited' AND id = '17'",
    "a record that is gone": "DELETE FROM crawl_records WHERE kind = 'seen' AND id = '99'",
    "a record that came": "INSERT INTO crawl_records SELECT graph, kind, 'x', number, data FROM crawl_records LIMIT 1",
    "the seal": "DELETE FROM crawl_records WHERE kind = 'seal'",
    "half of the seal": "UPDATE crawl_records SET data = substr(data, 1, 20) WHERE kind = 'seal'",
}
CRAWL_CHANGED = "what is kept of its crawl is not what was stored"


@pytest.mark.parametrize("change", OF_CRAWLS)
def test_a_record_of_a_crawl_that_changed_is_noticed_by_check_backup_and_restore(
    path: Path, tmp_path: Path, change: str
) -> None:
    with open_store(f"file:{path}", create=True) as store:
        begun(store)
        assert store.check() == []
        store.backup(tmp_path / "good.bak")
        shutil.copy(tmp_path / "good.bak", tmp_path / "bad.bak")
        for file in (path, tmp_path / "bad.bak"):
            with closing(sqlite3.connect(file, isolation_level=None)) as db:
                assert db.execute(OF_CRAWLS[change]).rowcount
        (problem,) = store.check()
        assert problem.startswith("Graph 'town': ") and CRAWL_CHANGED in problem
        with pytest.raises(InvalidInput, match="the records of graph 'town' are not those that were stored"):
            store.backup(tmp_path / "other.bak")
        with pytest.raises(InvalidInput, match=f"nothing was restored: .*{CRAWL_CHANGED}"):
            check_backup(tmp_path / "bad.bak", into="file:elsewhere.db")
        # No later step of the crawl makes it right.
        store.advance("town", Step(put=(document(SEEN, "7", {"by": []}),)), owner="me")
        assert any(CRAWL_CHANGED in each for each in store.check())
        store.restore(tmp_path / "good.bak", overwrite=True)
        assert store.check() == []


def test_every_step_of_a_crawl_is_sealed(path: Path, tmp_path: Path) -> None:
    with open_store(f"file:{path}", create=True) as store:
        begun(store)
        steps = [
            lambda: store.advance("town", Step(drop=((SEEN, "99"), (SEEN, "99"), (SEEN, "none"))), owner="me"),
            lambda: store.advance("town", Step(put=(document(SEEN, "7", {}), document(SEEN, "7", [1]))), owner="me"),
            lambda: store.advance("town", Step(erase=("4",)), owner="me"),
            lambda: store.put_profiles("town", {"17": (None, ("Chess",))}, {"17": {"topics": "posts"}}),
            lambda: store.put_linked("town", {"https://a.b": Linked("read", 200)}, {"https://a.b": ["17"]}, 2**40),
            lambda: store.expire(2**40 + 1),
            lambda: store.forget("town", "17"),
            lambda: store.leave_crawl("town", "me"),
        ]  # fmt: skip
        for number, step in enumerate(steps):
            before = sealed_so(path)
            step()
            assert sealed_so(path) != before, number
            assert store.check() == [], number
            store.backup(tmp_path / f"{number}.bak")
            check_backup(tmp_path / f"{number}.bak", into="file:elsewhere.db")
        # A copy has a seal of its own.
        store.adopt(replace(next(store.copies()), info=replace(store.graphs()[0], name="copy")))
        assert store.check() == [] and len({each for each, _ in sealed_so(path)}) == 2


def sealed_so(path: Path) -> list[tuple[bytes, int]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT data, number FROM crawl_records WHERE kind = 'seal' ORDER BY graph").fetchall()


def test_crawls_of_version_7_are_sealed_when_the_store_is_opened(path: Path) -> None:
    path.write_bytes(gzip.decompress((Path(__file__).parent / "sqlite" / "version-7.sqlite.gz").read_bytes()))
    assert sealed_so(path) == []
    with open_store(f"file:{path}", create=False) as store:
        assert store.check() == []
        ((_, count),) = sealed_so(path)
        assert count == sum(1 for kind in KINDS for _ in store.records("town", kind)) == 63
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        assert db.execute("DELETE FROM crawl_records WHERE kind = 'forgotten'").rowcount == 1
    with open_store(f"file:{path}", create=False) as store:
        assert any(CRAWL_CHANGED in each for each in store.check())


def test_graphs_of_earlier_versions_are_sealed_by_the_check(path: Path) -> None:
    with open_store(f"file:{path}", create=True) as store:
        filled(store)
        assert held(path) == 0
        assert store.check() == []
        assert held(path) == 1
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(CHANGES["a post"])
    with open_store(f"file:{path}", create=False) as store:
        assert any(CHANGED in each for each in store.check())


@pytest.mark.parametrize("change", ["a figure", "the k that a release promises"])
def test_what_is_noted_of_graphs_of_earlier_versions_is_sealed_by_the_check(
    store: Store, path: Path, change: str
) -> None:
    changes = {**CHANGES, "a figure": A_FIGURE}
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        assert db.execute("DELETE FROM summaries WHERE number IN (3, 4)").rowcount == 4
        assert store.check() == []
        assert db.execute(changes[change]).rowcount
    assert store.check() != []


def held(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("SELECT COUNT(*) FROM summaries WHERE number IN (1, 2)").fetchone()[0])


@quietly
@given(graphs())
def test_a_seal_fits_a_graph_however_it_is_stored_and_no_other(tmp_path_factory, graph) -> None:
    with open_store(f"file:{tmp_path_factory.mktemp('s') / 's.db'}", create=True) as store:
        store.save_graph("g", graph)
        assert store.check() == []
        sealed = seal(content_of(graph, ()))
        assert fits(sealed, content_of(store.load_graph("g"), ()))
    assert not fits(sealed, content_of(replace(graph, ids=(*graph.ids[:-1], "another id")), ()))
    # It is no fingerprint: no two are alike.
    assert seal(content_of(graph, ())) != sealed


@pytest.mark.neo4j
def test_a_content_that_changed_on_a_server_is_noticed(
    neo4j_url: str, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    with open_store(neo4j_url, create=True) as store:
        with_release(store)
        assert store.check() == []
        store.backup(tmp_path / "good.bak")
        mapping = "MATCH (m:Match) SET m.released = 2 - m.released"
        handle = "MATCH (u:User {handle: '@ana_of_the_test'}) SET u.handle = '@ena_of_the_test'"
        store.add_run("out", Run(verb="audit"))
        assert store.check() == []
        store.backup(tmp_path / "good.bak", overwrite=True)
        for change in (handle, mapping, "MATCH (g:Graph {name: 'out'}) SET g.k = g.k + 1"):
            neo4j_server.ask(change)
            assert any(CHANGED in each for each in store.check())
            with pytest.raises(InvalidInput, match="are not those that were stored"):
                store.backup(tmp_path / "other.bak")
            store.restore(tmp_path / "good.bak", overwrite=True)
            assert store.check() == []
        store.forget("town", "17")
        store.add_users("town", [User(id="5", handle="@five")])
        assert store.check() == []
        neo4j_server.ask("MATCH (u:User {handle: '@five'}) SET u.handle = '@fivo'")
        assert any(CHANGED in each for each in store.check())


@pytest.mark.neo4j
def test_a_record_of_a_crawl_that_changed_on_a_server_is_noticed(
    neo4j_url: str, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    with open_store(neo4j_url, create=True) as store:
        begun(store)
        assert store.check() == []
        store.backup(tmp_path / "good.bak")
        for change in ("SET n.number = n.number + 1", "DELETE n"):
            neo4j_server.ask(f"MATCH (n:Record {{kind: 'seen', id: '99'}}) {change}")
            assert any(CRAWL_CHANGED in each for each in store.check())
            with pytest.raises(InvalidInput, match="are not those that were stored"):
                store.backup(tmp_path / "other.bak")
            store.restore(tmp_path / "good.bak", overwrite=True)
            assert store.check() == []
        # A store of the layout before has no seal, and gets one when it is opened.
        neo4j_server.ask("MATCH (n:Record {kind: 'seal'}) DELETE n")
        assert any(CRAWL_CHANGED in each for each in store.check())
        neo4j_server.ask("MATCH (s:Store) SET s.schema = 5")
    with open_store(neo4j_url, create=False) as store:
        assert store.check() == []
        store.advance("town", Step(erase=("17",)), owner="me")
        assert store.check() == []
