"""All that is said to Neo4j: a graph as users who follow each other, like topics and live in places.

    (:User)-[:FOLLOWS]->(:User)                 (:User)-[:INTERESTED_IN {rank}]->(:Topic)
    (:User)-[:POSTED]->(:Post)                  (:User)-[:LIVES_IN]->(:Place)-[:BELOW]->(:Place)
    (:Graph)-[:MADE_FROM]->(:Graph)             (:Match), (:Seed), (:Run): found by key only

Every node carries the key of its graph, since the community edition has one database. A graph without a name is being
imported (its lease says until when at least) or deleted; nobody else sees it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, LiteralString, TypeVar

import numpy as np
from neo4j import ManagedTransaction
from numpy.typing import NDArray

from graphpriv.graph import PRIVATE
from graphpriv.store.assembly import Parts, PlaceRow
from graphpriv.store.contract import GraphInfo, Post, Run
from graphpriv.topics import RANKS

T = TypeVar("T")

#: How many records go over the wire at a time.
BATCH = 5_000

Rows = list[list[Any]]

#: Every kind of node that belongs to a graph.
PARTS = ("User", "Place", "Topic", "Post", "Match", "Seed", "Run")

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
    "CREATE INDEX match_original IF NOT EXISTS FOR (n:Match) ON (n.original, n.number)",
)

#: Step n leads from version n to version n + 1, all in one transaction. Steps are only ever added.
STEPS: tuple[tuple[LiteralString, ...], ...] = (("MERGE (s:Store {name: 'graphpriv'}) ON CREATE SET s.runs = 0",),)


def ask(tx: ManagedTransaction, query: LiteralString, **values: Any) -> Rows:
    """The rows that answer a *query*."""
    return [list(record.values()) for record in tx.run(query, values)]


def some(source: Iterator[T], count: int) -> list[T]:
    """The next rows, *count* at most."""
    return list(islice(source, count))


def batches(rows: Iterable[T]) -> Iterator[list[T]]:
    """The *rows*, so many at a time."""
    source = iter(rows)
    while batch := some(source, BATCH):
        yield batch


# The store


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


# Graphs by name


@dataclass(frozen=True)
class Head:
    """The node of a graph."""

    key: str
    name: str | None
    directed: bool
    private: tuple[str, ...]
    users: int
    edges: int
    forgotten: int
    posts: int
    revision: int
    created: str
    original: str | None
    k: int | None
    method: str | None
    parameters: str

    @property
    def moment(self) -> str:
        """The revision as others compare it: the key is given once only."""
        return f"{self.key}-{self.revision}"

    @property
    def numbers(self) -> int:
        """One past the highest number that a user may have."""
        return self.users + self.forgotten

    def info(self, original: str | None) -> GraphInfo:
        """What a list shows of the graph, if that is the name of its original."""
        return GraphInfo(
            name=str(self.name),
            kind="original" if self.k is None else "release",
            directed=self.directed,
            users=self.users,
            edges=self.edges,
            created=self.created,
            original=original,
            k=self.k,
            method=self.method,
            parameters=json.loads(self.parameters),
        )

    @classmethod
    def of(cls, node: Mapping[str, Any]) -> Head:
        """The node's properties, which may lack those that are null."""
        values: dict[str, Any] = {field: node.get(field) for field in cls.__dataclass_fields__}
        values.update(private=tuple(values["private"] or ()), parameters=values["parameters"] or "{}")
        return cls(**values)


def heads(tx: ManagedTransaction) -> list[Head]:
    """All graphs that have a name, by name."""
    found = [Head.of(row[0]) for row in ask(tx, "MATCH (g:Graph) WHERE g.name IS NOT NULL RETURN properties(g)")]
    return sorted(found, key=lambda head: str(head.name))


def infos(tx: ManagedTransaction) -> list[GraphInfo]:
    """What a list shows of each graph, by name."""
    found = heads(tx)
    names = {head.key: head.name for head in found}
    return [head.info(names.get(head.original or "")) for head in found]


def state(tx: ManagedTransaction) -> tuple[list[Head], int]:
    """What is another after every change of anything that has a name: all graphs, and how many runs were noted."""
    found = ask(tx, "MATCH (s:Store {name: 'graphpriv'}) RETURN s.runs")
    return heads(tx), int(found[0][0])


def head_of(tx: ManagedTransaction, name: str) -> Head | None:
    """The graph of a name."""
    found = ask(tx, "MATCH (g:Graph {name: $name}) RETURN properties(g)", name=name)
    return Head.of(found[0][0]) if found else None


def lock_graph(tx: ManagedTransaction, name: str) -> Head | None:
    """The graph of a name, which nobody else changes to the end of this transaction."""
    found = ask(tx, "MATCH (g:Graph {name: $name}) SET g.revision = g.revision + 1 RETURN properties(g)", name=name)
    return Head.of(found[0][0]) if found else None


def lock_key(tx: ManagedTransaction, key: str) -> None:
    """Wait until nobody else changes a graph, to the end of this transaction."""
    tx.run("MATCH (g:Graph {key: $key}) SET g.revision = g.revision", key=key).consume()


def lock_all(tx: ManagedTransaction) -> None:
    """Wait until nobody else changes anything that has a name, to the end of this transaction."""
    lock_store(tx)
    for key in sorted(head.key for head in heads(tx)):
        lock_key(tx, key)


# Imports: parts under a key that has no name yet


def begin(tx: ManagedTransaction, head: Mapping[str, Any], lease: int) -> None:
    """Make the node of a graph that is being imported."""
    tx.run("CREATE (g:Graph) SET g = $head, g.lease = timestamp() + $lease", head=dict(head), lease=lease).consume()


