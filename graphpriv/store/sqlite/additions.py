"""Single records put into, read from and taken out of a graph of the embedded store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from graphpriv.graph import PRIVATE
from graphpriv.store.assembly import Profiles
from graphpriv.store.records import Added, Follow, Forgotten, Post, User, not_known
from graphpriv.store.soundness import dangling
from graphpriv.store.sqlite.rows import insert, note_erasure, touch


def read_profiles(db: sqlite3.Connection, key: int) -> Profiles:
    """The places and topics of a graph as they stand."""
    places = db.execute("SELECT number, parent, name, type FROM places WHERE graph = ?", (key,)).fetchall()
    return Profiles(places, dict(db.execute("SELECT number, name FROM topics WHERE graph = ?", (key,)).fetchall()))


def add(db: sqlite3.Connection, kind: str, key: int, name: str, records: Sequence[Any]) -> Added:
    """Add records of a kind after those that are there."""
    touch(db, key)
    if kind == "users":
        return _add_users(db, key, records)
    return (_add_follows if kind == "follows" else _add_posts)(db, key, name, records)


def _add_users(db: sqlite3.Connection, key: int, users: Sequence[User]) -> Added:
    profiles = read_profiles(db, key)
    profile_of = [profiles.numbers(user) for user in users]
    insert(db, "places", ((key, *row) for row in profiles.added_places))
    insert(db, "topics", ((key, *row) for row in profiles.added_topics))
    held, forgotten, columns = db.execute(
        "SELECT users, forgotten, private FROM graphs WHERE key = ?", (key,)
    ).fetchone()
    next_number, new = held + forgotten, 0
    private = set(json.loads(columns))
    lost = _Lost()
    for user, codes in zip(users, profile_of, strict=True):
        number, values = _number(db, key, user.id), [getattr(user, column) for column in PRIVATE]
        if number is None:
            number, new = next_number + new, new + 1
            db.execute("INSERT INTO users VALUES (?, ?, ?, ?, ?, ?, ?)", (key, number, user.id, *codes))
        else:
            lost.note(_replace_profile(db, key, number, codes), (*codes, *values))
        if any(value is not None for value in values):
            db.execute("INSERT INTO persons VALUES (?, ?, ?, ?, ?)", (key, number, *values))
            private.update(column for column, value in zip(PRIVATE, values, strict=True) if value is not None)
    # Not before all users of the batch have their places and topics.
    lost.leave(db, key)
    db.execute(
        "UPDATE graphs SET users = users + ?, private = ? WHERE key = ?",
        (new, json.dumps([column for column in PRIVATE if column in private]), key),
    )
    return Added(new, len(users) - new)


class _Lost:
    """The values that users lost when their records were replaced."""

    def __init__(self) -> None:
        self._places: set[int] = set()
        self._topics: set[int] = set()
        self._anything = False

    def note(self, before: Sequence[Any], after: Sequence[Any]) -> None:
        """Compare a record with the one that takes its place: place, three topics, the private columns."""
        self._anything |= _differs(before, after)
        self._places.update({before[0]} - {after[0], None})
        self._topics.update({*before[1:4]} - {*after[1:4], None})

    def leave(self, db: sqlite3.Connection, key: int) -> None:
        """Take out what nobody has any more, and write down that the files still hold it."""
        _prune(db, key, self._places, self._topics)
        if self._anything:
            note_erasure(db)


def _differs(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Whether anything that a record held is not in the one that takes its place."""
    return any(old is not None and old != new for old, new in zip(before, after, strict=True))


def _replace_profile(db: sqlite3.Connection, key: int, number: int, codes: Sequence[int | None]) -> tuple[Any, ...]:
    """Give a user another place and other topics, and take out the private columns; tells the record before."""
    before = db.execute(
        "SELECT place, topic1, topic2, topic3, handle, persons.name, location_text "
        "FROM users LEFT JOIN persons USING (graph, number) WHERE users.graph = ? AND users.number = ?",
        (key, number),
    ).fetchone()
    db.execute(
        "UPDATE users SET place = ?, topic1 = ?, topic2 = ?, topic3 = ? WHERE graph = ? AND number = ?",
        (*codes, key, number),
    )
    db.execute("DELETE FROM persons WHERE graph = ? AND number = ?", (key, number))
    return tuple(before)


