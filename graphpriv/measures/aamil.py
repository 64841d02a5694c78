"""AAMIL: what became of the links between values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import ATTRIBUTES, SocialGraph
from graphpriv.measures import Measure, Reading, measures
from graphpriv.measures.pair import Pair


@measures.add(
    "aamil",
    cites="Mares Soler (2013), eq 6.3 and 6.4",
    limits="needs no mapping; exceeds 1 where the masked graph has more edges than the original",
)
@dataclass(frozen=True, kw_only=True)
class AdjacencyLoss(Measure):
    """Share of links that now run between other values, by attribute (0 without edges)."""

    def measure(self, pair: Pair) -> Reading:
        """Eq 6.4: links from value to value, counted in both graphs; an undirected edge counts in both directions."""
        return _reading(pair.shared, rows_of_original=False)


@measures.add(
    "aamil-anchored",
    cites="Mares Soler (2013), Figure 6.6",
    limits="needs the mapping; links are those of the masked graph, whose edges may be others than the original's",
)
@dataclass(frozen=True, kw_only=True)
class AnchoredAdjacencyLoss(Measure):
    """Share of links whose far end has another value now, the near end keeping its original one."""

    def measure(self, pair: Pair) -> Reading | None:
        """As Figure 6.6 counts: rows by the original value of the node, columns by the masked value of the neighbour.

        Links are taken from the masked graph, so that edges added or removed count as well.
        """
        return None if pair.mapping is None else _reading(pair.shared, rows_of_original=True)


def _reading(pair: Pair, *, rows_of_original: bool) -> Reading:
    by_attribute = {}
    for name in ATTRIBUTES:
        before, after = pair.original.attribute(name), pair.masked.attribute(name)
        near = after
        if rows_of_original and pair.mapping is not None:
            near = np.empty_like(after)
            near[pair.mapping] = before
        by_attribute[name] = adjacency_loss(links(pair.original, before, before), links(pair.masked, near, after))
    return Reading.of(by_attribute)


def links(graph: SocialGraph, near: NDArray[np.int32], far: NDArray[np.int32]) -> NDArray[np.int64]:
    """One row a link: the value of its near end, by *near*, and of its far end, by *far*."""
    return np.stack([near[graph.follows.sources], far[graph.follows.targets]], axis=1).astype(np.int64)


def adjacency_loss(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """Eq 6.4 for two lists of links between values; the order of the links does not matter.

    >>> one = np.array([[0, 1], [1, 0], [0, 2], [2, 0]])
    >>> adjacency_loss(one, np.array([[0, 0], [1, 0], [0, 0], [2, 0]]))
    0.5
    """
    if not len(before):
        return 0.0
    both = np.concatenate([before, after])
    low, span = int(both.min()), int(np.ptp(both)) + 1
    cells, cell = np.unique((both[:, 0] - low) * span + both[:, 1] - low, return_inverse=True)
    counted = np.bincount(cell[: len(before)], minlength=len(cells))
    difference = counted - np.bincount(cell[len(before) :], minlength=len(cells))
    # Whole numbers are summed and divided once: the same figure whatever the order of users and links.
    return int(np.abs(difference).sum()) / (2 * len(before))
