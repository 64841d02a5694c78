"""A release: a masked graph with fresh ids in a fresh order, and the mapping that is kept apart from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from tabular.release import Stream

_LENGTH = 12


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

    def _repr_html_(self) -> str:
        from tabular.report.kit.snippet import table_snippet

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
