"""The layout of the embedded store, as the steps that led to it; a new file takes all of them."""

from __future__ import annotations

import sqlite3
from typing import Any

from graphpriv.store.crawls import keyed_note
from graphpriv.store.records import Record, keyed, refuse_newer
from graphpriv.store.seals import resealed

#: Stands in the header of each of our files ("GPRV").
APPLICATION = 0x47505256

_GRAPHS = (
    """CREATE TABLE graphs (
        key INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        directed INTEGER NOT NULL,
        private TEXT NOT NULL,
        users INTEGER NOT NULL,
        edges INTEGER NOT NULL,
        forgotten INTEGER NOT NULL DEFAULT 0,
        created TEXT NOT NULL
    )""",
    """CREATE TABLE places (
        graph INTEGER NOT NULL REFERENCES graphs,
        number INTEGER NOT NULL,
        parent INTEGER,
        name TEXT NOT NULL,
        type TEXT NOT NULL,
        PRIMARY KEY (graph, number),
        FOREIGN KEY (graph, parent) REFERENCES places
    ) WITHOUT ROWID""",
    """CREATE TABLE topics (
        graph INTEGER NOT NULL REFERENCES graphs,
        number INTEGER NOT NULL,
        name TEXT NOT NULL,
        PRIMARY KEY (graph, number),
        UNIQUE (graph, name)
    ) WITHOUT ROWID""",
    """CREATE TABLE users (
        graph INTEGER NOT NULL REFERENCES graphs,
        number INTEGER NOT NULL,
        id TEXT NOT NULL,
        place INTEGER,
        topic1 INTEGER,
        topic2 INTEGER,
        topic3 INTEGER,
        PRIMARY KEY (graph, number),
        UNIQUE (graph, id),
        FOREIGN KEY (graph, place) REFERENCES places,
        FOREIGN KEY (graph, topic1) REFERENCES topics,
        FOREIGN KEY (graph, topic2) REFERENCES topics,
        FOREIGN KEY (graph, topic3) REFERENCES topics
    ) WITHOUT ROWID""",
    """CREATE TABLE persons (
        graph INTEGER NOT NULL,
        number INTEGER NOT NULL,
        handle TEXT,
        name TEXT,
        location_text TEXT,
        PRIMARY KEY (graph, number),
        FOREIGN KEY (graph, number) REFERENCES users
    ) WITHOUT ROWID""",
    # An undirected edge stands once, its lower number first.
    """CREATE TABLE follows (
        graph INTEGER NOT NULL,
        source INTEGER NOT NULL,
        target INTEGER NOT NULL,
        PRIMARY KEY (graph, source, target),
        FOREIGN KEY (graph, source) REFERENCES users,
        FOREIGN KEY (graph, target) REFERENCES users
    ) WITHOUT ROWID""",
    """CREATE TABLE posts (
        graph INTEGER NOT NULL,
        number INTEGER NOT NULL,
        id TEXT NOT NULL,
        user INTEGER NOT NULL,
        text TEXT NOT NULL,
        links TEXT NOT NULL,
        created TEXT,
        PRIMARY KEY (graph, number),
        UNIQUE (graph, id),
        FOREIGN KEY (graph, user) REFERENCES users
    ) WITHOUT ROWID""",
    "CREATE INDEX posts_of_user ON posts (graph, user)",
    """CREATE TABLE releases (
        graph INTEGER PRIMARY KEY REFERENCES graphs,
        original INTEGER REFERENCES graphs,
        k INTEGER NOT NULL,
        method TEXT NOT NULL,
        parameters TEXT NOT NULL
    )""",
    # Reading a release touches neither of the next two.
    """CREATE TABLE mappings (
        graph INTEGER NOT NULL REFERENCES releases,
        original INTEGER NOT NULL REFERENCES graphs,
        user INTEGER NOT NULL,
        released INTEGER NOT NULL,
        PRIMARY KEY (graph, user),
        FOREIGN KEY (original, user) REFERENCES users,
        FOREIGN KEY (graph, released) REFERENCES users
    ) WITHOUT ROWID""",
    "CREATE TABLE seeds (graph INTEGER PRIMARY KEY REFERENCES releases, seed TEXT NOT NULL)",
    """CREATE TABLE runs (
        number INTEGER PRIMARY KEY,
        graph INTEGER NOT NULL REFERENCES graphs,
        verb TEXT NOT NULL,
        parameters TEXT NOT NULL,
        version TEXT NOT NULL,
        input_hash TEXT NOT NULL,
        created TEXT NOT NULL
    )""",
)

_ERASURES = (
    # A row stands here from the moment a person is forgotten until the files hold nothing of that person.
    "CREATE TABLE erasures (number INTEGER PRIMARY KEY, since TEXT NOT NULL)",
)

