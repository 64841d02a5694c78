"""What a store does within one transaction: each backend brings the primitives, and the rest is the same for all."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import PRIVATE
from graphpriv.store.assembly import Parts, PlaceRow, Profiles, mapping_of, place_problems
from graphpriv.store.records import (
    Added,
    Follow,
    Forgotten,
    GraphInfo,
    Post,
    Run,
    User,
    changed,
    dangling,
    released_meanwhile,
)
from graphpriv.store.summary import FIGURES, Piece, columns_of, pieces_of
from tabular.errors import InvalidInput, UnknownName

#: How many records are read at a time.
PAGE = 5_000

#: Of a graph; each is given once only.
Key = int | str
#: Users by number and position in a release.
Matches = NDArray[np.int64] | Sequence[Sequence[int]]


@dataclass(frozen=True)
class Head:
    """What a store notes of a graph."""

    key: Key
    name: str
    directed: bool
    private: tuple[str, ...]
    users: int
    edges: int
    #: How many users are gone, whose numbers nobody else gets.
    forgotten: int
    #: One past the highest number that a post may have.
    posts: int
    revision: str
    created: str
    original: Key | None
    k: int | None
    method: str | None
    parameters: str | None

    @property
    def numbers(self) -> int:
        """One past the highest number that a user may have."""
        return self.users + self.forgotten

    def info(self, names: Mapping[Key | None, str]) -> GraphInfo:
        """The row of the graph in the list, given the *names* of all keys."""
        return GraphInfo(
            name=self.name,
            kind="original" if self.k is None else "release",
            directed=self.directed,
            users=self.users,
            edges=self.edges,
            created=self.created,
            original=names.get(self.original),
            k=self.k,
            method=self.method,
            parameters=json.loads(self.parameters or "{}"),
        )


@dataclass(frozen=True)
class Source:
    """What an original was when a release was made of it, and the revisions of its releases then, if they matter."""

    head: Head
    beside: Mapping[str, str] | None = None


class Transaction(ABC):
    """Reading and changing the graphs of a store as far as one transaction goes."""

    #: Counts of a graph that must be 0: what is wrong, and the query.
    none_of: ClassVar[Mapping[str, Any]]

    @abstractmethod
    def heads(self) -> list[Head]:
        """All graphs, sorted by name."""

    @abstractmethod
    def state(self) -> object:
        """A value that differs after every change of the store."""

    @abstractmethod
    def touch(self, name: str) -> None:
        """Give a graph a revision that no graph ever had, so that nobody finds the summary of how it was before.

        Nobody else changes it to the end of this transaction.
        """

    @abstractmethod
    def note(self, key: Key, **changes: Any) -> None:
        """Set what is noted of a graph."""

    @abstractmethod
    def places(self, key: Key) -> Sequence[PlaceRow]:
        """The places of a graph."""

    @abstractmethod
    def topics(self, key: Key) -> dict[int, str]:
        """The topics of a graph."""

    @abstractmethod
    def parts(self, head: Head, *, bare: bool = False) -> Parts:
        """All that is needed to put a graph together; a *bare* one has no ids and no private columns."""

    @abstractmethod
    def ids(self, key: Key, numbers: Sequence[int]) -> dict[int, str]:
        """The ids of users by their numbers."""

    @abstractmethod
    def pieces(self, key: Key, numbers: Sequence[int]) -> Mapping[int, bytes]:
        """Those of the pieces of a summary that are there."""

    @abstractmethod
    def put_pieces(self, key: Key, pieces: Iterable[Piece]) -> None:
        """Insert pieces of a summary; one that is there is replaced."""

    @abstractmethod
    def lock(self, key: Key) -> None:
        """Wait until nobody else changes a graph, to the end of this transaction."""

    @abstractmethod
    def users(self, key: Key, low: int, high: int) -> Sequence[Sequence[Any]]:
        """Users in a range of numbers: number, id, place, three topics, the private columns, and maybe more."""

    @abstractmethod
    def posts(self, key: Key, after: int) -> list[tuple[int, Post]]:
        """A page of posts with their numbers, in the order of their import."""

    @abstractmethod
    def numbers(self, key: Key) -> NDArray[np.int64]:
        """The numbers of the users of a graph, in order."""

    @abstractmethod
    def matches(self, key: Key) -> Matches:
        """The mapping of a release, as numbers of users and positions in the release."""

    @abstractmethod
    def seed(self, key: Key) -> int | None:
        """The seed of a release."""

    @abstractmethod
    def add_run(self, key: Key, run: Run) -> None:
        """Write down a piece of work."""

    @abstractmethod
    def runs(self, keys: Sequence[Key]) -> list[Run]:
        """The work done on graphs, oldest first."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Take out a graph with its parts; releases made from it lose mapping and seed, and stay."""

    @abstractmethod
    def known(self, key: Key, kind: str, ids: Iterable[str]) -> dict[str, int]:
        """The numbers of those of the *ids*, of users or of posts, that are there."""

    @abstractmethod
    def put(self, key: Key, kind: str, rows: Iterable[Sequence[Any]]) -> None:
        """Insert places, topics, or posts; a post that is there is replaced."""

    @abstractmethod
    def put_follows(self, key: Key, rows: Sequence[Sequence[int]]) -> int:
        """Insert follows; tells how many were not there."""

    @abstractmethod
    def put_users(self, key: Key, rows: Sequence[Sequence[Any]]) -> tuple[Iterable[int], Iterable[int]]:
        """Insert or replace users: number, id, place, three topics, private columns.

        Tells the places and the topics that the replaced ones had.
        """

    @abstractmethod
    def prune(self, key: Key, places: Iterable[int], topics: Iterable[int]) -> None:
        """Take out those of the topics that nobody has, and places with those above as far as nobody lives there."""

    @abstractmethod
    def take_out(self, key: Key, number: int) -> tuple[Forgotten, Iterable[int], Iterable[int]]:
        """Take a user out; tells what went along, and the places and topics the user had."""

    @abstractmethod
    def counted(self, key: Key) -> tuple[int, int]:
        """How many users and follows a graph has."""

    @abstractmethod
    def count(self, query: Any, head: Head) -> int:
        """The answer to one query of `none_of`."""

    # From here on the same for all

    def infos(self) -> list[GraphInfo]:
        """The list of graphs, sorted by name."""
        heads = self.heads()
        names: dict[Key | None, str] = {head.key: head.name for head in heads}
        return [head.info(names) for head in heads]

    def find(self, name: str) -> Head | None:
        """The graph of a name."""
        return next((head for head in self.heads() if head.name == name), None)

    def head(self, name: str) -> Head:
        """The same for a graph that must be there."""
        heads = {head.name: head for head in self.heads()}
        if name not in heads:
            raise UnknownName.among("graph", name, heads)
        return heads[name]

    def original(self, name: str) -> Head:
        """The same for a graph that must be an original."""
        head = self.head(name)
        if head.k is not None:
            raise InvalidInput(f"{name!r} is a release: it holds no persons, so nothing can be added or removed.")
        return head

    def release_of(self, original: str, release: str) -> tuple[Head, Head]:
        """An original, and a release that must have been made from it."""
        source, made = self.head(original), self.head(release)
        if made.original != source.key:
            releases = [head.name for head in self.heads() if head.original == source.key]
            hint = f"there is {', '.join(releases)}" if releases else "none is kept"
            raise InvalidInput(f"{release!r} is not a release of {original!r}; {hint}.")
        return source, made

    def releases_of(self, source: Head) -> dict[str, str]:
        """The releases of an original that are there: their revisions by name."""
        return {head.name: head.revision for head in self.heads() if head.original == source.key}

    def refuse_changed(self, source: Source) -> None:
        """Refuse an original that is not what it was, or that has other releases by now, where those matter."""
        if self.find(source.head.name) != source.head:
            raise changed(source.head.name)
        if source.beside is not None and self.releases_of(source.head) != dict(source.beside):
            raise released_meanwhile(source.head.name)

    def mapping(self, source: Head, made: Head) -> NDArray[np.int64]:
        """The mapping of a release by the present positions of the users of its original."""
        return mapping_of(self.numbers(source.key), self.matches(made.key))

    def profiles(self, key: Key) -> Profiles:
        """The places and topics of a graph as they stand."""
        return Profiles(self.places(key), self.topics(key))

    def content(self, head: Head) -> tuple[Parts, tuple[Post, ...], tuple[Run, ...], Matches, int | None]:
        """All that belongs to a graph: its parts, posts, runs, mapping and seed."""
        found: list[tuple[int, Post]] = []
        while page := self.posts(head.key, found[-1][0] if found else -1):
            found += page
        posts = tuple(post for _, post in found)
        return self.parts(head), posts, tuple(self.runs([head.key])), self.matches(head.key), self.seed(head.key)

    def keep(self, head: Head, pieces: Iterable[Piece]) -> bool:
        """Keep pieces of the summary of a graph that must still be what it was; False if it is not."""
        self.lock(head.key)
        unchanged = self.find(head.name) == head
        if unchanged:
            self.put_pieces(head.key, pieces)
        return unchanged

    def problems(self, head: Head) -> list[str]:
        """What is wrong with a graph, in sentences."""
        counted = zip(("users", "follows"), self.counted(head.key), (head.users, head.edges), strict=True)
        found = [f"it has {number} {what} and {noted} are noted." for what, number, noted in counted if number != noted]
        for what, query in self.none_of.items():
            if count := self.count(query, head):
                found.append(f"{count} {what}.")
        found += place_problems(self.places(head.key)) or self._problems_of_summary(head)
        return [f"Graph {head.name!r}: {each}" for each in found]

    def _problems_of_summary(self, head: Head) -> list[str]:
        """Whether the summary, if there is one, says what the rows say."""
        if not self.pieces(head.key, [FIGURES]):
            return []
        parts = self.parts(head, bare=True)
        columns = columns_of(parts.assemble(), parts.numbers)
        differing = [column for column in columns if not self._agrees(head.key, column, columns[column])]
        return [f"the summary says something else of {', '.join(differing)} than the records."] if differing else []

    def _agrees(self, key: Key, column: str, values: NDArray[np.integer[Any]]) -> bool:
        """Whether a column of the summary holds these *values*."""
        expected = pieces_of(column, values)
        return all(self.pieces(key, [number]).get(number) == data for number, data in expected)

    def changing(self, name: str) -> Head:
        """An original that this transaction changes."""
        self.touch(name)
        return self.original(name)

    def add_users(self, name: str, users: Sequence[User]) -> Added:
        """Add users after those that are there."""
        head = self.changing(name)
        known = self.known(head.key, "users", [user.id for user in users])
        profiles = self.profiles(head.key)
        number_of = dict(known)
        held = set(head.private)
        rows: list[list[Any]] = []
        for user in users:
            number = number_of.setdefault(user.id, head.numbers + len(number_of) - len(known))
            private = {column: getattr(user, column) for column in PRIVATE}
            held.update(column for column, value in private.items() if value is not None)
            rows.append([number, user.id, *profiles.numbers(user), *private.values()])
        self.put(head.key, "places", profiles.added_places)
        self.put(head.key, "topics", profiles.added_topics)
        # Not before all users of the batch have their places and topics.
        self.prune(head.key, *self.put_users(head.key, rows))
        new = len(users) - len(known)
        self.note(head.key, users=head.users + new, private=[column for column in PRIVATE if column in held])
        return Added(new, len(known))

    def add_follows(self, name: str, follows: Sequence[Follow]) -> Added:
        """Add follows between users that are there."""
        head = self.changing(name)
        known = self.known(head.key, "users", {end for follow in follows for end in (follow.source, follow.target)})
        pairs = []
        for position, follow in enumerate(follows):
            for end in ("source", "target"):
                if getattr(follow, end) not in known:
                    raise dangling("Follow", position, end, name)
            pairs.append((known[follow.source], known[follow.target]))
        apart = [pair if head.directed else tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1]]
        new = self.put_follows(head.key, sorted(set(apart)))
        self.note(head.key, edges=head.edges + new)
        return Added(new, len(apart) - new, len(pairs) - len(apart))

    def add_posts(self, name: str, posts: Sequence[Post]) -> Added:
        """Add posts after those that are there."""
        head = self.changing(name)
        authors = self.known(head.key, "users", {post.user for post in posts})
        known = self.known(head.key, "posts", [post.id for post in posts])
        number_of = dict(known)
        rows: list[list[Any]] = []
        for position, post in enumerate(posts):
            if post.user not in authors:
                raise dangling("Post", position, "user", name)
            number = number_of.setdefault(post.id, head.posts + len(number_of) - len(known))
            rows.append([number, post.id, authors[post.user], post.text, list(post.links), post.created])
        self.put(head.key, "posts", rows)
        new = len(posts) - len(known)
        self.note(head.key, posts=head.posts + new)
        return Added(new, len(known))

    def forget(self, name: str, user: str) -> Forgotten:
        """Take a person out, and what nobody else has: a place or a topic can tell who it was."""
        head = self.changing(name)
        known = self.known(head.key, "users", [user])
        if not known:
            # The id is not repeated: it is that of a person.
            raise InvalidInput(f"Graph {name!r} has no user of that id.")
        gone, places, topics = self.take_out(head.key, known[user])
        self.prune(head.key, places, topics)
        self.note(head.key, users=head.users - 1, forgotten=head.forgotten + 1, edges=head.edges - gone.follows)
        return gone
