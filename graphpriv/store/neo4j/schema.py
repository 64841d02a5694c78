"""The schema of a server: constraints, versions, and how to query it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, LiteralString, TypeVar

from neo4j import ManagedTransaction

from graphpriv.store.crawls import NOTE, SEAL, keyed_note
from graphpriv.store.records import PLAIN, Record, keyed
from graphpriv.store.seals import resealed

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


def ask(tx: ManagedTransaction, query: LiteralString, **values: Any) -> Rows:
    """The rows that answer a *query*."""
    return [list(record.values()) for record in tx.run(query, values)]


def _secret(tx: ManagedTransaction) -> bytes:
    return bytes.fromhex(ask(tx, "MATCH (s:Store {name: 'graphpriv'}) RETURN s.secret")[0][0])


def _key_runs(tx: ManagedTransaction) -> None:
    secret = _secret(tx)
    plain: LiteralString = "MATCH (r:Run) WHERE r.number >= 0 AND r.input_hash STARTS WITH $plain "
    for (held,) in ask(tx, plain + "RETURN DISTINCT r.input_hash", plain=PLAIN):
        ask(
            tx,
            "MATCH (r:Run) WHERE r.number >= 0 AND r.input_hash = $held SET r.input_hash = $keyed",
            held=held,
            keyed=keyed(secret, held),
        )


def _key_notes(tx: ManagedTransaction) -> None:
    secret = _secret(tx)
    rows = ask(tx, "MATCH (n:Record) WHERE n.kind = $kind RETURN n.graph, n.id, n.data", kind=NOTE)
    for some in batches([graph, id, keyed_note(secret, bytes(data))] for graph, id, data in rows if data is not None):
        ask(
            tx,
            "UNWIND $rows AS row MATCH (n:Record {graph: row[0], kind: $kind, id: row[1]}) SET n.data = row[2]",
            rows=some,
            kind=NOTE,
        )


def _seal_crawls(tx: ManagedTransaction) -> None:
    crawled: LiteralString = "MATCH (n:Record) WHERE n.graph IS NOT NULL AND n.kind <> $kind RETURN DISTINCT n.graph"
    records: LiteralString = (
        "MATCH (n:Record) WHERE n.graph = $graph AND n.kind <> $kind RETURN n.kind, n.id, n.data, n.number"
    )
    for (graph,) in ask(tx, crawled, kind=SEAL):
        rows = (row.values() for row in tx.run(records, graph=graph, kind=SEAL))
        sealed = resealed(None, (), (Record(kind, id, bytes(data), number) for kind, id, data, number in rows))
        tx.run(
            "MERGE (n:Record {graph: $graph, kind: $kind, id: $id}) SET n.data = $data, n.number = $number",
            {"graph": graph, **sealed._asdict()},
        ).consume()


def batches(rows: Iterable[T]) -> Iterator[list[T]]:
    """The *rows*, so many at a time."""
    source = iter(rows)
    while batch := list(islice(source, BATCH)):
        yield batch


#: Step n leads from version n to version n + 1, all in one transaction. Steps are only ever added.
STEPS: tuple[tuple[LiteralString | Callable[[ManagedTransaction], object], ...], ...] = (
    ("MERGE (s:Store {name: 'graphpriv'}) ON CREATE SET s.runs = 0",),
    # Summaries came; a constraint is all they need, and they are made anew wherever they are missing.
    (),
    # Two random identifiers have 244 random bits.
    ("MATCH (s:Store {name: 'graphpriv'}) SET s.secret = replace(randomUUID() + randomUUID(), '-', '')",),
    # Records of crawls came, which need constraints alone.
    (),
    # Plain fingerprints of originals and of what persons wrote, from which a guess could be confirmed.
    ("MATCH (r:Run) WHERE r.number >= 0 AND r.verb <> 'protect' SET r.input_hash = ''", _key_runs, _key_notes),
    # From here on every change of a record of a crawl is in the seal of all.
    (_seal_crawls,),
)


def version(tx: ManagedTransaction) -> int:
    """The version of the layout; 0 where there is none yet."""
    found = ask(tx, "MATCH (s:Store {name: 'graphpriv'}) RETURN s.schema")
    return int(found[0][0]) if found else 0


def migrate(tx: ManagedTransaction, present: int, wanted: int) -> None:
    """Bring the layout from one version to another."""
    for step in STEPS[present:wanted]:
        for statement in step:
            if callable(statement):
                statement(tx)
            else:
                tx.run(statement).consume()
    tx.run("MATCH (s:Store {name: 'graphpriv'}) SET s.schema = $wanted", wanted=wanted).consume()


def lock_store(tx: ManagedTransaction) -> None:
    """Wait until nobody else gives, takes or moves a name, to the end of this transaction."""
    tx.run("MATCH (s:Store {name: 'graphpriv'}) SET s.runs = s.runs").consume()
