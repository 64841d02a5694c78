"""The records that go in and out of a graph store, and the errors that all stores have in common."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.places import Path
from tabular.errors import InvalidInput, InvalidParameter, NameTaken, StoreUnavailable, named

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
