"""The embedded store: the contract, several processes at once, and what stands in the files."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np
import pytest

from graphpriv.store import Run, User, open_store
from graphpriv.store.copies import check_backup
from graphpriv.store.sqlite.files import StoreFile, _log_ahead
from graphpriv.store.sqlite.store import SqliteStore
from tabular.errors import FileFailure, InvalidInput, StoreUnavailable
from tests.contracts.store import (
    ANA,
    BEN,
    CHILE,
    CLEO,
    MADRID,
    PEOPLE,
    POSTS,
    StoreContract,
    filled,
    little,
    release_of,
)
from tests.strategies import random_graph

#: Processes that begin anew, as the commands and the service do.
processes = multiprocessing.get_context("spawn")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graphs.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(path, create=True) as store:
        yield store


class TestEmbedded(StoreContract):
    @pytest.fixture
    def address(self, tmp_path: Path) -> str:
        return f"file:{tmp_path / 'graphs.db'}"

    def with_small_pages(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("graphpriv.store.statements.PAGE", 2)

    def nothing_is_left_over(self, store: SqliteStore) -> None:
        with store._file.reading() as db:
            (users,) = db.execute("SELECT COUNT(*) FROM users").fetchone()
        assert users == sum(each.users for each in store.graphs())


# Several processes at once


def write_releases(path: Path, done: Event) -> None:
    """Keep and delete releases, so that a reader of a half-written one would notice."""
    with SqliteStore(path, create=False) as store:
        graph = store.load_graph("town")
        for seed in range(12):
            store.save_release(
                "town", "out", release_of(graph, seed), seed=seed, run=Run(verb="protect"), overwrite=True
            )
    done.set()


def add_many(path: Path, first: int, count: int) -> None:
    """Add users one at a time."""
    with SqliteStore(path, create=False) as store:
        for number in range(first, first + count):
            store.add_users("town", [User(id=f"u{number}", topics=(f"topic {number % 7}",))])


def create_store(path: Path, start: Event) -> None:
    """Open a store that may not be there yet, at the same moment as others."""
    start.wait()
    with SqliteStore(path, create=True) as store:
        store.save_graph(f"graph {os.getpid()}", little())


def test_readers_see_whole_states_while_another_process_writes(store: SqliteStore, path: Path) -> None:
    graph = random_graph(4, 300, 900)
    store.save_graph("town", graph)
    store.save_release("town", "out", release_of(graph, 0), seed=0, run=Run(verb="protect"))
    done = processes.Event()
    writer = processes.Process(target=write_releases, args=(path, done))
    writer.start()
    seen = set()
    try:
        while not done.is_set() and writer.is_alive():
            released = store.load_graph("out")
            assert len(released) == len(graph)
            assert released.edge_count == graph.edge_count
            seen.add(released.ids[0])
    finally:
        writer.join()
    assert writer.exitcode == 0
    assert len(seen) > 1
    assert store.check() == []


def test_two_processes_that_write_lose_nothing(store: SqliteStore, path: Path) -> None:
    store.create_graph("town", directed=True)
    writers = [processes.Process(target=add_many, args=(path, first, 60)) for first in (0, 1000)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    ids = store.load_graph("town").ids
    assert [each for each in ids if int(each[1:]) < 1000] == [f"u{number}" for number in range(60)]
    assert len(ids) == 120
    assert store.check() == []


def test_several_processes_may_make_the_same_store(path: Path) -> None:
    start = processes.Event()
    makers = [processes.Process(target=create_store, args=(path, start)) for _ in range(3)]
    for maker in makers:
        maker.start()
    start.set()
    for maker in makers:
        maker.join()
    assert [maker.exitcode for maker in makers] == [0, 0, 0]
    with SqliteStore(path, create=False) as store:
        assert len(store.graphs()) == 3
        assert store.check() == []


def test_threads_share_a_store(store: SqliteStore) -> None:
    store.create_graph("town", directed=True)
    failures = []

    def add(first: int) -> None:
        try:
            for number in range(first, first + 20):
                store.add_users("town", [User(id=f"u{number}")])
                store.load_graph("town")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=add, args=(first,)) for first in (0, 100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert store.graph("town").users == 60


def test_a_child_process_does_not_use_the_connection_of_its_parent(store: SqliteStore) -> None:
    store.save_graph("town", little())
    inherited = id(store._file._connection())
    child = os.fork()
    if child == 0:
        fine = id(store._file._connection()) != inherited and store.load_graph("town") == little()
        store.close()
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert store.load_graph("town") == little()


def test_a_writer_that_waits_too_long_says_that_trying_again_can_help(path: Path) -> None:
    with SqliteStore(path, create=True, patience=0.1) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="try again") as caught:
            store.save_graph("town", little())
        other.execute("ROLLBACK")
        other.close()
        assert caught.value.can_retry
        store.save_graph("town", little())


# What stands in the files


def everything_in(path: Path) -> bytes:
    return b"".join(each.read_bytes() for each in sorted(path.parent.glob(f"{path.name}*")))


def test_nothing_of_a_forgotten_person_stays_in_the_files(store: SqliteStore, path: Path) -> None:
    store.create_graph("town", directed=True)
    order = np.random.default_rng(1).permutation(1500)
    # One at a time and in no order: pages are split again and again, and leave copies of their rows behind.
    for start in range(0, 1500, 100):
        batch = [User(id=f"id-{number:04}-x", handle=f"@handle-{number:04}-x") for number in order[start : start + 100]]
        store.add_users("town", batch)
    assert b"id-0777-x" in everything_in(path)
    assert b"@handle-0777-x" in everything_in(path)
    assert store.forget("town", "id-0777-x").erased
    assert b"id-0777-x" not in everything_in(path)
    assert b"@handle-0777-x" not in everything_in(path)
    assert b"@handle-0776-x" in everything_in(path)


def test_what_another_tool_left_behind_goes_with_the_person(store: SqliteStore, path: Path) -> None:
    filled(store)
    tool = sqlite3.connect(path)
    tool.execute("PRAGMA secure_delete = OFF")
    tool.execute("DELETE FROM posts WHERE id = 'p2'")
    tool.commit()
    tool.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    tool.close()
    assert b"what Ana wrote" in everything_in(path)
    store.forget("town", "17")
    assert b"what Ana wrote" not in everything_in(path)


def test_posts_and_rare_places_of_a_forgotten_person_leave_the_files_and_backups(
    store: SqliteStore, path: Path, tmp_path: Path
) -> None:
    filled(store)
    store.forget("town", "17")
    store.backup(tmp_path / "kept.bak")
    for held in (everything_in(path), (tmp_path / "kept.bak").read_bytes()):
        for trace in (b"@ana_of_the_test", b"what Ana wrote", b"Barcelona", b"Chess"):
            assert trace not in held
        assert b"what Ben wrote" in held


def test_a_deleted_graph_leaves_the_files(store: SqliteStore, path: Path) -> None:
    filled(store)
    store.delete_graph("town")
    assert b"@ana_of_the_test" not in everything_in(path)


@pytest.mark.parametrize("way", ["save", "create", "release", "delete"])
def test_what_was_replaced_leaves_the_files_while_another_process_holds_them(
    store: SqliteStore, path: Path, way: str
) -> None:
    filled(store)
    with SqliteStore(path, create=False) as other:
        other.graphs()
        if way == "save":
            store.save_graph("town", random_graph(1, 3, 3), overwrite=True)
        elif way == "create":
            store.create_graph("town", directed=True, overwrite=True)
        elif way == "release":
            store.save_graph("other", little().restricted(np.array([1, 2])))
            release = release_of(store.load_graph("other"))
            store.save_release("other", "town", release, seed=1, run=Run(verb="protect"), overwrite=True)
        else:
            store.delete_graph("town")
        assert b"@ana_of_the_test" not in everything_in(path)
        assert b"what Ana wrote" not in everything_in(path)


def notes(store: SqliteStore) -> int:
    with store._file.reading() as db:
        return int(db.execute("SELECT COUNT(*) FROM erasures").fetchone()[0])


REPLACED = {
    "handle": (replace(ANA, handle="@other"), b"@ana_of_the_test"),
    "name": (replace(ANA, name=None), "Ana Pérez".encode()),
    "free text": (replace(BEN, location_text="elsewhere"), b"somewhere in Spain"),
    "place": (replace(ANA, location=MADRID), b"Barcelona"),
    "topic": (replace(ANA, topics=("Sports",)), b"Chess"),
    "text of a post": (replace(POSTS[0], text="mended"), b"what Ana wrote"),
    "link of a post": (replace(POSTS[0], links=()), b"https://example.org/a"),
}


@pytest.mark.parametrize("what", REPLACED)
def test_what_a_record_held_before_leaves_the_files_with_the_next_check(
    store: SqliteStore, path: Path, what: str
) -> None:
    record, trace = REPLACED[what]
    filled(store)
    with SqliteStore(path, create=False) as other:
        other.graphs()
        assert trace in everything_in(path)
        if isinstance(record, User):
            store.add_users("town", [record])
        else:
            store.add_posts("town", [record])
        assert notes(store) == 1
        assert store.check() == []
        assert trace not in everything_in(path)
        assert notes(store) == 0


def test_records_that_come_again_or_bring_more_need_no_erasing(store: SqliteStore) -> None:
    filled(store)
    store.add_users("town", [*PEOPLE, replace(CLEO, handle="@cleo", location=CHILE, topics=("Labor",))])
    store.add_posts("town", POSTS)
    assert notes(store) == 0
    # The moment of a post that had none, too.
    store.add_posts("town", [replace(POSTS[1], created="2026-01-01T00:00:00Z")])
    assert notes(store) == 0


def test_what_a_restore_replaces_leaves_the_files(store: SqliteStore, path: Path, tmp_path: Path) -> None:
    store.save_graph("city", random_graph(1, 9, 9))
    store.backup(tmp_path / "kept.bak")
    filled(store)
    store.restore(tmp_path / "kept.bak", overwrite=True)
    assert b"@ana_of_the_test" not in everything_in(path)
    assert b"what Ana wrote" not in everything_in(path)


def test_keys_and_notes_are_given_once_only(store: SqliteStore) -> None:
    keys = []
    for _ in range(3):
        store.save_graph("town", little())
        with store._file.reading() as db:
            keys.append(db.execute("SELECT key FROM graphs").fetchone()[0])
        store.delete_graph("town")
    assert len(set(keys)) == 3
    with store._file.reading() as db:
        assert db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'erasures'").fetchone() == (3,)
        assert db.execute("SELECT COUNT(*) FROM erasures").fetchone() == (0,)


def test_a_reader_in_the_way_puts_the_erasing_off_until_the_check(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphpriv.store.sqlite.files.ERASING_PATIENCE", 0.05)
    filled(store)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT COUNT(*) FROM users").fetchone()
    assert not store.forget("town", "17").erased
    assert any("still hold what was deleted" in problem for problem in store.check())
    reader.execute("COMMIT")
    reader.close()
    assert store.check() == []
    assert b"@ana_of_the_test" not in everything_in(path)


def test_the_file_is_for_its_owner_alone(store: SqliteStore, path: Path) -> None:
    store.save_graph("town", little())
    for each in path.parent.glob(f"{path.name}*"):
        assert each.stat().st_mode & 0o077 == 0


def test_what_stands_in_the_log_of_a_live_store_is_restored(store: SqliteStore, path: Path, tmp_path: Path) -> None:
    store.save_graph("town", little())
    assert path.with_name(f"{path.name}-wal").stat().st_size
    with SqliteStore(tmp_path / "other.db", create=True) as other:
        check_backup(path, into=other.address)
        other.restore(path)
        assert other.load_graph("town") == little()


def test_the_disk_of_a_backup_is_named_when_it_is_full(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save_graph("town", little())

    class Full:
        def __init__(self, db: sqlite3.Connection) -> None:
            self.db = db

        def __getattr__(self, name: str) -> object:
            return getattr(self.db, name)

        def execute(self, query: str, *values: object) -> sqlite3.Cursor:
            if not query.startswith("VACUUM INTO"):
                return self.db.execute(query, *values)
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error

    connected = StoreFile._connection
    monkeypatch.setattr(StoreFile, "_connection", lambda file: Full(connected(file)))
    (tmp_path / "out").mkdir()
    with pytest.raises(FileFailure, match=r"kept\.bak: the disk is full\. Nothing was written\."):
        store.backup(tmp_path / "out" / "kept.bak")
    assert list((tmp_path / "out").iterdir()) == []


# What is no file


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("what", ["null", "pipe", "folder", "below a file"])
def test_what_is_no_file_is_refused_at_once(path: Path, tmp_path: Path, what: str, create: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    named = {
        "null": "/dev/null",
        "pipe": tmp_path / "pipe",
        "folder": tmp_path,
        "below a file": tmp_path / "file" / "x",
    }
    with pytest.raises(InvalidInput, match=r"a folder, a device or a pipe|Not a directory") as caught:
        open_store(f"file:{named[what]}", create=create)
    assert "\n" not in str(caught.value)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "pipe"]


def test_a_name_that_means_memory_to_the_database_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store("file::memory:", create=True) as store:
        store.save_graph("town", little())
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir("elsewhere")
        assert store.check() == []
    assert (tmp_path / ":memory:").is_file()


def test_a_file_that_takes_no_log_is_refused_at_once(tmp_path: Path) -> None:
    with (
        contextlib.closing(sqlite3.connect(":memory:")) as db,
        pytest.raises(InvalidInput, match="write-ahead log, which is not possible"),
    ):
        _log_ahead(db, 60, "file:x")


def test_a_pipe_is_no_backup_but_standard_input_is(store: SqliteStore, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="this is a pipe; give -"):
        store.restore(tmp_path / "pipe")


# A disk that is full


def test_a_full_disk_is_one_line_and_nothing_is_written(store: SqliteStore, path: Path) -> None:
    store.save_graph("town", little())
    pages = store._file._connection().execute("PRAGMA page_count").fetchone()[0]
    store._file._connection().execute(f"PRAGMA max_page_count = {pages + 3}")
    with pytest.raises(FileFailure) as caught:
        store.save_graph("city", random_graph(1, 5000, 9000))
    assert str(caught.value) == f"file:{path}: the disk is full. Nothing was written."
    assert [each.name for each in store.graphs()] == ["town"]
    assert store.load_graph("town") == little()
    assert store.check() == []


def fill_up(path: Path) -> None:
    """Import into a file that may not grow any more."""
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with SqliteStore(path, create=False) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        try:
            store.save_graph("city", random_graph(1, 9000, 40000))
        except FileFailure as error:
            os._exit(0 if str(error).endswith("Nothing was written.") and "\n" not in str(error) else 2)
    os._exit(3)


def test_a_file_that_may_not_grow_keeps_what_it_held(store: SqliteStore, path: Path) -> None:
    store.save_graph("town", little())
    filler = processes.Process(target=fill_up, args=(path,))
    filler.start()
    filler.join()
    assert filler.exitcode == 0
    assert [each.name for each in store.graphs()] == ["town"]
    assert store.check() == []


def import_into_a_new_store(path: Path, rivals: bool) -> None:
    """Make a store that may not grow, and import too much into it; with *rivals* another has it open by then."""
    import resource
    import signal
    import subprocess
    import sys

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    rival = None
    try:
        with open_store(f"file:{path}", create=True) as store:
            if rivals:
                opened = f"from graphpriv.store import open_store; s = open_store('file:{path}', create=False); "
                rival = subprocess.Popen(
                    [sys.executable, "-c", f"{opened} print(s.graphs(), flush=True); input(); print(s.graphs())"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
                assert rival.stdout is not None
                assert rival.stdout.readline() == b"[]\n"
            resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
            store.save_graph("city", random_graph(1, 9000, 40000))
    except FileFailure as error:
        fine = str(error).startswith(f"file:{path}: ") and "\n" not in str(error)
        if rival is not None:
            fine = fine and rival.communicate(b"\n")[0] == b"[]\n"
        os._exit(0 if fine else 2)
    os._exit(3)


@pytest.mark.parametrize("rivals", [False, True])
def test_a_new_store_into_which_nothing_went_is_removed_unless_others_have_it_open(path: Path, rivals: bool) -> None:
    importer = processes.Process(target=import_into_a_new_store, args=(path, rivals))
    importer.start()
    importer.join()
    assert importer.exitcode == 0
    assert path.exists() == rivals
    if rivals:
        with open_store(f"file:{path}", create=False) as store:
            assert store.check() == []
    else:
        assert list(path.parent.iterdir()) == []


def test_a_store_that_was_there_or_holds_something_outlives_a_failure(path: Path) -> None:
    with pytest.raises(RuntimeError), open_store(f"file:{path}", create=True) as store:
        store.save_graph("town", little())
        raise RuntimeError
    with open_store(f"file:{path}", create=True) as store:
        store.delete_graph("town")
    with pytest.raises(RuntimeError), open_store(f"file:{path}", create=True) as store:
        raise RuntimeError
    with open_store(f"file:{path}", create=False) as store:
        assert store.graphs() == []


def test_a_store_removed_by_its_maker_while_it_is_opened_takes_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SqliteStore(path, create=True):
        pass
    up_to_date = StoreFile._bring_up_to_date

    def removed(self: StoreFile, db: sqlite3.Connection) -> None:
        path.unlink()
        up_to_date(self, db)

    monkeypatch.setattr(StoreFile, "_bring_up_to_date", removed)
    with pytest.raises(StoreUnavailable, match="removed while it was opened; try again") as caught:
        open_store(f"file:{path}", create=False)
    assert caught.value.can_retry


def test_a_store_that_cannot_be_made_leaves_no_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr("graphpriv.store.sqlite.files.migrate", full)
    with pytest.raises(FileFailure, match="disk is full"):
        open_store(f"file:{path}", create=True)
    assert list(path.parent.iterdir()) == []
