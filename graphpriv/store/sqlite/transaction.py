"""The graphs of the embedded store within one transaction: rows written, read and taken out."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import PRIVATE, SocialGraph, pairs
from graphpriv.store import statements
from graphpriv.store.assembly import Parts, PlaceRow, or_none
from graphpriv.store.crawls import PAGE
from graphpriv.store.records import Copy, Forgotten, Post, Record, Run, moment, taken, written
from graphpriv.store.seals import sealed, sealed_links_back, sealed_records
from graphpriv.store.statements import Head, Key, Matches
from graphpriv.store.summary import PIECES, Piece
from graphpriv.store.transaction import Transaction
from graphpriv.topics import RANKS

#: The tables that hold parts of a graph, in an order in which they can be emptied.
_PARTS = (
    *("seeds", "mappings", "releases", "runs", "posts", "follows", "persons", "users", "topics", "places"),
    *("summaries", "crawl_records"),
)

#: The tables in which a graph has many rows, with the columns that tell these apart.
_MANY = {
    "summaries": "graph, number",
    "crawl_records": "graph, kind, id",
    "mappings": "graph, user",
    "posts": "graph, number",
    "follows": "graph, source, target",
    "persons": "graph, number",
    "users": "graph, number",
    "topics": "graph, number",
    "places": "graph, number",
}

#: So many rows of graphs that were given up are deleted in one transaction, which then fits into little room.
_AT_A_TIME = 1_000

#: How the note of an erasure begins that such rows are left from.
_GIVEN_UP = "given up"

#: Counts of a graph that must be 0: what is wrong, and the query; `?1` is its key.
NONE_OF = {
    "follows of oneself": "SELECT COUNT(*) FROM follows WHERE graph = ?1 AND source = target",
    "follows to or from nobody": """
        SELECT COUNT(*) FROM follows WHERE graph = ?1 AND (
            NOT EXISTS (SELECT 1 FROM users WHERE graph = ?1 AND number = source)
            OR NOT EXISTS (SELECT 1 FROM users WHERE graph = ?1 AND number = target))""",
    "undirected follows with the ends in the wrong order": """
        SELECT COUNT(*) FROM follows WHERE graph = ?1 AND source > target
            AND NOT (SELECT directed FROM graphs WHERE key = ?1)""",
    "users out of the order of import": """
        SELECT COUNT(*) FROM users WHERE graph = ?1
            AND number NOT BETWEEN 0 AND (SELECT users + forgotten - 1 FROM graphs WHERE key = ?1)""",
    "released users with private columns": """
        SELECT COUNT(*) FROM persons WHERE graph = ?1 AND EXISTS (SELECT 1 FROM releases WHERE graph = ?1)""",
    "rows of the mapping that lead to nobody": """
        SELECT COUNT(*) FROM mappings WHERE graph = ?1
            AND NOT EXISTS (SELECT 1 FROM users WHERE graph = ?1 AND number = released)""",
    "rows of the mapping that lead to a released user twice": """
        SELECT COUNT(*) - COUNT(DISTINCT released) FROM mappings WHERE graph = ?1""",
    "rows of the mapping that come from nobody": """
        SELECT COUNT(*) FROM mappings WHERE graph = ?1
            AND NOT EXISTS (SELECT 1 FROM users WHERE graph = mappings.original AND number = user)""",
    "rows of the mapping of another original": """
        SELECT COUNT(*) FROM mappings JOIN releases USING (graph)
            WHERE graph = ?1 AND mappings.original IS NOT releases.original""",
}


#: What the store says of graphs.
_HEADS = (
    "SELECT key, name, directed, private, users, edges, forgotten, "
    "(SELECT IFNULL(MAX(number), -1) + 1 FROM posts WHERE posts.graph = key), revision, created, "
    "original, k, method, parameters FROM graphs LEFT JOIN releases ON releases.graph = key"
)


class SqliteTransaction(Transaction):
    """The rows of all graphs, over a connection on which a transaction is open."""

    none_of = NONE_OF

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows that answer a *query*."""
        return self.db.execute(query, values).fetchall()

    def insert(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Append *rows* to a table."""
        width = len(self.ask(f"PRAGMA table_info({table})"))
        self.db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * width)})", rows)  # noqa: S608 (our own names)

    def delete(self, table: str, condition: str, *values: Any) -> int:
        """Take rows out of a table; tells how many."""
        return self.db.execute(f"DELETE FROM {table} WHERE {condition}", values).rowcount  # noqa: S608 (our own names)

    def heads(self, *, name: str | None = None, key: Key | None = None, released: bool = False) -> list[Head]:
        if name is not None:
            rows = self.ask(f"{_HEADS} WHERE name = ?", name)
        elif key is not None:
            rows = self.ask(f"{_HEADS} WHERE key = ?", key)
        else:
            rows = self.ask(_HEADS.replace("LEFT JOIN", "JOIN") if released else _HEADS)
        heads = [
            Head(number, called, bool(directed), tuple(json.loads(private)), *rest)
            for number, called, directed, private, *rest in rows
        ]
        return sorted(heads, key=lambda head: head.name)

    def state(self) -> object:
        return self.heads(), self.ask("SELECT MAX(number) FROM runs")

    def secret(self) -> bytes:
        return bytes(self.ask("SELECT secret FROM secret")[0][0])

    def put_secret(self, secret: bytes) -> None:
        self.ask("UPDATE secret SET secret = ?", secret)

    def touch(self, name: str) -> None:
        self.ask("UPDATE graphs SET revision = lower(hex(randomblob(16))) WHERE name = ?", name)
        self.delete("summaries", "graph IN (SELECT key FROM graphs WHERE name = ?)", name)

    def lock(self, key: Key) -> None:
        """Nothing: whoever writes is alone."""

    def note(self, key: Key, **changes: Any) -> None:
        for name, value in changes.items():
            # The posts are counted when they are asked for.
            if name != "posts":
                value = json.dumps(value) if name == "private" else value
                self.ask(f"UPDATE graphs SET {name} = ? WHERE key = ?", value, key)  # noqa: S608 (our own names)

    def note_erasure(self) -> None:
        """Write down that something was deleted or replaced which must leave the files."""
        self.ask("INSERT INTO erasures (since) VALUES (?)", moment())

    def insert_graph(self, name: str, graph: SocialGraph, created: str) -> int:
        """Write a graph under a new key."""
        private = json.dumps([column for column in PRIVATE if column in graph.private])
        counts = (len(graph), graph.edge_count)
        ((key,),) = self.ask(
            "INSERT INTO graphs (name, directed, private, users, edges, created, revision) "
            "VALUES (?, ?, ?, ?, ?, ?, lower(hex(randomblob(16)))) RETURNING key",
            *(name, graph.directed, private, *counts, created),
        )
        places = graph.places
        parents = (None if parent < 0 else parent for parent in places.parents.tolist())
        self.put(key, "places", zip(range(len(places)), parents, places.names, places.types, strict=True))
        self.put(key, "topics", enumerate(graph.topic_names))
        columns = [or_none(graph.location), *map(or_none, graph.topics.T)]
        self.insert("users", zip(repeat(key), range(len(graph)), graph.ids, *columns))
        if graph.private:
            nothing = (None,) * len(graph)
            persons = [graph.private.get(column, nothing) for column in PRIVATE]
            self.insert("persons", zip(repeat(key), range(len(graph)), *persons))
        self.insert("follows", ((key, *ends) for ends in pairs(*graph.edges())))
        return int(key)

    def make_room(self, name: str, overwrite: bool) -> bool:
        """Take out what has the name; True if there was something, which must leave the files afterwards."""
        found = self.find(name) is not None
        if found and not overwrite:
            raise taken(name)
        if found:
            self.remove(name)
        return found

    def insert_copy(self, copy: Copy, original: Key | None) -> int:
        """Write a graph under a new key with all that belongs to it."""
        info, position = copy.info, copy.graph.index
        key = self.insert_graph(info.name, copy.graph, info.created)
        posts = (
            (key, number, post.id, position[post.user], post.text, json.dumps(post.links), post.created)
            for number, post in enumerate(copy.posts)
        )
        self.insert("posts", posts)
        self.put_pieces(key, [sealed(copy)])
        self.put_pieces(key, copy.summary.pieces())
        self.write_records(key, [*copy.records, *sealed_records(copy.records)])
        if info.is_release:
            self.insert("releases", [(key, original, info.k, info.method, written(info.parameters))])
        if copy.seed is not None:
            # As text: a seed may have more than the 63 bits of a number here.
            self.insert("seeds", [(key, str(copy.seed))])
        if original is not None and copy.mapping is not None:
            kept = copy.mapping >= 0
            numbers = self.numbers(original)
            self.put_pieces(key, [sealed_links_back(copy.mapping, numbers, copy.seed)])
            rows = pairs(numbers[kept], copy.mapping[kept])
            self.insert("mappings", ((key, original, user, released) for user, released in rows))
        for run in copy.runs:
            self.add_run(key, run)
        self.seal_notes(info.name)
        return key

    def remove(self, name: str) -> None:
        key = self.head(name).key
        for table in ("seeds", "mappings"):
            self.delete(table, "graph IN (SELECT graph FROM releases WHERE original = ?)", key)
        self.ask("UPDATE releases SET original = NULL WHERE original = ?", key)
        for table in _PARTS:
            self.delete(table, "graph = ?", key)
        self.delete("graphs", "key = ?", key)
        self.note_erasure()

    def give_up(self, name: str) -> None:
        """Take out a graph, and leave its many rows, which nobody reaches any more, to `delete_some`."""
        key = self.head(name).key
        self.delete("seeds", "graph IN (SELECT graph FROM releases WHERE original = ?)", key)
        self.ask("UPDATE releases SET original = NULL WHERE original = ?", key)
        for table in ("seeds", "releases", "runs"):
            self.delete(table, "graph = ?", key)
        self.delete("graphs", "key = ?", key)
        self.ask("INSERT INTO erasures (since) VALUES (?)", f"{_GIVEN_UP} {moment()}")

    def are_some_given_up(self) -> bool:
        """Whether rows of graphs that were given up may still be there."""
        return bool(self.ask("SELECT 1 FROM erasures WHERE since LIKE ? LIMIT 1", f"{_GIVEN_UP} %"))

    def delete_some(self) -> int:
        """Delete some rows of graphs that were given up; tells how many."""
        room = _AT_A_TIME
        for table, key in _MANY.items():
            gone = "graph NOT IN (SELECT key FROM graphs)"
            if table == "mappings":
                gone += " OR original NOT IN (SELECT key FROM graphs)"
            # Pieces are large, and count by their bytes.
            some = f"({key}) IN (SELECT {key} FROM {table} WHERE {gone} LIMIT ?)"  # noqa: S608 (our own names)
            room -= self.delete(table, some, PIECES if table == "summaries" else room)
            if room <= 0 or (table == "summaries" and room < _AT_A_TIME):
                break
        return _AT_A_TIME - room

    def remove_everything(self) -> None:
        """Take out all graphs."""
        for table in (*_PARTS, "graphs"):
            self.delete(table, "true")
        self.note_erasure()

    def places(self, key: Key) -> list[PlaceRow]:
        rows = self.ask("SELECT number, parent, name, type FROM places WHERE graph = ?", key)
        return [(number, parent, name, kind) for number, parent, name, kind in rows]

    def topics(self, key: Key) -> dict[int, str]:
        return dict(self.ask("SELECT number, name FROM topics WHERE graph = ?", key))

    def parts(self, head: Head, *, bare: bool = False) -> Parts:
        rows = self.db.execute(
            "SELECT number, IFNULL(place, -1), IFNULL(topic1, -1), IFNULL(topic2, -1), IFNULL(topic3, -1) "
            "FROM users WHERE graph = ? ORDER BY number",
            (head.key,),
        )
        codes: NDArray[Any] = np.fromiter(rows, dtype=np.dtype((np.int64, 2 + RANKS)))
        ends = self.db.execute(
            "SELECT source, target FROM follows WHERE graph = ? ORDER BY source, target", (head.key,)
        )
        follows = np.fromiter(ends, dtype=np.dtype([("source", np.int64), ("target", np.int64)]))
        return Parts(
            directed=head.directed,
            numbers=codes[:, 0],
            ids=("",) * len(codes) if bare else self._ids(head.key),
            location=codes[:, 1],
            topics=codes[:, 2:],
            sources=follows["source"],
            targets=follows["target"],
            places=self.places(head.key),
            topic_names=self.topics(head.key),
            private={} if bare else self._persons(head),
        )

    def _ids(self, key: Key) -> list[str]:
        return [each for (each,) in self.db.execute("SELECT id FROM users WHERE graph = ? ORDER BY number", (key,))]

    def _persons(self, head: Head) -> dict[str, tuple[str | None, ...]]:
        """The private columns that a graph has."""
        if not head.private:
            return {}
        query = (
            "SELECT handle, persons.name, location_text FROM users LEFT JOIN persons USING (graph, number) "
            "WHERE users.graph = ? ORDER BY users.number"
        )
        persons = list(zip(*self.db.execute(query, (head.key,)), strict=True)) or [()] * len(PRIVATE)
        return {column: persons[PRIVATE.index(column)] for column in head.private}

    def users(self, key: Key, low: int, high: int) -> Sequence[Sequence[Any]]:
        return self.ask(
            "SELECT users.number, users.id, place, topic1, topic2, topic3, handle, persons.name, location_text "
            "FROM users LEFT JOIN persons USING (graph, number) "
            "WHERE users.graph = ? AND users.number >= ? AND users.number < ? ORDER BY users.number",
            *(key, low, high),
        )

    def follows(self, key: Key, low: int, high: int) -> NDArray[np.int64]:
        ends = self.db.execute(
            "SELECT source, target FROM follows WHERE graph = ? AND source >= ? AND source < ? ORDER BY source, target",
            (key, low, high),
        )
        return np.fromiter(ends, dtype=np.dtype((np.int64, 2)))

    def ids(self, key: Key, numbers: Sequence[int]) -> dict[int, str]:
        query = "SELECT number, id FROM users WHERE graph = ? AND number IN (SELECT value FROM json_each(?))"
        return dict(self.ask(query, key, json.dumps(numbers)))

    def pieces(self, key: Key, numbers: Sequence[int]) -> dict[int, bytes]:
        of = "WHERE graph = ? AND number IN (SELECT value FROM json_each(?))"
        query = f"SELECT number, CAST(data AS BLOB) FROM summaries {of}"  # noqa: S608 (our own words)
        return dict(self.ask(query, key, json.dumps(numbers)))

    def put_pieces(self, key: Key, pieces: Iterable[Piece]) -> None:
        self.db.executemany("INSERT OR REPLACE INTO summaries VALUES (?, ?, ?)", ((key, *each) for each in pieces))

    def drop_piece(self, key: Key, number: int) -> None:
        self.delete("summaries", "graph = ? AND number = ?", key, number)

    def posts(self, key: Key, after: int) -> list[tuple[int, Post]]:
        return self._posts("posts.number > ? ORDER BY posts.number LIMIT ?", key, after, statements.PAGE)

    def posts_of(self, key: Key, low: int, high: int) -> list[Post]:
        # The plus keeps it from going through all posts of the graph in their order.
        found = self._posts("posts.user >= ? AND posts.user < ? ORDER BY +posts.number", key, low, high)
        return [post for _, post in found]

    def _posts(self, which: str, *values: Any) -> list[tuple[int, Post]]:
        rows = self.ask(
            "SELECT posts.number, posts.id, users.id, text, links, created "  # noqa: S608 (our own words)
            "FROM posts JOIN users ON users.graph = posts.graph AND users.number = posts.user "
            f"WHERE posts.graph = ? AND {which}",
            *values,
        )
        return [
            (number, Post(id=post, user=user, text=text, links=tuple(json.loads(links)), created=created))
            for number, post, user, text, links, created in rows
        ]

    def numbers(self, key: Key) -> NDArray[np.int64]:
        rows = self.db.execute("SELECT number FROM users WHERE graph = ? ORDER BY number", (key,))
        return np.fromiter((number for (number,) in rows), dtype=np.int64)

    def matches(self, key: Key) -> Matches:
        rows = self.db.execute("SELECT user, released FROM mappings WHERE graph = ?", (key,))
        return np.fromiter(rows, dtype=np.dtype((np.int64, 2)))

    def seed(self, key: Key) -> int | None:
        found = self.ask("SELECT seed FROM seeds WHERE graph = ?", key)
        return int(found[0][0]) if found else None

    def add_run(self, key: Key, run: Run) -> None:
        self.ask(
            "INSERT INTO runs (graph, verb, parameters, version, input_hash, created) VALUES (?, ?, ?, ?, ?, ?)",
            *(key, *run.record.values()),
        )

    def runs(self, keys: Sequence[Key]) -> list[Run]:
        of = f"graph IN ({', '.join('?' * len(keys))})"
        query = f"SELECT verb, parameters, version, input_hash, created FROM runs WHERE {of} ORDER BY created, number"  # noqa: S608 (our own names)
        rows = self.ask(query, *keys)
        return [Run.of(*row) for row in rows]

    def records(self, key: Key, kind: str, after: str, limit: int) -> list[Record]:
        of = "WHERE graph = ? AND kind = ? AND id > ? ORDER BY id LIMIT ?"
        query = f"SELECT kind, id, CAST(data AS BLOB), number FROM crawl_records {of}"  # noqa: S608 (our own words)
        return [Record(*row) for row in self.ask(query, key, kind, after, limit)]

    def records_of(self, key: Key, kind: str, ids: Iterable[str]) -> list[Record]:
        query = (
            "SELECT kind, id, CAST(data AS BLOB), number FROM crawl_records WHERE graph = ? AND kind = ? "
            "AND id IN (SELECT value FROM json_each(?)) ORDER BY id"
        )
        return [Record(*row) for row in self.ask(query, key, kind, json.dumps(list(ids)))]

    def write_records(self, key: Key, records: Iterable[Record]) -> None:
        self.db.executemany(
            "INSERT OR REPLACE INTO crawl_records (graph, kind, id, number, data) VALUES (?, ?, ?, ?, ?)",
            ((key, each.kind, each.id, each.number, each.data) for each in records),
        )

    def delete_records(self, key: Key, kind: str, ids: Sequence[str]) -> None:
        of = "graph = ? AND kind = ? AND id IN (SELECT value FROM json_each(?))"
        if self.delete("crawl_records", of, key, kind, json.dumps(list(ids))) and kind == PAGE:
            self.note_erasure()

    def overdue(self, moment: int) -> list[tuple[Key, str]]:
        return self.ask("SELECT graph, id FROM crawl_records WHERE kind = 'page' AND number < ?", moment)

    def known(self, key: Key, kind: str, ids: Iterable[str]) -> dict[str, int]:
        query = f"SELECT number FROM {kind} WHERE graph = ? AND id = ?"  # noqa: S608 (our own names)
        return {each: found[0][0] for each in ids if (found := self.ask(query, key, each))}

    def put(self, key: Key, kind: str, rows: Iterable[Sequence[Any]]) -> None:
        if kind == "posts":
            self._put_posts(key, rows)
        else:
            self.insert(kind, ((key, *row) for row in rows))

    def _put_posts(self, key: Key, rows: Iterable[Sequence[Any]]) -> None:
        replaced, last = False, self._last("posts", key)
        query = "SELECT user, text, links, created FROM posts WHERE graph = ? AND number = ?"
        put = []
        for number, post, user, text, links, created in rows:
            after = (user, text, json.dumps(links), created)
            known = self.ask(query, key, number) if number <= last else []
            replaced |= any(_differs(before, after) for before in known)
            put.append((key, number, post, *after))
        self.db.executemany("INSERT OR REPLACE INTO posts VALUES (?, ?, ?, ?, ?, ?, ?)", put)
        if replaced:
            self.note_erasure()

    def _last(self, table: str, key: Key) -> int:
        return int(self.ask(f"SELECT IFNULL(MAX(number), -1) FROM {table} WHERE graph = ?", key)[0][0])  # noqa: S608 (our own names)

    def put_follows(self, key: Key, rows: Sequence[Sequence[int]]) -> int:
        put = self.db.executemany("INSERT OR IGNORE INTO follows VALUES (?, ?, ?)", ((key, *row) for row in rows))
        return max(put.rowcount, 0)

    def put_users(self, key: Key, rows: Sequence[Sequence[Any]]) -> tuple[Iterable[int], Iterable[int]]:
        places: set[int] = set()
        topics: set[int] = set()
        replaced, last = False, self._last("users", key)
        for number, user, *after in rows:
            for _, _, *before in self.users(key, number, number + 1) if number <= last else ():
                replaced |= _differs(before, after)
                places.update({before[0]} - {after[0], None})
                topics.update({*before[1:4]} - {*after[1:4], None})
                self.delete("persons", "graph = ? AND number = ?", key, number)
            self.ask(
                "INSERT INTO users VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (graph, number) DO UPDATE SET "
                "place = excluded.place, topic1 = excluded.topic1, topic2 = excluded.topic2, topic3 = excluded.topic3",
                *(key, number, user, *after[:4]),
            )
            if any(value is not None for value in after[4:]):
                self.ask("INSERT INTO persons VALUES (?, ?, ?, ?, ?)", key, number, *after[4:])
        if replaced:
            self.note_erasure()
        return places, topics

    def prune(self, key: Key, places: Iterable[int], topics: Iterable[int]) -> None:
        for topic in topics:
            if not self._has("users", "graph = ? AND ? IN (topic1, topic2, topic3)", key, topic):
                self.delete("topics", "graph = ? AND number = ?", key, topic)
        for lowest in places:
            place: int | None = lowest
            while place is not None:
                found = self.ask("SELECT parent FROM places WHERE graph = ? AND number = ?", key, place)
                lived_in = self._has("users", "graph = ? AND place = ?", key, place)
                # The one above all others stays, and so does what has places below.
                if found in ([], [(None,)]) or lived_in or self._has("places", "graph = ? AND parent = ?", key, place):
                    break
                self.delete("places", "graph = ? AND number = ?", key, place)
                place = found[0][0]

    def _has(self, table: str, condition: str, *values: Any) -> bool:
        return bool(self.ask(f"SELECT 1 FROM {table} WHERE {condition} LIMIT 1", *values))  # noqa: S608 (our own names)

    def take_out(self, key: Key, number: int) -> tuple[Forgotten, Iterable[int], Iterable[int]]:
        ((_, _, place, *topics),) = (row[:6] for row in self.users(key, number, number + 1))
        of_original = "graph IN (SELECT graph FROM releases WHERE original = ?)"
        gone = Forgotten(
            mappings=self.delete("mappings", f"user = ? AND {of_original}", number, key),
            follows=self.delete("follows", "graph = ? AND source = ?", key, number)
            + self.delete("follows", "graph = ? AND target = ?", key, number),
            posts=self.delete("posts", "graph = ? AND user = ?", key, number),
        )
        self.delete("persons", "graph = ? AND number = ?", key, number)
        self.delete("users", "graph = ? AND number = ?", key, number)
        # A mark of the graph with the person in it would confirm a guess.
        self.ask(f"UPDATE runs SET input_hash = '' WHERE graph = ? OR {of_original}", key, key)  # noqa: S608 (our own names)
        self.note_erasure()
        return gone, {place} - {None}, {*topics} - {None}

    def counted(self, key: Key) -> tuple[int, int]:
        query = "SELECT (SELECT COUNT(*) FROM users WHERE graph = ?1), (SELECT COUNT(*) FROM follows WHERE graph = ?1)"
        users, follows = self.ask(query, key)[0]
        return int(users), int(follows)

    def count(self, query: str, head: Head) -> int:
        return int(self.ask(query, head.key)[0][0])

    def problems_of_all(self) -> list[str]:
        """The problems of the file, in sentences that name graphs but no person."""
        found = [text for (text,) in self.ask("PRAGMA integrity_check(20)") if text != "ok"]
        # Each may be many lines, the first of them without news.
        lines = [line for text in found for line in text.splitlines() if "***" not in line]
        problems = [f"The file is damaged: {line}." for line in lines]
        if problems:
            # What stands in damaged pages says nothing.
            return problems
        broken = Counter(table for table, *_ in self.ask("PRAGMA foreign_key_check"))
        problems += [f"{rows} rows of {table} refer to something that is not there." for table, rows in broken.items()]
        problems += self.problems_of_secret()
        problems += [problem for head in self.heads() for problem in self.problems(head)]
        if self.ask("SELECT 1 FROM erasures"):
            problems.append(
                "The files still hold what was deleted, because another process reads them or the disk is full; check "
                "again."
            )
        return problems


def _differs(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Whether anything that a record held is not in the one that takes its place."""
    return any(old is not None and old != new for old, new in zip(before, after, strict=True))
