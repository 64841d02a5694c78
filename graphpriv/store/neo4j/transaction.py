"""The graphs of a server within one transaction: queried, changed and inspected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, LiteralString

import numpy as np
from neo4j import ManagedTransaction
from numpy.typing import NDArray

from graphpriv.graph import PRIVATE
from graphpriv.store import statements
from graphpriv.store.assembly import Parts, PlaceRow
from graphpriv.store.neo4j import schema
from graphpriv.store.neo4j.schema import Rows, ask, batches
from graphpriv.store.records import Forgotten, Post, Record, Run
from graphpriv.store.statements import Head, Key, Matches
from graphpriv.store.summary import PIECES, Piece
from graphpriv.store.transaction import Transaction
from graphpriv.topics import RANKS

#: What a piece of a summary is numbered from, times the revision of its graph.
REVISION: LiteralString = "1099511627776"

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
    "pieces": f"""
        MATCH (g:Graph {{key: $key}}) UNWIND $rows AS row
        MERGE (n:Piece {{graph: $key, number: row[0] + g.revision * {REVISION}}}) SET n.data = row[1]""",
    "records": """
        UNWIND $rows AS row
        MERGE (n:Record {graph: $key, kind: row[0], id: row[1]}) SET n.data = row[2], n.number = row[3]""",
    "seeds": """
        UNWIND $rows AS row
        MERGE (s:Seed {graph: $key, number: 0}) SET s.seed = row[0]""",
}

#: The numbers of users and of posts by their ids.
KNOWN: dict[str, LiteralString] = {
    "users": "UNWIND $ids AS id MATCH (u:User {graph: $key, id: id}) RETURN u.id, u.number",
    "posts": "UNWIND $ids AS id MATCH (p:Post {graph: $key, id: id}) RETURN p.id, p.number",
}

_USERS: LiteralString = """
    MATCH (u:User) WHERE u.graph = $key AND u.number >= $low AND u.number < $high
    OPTIONAL MATCH (u)-[:LIVES_IN]->(home:Place)
    RETURN u.number, u.id, home.number, [(u)-[i:INTERESTED_IN]->(t:Topic) | [i.rank, t.number]],
        u.handle, u.name, u.location_text, [(u)-[:FOLLOWS]->(v:User) | v.number]
    ORDER BY u.number"""

_FOLLOWS: LiteralString = """
    MATCH (u:User)-[:FOLLOWS]->(v:User) WHERE u.graph = $key AND u.number >= $low AND u.number < $high
    RETURN u.number, v.number ORDER BY u.number, v.number"""

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


class ServerTransaction(Transaction):
    """All graphs of a server that have a name, and by their keys also those that have none."""

    none_of = NONE_OF

    def __init__(self, tx: ManagedTransaction) -> None:
        self.tx = tx

    def ask(self, query: LiteralString, **values: Any) -> Rows:
        """The rows that answer a *query*."""
        return ask(self.tx, query, **values)

    def heads(self, *, name: str | None = None, key: Key | None = None, released: bool = False) -> list[Head]:
        which = "g.k IS NOT NULL" if released else "g.name IS NOT NULL"
        which = which if name is None else "g.name = $name"
        which = which if key is None else "g.key = $key"
        asked = self.ask(
            f"MATCH (g:Graph) WHERE {which} AND g.name IS NOT NULL RETURN properties(g)", name=name or "", key=key or ""
        )
        nodes = [node for (node,) in asked]
        # A node lacks the properties that are null.
        found = [{field: node.get(field) for field in Head.__dataclass_fields__} for node in nodes]
        for head in found:
            head.update(private=tuple(head["private"] or ()), revision=f"{head['key']}-{head['revision']}")
        return sorted((Head(**head) for head in found), key=lambda head: head.name)

    def state(self) -> object:
        return self.heads(), self.ask("MATCH (s:Store {name: 'graphpriv'}) RETURN s.runs")

    def secret(self) -> bytes:
        return bytes.fromhex(self.ask("MATCH (s:Store {name: 'graphpriv'}) RETURN s.secret")[0][0])

    def put_secret(self, secret: bytes) -> None:
        self.ask("MATCH (s:Store {name: 'graphpriv'}) SET s.secret = $secret", secret=secret.hex())

    def touch(self, name: str) -> None:
        # Nobody finds the pieces of an earlier revision; all of them at once may be too much for one transaction.
        self.ask("MATCH (g:Graph {name: $name}) SET g.revision = g.revision + 1", name=name)

    def lock(self, key: Key) -> None:
        self.ask("MATCH (g:Graph {key: $key}) SET g.revision = g.revision", key=key)

    def lock_all(self) -> None:
        """Wait until nobody else changes anything that has a name, to the end of this transaction."""
        schema.lock_store(self.tx)
        for key in sorted(str(head.key) for head in self.heads()):
            self.lock(key)

    def note(self, key: Key, **changes: Any) -> None:
        self.ask("MATCH (g:Graph {key: $key}) SET g += $changes", key=key, changes=changes)

    def places(self, key: Key) -> list[PlaceRow]:
        rows = self.ask(
            "MATCH (p:Place) WHERE p.graph = $key AND p.number >= 0 OPTIONAL MATCH (p)-[:BELOW]->(above:Place) "
            "RETURN p.number, above.number, p.name, p.type",
            key=key,
        )
        return [(number, above, name, kind) for number, above, name, kind in rows]

    def topics(self, key: Key) -> dict[int, str]:
        rows = self.ask("MATCH (t:Topic) WHERE t.graph = $key AND t.number >= 0 RETURN t.number, t.name", key=key)
        return {int(number): str(name) for number, name in rows}

    def users(self, key: Key, low: int, high: int) -> Rows:
        """As the contract says, and at the end of each row those whom the user follows."""
        found = []
        for number, user, home, interests, *rest in self.ask(_USERS, key=key, low=low, high=high):
            ranked = dict(interests)
            found.append([number, user, home, *(ranked.get(rank) for rank in range(1, RANKS + 1)), *rest])
        return found

    def follows(self, key: Key, low: int, high: int) -> NDArray[np.int64]:
        rows = self.ask(_FOLLOWS, key=key, low=low, high=high)
        return np.array(rows, dtype=np.int64).reshape(-1, 2)

    def parts(self, head: Head, *, bare: bool = False) -> Parts:
        size, pages, ids = schema.BATCH, [], []
        private: dict[str, list[str | None]] = {} if bare else {column: [] for column in head.private}
        for low in range(0, head.numbers, size):
            rows = self.users(head.key, low, low + size)
            pages.append(_arrays(rows))
            ids += [""] * len(rows) if bare else [row[1] for row in rows]
            for column, values in private.items():
                values += [row[6 + PRIVATE.index(column)] for row in rows]
        profiles, sources, targets = map(np.concatenate, zip(_arrays([]), *pages, strict=True))
        return Parts(
            directed=head.directed,
            numbers=profiles[:, 0],
            ids=ids,
            location=profiles[:, 1],
            topics=profiles[:, 2:],
            sources=sources,
            targets=targets,
            places=self.places(head.key),
            topic_names=self.topics(head.key),
            private=private,
        )

    def ids(self, key: Key, numbers: Sequence[int]) -> dict[int, str]:
        query: LiteralString = (
            "UNWIND $numbers AS number MATCH (u:User {graph: $key, number: number}) RETURN u.number, u.id"
        )
        found = self.ask(query, key=key, numbers=list(numbers))
        return {int(number): str(user) for number, user in found}

    def pieces(self, key: Key, numbers: Sequence[int]) -> dict[int, bytes]:
        query: LiteralString = (
            "MATCH (g:Graph {key: $key}) UNWIND $numbers AS number "
            f"MATCH (n:Piece {{graph: $key, number: number + g.revision * {REVISION}}}) RETURN number, n.data"
        )
        return {number: bytes(data) for number, data in self.ask(query, key=key, numbers=list(numbers))}

    def put_pieces(self, key: Key, pieces: Iterable[Piece]) -> None:
        self.ask(PUT["pieces"], key=key, rows=[list(each) for each in pieces])

    def drop_piece(self, key: Key, number: int) -> None:
        self.ask(
            "MATCH (g:Graph {key: $key}) "
            f"MATCH (n:Piece {{graph: $key, number: $number + g.revision * {REVISION}}}) DELETE n",
            key=key,
            number=number,
        )

    def posts(self, key: Key, after: int) -> list[tuple[int, Post]]:
        rows = self.ask(
            "MATCH (p:Post) WHERE p.graph = $key AND p.number > $after WITH p ORDER BY p.number LIMIT $size "
            "MATCH (u:User)-[:POSTED]->(p) RETURN p.number, p.id, u.id, p.text, p.links, p.created ORDER BY p.number",
            key=key,
            after=after,
            size=statements.PAGE,
        )
        return _posts(rows)

    def posts_of(self, key: Key, low: int, high: int) -> list[Post]:
        rows = self.ask(
            "MATCH (u:User) WHERE u.graph = $key AND u.number >= $low AND u.number < $high MATCH (u)-[:POSTED]->(p) "
            "RETURN p.number, p.id, u.id, p.text, p.links, p.created ORDER BY p.number",
            key=key,
            low=low,
            high=high,
        )
        return [post for _, post in _posts(rows)]

    def numbers(self, key: Key) -> NDArray[np.int64]:
        rows = self.ask(
            "MATCH (u:User) WHERE u.graph = $key AND u.number >= 0 RETURN u.number ORDER BY u.number", key=key
        )
        return np.array([number for (number,) in rows], dtype=np.int64)

    def matches(self, key: Key) -> Matches:
        return self.ask("MATCH (m:Match) WHERE m.graph = $key AND m.number >= 0 RETURN m.number, m.released", key=key)

    def seed(self, key: Key) -> int | None:
        found = self.ask("MATCH (s:Seed {graph: $key, number: 0}) RETURN s.seed", key=key)
        return int(found[0][0]) if found else None

    def add_run(self, key: Key, run: Run) -> None:
        self.ask(
            "MATCH (s:Store {name: 'graphpriv'}) SET s.runs = s.runs + 1 "
            "CREATE (r:Run) SET r = $values, r.number = s.runs",
            values={"graph": key, **run.record},
        )

    def runs(self, keys: Sequence[Key]) -> list[Run]:
        rows = self.ask(
            "UNWIND $keys AS key MATCH (r:Run) WHERE r.graph = key AND r.number >= 0 "
            "RETURN r.verb, r.parameters, r.version, r.input_hash, r.created ORDER BY r.created, r.number",
            keys=list(keys),
        )
        return [Run.of(*row) for row in rows]

    def records(self, key: Key, kind: str, after: str, limit: int) -> list[Record]:
        rows = self.ask(
            "MATCH (n:Record) WHERE n.graph = $key AND n.kind = $kind AND n.id > $after "
            "RETURN n.kind, n.id, n.data, n.number ORDER BY n.id LIMIT $limit",
            key=key,
            kind=kind,
            after=after,
            limit=limit,
        )
        return _records(rows)

    def records_of(self, key: Key, kind: str, ids: Iterable[str]) -> list[Record]:
        rows = self.ask(
            "UNWIND $ids AS id MATCH (n:Record {graph: $key, kind: $kind, id: id}) "
            "RETURN n.kind, n.id, n.data, n.number ORDER BY n.id",
            key=key,
            kind=kind,
            ids=list(ids),
        )
        return _records(rows)

    def write_records(self, key: Key, records: Iterable[Record]) -> None:
        self._put(key, "records", records)

    def delete_records(self, key: Key, kind: str, ids: Sequence[str]) -> None:
        query: LiteralString = "UNWIND $ids AS id MATCH (n:Record {graph: $key, kind: $kind, id: id}) DELETE n"
        self.ask(query, key=key, kind=kind, ids=list(ids))

    def overdue(self, moment: int) -> list[tuple[Key, str]]:
        rows = self.ask(
            "MATCH (n:Record) WHERE n.kind = 'page' AND n.number < $moment RETURN n.graph, n.id ORDER BY n.id",
            moment=moment,
        )
        return [(key, id) for key, id in rows]

    def remove(self, name: str) -> None:
        """Give a graph up; its parts are deleted in steps later."""
        schema.lock_store(self.tx)
        key = self.head(name).key
        self.ask("MATCH (r:Graph {original: $key}) REMOVE r.original", key=key)
        self.ask("MATCH (:Graph)-[m:MADE_FROM]->(:Graph {key: $key}) DELETE m", key=key)
        self.ask(
            "MATCH (s:Seed {number: 0}) WHERE NOT EXISTS { MATCH (g:Graph {key: s.graph}) "
            "WHERE g.original IS NOT NULL OR g.lease > 0 } DELETE s"
        )
        self.ask("MATCH (g:Graph {key: $key}) SET g.lease = 0 REMOVE g.name", key=key)

    def known(self, key: Key, kind: str, ids: Iterable[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for batch in batches(ids):
            found.update((each, number) for each, number in self.ask(KNOWN[kind], key=key, ids=batch))
        return found

    def put(self, key: Key, kind: str, rows: Iterable[Sequence[Any]]) -> None:
        rows = [list(row) for row in rows]
        if kind == "posts":
            # Off their authors before they are put in again.
            self.ask(
                "UNWIND $rows AS row MATCH (:User)-[r:POSTED]->(:Post {graph: $key, number: row[0]}) DELETE r",
                key=key,
                rows=[row[:1] for row in rows],
            )
        self._put(key, kind, rows)
        if kind == "places":
            self._put(key, "below", [row for row in rows if row[1] is not None])

    def _put(self, key: Key, kind: str, rows: Iterable[Sequence[Any]]) -> int:
        """Put rows of a kind in as they are; tells how many relations are new."""
        put = (self.tx.run(PUT[kind], key=key, rows=batch).consume() for batch in batches(map(list, rows)))
        return sum(each.counters.relationships_created for each in put)

    def put_follows(self, key: Key, rows: Sequence[Sequence[int]]) -> int:
        return self._put(key, "follows", rows)

    def put_users(self, key: Key, rows: Sequence[Sequence[Any]]) -> tuple[Iterable[int], Iterable[int]]:
        before = self.ask(
            "UNWIND $numbers AS number MATCH (u:User {graph: $key, number: number})-[r:LIVES_IN|INTERESTED_IN]->(n) "
            "WITH r, n.number AS number, n:Place AS home DELETE r RETURN DISTINCT home, number ORDER BY home, number",
            key=key,
            numbers=[row[0] for row in rows],
        )
        self._put(key, "users", [[*row[:2], *row[6:]] for row in rows])
        self._put(key, "homes", homes((row[0], row[2]) for row in rows))
        self._put(key, "interests", interests((row[0], row[3:6]) for row in rows))
        return [number for home, number in before if home], [number for home, number in before if not home]

    def prune(self, key: Key, places: Iterable[int], topics: Iterable[int]) -> None:
        topics, places = list(topics), list(places)
        if not topics and not places:
            return
        self.ask(
            "UNWIND $topics AS number MATCH (t:Topic {graph: $key, number: number}) "
            "WHERE NOT EXISTS { (t)<-[:INTERESTED_IN]-() } DELETE t",
            key=key,
            topics=topics,
        )
        while places:
            # Places that nobody is left in, with nothing below them; then the ones above.
            rows = self.ask(
                "UNWIND $places AS number MATCH (p:Place {graph: $key, number: number})-[:BELOW]->(above:Place) "
                "WHERE NOT EXISTS { (p)<-[:LIVES_IN]-() } AND NOT EXISTS { (p)<-[:BELOW]-() } "
                "WITH p, above.number AS next DETACH DELETE p RETURN DISTINCT next ORDER BY next",
                key=key,
                places=places,
            )
            places = [number for (number,) in rows]

    def take_out(self, key: Key, number: int) -> tuple[Forgotten, Iterable[int], Iterable[int]]:
        at: LiteralString = "MATCH (u:User {graph: $key, number: $number})"
        ((follows, posts),) = self.ask(
            at + " RETURN COUNT { (u)-[:FOLLOWS]-() }, COUNT { (u)-[:POSTED]->() }", key=key, number=number
        )
        ((_, _, place, *topics),) = (row[:6] for row in self.users(key, number, number + 1))
        self.ask(at + "-[:POSTED]->(p:Post) DETACH DELETE p", key=key, number=number)
        self.ask(at + " DETACH DELETE u", key=key, number=number)
        # A mark of the graph with the person in it would confirm a guess.
        self.ask(
            "MATCH (r:Run) WHERE r.number >= 0 AND (r.graph = $key OR EXISTS { MATCH (g:Graph {key: r.graph}) "
            "WHERE g.original = $key }) SET r.input_hash = ''",
            key=key,
        )
        matched = self.tx.run("MATCH (m:Match {original: $key, number: $number}) DELETE m", key=key, number=number)
        mappings = matched.consume().counters.nodes_deleted
        return Forgotten(follows=follows, posts=posts, mappings=mappings), {place} - {None}, {*topics} - {None}

    def counted(self, key: Key) -> tuple[int, int]:
        users, follows = self.ask(
            "MATCH (u:User) WHERE u.graph = $key AND u.number >= 0 RETURN count(u), sum(COUNT { (u)-[:FOLLOWS]->() })",
            key=key,
        )[0]
        return int(users), int(follows)

    def count(self, query: LiteralString, head: Head) -> int:
        found = self.ask(query, key=head.key, numbers=head.numbers)
        return int(found[0][0]) if found else 0

    def delete_stale(self) -> bool:
        """Delete some pieces of summaries of how graphs were before; True if there may be more."""
        query: LiteralString = (
            "MATCH (g:Graph) WHERE g.name IS NOT NULL MATCH (n:Piece) WHERE n.graph = g.key AND n.number >= 0 "
            f"AND n.number < g.revision * {REVISION} WITH n LIMIT $size DELETE n RETURN count(*)"
        )
        return bool(self.ask(query, size=PIECES)[0][0])

    def orphans(self) -> list[str]:
        """Parts of no graph, in sentences."""
        problems = []
        for part in schema.PARTS:
            statement: LiteralString = (
                f"MATCH (n:{part}) WHERE n.graph IS NOT NULL WITH n.graph AS key, count(*) AS nodes "
                "WHERE NOT EXISTS { MATCH (g:Graph {key: key}) } RETURN sum(nodes)"
            )
            (count,) = self.ask(statement)[0]
            if count:
                problems.append(f"{count} nodes of kind {part} belong to no graph.")
        return problems


def _arrays(rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Number, place and topics of users, and both ends of whom they follow."""
    codes = [[row[0], *(-1 if code is None else code for code in row[2:6])] for row in rows]
    profiles = np.array(codes, dtype=np.int64).reshape(-1, 2 + RANKS)
    sources = np.repeat(profiles[:, 0], [len(row[-1]) for row in rows])
    return profiles, sources, np.array([target for row in rows for target in row[-1]], dtype=np.int64)


def _posts(rows: Rows) -> list[tuple[int, Post]]:
    return [
        (number, Post(id=post, user=user, text=text, links=tuple(links), created=created))
        for number, post, user, text, links, created in rows
    ]


def _records(rows: Rows) -> list[Record]:
    # Of a record that somebody takes out while it is read, the row alone is left.
    return [Record(kind, id, bytes(data), number) for kind, id, data, number in rows if data is not None]


def homes(placed: Iterable[tuple[int, int | None]]) -> list[tuple[int, int]]:
    """Pairs of a user and the place they live in."""
    return [(number, place) for number, place in placed if place is not None]


def interests(ranked: Iterable[tuple[int, Sequence[int | None]]]) -> list[tuple[int, int, int]]:
    """Triples of a user, a topic and its rank."""
    return [
        (number, topic, rank)
        for number, topics in ranked
        for rank, topic in enumerate(topics, start=1)
        if topic is not None
    ]
