"""The embedded store: one SQLite file that several processes use at once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.release import Release
from graphpriv.store.assembly import Parts
from graphpriv.store.contract import Store
from graphpriv.store.records import (
    Added,
    Copy,
    Forgotten,
    GraphInfo,
    Post,
    Run,
    Unsettled,
    User,
    changed,
    emptied,
    no_release_of,
    not_an_original,
    taken,
    written,
)
from graphpriv.store.soundness import (
    sound_copy,
    sound_release,
)
from graphpriv.store.sqlite import additions, rows
from graphpriv.store.sqlite.files import Damaged, StoreFile
from graphpriv.store.sqlite.inspection import problems_of
from graphpriv.store.working import hand_over, leftovers, working_folder
from tabular.errors import FileFailure, UnknownName
from tabular.files.disk import STREAM, refuse_existing

#: How many records are read at a time.
PAGE = 10_000


class SqliteStore(Store):
    """Graphs in a file: readers see the last finished write, and writers wait for each other."""

    def __init__(self, path: str | Path, *, create: bool, called: str | None = None, patience: float = 120.0) -> None:
        self.address = called or f"file:{path}"
        self._file = StoreFile(Path(path), called=self.address, patience=patience)
        self._file.prepare(create=create)

    def close(self) -> None:
        self._file.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        if kind is not None:
            self._file.discard_if_new()

    @property
    def _folder(self) -> Path:
        return self._file.path.resolve().parent

    def graphs(self) -> list[GraphInfo]:
        with self._file.reading() as db:
            return rows.read_infos(db)

    def _keep(self, name: str, graph: SocialGraph, overwrite: bool) -> None:
        with self._file.writing() as db:
            replaced = self._make_room(db, name, overwrite)
            rows.insert_graph(db, name, graph)
        if replaced:
            self._file.erase()

    def load_graph(self, name: str) -> SocialGraph:
        with self._file.reading() as db:
            parts = self._parts(db, name)
        return parts.assemble()

    def revision(self, name: str) -> str:
        with self._file.reading() as db:
            return str(rows.revision_of(db, self._key(db, name)[0]))

    def load_pair(self, original: str, release: str) -> tuple[SocialGraph, SocialGraph, NDArray[np.int64]]:
        with self._file.reading() as db:
            source, made = self._release_of(db, original, release)
            parts = self._parts(db, original), self._parts(db, release)
            mapping = rows.read_mapping(db, made, source)
        return parts[0].assemble(), parts[1].assemble(), mapping

    def delete_graph(self, name: str) -> None:
        with self._file.writing() as db:
            rows.delete_graph(db, self._key(db, name)[0])
            rows.note_erasure(db)
        self._file.erase()

    def _add(self, kind: str, name: str, records: Sequence[Any]) -> Added:
        with self._file.writing() as db:
            return additions.add(db, kind, self._original(db, name), name, records)

    def users(self, name: str) -> Iterator[User]:
        with self._file.reading() as db:
            key, _, _ = self._key(db, name)
            revision = rows.revision_of(db, key)
            profiles = additions.read_profiles(db, key)
        query = (
            "SELECT users.number, users.id, place, topic1, topic2, topic3, handle, persons.name, location_text "
            "FROM users LEFT JOIN persons USING (graph, number) "
            "WHERE users.graph = ? AND users.number > ? ORDER BY users.number LIMIT ?"
        )
        for row in self._pages(query, key, name, revision):
            yield profiles.user(row[1], row[2], row[3:6], row[6:])

    def posts(self, name: str) -> Iterator[Post]:
        with self._file.reading() as db:
            key, _, _ = self._key(db, name)
            revision = rows.revision_of(db, key)
        query = (
            "SELECT posts.number, posts.id, users.id, text, links, created "
            "FROM posts JOIN users ON users.graph = posts.graph AND users.number = posts.user "
            "WHERE posts.graph = ? AND posts.number > ? ORDER BY posts.number LIMIT ?"
        )
        for row in self._pages(query, key, name, revision):
            yield rows.post_of(row[1:])

    def _keep_release(
        self, original: str, name: str, made: Release, seed: int | None, run: Run, revision: str | None, overwrite: bool
    ) -> None:
        parameters = written(made.parameters)
        with self._file.writing() as db:
            source = self._original(db, original)
            if revision is not None and revision != rows.revision_of(db, source):
                raise changed(original)
            sound_release(made, len(rows.numbers_of(db, source)), original)
            replaced = self._make_room(db, name, overwrite)
            key = rows.insert_graph(db, name, made.graph)
            rows.insert_release(db, key, source, (made.k, made.method, parameters), seed)
            rows.insert_mapping(db, key, source, made.mapping)
            rows.insert_run(db, key, run)
        if replaced:
            self._file.erase()

    def mapping(self, original: str, release: str) -> NDArray[np.int64]:
        with self._file.reading() as db:
            source, key = self._release_of(db, original, release)
            return rows.read_mapping(db, key, source)

    def seed(self, original: str, release: str) -> int | None:
        with self._file.reading() as db:
            _, key = self._release_of(db, original, release)
            row = db.execute("SELECT seed FROM seeds WHERE graph = ?", (key,)).fetchone()
        return int(row[0]) if row else None

    def add_run(self, name: str, run: Run) -> None:
        with self._file.writing() as db:
            rows.insert_run(db, self._key(db, name)[0], run)

    def runs(self, name: str, *, with_releases: bool = True) -> list[Run]:
        with self._file.reading() as db:
            return rows.read_runs(db, self._key(db, name)[0], with_releases=with_releases)

    def forget(self, name: str, user: str) -> Forgotten:
        with self._file.writing() as db:
            gone = additions.forget(db, self._original(db, name), user, name=name)
        return replace(gone, erased=self._file.erase())

    def backup(self, path: str | Path, *, overwrite: bool = False) -> None:
        refuse_existing(path, overwrite=overwrite)
        with working_folder(self._folder if str(path) == STREAM else Path(path).absolute().parent) as folder:
            written = folder / "backup.db"
            # Not a copy of the pages: those may still hold what was deleted from them.
            with self._file.speaking() as db:
                try:
                    db.execute("VACUUM INTO ?", (str(written),))
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_FULL:
                        raise
                    raise FileFailure(f"{path}: the disk is full. Nothing was written.") from None
            hand_over(written, path, overwrite=overwrite)

    def take(self, copies: Iterable[Copy], *, overwrite: bool = False) -> None:
        with self._file.writing() as db:
            held = bool(rows.read_infos(db))
            if held and not overwrite:
                raise emptied(self.address)
            rows.delete_everything(db)
            rows.insert_copies(db, map(sound_copy, copies))
            if held:
                rows.note_erasure(db)
        if held:
            self._file.erase()

    def check(self) -> list[str]:
        try:
            self._file.erase()
            left = [
                f"{each}: a killed run left copies of graphs; delete this folder." for each in leftovers(self._folder)
            ]
            with self._file.reading() as db:
                return left + problems_of(db)
        except Damaged as error:
            # Some damage stops the inspection itself.
            return [str(error)]

    def _pages(self, query: str, key: int, name: str, revision: str | None) -> Iterator[tuple[Any, ...]]:
        last = -1
        while True:
            # A transaction for each page: one for all of them would be left open by whoever stops half way.
            with self._file.reading() as db:
                if rows.revision_of(db, key) != revision:
                    raise Unsettled(self.address, f"graph {name!r}")
                page = db.execute(query, (key, last, PAGE)).fetchall()
            yield from page
            if len(page) < PAGE:
                return
            last = page[-1][0]

    def _parts(self, db: sqlite3.Connection, name: str) -> Parts:
        key, directed, private = self._key(db, name)
        return rows.read_graph(db, key, directed=directed, private=private)

    def _key(self, db: sqlite3.Connection, name: str) -> tuple[int, bool, list[str]]:
        row = db.execute("SELECT key, directed, private FROM graphs WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise UnknownName.among("graph", name, [each for (each,) in db.execute("SELECT name FROM graphs")])
        return int(row[0]), bool(row[1]), json.loads(row[2])

    def _original(self, db: sqlite3.Connection, name: str) -> int:
        key, _, _ = self._key(db, name)
        if db.execute("SELECT 1 FROM releases WHERE graph = ?", (key,)).fetchone():
            raise not_an_original(name)
        return key

    def _release_of(self, db: sqlite3.Connection, original: str, release: str) -> tuple[int, int]:
        source, key = self._key(db, original)[0], self._key(db, release)[0]
        found = db.execute("SELECT graph FROM releases WHERE original = ?", (source,)).fetchall()
        if (key,) not in found:
            made = [each.name for each in rows.read_infos(db) if each.original == original]
            raise no_release_of(original, release, made)
        return source, key

    def _make_room(self, db: sqlite3.Connection, name: str, overwrite: bool) -> bool:
        """Take out what has the name; True if there was something, which must leave the files afterwards."""
        row = db.execute("SELECT key FROM graphs WHERE name = ?", (name,)).fetchone()
        if row is None:
            return False
        if not overwrite:
            raise taken(name)
        rows.delete_graph(db, int(row[0]))
        rows.note_erasure(db)
        return True