def _add_follows(db: sqlite3.Connection, key: int, name: str, follows: Sequence[Follow]) -> Added:
    (directed,) = db.execute("SELECT directed FROM graphs WHERE key = ?", (key,)).fetchone()
    new = loops = 0
    for position, follow in enumerate(follows):
        ends = []
        for end in ("source", "target"):
            number = _number(db, key, getattr(follow, end))
            if number is None:
                raise dangling("Follow", position, end, name)
            ends.append(number)
        if ends[0] == ends[1]:
            loops += 1
            continue
        low, high = ends if directed else sorted(ends)
        new += db.execute("INSERT OR IGNORE INTO follows VALUES (?, ?, ?)", (key, low, high)).rowcount
    db.execute("UPDATE graphs SET edges = edges + ? WHERE key = ?", (new, key))
    return Added(new, len(follows) - new - loops, loops)


def _add_posts(db: sqlite3.Connection, key: int, name: str, posts: Sequence[Post]) -> Added:
    (last,) = db.execute("SELECT IFNULL(MAX(number), -1) FROM posts WHERE graph = ?", (key,)).fetchone()
    new, replaced = 0, False
    for position, post in enumerate(posts):
        user = _number(db, key, post.user)
        if user is None:
            raise dangling("Post", position, "user", name)
        known = db.execute(
            "SELECT number, user, text, links, created FROM posts WHERE graph = ? AND id = ?", (key, post.id)
        ).fetchone()
        new += known is None
        number = known[0] if known else last + new
        row = (key, number, post.id, user, post.text, json.dumps(post.links), post.created)
        replaced |= bool(known) and _differs(known[1:], row[3:])
        db.execute("INSERT OR REPLACE INTO posts VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    if replaced:
        note_erasure(db)
    return Added(new, len(posts) - new)


def forget(db: sqlite3.Connection, key: int, user: str, *, name: str) -> Forgotten:
    """Take a person out, and what nobody else has: a place or a topic can tell who it was."""
    number = _number(db, key, user)
    if number is None:
        raise not_known(name)
    touch(db, key)
    place, *topics = db.execute(
        "SELECT place, topic1, topic2, topic3 FROM users WHERE graph = ? AND number = ?", (key, number)
    ).fetchone()

    def delete(table: str, condition: str, values: tuple[int, ...]) -> int:
        return db.execute(f"DELETE FROM {table} WHERE {condition}", values).rowcount  # noqa: S608 (our own names)

    mappings = delete(
        "mappings", "user = ? AND graph IN (SELECT graph FROM releases WHERE original = ?)", (number, key)
    )
    follows = delete("follows", "graph = ? AND source = ?", (key, number))
    follows += delete("follows", "graph = ? AND target = ?", (key, number))
    posts = delete("posts", "graph = ? AND user = ?", (key, number))
    delete("persons", "graph = ? AND number = ?", (key, number))
    delete("users", "graph = ? AND number = ?", (key, number))
    _prune(db, key, {place} - {None}, {*topics} - {None})
    note_erasure(db)
    db.execute(
        "UPDATE graphs SET users = users - 1, forgotten = forgotten + 1, edges = edges - ? WHERE key = ?",
        (follows, key),
    )
    return Forgotten(follows=follows, posts=posts, mappings=mappings)


def _prune(db: sqlite3.Connection, key: int, places: Iterable[int], topics: Iterable[int]) -> None:
    """Take out those of the topics that nobody has, and places with those above them as far as nobody lives there."""
    for topic in topics:
        if not _has(db, "users", "graph = ? AND ? IN (topic1, topic2, topic3)", (key, topic)):
            db.execute("DELETE FROM topics WHERE graph = ? AND number = ?", (key, topic))
    for lowest in places:
        place: int | None = lowest
        while place is not None:
            found = db.execute("SELECT parent FROM places WHERE graph = ? AND number = ?", (key, place)).fetchone()
            lived_in = _has(db, "users", "graph = ? AND place = ?", (key, place))
            # The one above all others stays, and so does what has places below.
            if found in (None, (None,)) or lived_in or _has(db, "places", "graph = ? AND parent = ?", (key, place)):
                break
            db.execute("DELETE FROM places WHERE graph = ? AND number = ?", (key, place))
            place = found[0]


def _has(db: sqlite3.Connection, table: str, condition: str, values: tuple[int, ...]) -> bool:
    query = f"SELECT 1 FROM {table} WHERE {condition} LIMIT 1"  # noqa: S608 (our own names)
    return db.execute(query, values).fetchone() is not None


def _number(db: sqlite3.Connection, key: int, user: str) -> int | None:
    row = db.execute("SELECT number FROM users WHERE graph = ? AND id = ?", (key, user)).fetchone()
    return None if row is None else int(row[0])
