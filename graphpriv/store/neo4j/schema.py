"""The schema of a server: constraints, versions, and how to query it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, LiteralString, TypeVar

from neo4j import ManagedTransaction

T = TypeVar("T")

#: How many records go over the wire at a time.
BATCH = 5_000

Rows = list[list[Any]]

#: Every kind of node that belongs to a graph.
PARTS = ("User", "Place", "Topic", "Post", "Match", "Seed", "Run", "Piece", "Record")

#: Run before anything else; each does nothing where it is met already.
CONSTRAINTS: tuple[LiteralString, ...] = (
    "CREATE CONSTRAINT store_name IF NOT EXISTS FOR (n:Store) REQUIRE n.name IS UNIQUE",
    "CREATE CONSTRAINT graph_key IF NOT EXISTS FOR (n:Graph) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT graph_name IF NOT EXISTS FOR (n:Graph) REQUIRE n.name IS UNIQUE",
    "CREATE CONSTRAINT user_number IF NOT EXISTS FOR (n:User) REQUIRE (n.graph, n.number) IS UNIQUE",
    "CREATE CONSTRAINT user_id IF NOT EXISTS FOR (n:User) REQUIRE (n.graph, n.id) IS UNIQUE",
    "CREATE CONSTRAINT place_number IF NOT EXISTS FOR (n:Place) REQUIRE (n.graph, n.number) IS UNIQUE",
    "CREATE CONSTRAINT topic_number IF NOT EXISTS FOR (n:Topic) REQUIRE (n.graph, n.number) IS UNIQUE",
    "CREATE CONSTRAINT post_number IF NOT EXISTS FOR (n:Post) REQUIRE (n.graph, n.number) IS UNIQUE",
    "CREATE CONSTRAINT post_id IF NOT EXISTS FOR (n:Post) REQUIRE (n.graph, n.id) IS UNIQUE",
    "CREATE CONSTRAINT match_user IF NOT EXISTS FOR (n:Match) REQUIRE (n.graph, n.number) IS UNIQUE",
    "CREATE CONSTRAINT seed_number IF NOT EXISTS FOR (n:Seed) REQUIRE (n.graph, n.number) IS UNIQUE",
    "CREATE CONSTRAINT run_number IF NOT EXISTS FOR (n:Run) REQUIRE (n.graph, n.number) IS UNIQUE",
    "CREATE CONSTRAINT piece_number IF NOT EXISTS FOR (n:Piece) REQUIRE (n.graph, n.number) IS UNIQUE",
    "CREATE CONSTRAINT record_id IF NOT EXISTS FOR (n:Record) REQUIRE (n.graph, n.kind, n.id) IS UNIQUE",
    "CREATE INDEX record_number IF NOT EXISTS FOR (n:Record) ON (n.graph, n.number)",
    "CREATE INDEX record_due IF NOT EXISTS FOR (n:Record) ON (n.kind, n.number)",
    "CREATE INDEX match_original IF NOT EXISTS FOR (n:Match) ON (n.original, n.number)",
)

#: Step n leads from version n to version n + 1, all in one transaction. Steps are only ever added.
STEPS: tuple[tuple[LiteralString, ...], ...] = (
    ("MERGE (s:Store {name: 'graphpriv'}) ON CREATE SET s.runs = 0",),
    # Summaries came; a constraint is all they need, and they are made anew wherever they are missing.
    (),
    # Two random identifiers have 244 random bits.
    ("MATCH (s:Store {name: 'graphpriv'}) SET s.secret = replace(randomUUID() + randomUUID(), '-', '')",),
    # Records of crawls came, which need constraints alone.
    (),
)


def ask(tx: ManagedTransaction, query: LiteralString, **values: Any) -> Rows:
    """The rows that answer a *query*."""
    return [list(record.values()) for record in tx.run(query, values)]


def batches(rows: Iterable[T]) -> Iterator[list[T]]:
    """The *rows*, so many at a time."""
    source = iter(rows)
    while batch := list(islice(source, BATCH)):
        yield batch


def version(tx: ManagedTransaction) -> int:
    """The version of the layout; 0 where there is none yet."""
    found = ask(tx, "MATCH (s:Store {name: 'graphpriv'}) RETURN s.schema")
    return int(found[0][0]) if found else 0


def migrate(tx: ManagedTransaction, present: int, wanted: int) -> None:
    """Bring the layout from one version to another."""
    for step in STEPS[present:wanted]:
        for statement in step:
            tx.run(statement).consume()
    tx.run("MATCH (s:Store {name: 'graphpriv'}) SET s.schema = $wanted", wanted=wanted).consume()


def lock_store(tx: ManagedTransaction) -> None:
    """Wait until nobody else gives, takes or moves a name, to the end of this transaction."""
    tx.run("MATCH (s:Store {name: 'graphpriv'}) SET s.runs = s.runs").consume()
