"""The contract of every graph store, and the records that go in and out of it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path as FilePath
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.places import Path
from tabular.errors import InvalidInput, InvalidParameter, NameTaken, StoreUnavailable, UnknownName, named

if TYPE_CHECKING:
    from graphpriv.release import Release


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


@dataclass(frozen=True, kw_only=True)
class Run:
    """A record of work done on a graph, so that results can be traced; it never holds the seed."""

    verb: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""
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


@dataclass(frozen=True)
class Copy:
    """Everything a store holds under one name, on its way into another store."""

    info: GraphInfo
    graph: SocialGraph
    posts: tuple[Post, ...]
    runs: tuple[Run, ...]
    mapping: NDArray[np.int64] | None = None
    seed: int | None = None


class Store(ABC):
    """Graphs by name, originals and releases, with all that belongs to them.

    Users keep the order of their import. A change to a whole graph happens completely or not at all, even if the
    process is killed.
    """

    #: The name of the store in messages; it never holds a password.
    address: str

    def graph(self, name: str) -> GraphInfo:
        """The row of one graph in the list."""
        known = {each.name: each for each in self.graphs()}
        if name not in known:
            raise UnknownName.among("graph", name, known)
        return known[name]

    def releases_of(self, name: str) -> list[GraphInfo]:
        """The releases made from an original, by name."""
        self.graph(name)
        return [each for each in self.graphs() if each.original == name]

    @abstractmethod
    def graphs(self) -> list[GraphInfo]:
        """All graphs, by name."""

    def create_graph(self, name: str, *, directed: bool, overwrite: bool = False) -> None:
        """Make an empty original, for a crawl to fill."""
        self.save_graph(name, SocialGraph.empty(directed=directed), overwrite=overwrite)

    def refuse_taken(self, name: str, overwrite: bool) -> None:
        """Refuse a name that is in use before any work is done; the store checks it again at the end."""
        if not overwrite and any(each.name == name for each in self.graphs()):
            raise taken(name)

    @abstractmethod
    def save_graph(self, name: str, graph: SocialGraph, *, overwrite: bool = False) -> None:
        """Keep an original, all or nothing; releases made from one that is replaced stay, without their mapping."""

    @abstractmethod
    def load_graph(self, name: str) -> SocialGraph:
        """The graph as it was saved, in the same order."""

    @abstractmethod
    def revision(self, name: str) -> str:
        """A value that changes with every change to the graph and is never used twice."""

    @abstractmethod
    def load_pair(self, original: str, release: str) -> tuple[SocialGraph, SocialGraph, NDArray[np.int64]]:
        """An original, a release made from it and the mapping, all of one state of the store."""

    @abstractmethod
    def delete_graph(self, name: str) -> None:
        """Remove a graph and all that belongs to it; releases made from it stay, without their mapping."""

    @abstractmethod
    def add_users(self, name: str, batch: Iterable[User]) -> Added:
        """Add users at the end of the order; one that is known keeps its place and takes the new record.

        What the record before held alone is gone from all answers, and leaves the files with the next check.
        """

    @abstractmethod
    def add_follows(self, name: str, batch: Iterable[Follow]) -> Added:
        """Add follows between users of the graph."""

    @abstractmethod
    def add_posts(self, name: str, batch: Iterable[Post]) -> Added:
        """Add posts by users of the graph; one that is known keeps its place and takes the new record.

        What the record before held leaves the files with the next check.
        """

    @abstractmethod
    def users(self, name: str) -> Iterator[User]:
        """The users in their order, page by page; an error where the graph changes before the last page is read."""

    @abstractmethod
    def posts(self, name: str) -> Iterator[Post]:
        """The posts in the order of their import, page by page; an error where the graph changes meanwhile."""

    @abstractmethod
    def save_release(
        self,
        original: str,
        name: str,
        release: Release,
        *,
        seed: int | None,
        run: Run,
        revision: str | None = None,
        overwrite: bool = False,
    ) -> None:
        """Keep a masked graph, and apart from it the mapping and the seed, all or nothing.

        *revision* is that of the original before it was loaded: if it has another one by now, the mapping may lead to
        the wrong persons, and nothing is kept. None is for those alone who have the original from elsewhere.
        """

    @abstractmethod
    def mapping(self, original: str, release: str) -> NDArray[np.int64]:
        """For each user of the original by position its position in the release, -1 where it has none."""

    @abstractmethod
    def seed(self, original: str, release: str) -> int | None:
        """The seed a release was drawn with, for whoever may know the mapping too."""

    @abstractmethod
    def add_run(self, name: str, run: Run) -> None:
        """Write down a piece of work on a graph."""

    @abstractmethod
    def runs(self, name: str, *, with_releases: bool = True) -> list[Run]:
        """The work done on a graph, and on the releases made from it unless told otherwise; oldest first."""

    @abstractmethod
    def forget(self, name: str, user: str) -> Forgotten:
        """Remove a person from an original, with follows, posts and the mappings of its releases."""

    @abstractmethod
    def backup(self, path: str | FilePath, *, overwrite: bool = False) -> None:
        """Write all there is, of one moment, to a file, which is an embedded store itself."""

    @abstractmethod
    def restore(self, path: str | FilePath, *, overwrite: bool = False) -> None:
        """Take over all there is in a backup; what the store held before is gone."""

    @abstractmethod
    def check(self) -> list[str]:
        """The problems of the store, in sentences; clears what killed runs left and replaced records first."""

    @property
    @abstractmethod
    def schema_version(self) -> int:
        """The version of the store's layout."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.address})"


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
    return NameTaken(
        f"A graph is called {name!r} already; take another name or give {named('overwrite')} to replace it."
    )


def no_release_of(original: str, release: str, releases: Iterable[str]) -> InvalidInput:
    """The error for a release that was not made from the original."""
    made = ", ".join(sorted(releases))
    hint = f"there is {made}" if made else "none is kept"
    return InvalidInput(f"{release!r} is not a release of {original!r}; {hint}.")


def changed(name: str) -> InvalidInput:
    """The error for an original that changed after a release was made from it."""
    return InvalidInput(f"Graph {name!r} changed while it was being protected; run it again. Nothing was written.")


def not_an_original(name: str) -> InvalidInput:
    """The error for an attempt to change a release."""
    return InvalidInput(f"{name!r} is a release: it holds no persons, so nothing can be added or removed.")


def not_known(name: str) -> InvalidInput:
    """The error for a person who is not in the graph; it does not repeat the id."""
    return InvalidInput(f"Graph {name!r} has no user of that id.")


class Unsettled(StoreUnavailable):
    """A graph changed while it was being read."""

    def __init__(self, address: str, what: str) -> None:
        super().__init__(f"{address}: {what} changed while it was being read; try again.", can_retry=True)


def emptied(address: str) -> NameTaken:
    """The error for a restore into a store that already holds graphs."""
    return NameTaken(f"{address}: the store holds graphs already; give {named('overwrite')} to replace all of it.")