def renew(tx: ManagedTransaction, key: str, lease: int) -> bool:
    """Show that an import is alive; False if it was taken for dead."""
    # What a statement looks for, it looks for before it waits for a lock.
    lock_key(tx, key)
    return bool(
        ask(
            tx,
            "MATCH (g:Graph {key: $key}) WHERE g.lease > 0 SET g.lease = timestamp() + $lease RETURN true",
            key=key,
            lease=lease,
        )
    )


#: What puts rows of one kind in, each row known by its key, so that putting it in twice makes one.
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


def counted(tx: ManagedTransaction, key: str) -> tuple[int, int]:
    """How many users and follows a graph has."""
    found = ask(
        tx,
        "MATCH (u:User) WHERE u.graph = $key AND u.number >= 0 RETURN count(u), sum(COUNT { (u)-[:FOLLOWS]->() })",
        key=key,
    )
    return int(found[0][0]), int(found[0][1])


def expected(tx: ManagedTransaction, key: str) -> tuple[int, int]:
    """How many users and follows the node of a graph says that there are."""
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
    lock_key(tx, key)
    tx.run("MATCH (g:Graph {key: $key}) WHERE g.name IS NULL SET g.lease = 0", key=key).consume()


def give_up_dead(tx: ManagedTransaction) -> list[str]:
    """The keys of graphs to be deleted: given up, or imports that gave no sign of life until their lease was over."""
    dead: LiteralString = "MATCH (g:Graph) WHERE g.name IS NULL AND g.lease < timestamp() "
    seen = ask(tx, dead + "RETURN g.key ORDER BY g.key")
    for (key,) in seen:
        # It may have shown life, or taken its name, while we waited.
        lock_key(tx, key)
    keys = [key for (key,) in seen]
    found = ask(tx, dead + "AND g.key IN $keys SET g.lease = 0 RETURN g.key ORDER BY g.key", keys=keys)
    return [key for (key,) in found]


#: What deletes some nodes of a graph that was given up, and says how many.
DELETE: tuple[LiteralString, ...] = (
    "MATCH (n:Match) WHERE n.original = $key AND n.number >= 0 WITH n LIMIT $size DETACH DELETE n RETURN count(*)",
    *(
        f"MATCH (n:{part}) WHERE n.graph = $key AND n.number >= 0 WITH n LIMIT $size DETACH DELETE n RETURN count(*)"
        for part in PARTS
    ),
    "MATCH (n:Graph {key: $key}) WITH n LIMIT $size DETACH DELETE n RETURN count(*)",
)


def delete_some(tx: ManagedTransaction, key: str) -> bool:
    """Delete a batch of what was given up; True if there may be more."""
    room = BATCH
    for statement in DELETE:
        room -= int(ask(tx, statement, key=key, size=room)[0][0])
        if not room:
            return True
    return False


# Reading


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
    rows = [row for low in range(0, head.numbers, BATCH) for row in users(tx, head.key, low, low + BATCH)]
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
        size=BATCH,
    )
    return [
        (number, Post(id=post, user=user, text=text, links=tuple(links), created=created))
        for number, post, user, text, links, created in rows
    ]


# Runs


def add_run(tx: ManagedTransaction, key: str, run: Run) -> None:
    """Write down a piece of work."""
    values = {
        "graph": key,
        "verb": run.verb,
        "parameters": json.dumps(dict(run.parameters), sort_keys=True, ensure_ascii=False),
        "version": run.version,
        "input_hash": run.input_hash,
        "created": run.created,
    }
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
    return [
        Run(verb=verb, parameters=json.loads(parameters), version=version, input_hash=input_hash, created=created)
        for verb, parameters, version, input_hash, created in rows
    ]


def all_of(tx: ManagedTransaction, head: Head) -> tuple[Parts, tuple[Post, ...], tuple[Run, ...], Rows, int | None]:
    """All that belongs to a graph: its parts, posts, runs, mapping and seed."""
    found: list[Post] = []
    last = -1
    while page := posts(tx, head.key, last):
        found += [post for _, post in page]
        last = page[-1][0]
    return parts_of(tx, head), tuple(found), tuple(runs(tx, [head.key])), matches(tx, head.key), seed(tx, head.key)


# Single records


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


def note(tx: ManagedTransaction, key: str, changes: Mapping[str, Any]) -> None:
    """Set what the node of a graph says."""
    tx.run("MATCH (g:Graph {key: $key}) SET g += $changes", key=key, changes=dict(changes)).consume()


def put_follows(tx: ManagedTransaction, key: str, rows: Rows) -> int:
    """Add follows, and say how many of them are new."""
    done = tx.run(PUT["follows"], key=key, rows=rows).consume()
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


# Inspection


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
    """Which counts of a graph are not 0 that must be."""
    found = {what: ask(tx, query, key=head.key, numbers=head.numbers) for what, query in NONE_OF.items()}
    return [f"{rows[0][0]} {what}." for what, rows in found.items() if rows and rows[0][0]]


def orphans(tx: ManagedTransaction) -> list[str]:
    """Parts of no graph."""
    problems = []
    for part in PARTS:
        statement: LiteralString = (
            f"MATCH (n:{part}) WHERE n.graph IS NOT NULL WITH n.graph AS key, count(*) AS nodes "
            "WHERE NOT EXISTS { MATCH (g:Graph {key: key}) } RETURN sum(nodes)"
        )
        (count,) = ask(tx, statement)[0]
        if count:
            problems.append(f"{count} nodes of kind {part} belong to no graph.")
    return problems
