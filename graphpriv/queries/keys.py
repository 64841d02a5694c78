"""What users and links are counted by: a place at a level, a topic at a rank or at any, a degree."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.places import LEVELS, PlaceTree
from graphpriv.queries.profiles import TOPICS
from graphpriv.queries.selection import refuse_undirected
from graphpriv.store.view import View
from tabular.errors import InvalidParameter

#: Columns of some users, as they are read.
Read = Mapping[str, NDArray[Any]]

_DEGREES = ("degree", "following", "followers")

#: The keys that give each user one value.
SINGLE = ("location", *(f"location:{kind}" for kind in LEVELS), *TOPICS, *_DEGREES)

#: All keys: by `topics` a user counts once for each topic of theirs, whatever its rank.
KEYS = (*SINGLE, "topics")


@dataclass(frozen=True, eq=False)
class Key(ABC):
    """A way to tell users apart: codes from 0 to *size*, the last one for what is not known."""

    name: str
    columns: tuple[str, ...]
    size: int

    @abstractmethod
    def codes(self, read: Read) -> NDArray[np.int64]:
        """The codes of the users whose columns were *read*; a column for each value a user may have."""

    @abstractmethod
    def value(self, code: int) -> str | int | None:
        """What a code stands for."""


@dataclass(frozen=True, eq=False)
class PlaceKey(Key):
    """The place, or what lies above it at a level."""

    places: PlaceTree
    above: NDArray[np.int64]

    def codes(self, read: Read) -> NDArray[np.int64]:
        return self.above[read["location"]][:, None]

    def value(self, code: int) -> str | None:
        return None if code == self.size else self.places.keys[code]


@dataclass(frozen=True, eq=False)
class TopicKey(Key):
    """The topic at one rank, or each of the topics at any."""

    names: tuple[str, ...]

    def codes(self, read: Read) -> NDArray[np.int64]:
        # An empty topic is -1.
        topics = np.column_stack([read[column] for column in self.columns]).astype(np.int64) % (self.size + 1)
        return topics if len(self.columns) == 1 else _each_once(topics, self.size)

    def value(self, code: int) -> str | None:
        return None if code == self.size else self.names[code]


@dataclass(frozen=True, eq=False)
class DegreeKey(Key):
    """The number of neighbours."""

    def codes(self, read: Read) -> NDArray[np.int64]:
        return read[self.name].astype(np.int64)[:, None]

    def value(self, code: int) -> int:
        return code


def key_of(view: View, name: str, parameter: str = "by") -> Key:
    """The key of a *name* that is one of `KEYS` and was given by a *parameter*, for one graph."""
    if name in _DEGREES:
        degrees = view.figures["description"]["degree"]
        spread = degrees if name == "degree" or not view.directed else degrees[name]
        return DegreeKey(refuse_undirected(view, name, parameter), (name,), int(spread.get("largest", 0)) + 1)
    if name.startswith("location"):
        tree = view.domain.places
        return PlaceKey(name, ("location",), len(tree), tree, _above(tree, name.partition(":")[2]))
    columns = TOPICS if name == "topics" else (name,)
    return TopicKey(name, columns, len(view.domain.topic_names), view.domain.topic_names)


def names_of(by: str, known: tuple[str, ...] = KEYS) -> tuple[str, ...]:
    """The names in a list with commas."""
    names = tuple(by.split(","))
    if not set(names) <= set(known) or len(set(names)) < len(names):
        must = f"be one of {', '.join(known)}" + (
            ", or several of them, each once, with commas" if known == KEYS else ""
        )
        raise InvalidParameter.wrong("by", must=must, was=by)
    return names


def _above(tree: PlaceTree, kind: str) -> NDArray[np.int64]:
    """For each place its code, or that of the highest place of a level above it; at the end that of no place."""
    found = np.full(len(tree) + 1, len(tree), dtype=np.int64)
    if not kind:
        found[:-1] = np.arange(len(tree))
        return found
    for node in np.flatnonzero(tree.levels == LEVELS[kind]).tolist():
        if found[node] == len(tree):
            found[node : tree.ends[node]] = node
    return found


def _each_once(topics: NDArray[np.int64], none: int) -> NDArray[np.int64]:
    """Rows of topics with -1 for what a row has already, and for no topic beside one that there is."""
    found = np.sort(topics, axis=1)
    repeated = np.zeros(found.shape, dtype=np.bool_)
    repeated[:, 1:] = found[:, 1:] == found[:, :-1]
    repeated[:, 1:] |= found[:, 1:] == none
    return np.where(repeated, -1, found)