#: Keys and numbers are given once only: whoever holds one must not find another graph or note behind it.
_REVISIONS = (
    """CREATE TABLE graphs_anew (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        directed INTEGER NOT NULL,
        private TEXT NOT NULL,
        users INTEGER NOT NULL,
        edges INTEGER NOT NULL,
        forgotten INTEGER NOT NULL DEFAULT 0,
        created TEXT NOT NULL,
        revision TEXT NOT NULL
    )""",
    "INSERT INTO graphs_anew SELECT key, name, directed, private, users, edges, forgotten, created, "
    "lower(hex(randomblob(16))) FROM graphs",
    "DROP TABLE graphs",
    "ALTER TABLE graphs_anew RENAME TO graphs",
    "CREATE TABLE erasures_anew (number INTEGER PRIMARY KEY AUTOINCREMENT, since TEXT NOT NULL)",
    "INSERT INTO erasures_anew SELECT number, since FROM erasures",
    "DROP TABLE erasures",
    "ALTER TABLE erasures_anew RENAME TO erasures",
)

_SUMMARIES = (
    # Made anew wherever it is missing, so that older files need not be read for it.
    """CREATE TABLE summaries (
        graph INTEGER NOT NULL REFERENCES graphs,
        number INTEGER NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (graph, number)
    )""",
)

_SECRET = (
    "CREATE TABLE secret (only INTEGER PRIMARY KEY CHECK (only = 1), secret BLOB NOT NULL)",
    "INSERT INTO secret VALUES (1, randomblob(32))",
)

_CRAWLS = (
    """CREATE TABLE crawl_records (
        graph INTEGER NOT NULL REFERENCES graphs,
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        number INTEGER NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (graph, kind, id)
    )""",
    # What is overdue is looked for whenever a store is opened.
    "CREATE INDEX crawl_pages ON crawl_records (number) WHERE kind = 'page'",
)

_KEYED = (
    # Plain fingerprints of originals and of what persons wrote, from which a guess could be confirmed.
    "INSERT INTO erasures (since) SELECT strftime('%Y-%m-%dT%H:%M:%SZ') WHERE EXISTS (SELECT 1 FROM runs "
    "WHERE input_hash LIKE 'sha256:%') OR EXISTS (SELECT 1 FROM crawl_records WHERE kind = 'note')",
    "UPDATE runs SET input_hash = '' WHERE verb <> 'protect'",
    "UPDATE runs SET input_hash = keyed((SELECT secret FROM secret), input_hash) WHERE input_hash LIKE 'sha256:%'",
    "UPDATE crawl_records SET data = keyed_note((SELECT secret FROM secret), data) WHERE kind = 'note'",
)

_SEALED_CRAWLS = (
    # From here on every change of a record is in the seal of all.
    "INSERT INTO crawl_records SELECT graph, 'seal', 'only', COUNT(*), seal_of(kind, id, CAST(data AS BLOB), number) "
    "FROM crawl_records GROUP BY graph",
)


class _SealOf:
    """The seal of records, as a function of SQL."""

    def __init__(self) -> None:
        self.seal: Record | None = None

    def step(self, *values: Any) -> None:
        self.seal = resealed(self.seal, (), [Record(*values)])

    def finalize(self) -> Any:
        return self.seal.data if self.seal else None


#: Step n leads from version n to version n + 1. Steps are only ever added.
STEPS: tuple[tuple[str, ...], ...] = (
    *(_GRAPHS, _ERASURES, _REVISIONS, _SUMMARIES, _SECRET, _CRAWLS, _KEYED, _SEALED_CRAWLS),
)

#: The version that this program reads and writes.
VERSION = len(STEPS)


def migrate(db: sqlite3.Connection, where: str) -> None:
    """Bring a file to the present version, within the transaction that is open."""
    version = version_of(db)
    refuse_newer(version, VERSION, where)
    db.create_function("keyed", 2, keyed, deterministic=True)
    db.create_function("keyed_note", 2, keyed_note, deterministic=True)
    db.create_aggregate("seal_of", 4, _SealOf)
    for step in STEPS[version:]:
        for statement in step:
            db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {VERSION}")


def version_of(db: sqlite3.Connection) -> int:
    """The version of the layout of a file; 0 has none yet."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def is_ours(db: sqlite3.Connection) -> bool:
    """Whether the header says that the file is a store of graphs."""
    return bool(db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION)


def is_empty(db: sqlite3.Connection) -> bool:
    """Whether nothing at all has been put into the file."""
    return not db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()


def acts_by_itself(db: sqlite3.Connection) -> bool:
    """Whether the file holds what runs when it is read or changed; ours hold tables and indexes alone."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index') LIMIT 1").fetchone() is not None
