"""Carry all that one store holds into another: what backups and restores do, in folders that nobody else looks into.

Such folders lie where the finished file goes and not among the temporary files of the machine: whoever keeps persons
has chosen that disk for them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from graphpriv.store.sqlite.schema import acts_by_itself, is_ours
from tabular.errors import FileFailure, InvalidInput
from tabular.files.disk import STREAM, failure, read_bytes, reason, refuse_existing, replacing
from tabular.files.journal import sync_folder
from tabular.files.working import working_folder

if TYPE_CHECKING:
    from graphpriv.store.sqlite.store import SqliteStore


def check_backup(path: str | Path, *, into: str) -> None:
    """Refuse a file that cannot be restored, before the store *into* which it is to go is opened or made.

    Standard input can be read once only; what comes from there is checked by the restore itself, before it changes
    anything.
    """
    if str(path) != STREAM:
        near = Path(into.removeprefix("file:")).resolve().parent if into.startswith("file:") else None
        with opened_backup(path, near=near):
            pass


def _copy_whole(path: Path, target: Path) -> None:
    """Copy a file together with what stands in the log beside it: it may be a store in use."""
    if path.is_fifo():
        raise InvalidInput(f"{path}: this is a pipe; give - and send the backup to standard input.")
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise InvalidInput(f"{path}: {reason(error)}") from None
    logs = [path.with_name(path.name + suffix) for suffix in ("-wal", "-journal")]
    # Where nothing stands in a log, the file is all there is, and may lie where nothing can be written.
    alone = not any(log.exists() and log.stat().st_size for log in logs) and not os.access(path.parent, os.W_OK)
    where = f"{path.absolute().as_uri()}?{'immutable=1' if alone else 'mode=ro'}"
    try:
        with (
            contextlib.closing(sqlite3.connect(where, uri=True, timeout=30.0)) as source,
            contextlib.closing(sqlite3.connect(target)) as copy,
        ):
            source.backup(copy)
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            raise FileFailure(f"{target.parent.parent}: the disk is full. Nothing was restored.") from None
        if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY):
            raise InvalidInput(
                f"{path}: this is a store in use, and the log beside it cannot be read; nothing was restored. "
                "Write a backup of it with `graphpriv store backup`, and restore that."
            ) from None
        raise InvalidInput(f"{path}: this is not a graphpriv store, or it is damaged; nothing was restored.") from None


def _refuse_foreign(working_copy: Path, path: str | Path) -> None:
    """Refuse what is no store, also an empty file; and half of a store that came as a stream without its log."""
    with contextlib.closing(sqlite3.connect(working_copy)) as db:
        try:
            ours = is_ours(db) and not acts_by_itself(db)
        except (sqlite3.Error, UnicodeDecodeError):
            ours = False
    if not ours:
        raise InvalidInput(f"{path}: this is not a graphpriv store; nothing was restored.")
    if str(path) == STREAM and working_copy.read_bytes()[18:20] == b"\x02\x02":
        raise InvalidInput(
            f"{path}: this is a store file, not a backup: the entries of the log beside it are missing. "
            "Write a backup with `graphpriv store backup`, and restore that."
        )


@contextlib.contextmanager
def opened_backup(path: str | Path, *, near: Path | None) -> Iterator[SqliteStore]:
    """A backup as a store, found sound; the file itself is not touched, also where its layout is older.

    What is read is a copy in the folder *near*, that of the store which takes it, or else beside the backup.
    """
    from graphpriv.store.sqlite.store import SqliteStore

    places = [place for place in (near, Path(path).resolve().parent if str(path) != STREAM else None) if place]
    with working_folder(first_usable(*places)) as folder:
        working_copy = folder / "backup.db"
        if str(path) == STREAM:
            content = read_bytes(STREAM)
            try:
                working_copy.write_bytes(content)
            except OSError as error:
                raise failure(error, folder.parent) from None
        else:
            _copy_whole(Path(path), working_copy)
        _refuse_foreign(working_copy, path)
        with SqliteStore(working_copy, create=False, called=str(path)) as store:
            problems = store.check()
            if problems:
                raise InvalidInput(f"{path}: the backup is not sound, and nothing was restored: {problems[0]}")
            yield store


def first_usable(*places: Path) -> Path:
    """The first of the folders that can be written to; the one for temporary files where there is none."""
    fallback = Path(tempfile.gettempdir())
    return next((each for each in places if each.is_dir() and os.access(each, os.W_OK | os.X_OK)), fallback)


def hand_over(written: Path, path: str | Path, *, overwrite: bool) -> None:
    """Put a file that is finished in the place of *path*, for its owner's eyes alone."""
    if str(path) == STREAM:
        with written.open("rb") as source, replacing(path) as file:
            shutil.copyfileobj(source, file)
        return
    try:
        written.chmod(0o600)
        with written.open("rb") as file:
            os.fsync(file.fileno())
        refuse_existing(path, overwrite=overwrite)
        written.replace(path)
        sync_folder(Path(path).absolute().parent)
    except OSError as error:
        raise failure(error, path) from None
