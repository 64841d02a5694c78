"""Single records of a graph: found, changed and taken out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neo4j import ManagedTransaction

from graphpriv.store.neo4j import imports
from graphpriv.store.neo4j.layout import Rows, ask, batches


def known_users(tx: ManagedTransaction, key: str, ids: Sequence[str]) -> dict[str, int]:
    """The numbers of those of the *ids* that are there."""
    found: dict[str, int] = {}
    for batch in batches(ids):
        rows = ask(
            tx, "UNWIND $ids AS id MATCH (u:User {graph: $key, id: id}) RETURN u.id, u.number", key=key, ids=batch
        )
        found.update((user, number) for user, number in rows)
    return found


def known_posts(tx: ManagedTransaction, key: str, ids: Sequence[str]) -> dict[str, int]:
    """The numbers of those of the *ids* that are there."""
    rows = ask(
        tx, "UNWIND $ids AS id MATCH (p:Post {graph: $key, id: id}) RETURN p.id, p.number", key=key, ids=list(ids)
    )
    return {str(post): int(number) for post, number in rows}


def clear_profiles(tx: ManagedTransaction, key: str, numbers: Sequence[int]) -> tuple[list[int], list[int]]:
    """Take home and interests off users who get new ones; tells which places and topics that were."""
    rows = ask(
        tx,
        "UNWIND $numbers AS number MATCH (u:User {graph: $key, number: number})-[r:LIVES_IN|INTERESTED_IN]->(n) "
        "WITH r, n.number AS number, n:Place AS home DELETE r RETURN DISTINCT home, number ORDER BY home, number",
        key=key,
        numbers=list(numbers),
    )
    return [number for home, number in rows if home], [number for home, number in rows if not home]


def prune(tx: ManagedTransaction, key: str, homes: Sequence[int], interests: Sequence[int]) -> None:
    """Take out those of the topics that nobody has, and places with those above them as far as nobody lives there."""
    tx.run(
        "UNWIND $interests AS number MATCH (t:Topic {graph: $key, number: number}) "
        "WHERE NOT EXISTS { (t)<-[:INTERESTED_IN]-() } DELETE t",
        key=key,
        interests=list(interests),
    ).consume()
    while homes:
        # Places that nobody is left in, with nothing below them; then the ones above.
        rows = ask(
            tx,
            "UNWIND $homes AS number MATCH (p:Place {graph: $key, number: number})-[:BELOW]->(above:Place) "
            "WHERE NOT EXISTS { (p)<-[:LIVES_IN]-() } AND NOT EXISTS { (p)<-[:BELOW]-() } "
            "WITH p, above.number AS next DETACH DELETE p RETURN DISTINCT next ORDER BY next",
            key=key,
            homes=list(homes),
        )
        homes = [number for (number,) in rows]


def clear_authors(tx: ManagedTransaction, key: str, numbers: Sequence[int]) -> None:
    """Take posts off their authors before they are put in again."""
    tx.run(
        "UNWIND $numbers AS number MATCH (:User)-[r:POSTED]->(:Post {graph: $key, number: number}) DELETE r",
        key=key,
        numbers=list(numbers),
    ).consume()


def put_follows(tx: ManagedTransaction, key: str, rows: Rows) -> int:
    """Add follows, and say how many of them are new."""
    done = tx.run(imports.PUT["follows"], key=key, rows=rows).consume()
    return done.counters.relationships_created


def forget(tx: ManagedTransaction, key: str, number: int) -> tuple[int, int, int]:
    """Take a user out, and say how many follows, posts and rows of mappings went along."""
    values: dict[str, Any] = {"key": key, "number": number}
    at = "MATCH (u:User {graph: $key, number: $number})"
    gone = ask(tx, at + " RETURN COUNT { (u)-[:FOLLOWS]-() }, COUNT { (u)-[:POSTED]->() }", **values)[0]
    interests = [row[0] for row in ask(tx, at + "-[:INTERESTED_IN]->(t:Topic) RETURN t.number", **values)]
    homes = [row[0] for row in ask(tx, at + "-[:LIVES_IN]->(p:Place) RETURN p.number", **values)]
    tx.run(at + "-[:POSTED]->(p:Post) DETACH DELETE p", values).consume()
    tx.run(at + " DETACH DELETE u", values).consume()
    matched = tx.run("MATCH (m:Match {original: $key, number: $number}) DELETE m", values).consume()
    prune(tx, key, homes, interests)
    return int(gone[0]), int(gone[1]), matched.counters.nodes_deleted
