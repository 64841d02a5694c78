"""The records that go in and out of a graph store, refused where none can keep them, and errors of all stores."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import PRIVATE, SocialGraph
from graphpriv.places import Path, check_paths
from graphpriv.release import Release
from graphpriv.store.summary import Summary
from graphpriv.topics import RANKS
from tabular.errors import (
    AlreadyReleased,
    InvalidInput,
    InvalidParameter,
    InvalidRecord,
    NameTaken,
    Outdated,
    StoreUnavailable,
    named,
)

#: The longest name of a graph; it goes into file names and page titles.
LONGEST_NAME = 200


def check_name(name: str, parameter: str = "name") -> str:
    """The *name* of a graph that a *parameter* gives, if it can be one."""
    if not name or name != name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        must = f"be the name of a graph, 1 to {LONGEST_NAME} printable characters without spaces around them"
        raise InvalidParameter.wrong(parameter, must=must, was=name[:LONGEST_NAME])
    return name


def refuse_newer(version: int, known: int, where: str) -> None:
    """Refuse a layout that a later program has made."""
    if version > known:
        raise InvalidInput(
            f"{where}: the store has schema version {version} and this program knows versions up to {known}; "
            "use the program that made it, or a later one."
        )


def refuse_seed(parameters: Mapping[str, Any]) -> None:
    """Stop code that would write the seed where everybody reads it."""
    if "seed" in parameters:
        raise ValueError("The seed is kept with the mapping only; it does not belong among the parameters.")


def written(parameters: Mapping[str, Any]) -> str:
    """Parameters as the stores write them down."""
    return json.dumps(dict(parameters), sort_keys=True, ensure_ascii=False)


def taken(name: str) -> NameTaken:
    """The error for a name that is in use."""
    return NameTaken(f"A graph is called {name!r} already; take another name, or replace it with {named('overwrite')}.")


class Changed(InvalidInput):
    """An original changed after a release was made from it."""


def changed(name: str) -> Changed:
    """The error for an original that changed after a release was made from it."""
    return Changed(f"Graph {name!r} changed while it was being protected; run it again. Nothing was written.")


def outdated(name: str) -> Outdated:
    """The error for a graph that is to be replaced or deleted in a state that it is no longer in."""
    return Outdated(f"Graph {name!r} has changed since; look at it again. Nothing was written.")


def released_meanwhile(name: str) -> AlreadyReleased:
    """The error for an original whose other releases are not those that a new one was made to stand beside."""
    return AlreadyReleased(
        f"A release of {name!r} was added, replaced or deleted while this one was made; run it again. "
        "Nothing was written."
    )


class Unsettled(StoreUnavailable):
    """A graph changed while it was being read."""

    def __init__(self, address: str, what: str) -> None:
        super().__init__(f"{address}: {what} changed while it was being read; try again.", can_retry=True)


def emptied(address: str) -> NameTaken:
    """The error for a restore into a store that already holds graphs."""
    return NameTaken(f"{address}: the store holds graphs already; give {named('overwrite')} to replace all of it.")


def moment() -> str:
    """The present moment as the stores write it down, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, kw_only=True)
class User:
    """A user as a crawl finds one: the profile, and the private fields that only an original may hold."""

    id: str
    location: Path | None = None
    topics: tuple[str | None, ...] = ()
    handle: str | None = field(default=None, repr=False)
    name: str | None = field(default=None, repr=False)
    location_text: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Follow:
    """One user follows another; in an undirected graph the two ends have no order."""

    source: str
    target: str


@dataclass(frozen=True, kw_only=True)
class Post:
    """A post by a user, with the pages it links to."""

    id: str
    user: str
    text: str = field(repr=False)
    links: tuple[str, ...] = field(default=(), repr=False)
    created: str | None = None


@dataclass(frozen=True)
class Added:
    """The outcome of a batch: new records, records already known, and self-follows left out."""

    new: int
    known: int = 0
    self_loops: int = 0


@dataclass(frozen=True, kw_only=True)
class GraphInfo:
    """One row of the list of graphs; a release also has its origin and how it was made."""

    name: str
    kind: str
    directed: bool
    users: int
    edges: int
    created: str
    original: str | None = None
    k: int | None = None
    method: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_release(self) -> bool:
        """Whether it is a masked graph."""
        return self.kind == "release"


#: How a keyed fingerprint begins; versions before had plain ones.
KEYED, PLAIN = "hmac-sha256:", "sha256:"


