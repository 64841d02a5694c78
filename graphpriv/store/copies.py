"""Carry all that one store holds into another: what backups and restores do."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from graphpriv.store.contract import Copy, Store
from tabular.errors import InvalidInput
from tabular.files import STREAM, read_bytes, reason

if TYPE_CHECKING:
    from graphpriv.store.sqlite import SqliteStore


def copies_of(store: Store) -> Iterator[Copy]:
    """Everything in a *store*, one graph at a time, originals before the releases made from them."""
    for info in sorted(store.graphs(), key=lambda each: each.is_release):
        linked = info.original is not None
        yield Copy(
            info=info,
            graph=store.load_graph(info.name),
            posts=() if info.is_release else tuple(store.posts(info.name)),
            runs=tuple(store.runs(info.name, with_releases=False)),
            mapping=store.mapping(info.original, info.name) if info.original is not None else None,
            seed=store.seed(info.original, info.name) if linked and info.original is not None else None,
        )


@contextlib.contextmanager
def private_directory() -> Iterator[Path]:
    """A directory for the time of the block that nobody else can look into."""
    with tempfile.TemporaryDirectory(prefix="graphpriv-") as directory:
        yield Path(directory)


@contextlib.contextmanager
def opened_backup(path: str | Path) -> Iterator[SqliteStore]:
    """A backup as a store, found sound; the file itself is not touched, also where its layout is older."""
    from graphpriv.store.sqlite import SqliteStore

    with private_directory() as directory:
        working_copy = directory / "backup.db"
        if str(path) == STREAM:
            working_copy.write_bytes(read_bytes(path))
        else:
            try:
                shutil.copyfile(path, working_copy)
            except OSError as error:
                raise InvalidInput(f"{path}: {reason(error)}") from None
        with SqliteStore(working_copy, create=False, called=str(path)) as store:
            problems = store.check()
            if problems:
                raise InvalidInput(f"{path}: the backup is not sound, and nothing was restored: {problems[0]}")
            yield store
