"""c-median: records go to the nearest of c centres, centres to the medians of their records.

Alg. 10 and 11 of Mares Soler (2013). Works on the distinct records in the order of their codes, so that the order of
the rows does not matter; of several choices that are equally good the first in that order is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Members
from tabular.classes import equivalence_classes
from tabular.clusterings.contract import Clustering, clusterings, numbered
from tabular.distances import distances_to
from tabular.registry import option
from tabular.table import Table

#: The most rounds: with sets of values the centres can move in circles.
ROUNDS = 100

#: Sums of fractions that differ by less are equal.
DECIMALS = 9


@clusterings.add(
    "c-median",
    cites="Mares Soler (2013), section 5.2, Alg. 10 and 11; Kennard and Stone (1969)",
    limits="continuous values count by their rank; the best of several starts need not be the optimum; centres that "
    "begin far apart favour outliers, so clusters can be small",
)
@dataclass(frozen=True, kw_only=True)
class CMedian(Clustering):
    """Assign each record to the nearest of c medians; take the best of several starts with centres far apart."""

    starts: int = option(20, low=1, help="number of partitions to choose the best from")

    def cluster(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draws the first centre of each start."""
        columns = [
            LabelColumn(table.columns[name], len(table.attribute(name).domain), table.attribute(name).is_ordered)
            for name in attributes
        ]
        firsts = rng.integers(0, len(table), self.starts).tolist()
        return numbered(best_partition(columns, self.clusters, firsts).clusters)


@dataclass(frozen=True, eq=False)
class LabelColumn:
    """One attribute: codes below *size* are values of the domain, those from there on *sets* of them."""

    codes: NDArray[np.int32]
    size: int
    ordered: bool
    sets: Sequence[Members] = ()


class Records:
    """The distinct records of some columns, and how far they are from centres: the sum of eq 2.6 and 2.7.

    A set is as far from a value as its members are in the mean, and counts for each of them in equal parts.
    """

    def __init__(self, columns: Sequence[LabelColumn]) -> None:
        classes = equivalence_classes([column.codes for column in columns])
        _, first = np.unique(classes.labels, return_index=True)
        self.columns = columns
        self.counts, self.of_row = classes.sizes, classes.labels
        self.codes = [column.codes[first].astype(np.int64) for column in columns]
        # A unit in which the distances of values are whole numbers, so that equal sums are equal.
        common = lcm(*(column.size for column in columns if column.ordered))
        self.unit = float(common) if common < 2**30 else 1.0
        #: For each column how far its values are from its sets, and the share of each value in them.
        self.to_sets, self.shares = [], []
        for column in columns:
            apart, shares = np.zeros((2, len(column.sets), column.size))
            for place, members in enumerate(column.sets):
                apart[place] = distances_to(members, column.size, ordered=column.ordered) * self.unit
                shares[place, list(members)] = 1 / len(members)
            self.to_sets.append(apart)
            self.shares.append(shares)

    def distances(self, centres: NDArray[np.int64]) -> NDArray[np.float64]:
        """How far each record is from each of the *centres*, a row each, a column an attribute."""
        total = np.zeros((len(self.counts), len(centres)))
        for place, column in enumerate(self.columns):
            values = np.arange(column.size)[:, None]
            at = centres[:, place]
            steps = np.abs(values - at) / column.size if column.ordered else values != at
            apart = np.asarray(np.round(steps * self.unit, DECIMALS), dtype=np.float64)
            if column.sets:
                apart = np.concatenate([apart, self.to_sets[place][:, at]])
            total += apart[self.codes[place]]
        return total

    def centres(self, clusters: NDArray[np.int64], before: NDArray[np.int64]) -> NDArray[np.int64]:
        """The lower medians (modes of nominal attributes) of the *clusters*; an empty cluster keeps its centre."""
        moved = before.copy()
        held = np.bincount(clusters, minlength=len(before)) > 0
        for place, column in enumerate(self.columns):
            labels = column.size + len(column.sets)
            keys = clusters * labels + self.codes[place]
            mass = np.asarray(np.bincount(keys, self.counts, len(before) * labels), dtype=np.float64)
            mass = mass.reshape(-1, labels)
            if column.sets:
                mass = mass[:, : column.size] + mass[:, column.size :] @ self.shares[place]
            if column.ordered:
                reached = np.round(2 * np.cumsum(mass, axis=1) - mass.sum(axis=1, keepdims=True), DECIMALS) >= 0
                found = np.argmax(reached, axis=1)
            else:
                found = np.argmax(np.round(mass, DECIMALS), axis=1)
            moved[held, place] = found[held]
        return moved

    def far_apart(self, clusters: int, first: int) -> NDArray[np.int64]:
        """Alg. 11: the record at place *first*, then repeatedly the record farthest from those chosen."""
        chosen = [self._centre(int(np.searchsorted(np.cumsum(self.counts), first, side="right")))]
        nearest = np.full(len(self.counts), np.inf)
        while True:
            nearest = np.minimum(nearest, self.distances(chosen[-1][None])[:, 0])
            farthest = int(np.argmax(nearest))
            # Fewer, once every distinct record is a centre.
            if len(chosen) >= clusters or nearest[farthest] <= 0:
                return np.stack(chosen)
            chosen.append(self._centre(farthest))

    def cluster(self, centres: NDArray[np.int64]) -> tuple[NDArray[np.int64], float]:
        """Alg. 10 from these *centres*: the cluster of each distinct record, and the distances of all, summed."""
        least, clusters = np.inf, np.zeros(len(self.counts), dtype=np.int64)
        for _ in range(ROUNDS):
            distances = self.distances(centres)
            found = np.argmin(distances, axis=1)
            total = float(np.dot(distances[np.arange(len(found)), found], self.counts))
            if total >= least:
                break
            least, clusters = total, found
            moved = self.centres(clusters, centres)
            if np.array_equal(moved, centres):
                break
            centres = moved
        return clusters, least / self.unit

    def _centre(self, record: int) -> NDArray[np.int64]:
        return np.array([codes[record] for codes in self.codes])


@dataclass(frozen=True, eq=False)
class Partition:
    """The cluster of each record, the first centres, and the sum of the distances to the last ones."""

    clusters: NDArray[np.int64]
    start: NDArray[np.int64]
    distance: float


def best_partition(columns: Sequence[LabelColumn], clusters: int, firsts: Sequence[int]) -> Partition:
    """The best of the partitions that begin at the records *firsts*, counted in the order of their codes."""
    records = Records(columns)
    starts = {start.tobytes(): start for start in (records.far_apart(clusters, first) for first in firsts)}
    found = ((*records.cluster(start), start) for start in starts.values())
    labels, distance, start = min(found, key=lambda each: each[1])
    return Partition(labels[records.of_row], start, distance)


def partition_from(columns: Sequence[LabelColumn], start: NDArray[np.int64]) -> NDArray[np.int64]:
    """The cluster of each record where the centres begin at *start*."""
    records = Records(columns)
    return np.asarray(records.cluster(start)[0][records.of_row])
