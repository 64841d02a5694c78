"""What each backend of a store brings: statements within one transaction, on graphs, users, follows, posts, records."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphpriv.store.assembly import Parts, PlaceRow
from graphpriv.store.records import Forgotten, GraphInfo, Post, Record, Run
from graphpriv.store.summary import Piece

#: How many records are read at a time.
PAGE = 5_000

#: Of how many users the follows are read at a time: some of them follow very many.
FOLLOWERS = 500

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
    def noted(self) -> tuple[object, ...]:
        """What is said of the graph wherever it is named, and changes with nobody who comes or goes."""
        return self.name, self.directed, self.private, self.created, self.k, self.method, self.parameters

    @property
    def numbers(self) -> int:
        """One past the highest number that a user may have."""
        return self.users + self.forgotten

    def info(self, names: Mapping[Key | None, str]) -> GraphInfo:
        """The row of the graph in the list, given the *names* of all keys."""
        parameters = json.loads(self.parameters or "{}")
        if not isinstance(parameters, dict):
            raise TypeError("what is noted of a release are its parameters by name")
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
            parameters=parameters,
        )


class Statements(ABC):
    """The statements of one transaction."""

    #: Counts of a graph that must be 0: what is wrong, and the query.
    none_of: ClassVar[Mapping[str, Any]]

    @abstractmethod
    def heads(self, *, name: str | None = None, key: Key | None = None, released: bool = False) -> list[Head]:
        """All graphs, sorted by name; or the one of a *name* or *key*, or the releases, and no others are read then.

        Who must not know of originals could tell them by the time that reading them takes.
        """

    @abstractmethod
    def state(self) -> object:
        """A value that differs after every change of the store."""

    @abstractmethod
    def secret(self) -> bytes:
        """The secret of the store."""

    @abstractmethod
    def put_secret(self, secret: bytes) -> None:
        """Give the store another secret."""

    def note_erasure(self) -> None:  # noqa: B027 (a server keeps its own logs)
        """Write down that something was deleted or replaced which must leave the files, where they are ours."""

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
    def drop_piece(self, key: Key, number: int) -> None:
        """Take out one piece."""

    @abstractmethod
    def lock(self, key: Key) -> None:
        """Wait until nobody else changes a graph, to the end of this transaction."""

    @abstractmethod
    def users(self, key: Key, low: int, high: int) -> Sequence[Sequence[Any]]:
        """Users in a range of numbers: number, id, place, three topics, the private columns, and maybe more."""

    @abstractmethod
    def follows(self, key: Key, low: int, high: int) -> NDArray[np.int64]:
        """Sorted numbers of those who follow and of whom they follow, for users in a range of numbers."""

    @abstractmethod
    def posts(self, key: Key, after: int) -> list[tuple[int, Post]]:
        """A page of posts with their numbers, in the order of their import."""

    @abstractmethod
    def posts_of(self, key: Key, low: int, high: int) -> list[Post]:
        """The posts of users in a range of numbers, in the order of their import."""

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
    def records(self, key: Key, kind: str, after: str, limit: int) -> list[Record]:
        """A page of the records of a crawl, by id."""

    @abstractmethod
    def records_of(self, key: Key, kind: str, ids: Iterable[str]) -> list[Record]:
        """Those of the records that are there."""

    @abstractmethod
    def write_records(self, key: Key, records: Iterable[Record]) -> None:
        """Insert records as they are; one that is there is replaced."""

    @abstractmethod
    def delete_records(self, key: Key, kind: str, ids: Sequence[str]) -> None:
        """Delete records of one kind."""

    @abstractmethod
    def overdue(self, moment: int) -> list[tuple[Key, str]]:
        """The pages of all journals that were to be erased before a *moment*: key of the graph, and id."""

    @abstractmethod
    def counted(self, key: Key) -> tuple[int, int]:
        """How many users and follows a graph has."""

    @abstractmethod
    def count(self, query: Any, head: Head) -> int:
        """The answer to one query of `none_of`."""
