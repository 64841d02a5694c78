"""Ward's clustering: the two clusters whose union spreads least are joined, again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular.classes import equivalence_classes
from tabular.clusterings.contract import Clustering, clusterings, numbered
from tabular.grouping.points import points_of
from tabular.kernels import compiled
from tabular.table import Table


@clusterings.add(
    "ward",
    cites="Ward (1963); Murtagh (1983) for the chains of nearest neighbours",
    limits="time grows with the square of the distinct records: seconds at 10,000; a join is never undone",
)
@dataclass(frozen=True, kw_only=True)
class Ward(Clustering):
    """Join the two clusters whose union spreads least, until the number asked for is left."""

    def cluster(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> NDArray[np.int64]:
        """Works on the distinct records in the order of their codes; draws nothing."""
        classes = equivalence_classes([table.columns[name] for name in attributes])
        _, first = np.unique(classes.labels, return_index=True)
        points = points_of(table, attributes)
        places = [points.values[first, : points.ordered] * np.sqrt(points.weights[: points.ordered])]
        for column in range(points.ordered, len(points.weights)):
            # The squared distance of two different values is the weight.
            codes = points.values[first, column].astype(np.int64)
            places.append(np.eye(int(points.sizes[column]))[codes] * np.sqrt(points.weights[column] / 2))
        joins, heights = _joins(np.concatenate(places, axis=1), classes.sizes.astype(np.float64))
        return numbered(_cut(joins, heights, len(first), self.clusters)[classes.labels])


def _cut(joins: NDArray[np.int64], heights: NDArray[np.float64], records: int, clusters: int) -> NDArray[np.int64]:
    """The clusters after the lowest joins, until *clusters* are left."""
    labels = np.arange(records)
    for join in np.argsort(heights, kind="stable")[: max(records - clusters, 0)].tolist():
        kept, gone = joins[join]
        labels[labels == labels[gone]] = labels[kept]
    return labels


@compiled
def _joins(places: NDArray[np.float64], sizes: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """All joins, and how much each raises the spread; a cluster is named by one of its records.

    Along a chain from neighbour to nearest neighbour distances fall, and where it turns two are each other's nearest.
    """
    count, width = places.shape
    centres, sizes = places.copy(), sizes.copy()
    joins, heights = np.empty((max(count - 1, 0), 2), dtype=np.int64), np.empty(max(count - 1, 0))
    left = np.arange(count)
    chain, length, alive = np.empty(count, dtype=np.int64), 0, count
    for join in range(count - 1):
        if not length:
            chain[0], length = left[0], 1
        while True:
            last = chain[length - 1]
            before = chain[length - 2] if length > 1 else -1
            nearest, least = before, np.inf
            if before >= 0:
                least = _spread(centres, sizes, last, before)
            for place in range(alive):
                other = left[place]
                if other != last and other != before:
                    spread = _spread(centres, sizes, last, other)
                    if spread < least:
                        nearest, least = other, spread
            if nearest == before:
                break
            chain[length] = nearest
            length += 1
        kept, gone = min(last, before), max(last, before)
        joins[join, 0], joins[join, 1], heights[join] = kept, gone, least
        both = sizes[kept] + sizes[gone]
        for column in range(width):
            centres[kept, column] = (sizes[kept] * centres[kept, column] + sizes[gone] * centres[gone, column]) / both
        sizes[kept] = both
        length -= 2
        at = np.searchsorted(left[:alive], gone)
        for place in range(at, alive - 1):
            left[place] = left[place + 1]
        alive -= 1
    return joins, heights


@compiled
def _spread(centres: NDArray[np.float64], sizes: NDArray[np.float64], one: int, other: int) -> float:
    """The growth of the squared distances to the centres if two clusters are joined."""
    total = 0.0
    for column in range(centres.shape[1]):
        apart = centres[one, column] - centres[other, column]
        total += apart * apart
    return float(total * sizes[one] * sizes[other] / (sizes[one] + sizes[other]))
