"""k-prototypes: k-means for columns of all kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular.clusterings.contract import Clustering, clusterings, numbered
from tabular.grouping.points import Points, points_of
from tabular.kernels import compiled
from tabular.registry import option
from tabular.table import Table

#: The most rounds.
ROUNDS = 100


@clusterings.add(
    "k-prototypes",
    cites="Huang (1998); Arthur and Vassilvitskii (2007) for the start",
    limits="ordinal values count as numbers by their rank; the best of several starts need not be the optimum",
)
@dataclass(frozen=True, kw_only=True)
class Prototypes(Clustering):
    """Assign each record to the nearest of k centres: means of numbers and ranks, modes of nominal values."""

    starts: int = option(5, low=1, help="number of partitions to choose the best from")

    def cluster(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> NDArray[np.int64]:
        """Each start draws its centres, far ones more likely than near ones."""
        points = points_of(table, attributes)
        found = (_partition(points, _drawn(points, self.clusters, rng)) for _ in range(self.starts))
        return numbered(min(found, key=lambda each: each[1])[0])


def _drawn(points: Points, clusters: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Records as centres: the chance of each is proportional to its squared distance from those already drawn."""
    chosen = [points.values[rng.integers(len(points.values))]]
    nearest = np.full(len(points.values), np.inf)
    while len(chosen) < clusters:
        nearest = np.minimum(nearest, _assigned(points, chosen[-1][None])[1])
        reached = np.cumsum(nearest)
        if reached[-1] <= 0:
            break
        drawn = int(np.searchsorted(reached, rng.random() * reached[-1], side="right"))
        chosen.append(points.values[min(drawn, len(nearest) - 1)])
    return np.stack(chosen)


def _partition(points: Points, centres: NDArray[np.float64]) -> tuple[NDArray[np.int64], float]:
    least, labels = np.inf, np.zeros(len(points.values), dtype=np.int64)
    for _ in range(ROUNDS):
        found, distances = _assigned(points, centres)
        total = float(distances.sum())
        if total >= least:
            break
        least, labels = total, found
        centres = _moved(points, labels, centres)
    return labels, least


def _moved(points: Points, labels: NDArray[np.int64], before: NDArray[np.float64]) -> NDArray[np.float64]:
    """The middles of the clusters; an empty cluster keeps its centre."""
    centres, counts = before.copy(), np.bincount(labels, minlength=len(before))
    held = counts > 0
    for column in range(before.shape[1]):
        values = points.values[:, column]
        if column < points.ordered:
            sums = np.bincount(labels, weights=values, minlength=len(before))
            centres[held, column] = sums[held] / counts[held]
        else:
            size = int(points.sizes[column])
            table = np.bincount(labels * size + values.astype(np.int64), minlength=len(before) * size)
            centres[held, column] = table.reshape(-1, size).argmax(axis=1)[held]
    return centres


@compiled
def _assigned(points: Points, centres: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The nearest centre of each record (the first of equally near ones), and its squared distance."""
    count, width = points.values.shape
    labels, distances = np.zeros(count, dtype=np.int64), np.full(count, np.inf)
    for row in range(count):
        for centre in range(len(centres)):
            total = 0.0
            for column in range(width):
                apart = points.values[row, column] - centres[centre, column]
                if column >= points.ordered:
                    apart = 1.0 if apart != 0.0 else 0.0
                total += points.weights[column] * (apart * apart)
            if total < distances[row]:
                distances[row], labels[row] = total, centre
    return labels, distances
