"""Find what is wrong with a Neo4j store."""

from __future__ import annotations

from typing import LiteralString

from neo4j import ManagedTransaction

from graphpriv.store.neo4j import schema
from graphpriv.store.neo4j.heads import Head
from graphpriv.store.neo4j.schema import ask

#: Counts of a graph that must be 0: what is wrong, and the query.
NONE_OF: dict[str, LiteralString] = {
    "follows of oneself": """
        MATCH (u:User) WHERE u.graph = $key AND u.number >= 0
        RETURN sum(COUNT { (u)-[:FOLLOWS]->(u) })""",
    "follows to or from nobody of the graph": """
        MATCH (u:User) WHERE u.graph = $key AND u.number >= 0
        RETURN sum(COUNT { (u)-[:FOLLOWS]-(v) WHERE v.graph IS NULL OR v.graph <> $key })""",
    "follows that stand twice": """
        MATCH (u:User)-[f:FOLLOWS]->(v) WHERE u.graph = $key AND u.number >= 0
        WITH u, v, count(f) AS times WHERE times > 1 RETURN count(*)""",
    "undirected follows with the ends in the wrong order": """
        MATCH (g:Graph {key: $key}) WHERE NOT g.directed
        MATCH (u:User) WHERE u.graph = $key AND u.number >= 0
        RETURN sum(COUNT { (u)-[:FOLLOWS]->(v) WHERE v.number < u.number })""",
    "users out of the order of import": """
        MATCH (u:User) WHERE u.graph = $key AND (u.number >= $numbers OR u.number < 0) RETURN count(u)""",
    "users with more than one place, or with a place of another graph": """
        MATCH (u:User) WHERE u.graph = $key AND u.number >= 0
        WITH u, COUNT { (u)-[:LIVES_IN]->() } AS homes, COUNT { (u)-[:LIVES_IN]->(:Place {graph: $key}) } AS own
        WHERE homes > 1 OR own < homes RETURN count(u)""",
    "users with two topics of one rank, or with a topic of another graph": """
        MATCH (u:User) WHERE u.graph = $key AND u.number >= 0
        OPTIONAL MATCH (u)-[i:INTERESTED_IN]->(t)
        WITH u, collect(i.rank) AS ranks, collect(t.graph) AS graphs
        WHERE any(rank IN ranks WHERE size([r IN ranks WHERE r = rank]) > 1 OR NOT rank IN [1, 2, 3])
            OR any(graph IN graphs WHERE graph <> $key) RETURN count(u)""",
    "released users with private columns": """
        MATCH (g:Graph {key: $key}) WHERE g.k IS NOT NULL
        MATCH (u:User) WHERE u.graph = $key AND u.number >= 0
            AND (u.handle IS NOT NULL OR u.name IS NOT NULL OR u.location_text IS NOT NULL)
        RETURN count(u)""",
    "posts by nobody of the graph": """
        MATCH (p:Post) WHERE p.graph = $key AND p.number >= 0
            AND COUNT { (:User {graph: $key})-[:POSTED]->(p) } <> 1 RETURN count(p)""",
    "rows of the mapping that lead to nobody": """
        MATCH (m:Match) WHERE m.graph = $key AND m.number >= 0
            AND NOT EXISTS { MATCH (u:User {graph: $key, number: m.released}) } RETURN count(m)""",
    "rows of the mapping that lead to a released user twice": """
        MATCH (m:Match) WHERE m.graph = $key AND m.number >= 0
        RETURN count(m) - count(DISTINCT m.released)""",
    "rows of the mapping that come from nobody": """
        MATCH (m:Match) WHERE m.graph = $key AND m.number >= 0
            AND NOT EXISTS { MATCH (u:User {graph: m.original, number: m.number}) } RETURN count(m)""",
    "rows of the mapping of another original": """
        MATCH (g:Graph {key: $key}) MATCH (m:Match) WHERE m.graph = $key AND m.number >= 0
            AND (g.original IS NULL OR m.original <> g.original) RETURN count(m)""",
}


def wrong_counts(tx: ManagedTransaction, head: Head) -> list[str]:
    """The counts of a graph that must be 0 and are not."""
    found = {what: ask(tx, query, key=head.key, numbers=head.numbers) for what, query in NONE_OF.items()}
    return [f"{rows[0][0]} {what}." for what, rows in found.items() if rows and rows[0][0]]


def orphans(tx: ManagedTransaction) -> list[str]:
    """Parts of no graph."""
    problems = []
    for part in schema.PARTS:
        statement: LiteralString = (
            f"MATCH (n:{part}) WHERE n.graph IS NOT NULL WITH n.graph AS key, count(*) AS nodes "
            "WHERE NOT EXISTS { MATCH (g:Graph {key: key}) } RETURN sum(nodes)"
        )
        (count,) = ask(tx, statement)[0]
        if count:
            problems.append(f"{count} nodes of kind {part} belong to no graph.")
    return problems
