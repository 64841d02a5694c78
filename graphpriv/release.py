"""A release: a masked graph with fresh ids in a fresh order, and apart from it the mapping, a private file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import IO

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from tabular.errors import InvalidRecord
from tabular.files.csv_tables import read_table, write_csv
from tabular.files.disk import read_bytes
from tabular.release import Stream

_LENGTH = 12


@dataclass(frozen=True)
class Proven:
    """What a release loses by the weights of its method, from 0 to 1, and what is proven that every one loses."""

    loss: float
    lower_bound: float

    @property
    def gap(self) -> float:
        """How far the loss may be from the least there is."""
        return self.loss - self.lower_bound


@dataclass(frozen=True, eq=False)
class Release:
    """The result of a protection: `graph` may be published, `mapping` leads back to persons."""

    #: The masked graph: fresh ids, shuffled order, nothing private.
    graph: SocialGraph
    #: For each original user, by position, its position in `graph`; -1 where a person was forgotten.
    mapping: NDArray[np.int64] = field(repr=False)
    k: int
    method: str
    parameters: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    #: Where the method has a bound.
    proven: Proven | None = None

    def _repr_html_(self) -> str:
        from tabular.report.kit.page import table_snippet

        said = {"users": len(self.graph), "edges": self.graph.edge_count, "k": self.k, **self.parameters}
        return table_snippet(f"Release by {self.method}; its mapping is private.", ["", "Value"], [*said.items()])


def anonymous(
    original: SocialGraph, masked: SocialGraph, rng: np.random.Generator
) -> tuple[SocialGraph, NDArray[np.int64]]:
    """The *masked* graph under fresh ids in a fresh order, and where each user of it went.

    Only places that occur, with what lies above them, and only topics that occur are kept. The fresh ids equal no
    string of the *original*.
    """
    users = len(masked)
    key = rng.bytes(32)
    ids = _fresh_ids(users, original, Stream(key, b"ids"))
    order = Stream(key, b"order").permutation(users)
    mapping = np.empty(users, dtype=np.int64)
    mapping[order] = np.arange(users)
    return replace(masked, ids=ids, private=MappingProxyType({})).restricted(order), mapping


def _fresh_ids(count: int, original: SocialGraph, stream: Stream) -> tuple[str, ...]:
    """Draw *count* distinct ids, each letter at random, none of them a string of the *original*."""
    drawn = dict.fromkeys(_draw(count, stream))
    while True:
        for taken in _strings(original):
            drawn.pop(taken, None)
        if len(drawn) == count:
            return tuple(drawn)
        drawn.update(dict.fromkeys(_draw(count - len(drawn), stream)))


def _draw(count: int, stream: Stream) -> list[str]:
    drawn: list[str] = stream.letters(count * _LENGTH).view(f"S{_LENGTH}").astype(str).tolist()
    return drawn


def _strings(graph: SocialGraph) -> Iterator[str]:
    """Every string of a graph."""
    private = (text for column in graph.private.values() for text in column if text is not None)
    return chain(graph.ids, private, graph.topic_names, graph.places.names, graph.places.keys)


MAPPING_HEADER = ("original", "released")

#: A user without a counterpart.
NOWHERE = -1


def write_mapping(
    file: IO[bytes], original: Sequence[str], released: Sequence[str], mapping: NDArray[np.int64]
) -> None:
    """Write the CSV `original,released`; a forgotten user has no line."""
    pairs = ((original[user], released[to]) for user, to in enumerate(mapping.tolist()) if to != NOWHERE)
    write_csv(file, MAPPING_HEADER, pairs)


def read_mapping(path: str | Path, original: Sequence[str], released: Sequence[str]) -> NDArray[np.int64]:
    """The mapping in a CSV `original,released`, as positions; a user without a line has none."""
    header, rows, line = read_table(read_bytes(path), str(path))
    if tuple(header) != MAPPING_HEADER:
        raise InvalidRecord(f"{path}, line 1: the header must be {','.join(MAPPING_HEADER)}.")
    positions = {name: position for position, name in enumerate(original)}
    targets = {name: position for position, name in enumerate(released)}
    mapping = np.full(len(original), NOWHERE, dtype=np.int64)
    taken: set[int] = set()
    for number, (one, other) in enumerate(rows):
        user, to = positions.get(one), targets.get(other)
        if user is None or to is None:
            which, column = ("original", "original") if user is None else ("released", "released")
            raise InvalidRecord(f"{path}, line {line(number)}: the id under {column!r} is not in the {which} graph.")
        if mapping[user] != NOWHERE or to in taken:
            raise InvalidRecord(f"{path}, line {line(number)}: a user occurs in the mapping twice.")
        mapping[user] = to
        taken.add(to)
    return mapping


def mapping_by_id(original: Sequence[str], released: Sequence[str]) -> NDArray[np.int64] | None:
    """The mapping of a release that keeps the ids; None where any original id is missing from it."""
    targets = {name: position for position, name in enumerate(released)}
    found = [targets.get(name, NOWHERE) for name in original]
    return None if NOWHERE in found else np.array(found, dtype=np.int64)
