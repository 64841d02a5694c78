"""A graph as rows of the embedded store: written, read and taken out within a transaction that is open."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import PRIVATE, SocialGraph
from graphpriv.store.assembly import Parts, mapping_of, or_none
from graphpriv.store.records import Copy, GraphInfo, Post, Run, moment, written

#: How many rows are turned into Python objects at a time.
CHUNK = 100_000

#: The tables that hold parts of a graph, in an order in which they can be emptied.
_PARTS = ("seeds", "mappings", "releases", "runs", "posts", "follows", "persons", "users", "topics", "places")


def insert_graph(db: sqlite3.Connection, name: str, graph: SocialGraph, created: str | None = None) -> int:
    """Write a graph under a new key."""
    key = int(
        db.execute(
            "INSERT INTO graphs (name, directed, private, users, edges, created, revision) "
            "VALUES (?, ?, ?, ?, ?, ?, lower(hex(randomblob(16))))",
            (
                name,
                graph.directed,
                json.dumps([column for column in PRIVATE if column in graph.private]),
                len(graph),
                graph.edge_count,
                created or moment(),
            ),
        ).lastrowid
        or 0
    )
    places = graph.places
    parents = (None if parent < 0 else parent for parent in places.parents.tolist())
    insert(db, "places", zip(repeat(key), range(len(places)), parents, places.names, places.types))
    insert(db, "topics", ((key, number, topic) for number, topic in enumerate(graph.topic_names)))
    columns = [or_none(graph.location), *map(or_none, graph.topics.T)]
    insert(db, "users", zip(repeat(key), range(len(graph)), graph.ids, *columns))
    if graph.private:
        nothing = (None,) * len(graph)
        persons = [graph.private.get(column, nothing) for column in PRIVATE]
        insert(db, "persons", zip(repeat(key), range(len(graph)), *persons))
    insert(db, "follows", ((key, *ends) for ends in pairs(*graph.edges())))
    return key


def touch(db: sqlite3.Connection, key: int) -> None:
    """Give a graph a revision that no graph ever had."""
    db.execute("UPDATE graphs SET revision = lower(hex(randomblob(16))) WHERE key = ?", (key,))


def revision_of(db: sqlite3.Connection, key: int) -> str | None:
    """The present revision of a graph; None if there is none of that key any more."""
    found = db.execute("SELECT revision FROM graphs WHERE key = ?", (key,)).fetchone()
    return None if found is None else str(found[0])


def note_erasure(db: sqlite3.Connection) -> None:
    """Write down that something was deleted or replaced which must leave the files."""
    db.execute("INSERT INTO erasures (since) VALUES (?)", (moment(),))


def insert(db: sqlite3.Connection, table: str, rows: Iterable[Sequence[Any]]) -> None:
    """Append *rows* to a table."""
    width = len(db.execute(f"PRAGMA table_info({table})").fetchall())
    db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * width)})", rows)  # noqa: S608 (our own names)


def pairs(sources: NDArray[np.integer[Any]], targets: NDArray[np.integer[Any]]) -> Iterator[tuple[int, int]]:
    """Two arrays as pairs of Python numbers, not all of them at once."""
    for start in range(0, len(sources), CHUNK):
        yield from zip(sources[start : start + CHUNK].tolist(), targets[start : start + CHUNK].tolist(), strict=True)


def insert_release(
    db: sqlite3.Connection, key: int, original: int | None, info: tuple[int, str, str], seed: int | None
) -> None:
    """Mark a graph as a release, and keep its seed apart."""
    db.execute("INSERT INTO releases VALUES (?, ?, ?, ?, ?)", (key, original, *info))
    if seed is not None:
        # As text: a seed may have more than the 63 bits of a number here.
        db.execute("INSERT INTO seeds VALUES (?, ?)", (key, str(seed)))


def insert_mapping(db: sqlite3.Connection, key: int, original: int, mapping: NDArray[np.int64]) -> None:
    """Keep where each user of the original went."""
    numbers = numbers_of(db, original)
    kept = mapping >= 0
    rows = ((key, original, user, released) for user, released in pairs(numbers[kept], mapping[kept]))
    insert(db, "mappings", rows)


def insert_run(db: sqlite3.Connection, key: int, run: Run) -> None:
    """Write down a piece of work."""
    db.execute(
        "INSERT INTO runs (graph, verb, parameters, version, input_hash, created) VALUES (?, ?, ?, ?, ?, ?)",
        (key, *run.record.values()),
    )


def insert_copies(db: sqlite3.Connection, copies: Iterable[Copy]) -> None:
    """Write graphs with all that belongs to them; originals come before their releases."""
    keys: dict[str, int] = {}
    for copy in copies:
        key = keys[copy.info.name] = insert_graph(db, copy.info.name, copy.graph, copy.info.created)
        position = copy.graph.index
        insert(
            db,
            "posts",
            (
                (key, number, post.id, position[post.user], post.text, json.dumps(post.links), post.created)
                for number, post in enumerate(copy.posts)
            ),
        )
        if copy.info.is_release:
            original = keys.get(copy.info.original) if copy.info.original else None
            parameters = written(copy.info.parameters)
            insert_release(db, key, original, (copy.info.k or 0, copy.info.method or "", parameters), copy.seed)
            if original is not None and copy.mapping is not None:
                insert_mapping(db, key, original, copy.mapping)
        for run in copy.runs:
            insert_run(db, key, run)


def delete_graph(db: sqlite3.Connection, key: int) -> None:
    """Take out a graph with its parts; releases made from it lose mapping and seed, and stay."""
    db.execute("DELETE FROM seeds WHERE graph IN (SELECT graph FROM releases WHERE original = ?)", (key,))
    db.execute("DELETE FROM mappings WHERE graph IN (SELECT graph FROM releases WHERE original = ?)", (key,))
    db.execute("UPDATE releases SET original = NULL WHERE original = ?", (key,))
    for table in _PARTS:
        db.execute(f"DELETE FROM {table} WHERE graph = ?", (key,))  # noqa: S608 (our own names)
    db.execute("DELETE FROM graphs WHERE key = ?", (key,))


def delete_everything(db: sqlite3.Connection) -> None:
    """Take out all graphs."""
    for table in (*_PARTS, "graphs"):
        db.execute(f"DELETE FROM {table}")  # noqa: S608 (our own names)


def read_graph(db: sqlite3.Connection, key: int, *, directed: bool, private: Sequence[str]) -> Parts:
    """Read what is needed to put a graph together."""
    users = db.execute(
        "SELECT number, id, IFNULL(place, -1), IFNULL(topic1, -1), IFNULL(topic2, -1), IFNULL(topic3, -1) "
        "FROM users WHERE graph = ? ORDER BY number",
        (key,),
    ).fetchall()
    numbers, ids, *profile = zip(*users, strict=True) if users else ((),) * 6
    codes = np.array(profile, dtype=np.int64)
    persons: list[tuple[str | None, ...]] = [(None,) * len(ids)] * len(PRIVATE)
    if private and users:
        persons = list(
            zip(
                *db.execute(
                    "SELECT persons.handle, persons.name, persons.location_text FROM users LEFT JOIN persons "
                    "USING (graph, number) WHERE users.graph = ? ORDER BY users.number",
                    (key,),
                ),
                strict=True,
            )
        )
    ends = db.execute("SELECT source, target FROM follows WHERE graph = ? ORDER BY source, target", (key,))
    follows = np.fromiter(ends, dtype=np.dtype([("source", np.int64), ("target", np.int64)]))
    return Parts(
        directed=directed,
        numbers=np.array(numbers, dtype=np.int64),
        ids=ids,
        location=codes[0],
        topics=codes[1:].T,
        sources=follows["source"],
        targets=follows["target"],
        places=db.execute("SELECT number, parent, name, type FROM places WHERE graph = ?", (key,)).fetchall(),
        topic_names=dict(db.execute("SELECT number, name FROM topics WHERE graph = ?", (key,))),
        private={column: persons[PRIVATE.index(column)] for column in private},
    )


def read_infos(db: sqlite3.Connection) -> list[GraphInfo]:
    """The list of graphs, sorted by name."""
    rows = db.execute(
        "SELECT graphs.name, releases.graph, graphs.directed, graphs.users, graphs.edges, graphs.created, "
        "made_from.name, releases.k, releases.method, releases.parameters FROM graphs "
        "LEFT JOIN releases ON releases.graph = graphs.key "
        "LEFT JOIN graphs AS made_from ON made_from.key = releases.original"
    ).fetchall()
    infos = [
        GraphInfo(
            name=name,
            kind="original" if release is None else "release",
            directed=bool(directed),
            users=users,
            edges=edges,
            created=created,
            original=original,
            k=k,
            method=method,
            parameters=json.loads(parameters or "{}"),
        )
        for name, release, directed, users, edges, created, original, k, method, parameters in rows
    ]
    return sorted(infos, key=lambda info: info.name)


def read_mapping(db: sqlite3.Connection, key: int, original: int) -> NDArray[np.int64]:
    """The mapping of a release by the present positions of the users of its original."""
    rows = db.execute("SELECT user, released FROM mappings WHERE graph = ?", (key,))
    return mapping_of(numbers_of(db, original), np.fromiter(rows, dtype=np.dtype((np.int64, 2))))


def read_runs(db: sqlite3.Connection, key: int, *, with_releases: bool) -> list[Run]:
    """The work done on a graph, and on the releases made from it if asked for."""
    rows = db.execute(
        "SELECT verb, parameters, version, input_hash, created FROM runs WHERE graph = ?1 "
        "OR (?2 AND graph IN (SELECT graph FROM releases WHERE original = ?1)) ORDER BY created, number",
        (key, with_releases),
    )
    return [Run.of(*row) for row in rows.fetchall()]


def numbers_of(db: sqlite3.Connection, key: int) -> NDArray[np.int64]:
    """The numbers of the users of a graph, in order."""
    rows = db.execute("SELECT number FROM users WHERE graph = ? ORDER BY number", (key,))
    return np.fromiter((number for (number,) in rows), dtype=np.int64)


def post_of(row: Sequence[Any]) -> Post:
    """The record of id, user, text, links and moment."""
    return Post(id=row[0], user=row[1], text=row[2], links=tuple(json.loads(row[3])), created=row[4])
