"""AAMIL: what became of the links between values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import ATTRIBUTES, Links
from graphpriv.measures.contract import Measure, Reading, measures
from graphpriv.pair import Pair


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


#: The cells of an adjacency matrix that are not 0, as keys, and the number of links in each.
Cells = tuple[NDArray[np.int64], NDArray[np.int64]]


def _reading(pair: Pair, *, rows_of_original: bool) -> Reading:
    by_attribute = {}
    for name in ATTRIBUTES:
        before, after = pair.original.attribute(name), pair.masked.attribute(name)
        near = after
        if rows_of_original and pair.mapping is not None:
            near = np.empty_like(after)
            near[pair.mapping] = before
        values = len(pair.original.places if name == "location" else pair.original.topic_names)
        by_attribute[name] = adjacency_loss(
            adjacency(pair.original.follows, before, before, values),
            adjacency(pair.masked.follows, near, after, values),
        )
    return Reading.of(by_attribute)


def adjacency(links: Links, near: NDArray[np.int32], far: NDArray[np.int32], values: int) -> Cells:
    """The links from value to value, near ends by *near* and far ends by *far*; -1 is a value like any of *values*."""
    # A matrix of all places by all places would be mostly 0.
    keys = (near[links.sources] + 1).astype(np.int64) * (values + 1) + far[links.targets] + 1
    return np.unique(keys, return_counts=True)


def adjacency_loss(before: Cells, after: Cells) -> float:
    """Eq 6.4 for the cells of two matrices.

    >>> original = np.array([1, 3, 2, 6]), np.array([1, 1, 1, 1])
    >>> masked = np.array([0, 3, 6]), np.array([2, 1, 1])
    >>> adjacency_loss(original, masked)
    0.5
    """
    links = int(before[1].sum())
    if not links:
        return 0.0
    _, cell = np.unique(np.concatenate([before[0], after[0]]), return_inverse=True)
    difference = np.zeros(len(cell), dtype=np.int64)
    np.add.at(difference, cell, np.concatenate([before[1], -after[1]]))
    # Whole numbers are summed and divided once: the same figure whatever the order of users and links.
    return int(np.abs(difference).sum()) / (2 * links)
