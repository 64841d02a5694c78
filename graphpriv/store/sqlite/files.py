"""The file of an embedded store: opened, locked, rid of what was deleted, and its failures put into words."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from graphpriv.store.records import refuse_newer
from graphpriv.store.sqlite.schema import VERSION, is_empty, is_ours, migrate, version_of
from tabular.errors import FileFailure, InvalidInput, ReportedError, StoreUnavailable, named
from tabular.files.disk import reason
from tabular.files.reserve import Reserve

#: How long the wish to erase waits for readers of older states; it is taken up again later.
ERASING_PATIENCE = 5.0

#: What a connection holds of the file, in KiB: a writer much, since rows go into indexes in any order. A reader goes
#: through it once, and a service has one for each thread.
_WRITING_KIB, _READING_KIB = 256 * 1024, 8 * 1024


#: What is kept free beside the file for the day on which the disk is full: a part of its size, and bounds of that.
_RESERVE_PART, _LEAST_RESERVE, _MOST_RESERVE = 8, 256 * 1024, 16 * 1024 * 1024


#: What our statements end in where tables, columns or texts are not what the layout says: no code, a word that means
#: nothing, a value of the wrong kind.
_CHANGED = (0, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH)


class Damaged(InvalidInput):
    """The file is not what was written."""


class StoreFile:
    """Connections to one file: one for each thread of each process."""

    def __init__(self, path: Path, *, called: str, patience: float) -> None:
        # Absolute: `:memory:` is no file to the database, and the folder of a process may change.
        self.path = path.absolute()
        self.called = called
        self.patience = patience
        self.reserve = Reserve(self.path.with_name(f"{self.path.name}-reserve"))
        self._of_thread = threading.local()
        self._lock = threading.Lock()
        self._open: list[tuple[int, sqlite3.Connection]] = []
        self._made = False

    def prepare(self, *, create: bool) -> None:
        """Make sure that the file is a store of the present version, making or migrating it where that is wanted."""
        self._refuse_no_file()
        self._made = self._make_file() if create else False
        if not self.path.exists():
            raise InvalidInput(
                f"{self.called}: there is no store here; `graphpriv demo` and `graphpriv graph import` make one, "
                f"or name another with {named('store')} or GRAPHPRIV_STORE."
            )
        found = self.path.stat()
        try:
            try:
                self._open_up_to_date()
            except FileFailure:
                # Not even a log fits on the disk.
                self.close()
                if not self.reserve.give_up():
                    raise
                self._open_up_to_date()
        except ReportedError:
            self.close()
            if self._made:
                self._remove()
            raise
        self._refuse_removed(found)
        self.keep_reserve()

    def _open_up_to_date(self) -> None:
        with self.told():
            self._bring_up_to_date(self._connection())

    def keep_reserve(self) -> None:
        """Keep room on the disk that a full one cannot take: whoever wants to be forgotten must not wait for room."""
        with contextlib.suppress(OSError):
            part = self.path.stat().st_size // _RESERVE_PART
            self.reserve.keep(min(max(part, _LEAST_RESERVE), _MOST_RESERVE))

    @contextlib.contextmanager
    def sparing(self) -> Iterator[None]:
        """Let deletions write as little as they can: what they free is not overwritten, but leaves with `erase`."""
        with self.speaking() as db:
            db.execute("PRAGMA secure_delete = FAST")
            self._of_thread.sparing = True
            try:
                yield
            finally:
                self._of_thread.sparing = False
                db.execute("PRAGMA secure_delete = ON")

    @property
    def is_sparing(self) -> bool:
        """Whether this thread writes as little as it can."""
        return getattr(self._of_thread, "sparing", False)

    def empty_log(self) -> None:
        """Bring into the file what stands in the log, as far as readers let it, so that the log does not grow."""
        with self.speaking() as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _refuse_no_file(self) -> None:
        try:
            mode = self.path.stat().st_mode
        except FileNotFoundError:
            return
        except OSError as error:
            raise InvalidInput(f"{self.called}: {reason(error)}") from None
        except ValueError:
            raise InvalidInput("The address of the store holds a character that a path cannot have.") from None
        if not stat.S_ISREG(mode):
            raise InvalidInput(f"{self.called}: this is a folder, a device or a pipe; a store is a file of its own.")

    def _refuse_removed(self, found: os.stat_result) -> None:
        """Refuse a file that its maker removed before our connection held it: what goes in there would be lost."""
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(found, self.path.stat()):
                return
        self.close()
        raise StoreUnavailable(f"{self.called}: the store was removed while it was opened; try again.", can_retry=True)

    def discard_if_new(self) -> None:
        """Remove the file if this opening has made it, nothing was put into it and nobody else has it open."""
        if not self._made:
            return
        self.close()
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(self.path, timeout=0, isolation_level=None)) as db,
        ):
            # In this mode the log is read without writing, which the full disk would not allow.
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
            db.execute("BEGIN IMMEDIATE")
            if not db.execute("SELECT 1 FROM graphs LIMIT 1").fetchone():
                self._remove()

    def _make_file(self) -> bool:
        # Persons stand in it: nobody but the owner may read it.
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            return False
        except OSError as error:
            raise InvalidInput(f"{self.called}: {reason(error)} The store cannot be made here.") from None
        return True

    def _remove(self) -> None:
        for suffix in ("", "-wal", "-shm", "-journal", "-reserve"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _bring_up_to_date(self, db: sqlite3.Connection) -> None:
        # Looked at before anything is set: the file may belong to another program. An empty one is a store whose maker
        # was killed.
        if not is_ours(db) and not (version_of(db) == 0 and is_empty(db)):
            raise InvalidInput(f"{self.called}: this is not a graphpriv store; another program has made this file.")
        refuse_newer(version_of(db), VERSION, self.called)
        _log_ahead(db, self.patience, self.called)
        if version_of(db) < VERSION:
            with self.writing() as writer:
                migrate(writer, self.called)
            # What a step has replaced must leave the file, too.
            self.erase()

    def _connection(self) -> sqlite3.Connection:
        """The connection of this thread; one that came over from a parent process is not used."""
        held: tuple[int, sqlite3.Connection] | None = getattr(self._of_thread, "held", None)
        if held is not None and held[0] == os.getpid():
            return held[1]
        db = sqlite3.connect(self.path, timeout=self.patience, isolation_level=None, check_same_thread=False)
        for setting in (
            "secure_delete = ON",
            "temp_store = MEMORY",
            "synchronous = FULL",
            f"cache_size = -{_READING_KIB}",
        ):
            db.execute(f"PRAGMA {setting}")
        with self._lock:
            self._open.append((os.getpid(), db))
        self._of_thread.held = (os.getpid(), db)
        return db

    def close(self) -> None:
        """Close the connections of all threads; those of a parent process are not ours to close."""
        with self._lock:
            for process, db in self._open:
                if process == os.getpid():
                    db.close()
            self._open.clear()
        self._of_thread = threading.local()

    @contextlib.contextmanager
    def speaking(self) -> Iterator[sqlite3.Connection]:
        """The connection outside of a transaction."""
        with self.told():
            yield self._connection()

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """A transaction that sees one state of the file, whatever others write."""
        return self._transaction("BEGIN")

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that changes the file as a whole or not at all; others that write wait."""
        with self._much_held(), self._transaction("BEGIN IMMEDIATE") as db:
            yield db

    @contextlib.contextmanager
    def _much_held(self) -> Iterator[None]:
        """Let the connection of this thread hold as much of the file as a writer needs."""
        with self.speaking() as db:
            db.execute(f"PRAGMA cache_size = -{_WRITING_KIB}")
            try:
                yield
            finally:
                db.execute(f"PRAGMA cache_size = -{_READING_KIB}")
                db.execute("PRAGMA shrink_memory")

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self.told():
            db = self._connection()
            db.execute(begin)
            try:
                yield db
                db.execute("COMMIT")
            finally:
                # A failed write may have ended it already.
                if db.in_transaction:
                    db.execute("ROLLBACK")

    def erase(self) -> bool:
        """Take out of the files what was deleted; False while a reader of an older state is in the way.

        Deleted rows are overwritten (`secure_delete`), but only by connections that ask for it, and never in the log;
        so the file is built anew, which also gives the room back, and the log emptied.
        """
        with self._much_held(), self.speaking() as db:
            last = db.execute("SELECT MAX(number) FROM erasures").fetchone()[0]
            if last is None:
                return True
            db.execute(f"PRAGMA busy_timeout = {int(ERASING_PATIENCE * 1000)}")
            try:
                db.execute("VACUUM")
                blocked = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                if not blocked:
                    db.execute("DELETE FROM erasures WHERE number <= ?", (last,))
            except sqlite3.OperationalError:
                # Busy, or no room for a second copy: the note stands, and the next one tries again.
                return False
            finally:
                db.execute(f"PRAGMA busy_timeout = {int(self.patience * 1000)}")
        return not blocked

    @contextlib.contextmanager
    def told(self) -> Iterator[None]:
        """Put what the database says into words for the reader, without any value of a record."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._in_words(error) from None
        except UnicodeDecodeError:
            # What the database says of a damaged table has its bytes in it.
            raise self._damaged() from None
        except UnicodeEncodeError:
            raise InvalidInput(f"{self.called}: a text is not valid Unicode. Nothing was written.") from None

    def _damaged(self) -> Damaged:
        return Damaged(f"{self.called}: its tables or texts are not as they were made; restore a backup of it.")

    def _in_words(self, error: sqlite3.Error) -> ReportedError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            return FileFailure(f"{self.called}: the disk is full. Nothing was written.")
        if code == sqlite3.SQLITE_IOERR:
            return FileFailure(f"{self.called}: the file could not be read or written. Nothing was written.")
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return StoreUnavailable(
                f"{self.called}: another process has been writing for {self.patience:g} seconds; try again.",
                can_retry=True,
            )
        if code == sqlite3.SQLITE_NOTADB:
            return InvalidInput(f"{self.called}: this is not a graphpriv store; another program has made this file.")
        if code == sqlite3.SQLITE_CORRUPT:
            return Damaged(f"{self.called}: the file is damaged; restore a backup of it.")
        if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
            return InvalidInput(f"{self.called}: the file cannot be opened for reading and writing.")
        if code == sqlite3.SQLITE_CONSTRAINT:
            return InvalidInput(f"{self.called}: two records have the same id. Nothing was written.")
        if code in _CHANGED:
            return self._damaged()
        return StoreUnavailable(f"{self.called}: the database failed ({type(error).__name__}, code {code}).")


def _log_ahead(db: sqlite3.Connection, patience: float, called: str) -> None:
    """Switch to a write-ahead log, so that readers and a writer do not wait for each other."""
    until = time.monotonic() + patience
    while True:
        try:
            if db.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                raise InvalidInput(f"{called}: a store needs a write-ahead log, which is not possible here.")
            return
        except sqlite3.OperationalError as error:
            # This switch alone does not wait for other processes by itself.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
