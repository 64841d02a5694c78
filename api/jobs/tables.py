"""The tables of jobs beside those of the engine, in one database: SQLite, or Postgres for several machines."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as ConnectionsTaken

from graphpriv.store.addresses import is_this_machine
from tabular.errors import FileFailure, InvalidInput, InvalidParameter, StoreUnavailable, named

#: How long a session of Postgres may do nothing within a transaction before the server ends it, in milliseconds.
_IDLE_MS = 10_000

metadata = sa.MetaData()

job = sa.Table(
    "job",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("account", sa.Text, nullable=False),
    sa.Column("verb", sa.Text, nullable=False),
    sa.Column("options", sa.Text, nullable=False),
    sa.Column("private", sa.Text, nullable=False),
    sa.Column("priority", sa.Integer, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("began", sa.Float),
    sa.Column("ended", sa.Float),
    # Drawn anew each time the job is begun; whoever holds an older one has lost the job.
    sa.Column("attempt", sa.Text),
    sa.Column("attempts", sa.Integer, nullable=False, default=0),
    sa.Column("cancelling", sa.Boolean, nullable=False, default=False),
    sa.Column("progress", sa.Text),
    sa.Column("best", sa.Text),
    sa.Column("error", sa.Text),
    sa.Column("version", sa.Integer, nullable=False, default=0),
    sa.Index("job_of_account", "account", "created"),
    sa.Index("job_created", "created"),
    sa.Index("job_state", "state"),
)

event = sa.Table(
    "job_event",
    metadata,
    sa.Column("job", sa.Text, sa.ForeignKey("job.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("data", sa.Text, nullable=False),
)

beat = sa.Table(
    "job_beat",
    metadata,
    sa.Column("executor", sa.Text, primary_key=True),
    sa.Column("at", sa.Float, nullable=False),
)


def opened(address: str, *, connections: int = 10, forgets: bool = False) -> sa.Engine:
    """The database at *address*; an SQLite file is made where there is none, for its owner alone.

    One that *forgets* keeps nothing of what was deleted: a write-ahead log would have it for a while.
    """
    url = _url(address)
    # Errors of the database would show the values of a statement.
    given: dict[str, Any] = {"hide_parameters": True, "pool_size": connections, "pool_timeout": 10, "max_overflow": 20}
    if url.get_backend_name() != "sqlite":
        # A process that is stopped within a transaction must not hold its locks forever.
        options = {"options": f"-c idle_in_transaction_session_timeout={_IDLE_MS}"}
        return sa.create_engine(url, pool_pre_ping=True, connect_args=options, **given)
    path = Path(url.database or "")
    with contextlib.suppress(FileExistsError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    engine = sa.create_engine(url, **given)

    @sa.event.listens_for(engine, "connect")
    def settle(connection: Any, _: Any) -> None:
        # A transaction that writes takes its lock at once: none is refused half way.
        connection.isolation_level = "IMMEDIATE"
        journal = "DELETE" if forgets else "WAL"
        for setting in ("busy_timeout=30000", f"journal_mode={journal}", "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {setting}")

    return engine


def _url(address: str) -> sa.URL:
    """The parts of an address; an error repeats none of them, since one may be a password."""
    try:
        url = sa.make_url(address)
        # A name that is none fails only where it is looked up.
        (url.host or "").encode("idna")
        if url.drivername in ("sqlite", "postgresql+psycopg"):
            return url
    except (sa.exc.ArgumentError, ValueError):
        pass
    raise InvalidInput("The address of the database of jobs is postgresql://user@host/name; this one is none.")


def refuse_password(address: str) -> None:
    """Refuse an address of the command line that holds a password."""
    url = _url(address)
    if url.password or {"password", "sslpassword"} & set(url.query):
        raise InvalidParameter(
            f"{named('database')} must not hold a password, which others could read there; the password belongs in "
            "GRAPHPRIV_POSTGRES_PASSWORD."
        )


def refuse_plain(address: str, called: str) -> None:
    """Refuse an address that leads to another machine whose certificate is not checked; *called* names it in errors."""
    url = _url(address)
    if url.get_backend_name() == "sqlite":
        return
    # As for the driver itself, only those load it who use Postgres.
    from psycopg.pq import Conninfo

    _, given = url.get_dialect()().create_connect_args(url)
    # What libpq takes where the address says nothing: from PGSSLMODE and the like, and the file of a PGSERVICE.
    usual = {each.keyword.decode(): each.val.decode() for each in Conninfo.get_defaults() if each.val is not None}
    # A service of the address itself is looked up later than here, and yields to what else the address says.
    wanted = given if "service" in given else {**usual, **given}
    hosts = [host for name in ("host", "hostaddr") for host in f"{wanted.get(name, '')}".split(",") if host]
    is_near = "service" not in given and all(host[0] in "/@" or is_this_machine(host) for host in hosts)
    if not is_near and wanted.get("sslmode") != "verify-full":
        raise InvalidParameter(
            f"{called} leads to another machine, and its sslmode (that of PGSSLMODE, if it has none) is not "
            "verify-full, which encrypts and checks the server's certificate: add ?sslmode=verify-full and "
            f"&sslrootcert=FILE to it, or, if the network itself encrypts, give {named('plain_connections')}."
        )


def create(engine: sa.Engine, tables: sa.MetaData = metadata) -> None:
    """Make the tables that are not there yet; several processes may do so at once."""
    for is_last in (False, True):
        try:
            tables.create_all(engine)
            return
        except DBAPIError:
            # Another process made a table after this one had looked for it.
            if is_last:
                raise


def moment(connection: sa.Connection) -> float:
    """The present moment by the clock that all processes share, in seconds."""
    if connection.dialect.name == "sqlite":
        return time.time()
    return float(connection.scalar(sa.select(sa.extract("epoch", sa.func.clock_timestamp()))) or 0)


@contextlib.contextmanager
def told() -> Iterator[None]:
    """A database that does not answer, as an error of ours; nothing of its address or values is said."""
    try:
        yield
    except ConnectionsTaken:
        raise StoreUnavailable("The database of jobs is busy; try again.", can_retry=True) from None
    except DBAPIError as error:
        if not (error.connection_invalidated or isinstance(error, OperationalError | InterfaceError)):
            raise
        if is_full(error):
            raise FileFailure("The disk with the database of jobs is full or failed; nothing was written.") from None
        raise StoreUnavailable("The database of jobs does not answer; try again.", can_retry=True) from None


def is_full(error: DBAPIError) -> bool:
    """Whether a database failed because of its disk."""
    of_sqlite = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
    return of_sqlite in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) or getattr(error.orig, "sqlstate", "") == "53100"
