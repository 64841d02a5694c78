"""Single records put into and taken out of a graph of a server; the graph is locked by then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neo4j import ManagedTransaction

from graphpriv.graph import PRIVATE
from graphpriv.store.contract import Added, Follow, Forgotten, Post, User, not_known
from graphpriv.store.neo4j import imports, reading, records
from graphpriv.store.neo4j.heads import Head, note
from graphpriv.store.neo4j.layout import batches
from graphpriv.store.profiles import Profiles
from graphpriv.store.soundness import dangling


def add_users(tx: ManagedTransaction, head: Head, users: Sequence[User]) -> Added:
    """Add users after those that are there."""
    known = records.known_users(tx, head.key, [user.id for user in users])
    profiles = Profiles(reading.places(tx, head.key), reading.topics(tx, head.key))
    profile_of = [profiles.numbers(user) for user in users]
    number_of = dict(known)
    for user in users:
        number_of.setdefault(user.id, head.numbers + len(number_of) - len(known))
    numbers = [number_of[user.id] for user in users]
    private = [[getattr(user, column) for column in PRIVATE] for user in users]
    rows = [[number, user.id, *own] for number, user, own in zip(numbers, users, private, strict=True)]
    before = records.clear_profiles(tx, head.key, list(known.values()))
    _put_all(tx, head.key, "places", profiles.added_places)
    _put_all(tx, head.key, "below", [row for row in profiles.added_places if row[1] is not None])
    _put_all(tx, head.key, "topics", profiles.added_topics)
    _put_all(tx, head.key, "users", rows)
    _put_all(tx, head.key, "homes", imports.homes(numbers, [profile[0] for profile in profile_of]))
    _put_all(tx, head.key, "interests", imports.interests(numbers, [profile[1:] for profile in profile_of]))
    records.prune(tx, head.key, *before)
    held = {column for own in private for column, value in zip(PRIVATE, own, strict=True) if value is not None}
    new = len(users) - len(known)
    columns = [column for column in PRIVATE if column in held.union(head.private)]
    note(tx, head.key, {"users": head.users + new, "private": columns})
    return Added(new, len(known))


def add_follows(tx: ManagedTransaction, head: Head, follows: Sequence[Follow]) -> Added:
    """Add follows between users that are there."""
    named = {end for follow in follows for end in (follow.source, follow.target)}
    known = records.known_users(tx, head.key, sorted(named))
    pairs = []
    for position, follow in enumerate(follows):
        for end in ("source", "target"):
            if getattr(follow, end) not in known:
                raise dangling("Follow", position, end, str(head.name))
        pairs.append((known[follow.source], known[follow.target]))
    apart = [pair if head.directed else tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1]]
    rows = [list(pair) for pair in sorted(set(apart))]
    new = sum(records.put_follows(tx, head.key, part) for part in batches(rows))
    note(tx, head.key, {"edges": head.edges + new})
    return Added(new, len(apart) - new, len(pairs) - len(apart))


def add_posts(tx: ManagedTransaction, head: Head, posts: Sequence[Post]) -> Added:
    """Add posts after those that are there."""
    authors = records.known_users(tx, head.key, sorted({post.user for post in posts}))
    known = records.known_posts(tx, head.key, [post.id for post in posts])
    number_of = dict(known)
    rows = []
    for position, post in enumerate(posts):
        if post.user not in authors:
            raise dangling("Post", position, "user", str(head.name))
        number = number_of.setdefault(post.id, head.posts + len(number_of) - len(known))
        rows.append([number, post.id, authors[post.user], post.text, list(post.links), post.created])
    records.clear_authors(tx, head.key, list(known.values()))
    _put_all(tx, head.key, "posts", rows)
    new = len(posts) - len(known)
    note(tx, head.key, {"posts": head.posts + new})
    return Added(new, len(known))


def forget(tx: ManagedTransaction, head: Head, user: str) -> Forgotten:
    """Take a person out, and what nobody else has."""
    known = records.known_users(tx, head.key, [user])
    if not known:
        raise not_known(str(head.name))
    follows, posts, mappings = records.forget(tx, head.key, known[user])
    changes = {"users": head.users - 1, "forgotten": head.forgotten + 1, "edges": head.edges - follows}
    note(tx, head.key, changes)
    return Forgotten(follows=follows, posts=posts, mappings=mappings, erased=None)


def _put_all(tx: ManagedTransaction, key: str, kind: str, rows: Iterable[Sequence[object]]) -> None:
    for batch in batches(rows):
        imports.put(tx, key, kind, [list(row) for row in batch])
