"""A disk that is full: it keeps nobody from being forgotten, and nothing from being deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphpriv.store import Run, open_store
from graphpriv.store.sqlite.files import _LEAST_RESERVE
from tabular.errors import FileFailure
from tests.contracts.store import POSTS, little, release_of
from tests.disks import disk, fill
from tests.strategies import random_graph

__all__ = ["disk"]


def raw(disk: Path) -> bytes:
    return b"".join(each.read_bytes() for each in sorted(disk.glob("g.db*")))


def test_a_full_disk_keeps_nobody_from_being_forgotten_and_nothing_from_being_deleted(disk: Path) -> None:
    url, large = f"file:{disk / 'g.db'}", random_graph(1, 9000, 40000)
    with open_store(url, create=True) as store:
        store.save_graph("town", little(), posts=POSTS)
        store.save_graph("city", large)
        store.save_release("city", "out", release_of(large), seed=1, run=Run(verb="protect"))
    fill(disk)
    with open_store(url, create=False) as store:
        with pytest.raises(FileFailure):
            store.save_graph("more", large)
        assert store.forget("town", "17").erased is False
        assert store.load_graph("town").ids == ("4", "99")
        store.delete_graph("city")
        assert [each.name for each in store.graphs()] == ["out", "town"]
        assert store.graph("out").original is None
        # Its rows are gone, though what is left of them in the file waits for room.
        assert store.load_graph("out") == release_of(large).graph
    (disk / "filled").unlink()
    with open_store(url, create=False) as store:
        assert store.check() == []
        assert store.seal() is None
    for trace in (b"@ana_of_the_test", b"what Ana wrote"):
        assert trace not in raw(disk)
    assert b"what Ben wrote" in raw(disk)
    # The room for the next time is there again.
    assert (disk / "g.db-reserve").stat().st_size >= _LEAST_RESERVE


def test_rows_of_a_graph_that_was_given_up_are_nobodys_and_go_with_the_next_opening(disk: Path) -> None:
    url = f"file:{disk / 'g.db'}"
    with open_store(url, create=True) as store:
        store.save_graph("city", random_graph(1, 3000, 9000))
        with store._file.sparing():
            store._write_less(lambda at: at.give_up("city"))
        assert store.graphs() == []
        store.save_graph("city", little())
        assert store.check() == []
        assert store.load_graph("city") == little()
    assert (disk / "g.db").stat().st_size < 200_000
