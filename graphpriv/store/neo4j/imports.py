"""The steps of an import: insert the parts of a graph that has no name yet, name it, or give it up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, LiteralString

from neo4j import ManagedTransaction

from graphpriv.store.neo4j import heads, schema
from graphpriv.store.neo4j.schema import Rows, ask


def begin(tx: ManagedTransaction, head: Mapping[str, Any], lease: int) -> None:
    """Make the node of a graph that is being imported."""
    tx.run("CREATE (g:Graph) SET g = $head, g.lease = timestamp() + $lease", head=dict(head), lease=lease).consume()


def renew(tx: ManagedTransaction, key: str, lease: int) -> bool:
    """Show that an import is alive; False if it was taken for dead."""
    # What a statement looks for, it looks for before it waits for a lock.
    heads.lock_key(tx, key)
    return bool(
        ask(
            tx,
            "MATCH (g:Graph {key: $key}) WHERE g.lease > 0 SET g.lease = timestamp() + $lease RETURN true",
            key=key,
            lease=lease,
        )
    )


#: Statements that insert rows of one kind; inserting a row twice has no effect.
PUT: dict[str, LiteralString] = {
    "places": """
        UNWIND $rows AS row
        MERGE (p:Place {graph: $key, number: row[0]}) SET p.name = row[2], p.type = row[3]""",
    "below": """
        UNWIND $rows AS row
        MATCH (p:Place {graph: $key, number: row[0]}) MATCH (above:Place {graph: $key, number: row[1]})
        MERGE (p)-[:BELOW]->(above)""",
    "topics": """
        UNWIND $rows AS row
        MERGE (t:Topic {graph: $key, number: row[0]}) SET t.name = row[1]""",
    "users": """
        UNWIND $rows AS row
        MERGE (u:User {graph: $key, number: row[0]})
        SET u.id = row[1], u.handle = row[2], u.name = row[3], u.location_text = row[4]""",
    "homes": """
        UNWIND $rows AS row
        MATCH (u:User {graph: $key, number: row[0]}) MATCH (p:Place {graph: $key, number: row[1]})
        MERGE (u)-[:LIVES_IN]->(p)""",
    "interests": """
        UNWIND $rows AS row
        MATCH (u:User {graph: $key, number: row[0]}) MATCH (t:Topic {graph: $key, number: row[1]})
        MERGE (u)-[:INTERESTED_IN {rank: row[2]}]->(t)""",
    "follows": """
        UNWIND $rows AS row
        MATCH (u:User {graph: $key, number: row[0]}) MATCH (v:User {graph: $key, number: row[1]})
        MERGE (u)-[:FOLLOWS]->(v)""",
    "posts": """
        UNWIND $rows AS row
        MATCH (u:User {graph: $key, number: row[2]})
        MERGE (p:Post {graph: $key, number: row[0]})
        SET p.id = row[1], p.text = row[3], p.links = row[4], p.created = row[5]
        MERGE (u)-[:POSTED]->(p)""",
    "matches": """
        UNWIND $rows AS row
        MERGE (m:Match {graph: $key, number: row[0]}) SET m.original = row[1], m.released = row[2]""",
    "seeds": """
        UNWIND $rows AS row
        MERGE (s:Seed {graph: $key, number: 0}) SET s.seed = row[0]""",
}


def put(tx: ManagedTransaction, key: str, kind: str, rows: Rows) -> None:
    """Put rows of one kind into a graph."""
    tx.run(PUT[kind], key=key, rows=rows).consume()


def homes(numbers: Iterable[int], places: Iterable[int | None]) -> list[tuple[int, int]]:
    """Pairs of a user and the place they live in."""
    return [(number, place) for number, place in zip(numbers, places, strict=True) if place is not None]


def interests(numbers: Iterable[int], topics: Iterable[Sequence[int | None]]) -> list[tuple[int, int, int]]:
    """Triples of a user, a topic and its rank."""
    return [
        (number, topic, rank)
        for number, ranked in zip(numbers, topics, strict=True)
        for rank, topic in enumerate(ranked, start=1)
        if topic is not None
    ]


def counted(tx: ManagedTransaction, key: str) -> tuple[int, int]:
    """How many users and follows a graph has."""
    found = ask(
        tx,
        "MATCH (u:User) WHERE u.graph = $key AND u.number >= 0 RETURN count(u), sum(COUNT { (u)-[:FOLLOWS]->() })",
        key=key,
    )
    return int(found[0][0]), int(found[0][1])


def expected(tx: ManagedTransaction, key: str) -> tuple[int, int]:
    """The numbers of users and follows noted on the node of a graph."""
    found = ask(tx, "MATCH (g:Graph {key: $key}) RETURN g.users, g.edges", key=key)
    return int(found[0][0]), int(found[0][1])


def give_name(tx: ManagedTransaction, key: str, name: str, original: str | None) -> None:
    """Make an imported graph the one of its name."""
    values = {"key": key, "name": name, "original": original}
    tx.run("MATCH (g:Graph {key: $key}) SET g.name = $name, g.original = $original REMOVE g.lease", values).consume()
    tx.run("MATCH (g:Graph {key: $key}) MATCH (o:Graph {key: $original}) MERGE (g)-[:MADE_FROM]->(o)", values).consume()


def take_name(tx: ManagedTransaction, key: str) -> None:
    """Give a graph up; releases made from it lose what leads back to it, and stay."""
    tx.run("MATCH (r:Graph {original: $key}) REMOVE r.original", key=key).consume()
    tx.run("MATCH (:Graph)-[m:MADE_FROM]->(:Graph {key: $key}) DELETE m", key=key).consume()
    tx.run(
        "MATCH (s:Seed {number: 0}) WHERE NOT EXISTS { MATCH (g:Graph {key: s.graph}) "
        "WHERE g.original IS NOT NULL OR g.lease > 0 } DELETE s"
    ).consume()
    tx.run("MATCH (g:Graph {key: $key}) SET g.lease = 0 REMOVE g.name", key=key).consume()


def give_up(tx: ManagedTransaction, key: str) -> None:
    """Give up an import that failed, unless it has its name already: nobody may know that the last step was done."""
    heads.lock_key(tx, key)
    tx.run("MATCH (g:Graph {key: $key}) WHERE g.name IS NULL SET g.lease = 0", key=key).consume()


def give_up_dead(tx: ManagedTransaction) -> list[str]:
    """The keys of graphs to be deleted: given up, or imports that gave no sign of life until their lease was over."""
    dead: LiteralString = "MATCH (g:Graph) WHERE g.name IS NULL AND g.lease < timestamp() "
    seen = ask(tx, dead + "RETURN g.key ORDER BY g.key")
    for (key,) in seen:
        # It may have shown life, or taken its name, while we waited.
        heads.lock_key(tx, key)
    keys = [key for (key,) in seen]
    found = ask(tx, dead + "AND g.key IN $keys SET g.lease = 0 RETURN g.key ORDER BY g.key", keys=keys)
    return [key for (key,) in found]


#: Statements that delete some nodes of an abandoned graph and return how many.
DELETE: tuple[LiteralString, ...] = (
    "MATCH (n:Match) WHERE n.original = $key AND n.number >= 0 WITH n LIMIT $size DETACH DELETE n RETURN count(*)",
    *(
        f"MATCH (n:{part}) WHERE n.graph = $key AND n.number >= 0 WITH n LIMIT $size DETACH DELETE n RETURN count(*)"
        for part in schema.PARTS
    ),
    "MATCH (n:Graph {key: $key}) WITH n LIMIT $size DETACH DELETE n RETURN count(*)",
)


def delete_some(tx: ManagedTransaction, key: str) -> bool:
    """Delete a batch of what was given up; True if there may be more."""
    room = schema.BATCH
    for statement in DELETE:
        room -= int(ask(tx, statement, key=key, size=room)[0][0])
        if not room:
            return True
    return False
