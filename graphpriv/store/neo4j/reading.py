"""A graph as it is read, and the work that was done on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import LiteralString

import numpy as np
from neo4j import ManagedTransaction
from numpy.typing import NDArray

from graphpriv.graph import PRIVATE
from graphpriv.store.assembly import Parts, PlaceRow
from graphpriv.store.neo4j import schema
from graphpriv.store.neo4j.heads import Head
from graphpriv.store.neo4j.schema import Rows, ask
from graphpriv.store.records import Post, Run
from graphpriv.topics import RANKS


def places(tx: ManagedTransaction, key: str) -> list[PlaceRow]:
    """The places of a graph."""
    rows = ask(
        tx,
        "MATCH (p:Place) WHERE p.graph = $key AND p.number >= 0 OPTIONAL MATCH (p)-[:BELOW]->(above:Place) "
        "RETURN p.number, above.number, p.name, p.type",
        key=key,
    )
    return [(number, above, name, kind) for number, above, name, kind in rows]


def topics(tx: ManagedTransaction, key: str) -> dict[int, str]:
    """The topics of a graph."""
    rows = ask(tx, "MATCH (t:Topic) WHERE t.graph = $key AND t.number >= 0 RETURN t.number, t.name", key=key)
    return {int(number): str(name) for number, name in rows}


_USERS: LiteralString = """
    MATCH (u:User) WHERE u.graph = $key AND u.number >= $low AND u.number < $high
    OPTIONAL MATCH (u)-[:LIVES_IN]->(home:Place)
    RETURN u.number, u.id, home.number, [(u)-[i:INTERESTED_IN]->(t:Topic) | [i.rank, t.number]],
        u.handle, u.name, u.location_text, [(u)-[:FOLLOWS]->(v:User) | v.number]
    ORDER BY u.number"""


def users(tx: ManagedTransaction, key: str, low: int, high: int) -> Rows:
    """Users in a range of numbers: number, id, home, three topics, the private columns, those whom they follow."""
    found = []
    for number, user, home, interests, *rest in ask(tx, _USERS, key=key, low=low, high=high):
        ranked = dict(interests)
        found.append([number, user, home, [ranked.get(rank) for rank in range(1, RANKS + 1)], *rest])
    return found


def parts_of(tx: ManagedTransaction, head: Head) -> Parts:
    """All that is needed to put a graph together."""
    size = schema.BATCH
    rows = [row for low in range(0, head.numbers, size) for row in users(tx, head.key, low, low + size)]
    numbers = np.array([row[0] for row in rows], dtype=np.int64)
    degrees = [len(row[7]) for row in rows]
    return Parts(
        directed=head.directed,
        numbers=numbers,
        ids=[row[1] for row in rows],
        location=_codes(row[2] for row in rows),
        topics=_codes(topic for row in rows for topic in row[3]).reshape(-1, RANKS),
        sources=np.repeat(numbers, degrees),
        targets=np.array([target for row in rows for target in row[7]], dtype=np.int64),
        places=places(tx, head.key),
        topic_names=topics(tx, head.key),
        private={column: [row[4 + PRIVATE.index(column)] for row in rows] for column in head.private},
    )


def _codes(numbers: Iterable[int | None]) -> NDArray[np.int64]:
    return np.array([-1 if number is None else number for number in numbers], dtype=np.int64)


def numbers_of(tx: ManagedTransaction, key: str) -> NDArray[np.int64]:
    """The numbers of the users of a graph, in order."""
    rows = ask(tx, "MATCH (u:User) WHERE u.graph = $key AND u.number >= 0 RETURN u.number ORDER BY u.number", key=key)
    return np.array([number for (number,) in rows], dtype=np.int64)


def matches(tx: ManagedTransaction, key: str) -> Rows:
    """The mapping of a release, as numbers of users and positions in the release."""
    return ask(tx, "MATCH (m:Match) WHERE m.graph = $key AND m.number >= 0 RETURN m.number, m.released", key=key)


def seed(tx: ManagedTransaction, key: str) -> int | None:
    """The seed of a release."""
    found = ask(tx, "MATCH (s:Seed {graph: $key, number: 0}) RETURN s.seed", key=key)
    return int(found[0][0]) if found else None


def posts(tx: ManagedTransaction, key: str, after: int) -> list[tuple[int, Post]]:
    """A page of posts in the order of their import."""
    rows = ask(
        tx,
        "MATCH (p:Post) WHERE p.graph = $key AND p.number > $after WITH p ORDER BY p.number LIMIT $size "
        "MATCH (u:User)-[:POSTED]->(p) RETURN p.number, p.id, u.id, p.text, p.links, p.created ORDER BY p.number",
        key=key,
        after=after,
        size=schema.BATCH,
    )
    return [
        (number, Post(id=post, user=user, text=text, links=tuple(links), created=created))
        for number, post, user, text, links, created in rows
    ]


def add_run(tx: ManagedTransaction, key: str, run: Run) -> None:
    """Write down a piece of work."""
    values = {"graph": key, **run.record}
    tx.run(
        "MATCH (s:Store {name: 'graphpriv'}) SET s.runs = s.runs + 1 CREATE (r:Run) SET r = $values, r.number = s.runs",
        values=values,
    ).consume()


def runs(tx: ManagedTransaction, keys: Sequence[str]) -> list[Run]:
    """The work done on graphs, oldest first."""
    rows = ask(
        tx,
        "UNWIND $keys AS key MATCH (r:Run) WHERE r.graph = key AND r.number >= 0 "
        "RETURN r.verb, r.parameters, r.version, r.input_hash, r.created ORDER BY r.created, r.number",
        keys=list(keys),
    )
    return [Run.of(*row) for row in rows]


def all_of(tx: ManagedTransaction, head: Head) -> tuple[Parts, tuple[Post, ...], tuple[Run, ...], Rows, int | None]:
    """All that belongs to a graph: its parts, posts, runs, mapping and seed."""
    found: list[Post] = []
    last = -1
    while page := posts(tx, head.key, last):
        found += [post for _, post in page]
        last = page[-1][0]
    return parts_of(tx, head), tuple(found), tuple(runs(tx, [head.key])), matches(tx, head.key), seed(tx, head.key)