def keyed(secret: bytes, fingerprint: str) -> str:
    """A *fingerprint* of persons as a store keeps it, which only those can make who have the *secret* of the store.

    The plain one would tell anybody who reads it whether a guess at what it was made of is right.

    >>> keyed(b"secret", "sha256:00")[:20] == keyed(b"other", "sha256:00")[:20]
    False
    """
    return f"{KEYED}{hmac.new(secret, fingerprint.encode(), 'sha256').hexdigest()}"


@dataclass(frozen=True, kw_only=True)
class Run:
    """A record of work done on a graph, so that results can be traced; it never holds the seed."""

    verb: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""
    #: Of a protection the `keyed` fingerprint of its original.
    input_hash: str = ""
    created: str = field(default_factory=moment)

    def __post_init__(self) -> None:
        refuse_seed(self.parameters)

    @property
    def record(self) -> dict[str, str]:
        """The run as a store writes it down, its parameters as JSON."""
        return {**vars(self), "parameters": written(self.parameters)}

    @classmethod
    def of(cls, verb: str, parameters: str, version: str, input_hash: str, created: str) -> Run:
        """The run of a record."""
        known = json.loads(parameters)
        return cls(verb=verb, parameters=known, version=version, input_hash=input_hash, created=created)


@dataclass(frozen=True, kw_only=True)
class Forgotten:
    """What was removed together with a person.

    `erased` says whether the person is gone from the files: False while another process still reads an older state (the
    next check finishes the job), None where a server keeps its own logs.
    """

    follows: int
    posts: int
    mappings: int
    erased: bool | None = None


class Record(NamedTuple):
    """One record of a crawl (`graphpriv.store.crawls`); what its number means depends on its kind."""

    kind: str
    id: str
    data: bytes
    #: Of SEEN the place in the order, of VISITED the turn, of PAGE the second (since 1970) at which it is erased, of
    #: CHARGES the day.
    number: int = 0

    @property
    def document(self) -> Any:
        """The data as JSON."""
        return json.loads(self.data)


@dataclass(frozen=True)
class Copy:
    """Everything a store holds under one name, on its way into it or into another store."""

    info: GraphInfo
    graph: SocialGraph
    posts: tuple[Post, ...] = ()
    runs: tuple[Run, ...] = ()
    mapping: NDArray[np.int64] | None = None
    seed: int | None = None
    #: What is kept of its crawl.
    records: tuple[Record, ...] = field(default=(), repr=False)

    @cached_property
    def summary(self) -> Summary:
        """What is kept beside the rows."""
        return Summary.of(self.graph)

    @classmethod
    def of(cls, name: str, graph: SocialGraph, **made: Any) -> Copy:
        """What comes into a store for the first time: an original, or a release that is *made* so."""
        counts: dict[str, Any] = {"directed": graph.directed, "users": len(graph), "edges": graph.edge_count}
        kind = "release" if made else "original"
        return cls(GraphInfo(name=name, kind=kind, **counts, created=moment(), **made), graph)

    @classmethod
    def of_release(cls, original: str, name: str, release: Release, *, run: Run, seed: int | None) -> Copy:
        """A release with all that is kept apart from it."""
        made = {"k": release.k, "method": release.method, "parameters": release.parameters}
        copy = cls.of(name, release.graph, original=original, **made)
        return replace(copy, runs=(run,), mapping=release.mapping, seed=seed)


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


def sound_posts_of(batch: Iterable[Post], name: str, graph: SocialGraph) -> list[Post]:
    """The posts that come with a graph, each once, all of them by its users."""
    posts = sound_posts(batch)
    for position, post in enumerate(posts):
        if post.user not in graph.index:
            raise dangling("Post", position, "user", name)
    return posts


def dangling(what: str, position: int, end: str, name: str) -> InvalidRecord:
    """The error for a record that names a user the graph does not have."""
    return InvalidRecord(f"{what} {position} of the batch: its {end} is no user of graph {name!r}.")


def sound_id(value: object, what: str) -> None:
    """Refuse what cannot be the id of a user or a post; *what* it is comes first in the message."""
    if not isinstance(value, str) or not value:
        raise InvalidRecord(f"{what} must be a text that is not empty.")
    if len(value) > LONGEST_ID:
        raise InvalidRecord(f"{what} has more than {LONGEST_ID:,} characters.")
