"""The embedded store: one SQLite file that several processes use at once."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from graphpriv.store.contract import Store
from graphpriv.store.copies import hand_over
from graphpriv.store.reading import UNREADABLE, Source
from graphpriv.store.records import Copy, Forgotten, emptied
from graphpriv.store.sqlite.files import Damaged, StoreFile
from graphpriv.store.sqlite.transaction import SqliteTransaction
from graphpriv.store.statements import Key
from tabular.errors import FileFailure, ReportedError
from tabular.files.disk import STREAM, refuse_existing
from tabular.files.journal import leftovers
from tabular.files.working import working_folder

T = TypeVar("T")


class SqliteStore(Store):
    """Graphs in a file: readers see the last finished write, and writers wait for each other."""

    def __init__(self, path: str | Path, *, create: bool, called: str | None = None, patience: float = 120.0) -> None:
        self.address = called or f"file:{path}"
        self._file = StoreFile(Path(path), called=self.address, patience=patience)
        self._file.prepare(create=create)

    def close(self) -> None:
        self._file.close()
        # It may have grown.
        self._file.keep_reserve()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        if kind is not None:
            self._file.discard_if_new()

    @property
    def _folder(self) -> Path:
        return self._file.path.resolve().parent

    def _read(self, work: Callable[[SqliteTransaction], T]) -> T:
        with self._file.reading() as db:
            return work(SqliteTransaction(db))

    def _write(self, work: Callable[[SqliteTransaction], T]) -> T:
        with self._file.writing() as db:
            return work(SqliteTransaction(db))

    def _write_less(self, work: Callable[[SqliteTransaction], T]) -> T:
        try:
            return self._write(work)
        except FileFailure:
            # The reserve may be gone already, for the log without which the file does not open.
            self._file.reserve.give_up()
            with self._file.sparing():
                return self._write(work)

    def _remove(self, at: SqliteTransaction, name: str) -> None:  # type: ignore[override]
        if self._file.is_sparing:
            at.give_up(name)
        else:
            at.remove(name)

    def _clean(self) -> None:
        self._erase()

    def _erase(self) -> bool:
        """Take out of the files what was deleted; False where that has to wait for room, or for readers."""
        erased = self._delete_given_up() and self._file.erase()
        self._file.keep_reserve()
        return erased

    def _delete_given_up(self) -> bool:
        """Delete what is left of graphs that were given up; False where that has to wait for room."""
        if not self._read(SqliteTransaction.are_some_given_up):
            return True
        with contextlib.suppress(FileFailure), self._file.sparing():
            while self._write(SqliteTransaction.delete_some):
                self._file.empty_log()
            return True
        return False

    def _put(
        self,
        copies: Iterable[Copy],
        *,
        overwrite: bool,
        source: Source | None = None,
        alone: bool = False,
        secret: bytes | None = None,
    ) -> None:
        def put(at: SqliteTransaction) -> bool:
            if source is not None:
                at.refuse_changed(source)
            replaced = alone and bool(at.heads())
            if replaced and not overwrite:
                raise emptied(self.address)
            if replaced:
                at.remove_everything()
            if secret is not None:
                at.put_secret(secret)
            keys: dict[str | None, Key] = {} if source is None else {source.head.name: source.head.key}
            for copy in copies:
                replaced |= at.make_room(copy.info.name, overwrite)
                keys[copy.info.name] = at.insert_copy(copy, keys.get(copy.info.original))
            return replaced

        if self._write(put):
            self._clean()

    def forget(self, name: str, user: str) -> Forgotten:
        return replace(super().forget(name, user), erased=self._erase())

    def backup(self, path: str | Path, *, overwrite: bool = False) -> None:
        refuse_existing(path, overwrite=overwrite)
        # Where that fails, the backup says why it does.
        with contextlib.suppress(ReportedError):
            self.expire()
        self.refuse_changed_content()
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

    def check(self) -> list[str]:
        try:
            self.expire()
            self._clean()
            self.seal()
            left = [
                f"{each}: a killed run left copies of graphs; delete this folder." for each in leftovers(self._folder)
            ]
            return left + self._read(SqliteTransaction.problems_of_all)
        except Damaged as error:
            # Some damage stops the inspection itself.
            return [str(error)]
        except UNREADABLE:
            return [f"{self.address}: its tables or texts are not as they were made; restore a backup of it."]
