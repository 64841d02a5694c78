"""The audit log: every access to an original or a mapping, each entry chained by a hash to the one before.

An entry that is changed, cut out or put between others breaks the chain. Whoever can write the file can also make the
whole chain anew, so keep the last hash elsewhere: `graphpriv store check` shows it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from api.service.home import Home, now

#: What a door knows of the request that entries come of: the id of it, and the address if that may be kept.
asked: ContextVar[Mapping[str, str]] = ContextVar("asked", default=MappingProxyType({}))

#: What stands before the first entry.
_BEGINNING = "0" * 64

#: What entries can be chained by; each says which it is. Those from before there was a choice say nothing: sha256.
_HASHES = {"sha256": hashlib.sha256, "sha3-256": hashlib.sha3_256}

#: What new entries are chained by. To exchange it, name another one here: the old entries stay as they are.
_CHAINED_BY = "sha256"

_COLUMNS = "number, time, account, role, action, kind, object, details, hash"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the log; it never holds what belongs to a person of a graph."""

    number: int
    time: str
    #: Who asked; nobody where it was the command line.
    account: str | None
    role: str | None
    action: str
    #: The kind of thing that was asked for, and its name.
    kind: str
    object: str | None
    details: Mapping[str, Any]
    hash: str

    @property
    def document(self) -> dict[str, Any]:
        """What is told of it."""
        return {**vars(self), "details": dict(self.details)}

    def expected_hash(self, before: str) -> str:
        """The hash of this entry after one with the hash *before*, by what the entry says that it is chained by."""
        told = {name: value for name, value in self.document.items() if name != "hash"}
        text = json.dumps(told, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        name, mark, _ = self.hash.rpartition(":")
        made = _HASHES[self.chained_by](f"{name}{before}\n{text}".encode())
        return f"{name}{mark}{made.hexdigest()}"

    @property
    def chained_by(self) -> str:
        """The name of what it is chained by to the one before."""
        return self.hash.rpartition(":")[0] or "sha256"


class AuditLog:
    """The audit log of a service; entries are only added."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._waiting: deque[tuple[Entry, Future[Entry]]] = deque()
        self._turn = threading.Lock()

    def add(
        self,
        action: str,
        kind: str,
        name: str | None,
        *,
        account: str | None = None,
        role: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> Entry:
        """Write down that *account* did *action* to a thing; *details* hold no personal data.

        Where this thread changes something in a transaction, the entry is a part of that: both are there, or neither.
        """
        entry = Entry(
            number=0, time="", account=account, role=role, action=action, kind=kind, object=name,
            details={**asked.get(), **(details or {})}, hash="",
        )  # fmt: skip
        if self._home.is_writing:
            with self._home.writing() as db:
                return _added(db, entry)
        written: Future[Entry] = Future()
        self._waiting.append((entry, written))
        with self._turn:
            if not written.done():
                self._write_waiting()
        return written.result()

    def _write_waiting(self) -> None:
        """Write the entries of all threads that wait in one transaction: each waits for the disk, and it takes long."""
        batch = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            with self._home.writing() as db:
                entries = [_added(db, entry) for entry, _ in batch]
        except BaseException as error:
            for _, written in batch:
                written.set_exception(error)
            return
        for (_, written), entry in zip(batch, entries, strict=True):
            written.set_result(entry)

    def entries(self, *, before: int | None = None, limit: int = 100) -> list[Entry]:
        """The last entries, or the last ones *before* a number; the newest first."""
        statement = f"SELECT {_COLUMNS} FROM audit_log WHERE ? IS NULL OR number < ? ORDER BY number DESC LIMIT ?"  # noqa: S608
        with self._home.reading() as db:
            return [_entry(row) for row in db.execute(statement, (before, before, limit))]

    def end(self) -> tuple[int, str]:
        """How many entries there are, and the hash of the last one."""
        with self._home.reading() as db:
            return _end(db)

    def problems(self) -> list[str]:
        """What is wrong with the chain, in sentences; at most the first break of it and a wrong end."""
        with self._home.reading() as db:
            db.execute("BEGIN")
            try:
                return _problems(db)
            finally:
                db.rollback()


def _problems(db: sqlite3.Connection) -> list[str]:
    count, last = 0, _BEGINNING
    for row in db.execute(f"SELECT {_COLUMNS} FROM audit_log ORDER BY number"):  # noqa: S608
        try:
            entry = _entry(row)
        except ValueError:
            return [f"Audit log, entry {row[0]}: its details are not what was written."]
        if entry.number != count + 1:
            return [f"Audit log: entry {count + 1} is missing."]
        if entry.chained_by not in _HASHES:
            return [f"Audit log, entry {entry.number}: nothing here knows what it is chained by."]
        if entry.hash != entry.expected_hash(last):
            return [f"Audit log, entry {entry.number}: it does not fit the entry before it."]
        count, last = entry.number, entry.hash
    if _end(db) != (count, last):
        return ["Audit log: entries at its end are missing, or were added by another program."]
    return []


def _added(db: sqlite3.Connection, entry: Entry) -> Entry:
    """The entry as it stands at the end of the log."""
    number, before = _end(db)
    entry = replace(entry, number=number + 1, time=now(), hash=f"{_CHAINED_BY}:")
    entry = replace(entry, hash=entry.expected_hash(before))
    row = {**entry.document, "details": json.dumps(entry.document["details"], sort_keys=True)}
    marks = ", ".join(f":{name}" for name in row)
    db.execute(f"INSERT INTO audit_log ({', '.join(row)}) VALUES ({marks})", row)  # noqa: S608
    db.execute("INSERT OR REPLACE INTO audit_log_end VALUES (1, ?, ?)", (entry.number, entry.hash))
    return entry


def _end(db: sqlite3.Connection) -> tuple[int, str]:
    return db.execute("SELECT number, hash FROM audit_log_end").fetchone() or (0, _BEGINNING)


def _entry(row: tuple[Any, ...]) -> Entry:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    return Entry(**{**values, "details": json.loads(values["details"])})
