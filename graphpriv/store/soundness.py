"""Refuse records that no store can keep, before anything is written; records are named by their position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphpriv.graph import PRIVATE, SocialGraph
from graphpriv.places import LEVELS, check_paths
from graphpriv.release import Release
from graphpriv.store.assembly import PlaceRow, place_paths
from graphpriv.store.records import Copy, Follow, Post, User, changed, check_name, refuse_seed
from graphpriv.topics import RANKS
from tabular.errors import InvalidInput, InvalidRecord

#: The longest id of a user or a post; an index of a server takes no more than 8,000 bytes.
LONGEST_ID = 1000


def sound_graph(graph: SocialGraph) -> SocialGraph:
    """The *graph*, if its private columns are those that a store keeps, and no id is too long."""
    for column in graph.private:
        if column not in PRIVATE:
            raise InvalidInput(f"A store keeps the private columns {', '.join(PRIVATE)}, not {column!r}.")
    for position, user in enumerate(graph.ids):
        sound_id(user, f"User {position} of the graph: its id")
    return graph


def sound_copy(copy: Copy) -> Copy:
    """The *copy* out of a backup, if it could have come in by any other way."""
    check_name(copy.info.name)
    try:
        sound_graph(copy.graph)
        for position, post in enumerate(copy.posts):
            sound_id(post.id, f"Post {position} of the graph: its id")
    except InvalidInput as error:
        raise InvalidRecord(f"Graph {copy.info.name!r} of the backup: {error}") from None
    return copy


def sound_release(release: Release, users: int, original: str) -> Release:
    """The *release*, if it carries nothing private and its mapping fits the original of so many *users*."""
    if release.graph.private:
        raise InvalidInput("A release must not carry private columns; this one is not kept.")
    sound_graph(release.graph)
    refuse_seed(release.parameters)
    mapping = release.mapping
    if len(mapping) != users:
        raise changed(original)
    kept = mapping[mapping >= 0]
    if len(set(kept.tolist())) != len(kept) or (len(kept) and kept.max() >= len(release.graph)) or mapping.min() < -1:
        raise InvalidInput("The mapping must lead each user to a released user of its own; the release is not kept.")
    return release


def sound_users(batch: Iterable[User]) -> list[User]:
    """The users of a batch, each once: of several with one id the last."""
    users = list(batch)
    for position, user in enumerate(users):
        where = f"User {position} of the batch"
        sound_id(user.id, f"{where}: its id")
        if len(user.topics) > RANKS or any(topic == "" for topic in user.topics):
            raise InvalidRecord(f"{where}: there are at most {RANKS} topics, and none is an empty text.")
    located = {row: user.location for row, user in enumerate(users) if user.location is not None}
    rows = list(located)
    check_paths(located, lambda position: f"User {rows[position]} of the batch: its location")
    return list({user.id: user for user in users}.values())


def sound_follows(batch: Iterable[Follow]) -> list[Follow]:
    """The follows of a batch as they come."""
    follows = list(batch)
    for position, follow in enumerate(follows):
        sound_id(follow.source, f"Follow {position} of the batch: its source")
        sound_id(follow.target, f"Follow {position} of the batch: its target")
    return follows


def sound_posts(batch: Iterable[Post]) -> list[Post]:
    """The posts of a batch, each once: of several with one id the last."""
    posts = list(batch)
    for position, post in enumerate(posts):
        sound_id(post.id, f"Post {position} of the batch: its id")
        sound_id(post.user, f"Post {position} of the batch: its user")
        if not isinstance(post.text, str):
            raise InvalidRecord(f"Post {position} of the batch: its text must be a text.")
    return list({post.id: post for post in posts}.values())


def place_problems(rows: Sequence[PlaceRow]) -> list[str]:
    """The problems of the places of a graph, in sentences."""
    problems = []
    paths = place_paths(rows)
    if len(paths) < len(rows):
        problems.append(f"{len(rows) - len(paths)} places form a cycle or hang on nothing.")
    if sum(parent is None for _, parent, _, _ in rows) != 1:
        problems.append("there is not one place above all others.")
    unknown = {kind for _, _, _, kind in rows} - set(LEVELS)
    problems += [f"{kind!r} is no type of place." for kind in sorted(unknown)]
    if len(set(paths.values())) < len(paths):
        problems.append("the same place stands there twice.")
    return problems


def dangling(what: str, position: int, end: str, name: str) -> InvalidRecord:
    """The error for a record that names a user the graph does not have."""
    return InvalidRecord(f"{what} {position} of the batch: its {end} is no user of graph {name!r}.")


def sound_id(value: object, what: str) -> None:
    """Refuse what cannot be the id of a user or a post; *what* it is comes first in the message."""
    if not isinstance(value, str) or not value:
        raise InvalidRecord(f"{what} must be a text that is not empty.")
    if len(value) > LONGEST_ID:
        raise InvalidRecord(f"{what} has more than {LONGEST_ID:,} characters.")
