"""Single records put into and taken out of a graph of a server; the graph is locked by then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, LiteralString

from neo4j import ManagedTransaction

from graphpriv.graph import PRIVATE
from graphpriv.store.assembly import Profiles
from graphpriv.store.neo4j import imports, reading
from graphpriv.store.neo4j.heads import Head, note
from graphpriv.store.neo4j.schema import ask, batches
from graphpriv.store.records import Added, Follow, Forgotten, Post, User, not_known
from graphpriv.store.soundness import dangling


def add_users(tx: ManagedTransaction, head: Head, users: Sequence[User]) -> Added:
    """Add users after those that are there."""
    known = _known(tx, head.key, "users", [user.id for user in users])
    profiles = Profiles(reading.places(tx, head.key), reading.topics(tx, head.key))
    profile_of = [profiles.numbers(user) for user in users]
    number_of = dict(known)
    for user in users:
        number_of.setdefault(user.id, head.numbers + len(number_of) - len(known))
    numbers = [number_of[user.id] for user in users]
    private = [[getattr(user, column) for column in PRIVATE] for user in users]
    rows = [[number, user.id, *own] for number, user, own in zip(numbers, users, private, strict=True)]
    before = _clear_profiles(tx, head.key, list(known.values()))
    _put_all(tx, head.key, "places", profiles.added_places)
    _put_all(tx, head.key, "below", [row for row in profiles.added_places if row[1] is not None])
    _put_all(tx, head.key, "topics", profiles.added_topics)
    _put_all(tx, head.key, "users", rows)
    _put_all(tx, head.key, "homes", imports.homes(numbers, [profile[0] for profile in profile_of]))
    _put_all(tx, head.key, "interests", imports.interests(numbers, [profile[1:] for profile in profile_of]))
    _prune(tx, head.key, *before)
    held = {column for own in private for column, value in zip(PRIVATE, own, strict=True) if value is not None}
    new = len(users) - len(known)
    columns = [column for column in PRIVATE if column in held.union(head.private)]
    note(tx, head.key, {"users": head.users + new, "private": columns})
    return Added(new, len(known))


def add_follows(tx: ManagedTransaction, head: Head, follows: Sequence[Follow]) -> Added:
    """Add follows between users that are there."""
    named = {end for follow in follows for end in (follow.source, follow.target)}
    known = _known(tx, head.key, "users", sorted(named))
    pairs = []
    for position, follow in enumerate(follows):
        for end in ("source", "target"):
            if getattr(follow, end) not in known:
                raise dangling("Follow", position, end, str(head.name))
        pairs.append((known[follow.source], known[follow.target]))
    apart = [pair if head.directed else tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1]]
    rows = [list(pair) for pair in sorted(set(apart))]
    put = (tx.run(imports.PUT["follows"], key=head.key, rows=part).consume() for part in batches(rows))
    new = sum(each.counters.relationships_created for each in put)
    note(tx, head.key, {"edges": head.edges + new})
    return Added(new, len(apart) - new, len(pairs) - len(apart))


def add_posts(tx: ManagedTransaction, head: Head, posts: Sequence[Post]) -> Added:
    """Add posts after those that are there."""
    authors = _known(tx, head.key, "users", sorted({post.user for post in posts}))
    known = _known(tx, head.key, "posts", [post.id for post in posts])
    number_of = dict(known)
    rows = []
    for position, post in enumerate(posts):
        if post.user not in authors:
            raise dangling("Post", position, "user", str(head.name))
        number = number_of.setdefault(post.id, head.posts + len(number_of) - len(known))
        rows.append([number, post.id, authors[post.user], post.text, list(post.links), post.created])
    # Off their authors before they are put in again.
    tx.run(
        "UNWIND $numbers AS number MATCH (:User)-[r:POSTED]->(:Post {graph: $key, number: number}) DELETE r",
        key=head.key,
        numbers=list(known.values()),
    ).consume()
    _put_all(tx, head.key, "posts", rows)
    new = len(posts) - len(known)
    note(tx, head.key, {"posts": head.posts + new})
    return Added(new, len(known))


#: How records of each kind are added.
ADD: dict[str, Callable[[ManagedTransaction, Head, Sequence[Any]], Added]] = {
    "users": add_users,
    "follows": add_follows,
    "posts": add_posts,
}


def forget(tx: ManagedTransaction, head: Head, user: str) -> Forgotten:
    """Take a person out, and what nobody else has."""
    known = _known(tx, head.key, "users", [user])
    if not known:
        raise not_known(str(head.name))
    follows, posts, mappings = _take_out(tx, head.key, known[user])
    changes = {"users": head.users - 1, "forgotten": head.forgotten + 1, "edges": head.edges - follows}
    note(tx, head.key, changes)
    return Forgotten(follows=follows, posts=posts, mappings=mappings, erased=None)


def _put_all(tx: ManagedTransaction, key: str, kind: str, rows: Iterable[Sequence[object]]) -> None:
    for batch in batches(rows):
        imports.put(tx, key, kind, [list(row) for row in batch])


#: The numbers of users and of posts by their ids.
_KNOWN: dict[str, LiteralString] = {
    "users": "UNWIND $ids AS id MATCH (u:User {graph: $key, id: id}) RETURN u.id, u.number",
    "posts": "UNWIND $ids AS id MATCH (p:Post {graph: $key, id: id}) RETURN p.id, p.number",
}


def _known(tx: ManagedTransaction, key: str, kind: str, ids: Sequence[str]) -> dict[str, int]:
    """The numbers of those of the *ids* that are there."""
    found: dict[str, int] = {}
    for batch in batches(ids):
        found.update((each, number) for each, number in ask(tx, _KNOWN[kind], key=key, ids=batch))
    return found


def _clear_profiles(tx: ManagedTransaction, key: str, numbers: Sequence[int]) -> tuple[list[int], list[int]]:
    """Take home and interests off users who get new ones; tells which places and topics that were."""
    rows = ask(
        tx,
        "UNWIND $numbers AS number MATCH (u:User {graph: $key, number: number})-[r:LIVES_IN|INTERESTED_IN]->(n) "
        "WITH r, n.number AS number, n:Place AS home DELETE r RETURN DISTINCT home, number ORDER BY home, number",
        key=key,
        numbers=list(numbers),
    )
    return [number for home, number in rows if home], [number for home, number in rows if not home]


def _prune(tx: ManagedTransaction, key: str, homes: Sequence[int], interests: Sequence[int]) -> None:
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


def _take_out(tx: ManagedTransaction, key: str, number: int) -> tuple[int, int, int]:
    """Take a user out, and say how many follows, posts and rows of mappings went along."""
    values: dict[str, Any] = {"key": key, "number": number}
    at = "MATCH (u:User {graph: $key, number: $number})"
    gone = ask(tx, at + " RETURN COUNT { (u)-[:FOLLOWS]-() }, COUNT { (u)-[:POSTED]->() }", **values)[0]
    interests = [row[0] for row in ask(tx, at + "-[:INTERESTED_IN]->(t:Topic) RETURN t.number", **values)]
    homes = [row[0] for row in ask(tx, at + "-[:LIVES_IN]->(p:Place) RETURN p.number", **values)]
    tx.run(at + "-[:POSTED]->(p:Post) DETACH DELETE p", values).consume()
    tx.run(at + " DETACH DELETE u", values).consume()
    matched = tx.run("MATCH (m:Match {original: $key, number: $number}) DELETE m", values).consume()
    _prune(tx, key, homes, interests)
    return int(gone[0]), int(gone[1]), matched.counters.nodes_deleted
