"""The folder of the service: who may ask what, and what was asked, in an SQLite file that its owner alone can read."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tabular.errors import FileFailure, InvalidInput, ReportedError, StoreUnavailable, named
from tabular.files.disk import reason

#: How long a connection waits for another writer, in seconds.
_PATIENCE = 30.0

_SCHEMA = """
CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    created TEXT NOT NULL
) STRICT;
CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    digest BLOB NOT NULL UNIQUE,
    created TEXT NOT NULL,
    expires TEXT NOT NULL,
    last_used TEXT
) STRICT;
CREATE INDEX tokens_of_account ON tokens (account);
CREATE TABLE audit_log (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    account TEXT,
    role TEXT,
    action TEXT NOT NULL,
    kind TEXT NOT NULL,
    object TEXT,
    details TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE TRIGGER audit_log_is_not_changed BEFORE UPDATE ON audit_log
    BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
CREATE TRIGGER audit_log_is_not_cut BEFORE DELETE ON audit_log
    BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
CREATE TABLE audit_log_end (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    number INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE TABLE answers (
    account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    begun TEXT NOT NULL,
    status INTEGER,
    headers TEXT,
    body BLOB,
    PRIMARY KEY (account, key)
) STRICT;
CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    size INTEGER NOT NULL,
    suffix TEXT NOT NULL,
    created TEXT NOT NULL
) STRICT;
"""

_TABLES = """
CREATE TABLE tables (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    size INTEGER NOT NULL,
    created TEXT NOT NULL,
    UNIQUE (kind, name)
) STRICT;
"""

_SESSIONS = """
DROP TABLE IF EXISTS sessions;
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    token TEXT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
    began TEXT NOT NULL,
    used TEXT NOT NULL
) STRICT;
"""

_PROCESSES = """
ALTER TABLE answers ADD COLUMN process TEXT;
"""

_KEYED_ANSWERS = """
CREATE TABLE IF NOT EXISTS secret (only INTEGER PRIMARY KEY CHECK (only = 1), secret BLOB NOT NULL) STRICT;
INSERT OR IGNORE INTO secret VALUES (1, randomblob(32));
DELETE FROM answers;
"""

_SECOND_FACTORS = """
CREATE TABLE second_factors (
    account TEXT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    secret BLOB NOT NULL,
    confirmed TEXT,
    last_step INTEGER NOT NULL DEFAULT 0,
    wrong INTEGER NOT NULL DEFAULT 0,
    last_wrong REAL NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE recovery_codes (
    digest BLOB PRIMARY KEY,
    account TEXT NOT NULL REFERENCES second_factors (account) ON DELETE CASCADE
) STRICT;
CREATE TABLE half_sessions (
    digest BLOB PRIMARY KEY,
    token TEXT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
    began TEXT NOT NULL
) STRICT;
ALTER TABLE tokens ADD COLUMN programs INTEGER NOT NULL DEFAULT 0;
"""

_SCANS = """
ALTER TABLE uploads ADD COLUMN scanned INTEGER NOT NULL DEFAULT 0;
"""

_FIRST_TOKENS = """
ALTER TABLE tokens ADD COLUMN first INTEGER NOT NULL DEFAULT 0;
"""

#: What each version has added to the one before.
_VERSIONS = (_SCHEMA, _TABLES, _SESSIONS, _PROCESSES, _KEYED_ANSWERS, _SECOND_FACTORS, _SCANS, _FIRST_TOKENS)


def now() -> str:
    """The present moment as the service writes it down, in UTC; later moments sort after it."""
    return written(datetime.now(UTC))


def written(moment: datetime) -> str:
    """A *moment* as the service writes it down."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Home:
    """The folder of the service and its database, with a connection for each thread."""

    def __init__(self, folder: str | Path, *, create: bool = False) -> None:
        self.folder = Path(folder).absolute()
        self._file = self.folder / "service.db"
        self._of_thread = threading.local()
        self._lock, self._turn = threading.Lock(), threading.Lock()
        self._open: list[sqlite3.Connection] = []
        if create:
            self._make()
        if not self.exists:
            raise InvalidInput(
                f"{folder}: the service has no folder here; `graphpriv serve` and `graphpriv account add` make one, or "
                f"name another with {named('home')} or GRAPHPRIV_HOME."
            )
        with self.told():
            self._bring_up_to_date()

    @property
    def exists(self) -> bool:
        """Whether the service has been here."""
        return self._file.is_file()

    def _make(self) -> None:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self._file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except OSError as error:
            raise InvalidInput(f"{self.folder}: {reason(error)} The service's folder cannot be made here.") from None
        # An older folder of the same name may be open to others.
        self.folder.chmod(0o700)

    def _bring_up_to_date(self) -> None:
        with self.writing() as db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version > len(_VERSIONS):
                raise InvalidInput(f"{self.folder}: a later version of graphpriv made this folder; use that version.")
            for script in _VERSIONS[version:]:
                for statement in _statements(script):
                    db.execute(statement)
            if version < len(_VERSIONS):
                db.execute(f"PRAGMA user_version = {len(_VERSIONS)}")

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection of this thread, for statements that change nothing."""
        with self.told():
            yield self._connection()

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The connection of this thread in a transaction: everything in it happens, or nothing.

        Within another one of the same thread it is a part of that.
        """
        if self.is_writing:
            yield self._connection()
            return
        with self.told(), self._in_turn():
            db = self._connection()
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.rollback()
                raise
            db.commit()

    @property
    def is_writing(self) -> bool:
        """Whether this thread is in a transaction."""
        held = self._held()
        return held is not None and held.in_transaction

    @contextlib.contextmanager
    def _in_turn(self) -> Iterator[None]:
        """Wait for the other threads: SQLite itself looks now and then, and with many who wait some wait for long."""
        if not self._turn.acquire(timeout=_PATIENCE):
            raise _unavailable()
        try:
            yield
        finally:
            self._turn.release()

    @contextlib.contextmanager
    def told(self) -> Iterator[None]:
        """Failures of the database as errors of ours."""
        try:
            yield
        except ReportedError:
            raise
        except sqlite3.OperationalError as error:
            code = error.sqlite_errorcode & 0xFF
            if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                raise FileFailure("The service's disk is full or failed; nothing was written.") from None
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN):
                raise _unavailable() from None
            raise

    def settle(self) -> bool:
        """Empty the log of the database, so that its files hold nothing that was deleted; False while others read it.

        What is deleted is overwritten in the database itself at once.
        """
        with self.reading() as db:
            return not db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]

    def _held(self) -> sqlite3.Connection | None:
        """The connection that this thread has; one that came over from a parent process is not used."""
        held: tuple[int, sqlite3.Connection] | None = getattr(self._of_thread, "held", None)
        return held[1] if held is not None and held[0] == os.getpid() else None

    def _connection(self) -> sqlite3.Connection:
        held = self._held()
        if held is not None:
            return held
        db = sqlite3.connect(self._file, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
            db.execute(f"PRAGMA {setting}")
        with self._lock:
            self._open.append(db)
        self._of_thread.held = (os.getpid(), db)
        return db

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            for db in self._open:
                db.close()
            self._open.clear()
        self._of_thread = threading.local()


def _unavailable() -> StoreUnavailable:
    return StoreUnavailable("The service's database does not answer; try again.", can_retry=True)


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one, since a whole script ends the transaction it is run in."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
