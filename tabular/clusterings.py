"""Clusterings of the records of a table, for protections that work cluster by cluster."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Members, sums_to_spans
from tabular.grouping.mdav import mdav
from tabular.grouping.points import Points, points_of
from tabular.intervals import runs_of, sizes_of
from tabular.kernels import compiled
from tabular.registry import Method, Registry, option
from tabular.table import Table, equivalence_classes

#: The most rounds: with sets of values the centres can move in circles.
ROUNDS = 100
#: Sums of fractions that differ by less are equal.
DECIMALS = 9


@dataclass(frozen=True, kw_only=True)
class Clustering(Method):
    """A way to put the records of a table into clusters of similar ones."""

    clusters: int = option(5, low=1, help="most clusters")

    @abstractmethod
    def cluster(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> NDArray[np.int64]:
        """The cluster of each record by *attributes*, which hold values and no sets; every number up to the highest
        is in use."""


clusterings: Registry[Clustering] = Registry("clustering")


def numbered(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same clusters, numbered without gaps in the order of their first records.

    >>> numbered(np.array([7, 2, 7, 9])).tolist()
    [0, 1, 0, 2]
    """
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[which], dtype=np.int64)


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
    They stand in the order of their codes, so that the order of the rows does not matter; of several choices that are
    equally good the first in that order is taken.
    """

    def __init__(self, columns: Sequence[LabelColumn]) -> None:
        classes = equivalence_classes([column.codes for column in columns])
        _, first = np.unique(classes.labels, return_index=True)
        self.columns = columns
        self.counts, self.of_row = classes.sizes, classes.labels
        self.codes = [column.codes[first].astype(np.int64) for column in columns]
        #: The values that occur, by column, where they are fewer than the domain has; the codes are places among them.
        self.values: list[NDArray[np.int64] | None] = [None] * len(columns)
        for place, column in enumerate(columns):
            if not len(column.sets) and column.size > len(first):
                self.values[place], self.codes[place] = np.unique(self.codes[place], return_inverse=True)
        # A unit in which the distances of values are whole numbers, so that equal sums are equal.
        common = lcm(*(column.size for column in columns if column.ordered))
        self.unit = float(common) if common < 2**30 else 1.0
        self.runs = [runs_of(column.sets) for column in columns]

    def distances(self, centres: NDArray[np.int64]) -> NDArray[np.float64]:
        """How far each record is from each of the *centres*, a row each, a column an attribute."""
        total = np.zeros((len(self.counts), len(centres)))
        for place, column in enumerate(self.columns):
            known, at = self.values[place], centres[:, place]
            values = (np.arange(column.size) if known is None else known)[:, None]
            steps = np.abs(values - at) / column.size if column.ordered else values != at
            apart = np.asarray(np.round(steps * self.unit, DECIMALS), dtype=np.float64)
            if len(column.sets):
                apart = np.concatenate([apart, self._from_sets(place, at)])
            total += apart[self.codes[place]]
        return total

    def _from_sets(self, place: int, values: NDArray[np.int64]) -> NDArray[np.float64]:
        """How far the sets of a column, a row each, are from *values*."""
        column, (owners, runs) = self.columns[place], self.runs[place]
        firsts, lasts, sizes = runs.firsts[:, None], runs.lasts[:, None], sizes_of(column.sets)[:, None]
        total = np.zeros((len(column.sets), len(values)), dtype=np.int64)
        if column.ordered:
            np.add.at(total, owners, sums_to_spans(values[None, :], firsts, lasts))
            return np.asarray(total / (sizes * column.size) * self.unit)
        np.add.at(total, owners, (firsts <= values) & (values <= lasts))
        return np.asarray((sizes - total) / sizes * self.unit)

    def _spread(self, place: int, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """The *mass* of the sets of a column, a row a cluster, spread evenly over their values."""
        column, (owners, runs) = self.columns[place], self.runs[place]
        steps = np.zeros((len(mass), column.size + 1))
        shares = (mass / sizes_of(column.sets))[:, owners]
        for cluster in range(len(mass)):
            np.add.at(steps[cluster], runs.firsts, shares[cluster])
            np.add.at(steps[cluster], runs.lasts + 1, -shares[cluster])
        return np.asarray(np.cumsum(steps, axis=1)[:, :-1])

    def centres(self, clusters: NDArray[np.int64], before: NDArray[np.int64]) -> NDArray[np.int64]:
        """The lower medians (modes of nominal attributes) of the *clusters*; an empty cluster keeps its centre."""
        moved = before.copy()
        held = np.bincount(clusters, minlength=len(before)) > 0
        for place, column in enumerate(self.columns):
            known = self.values[place]
            labels = column.size + len(column.sets) if known is None else len(known)
            keys = clusters * labels + self.codes[place]
            mass = np.asarray(np.bincount(keys, self.counts, len(before) * labels), dtype=np.float64)
            mass = mass.reshape(-1, labels)
            if len(column.sets):
                mass = mass[:, : column.size] + self._spread(place, mass[:, column.size :])
            if column.ordered:
                reached = np.round(2 * np.cumsum(mass, axis=1) - mass.sum(axis=1, keepdims=True), DECIMALS) >= 0
                found = np.argmax(reached, axis=1)
            else:
                found = np.argmax(np.round(mass, DECIMALS), axis=1)
            moved[held, place] = (found if known is None else known[found])[held]
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
        pairs = zip(self.codes, self.values, strict=True)
        return np.array([codes[record] if known is None else known[codes[record]] for codes, known in pairs])


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


@clusterings.add(
    "mdav",
    cites="Domingo-Ferrer and Torra (2005)",
    limits="sizes are equal whether or not the records form such clusters; the last hold what the others left",
)
@dataclass(frozen=True, kw_only=True)
class MdavParts(Clustering):
    """Put the records into clusters of equal size around the records farthest from the middle."""

    def cluster(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> NDArray[np.int64]:
        """No cluster has fewer rows than the rows over the clusters, rounded down; draws nothing."""
        size = max(len(table) // self.clusters, 1)
        return numbered(mdav(points_of(table, attributes), size))


@clusterings.add(
    "random",
    cites="no paper: the baseline",
    limits="does not look at the values",
)
@dataclass(frozen=True, kw_only=True)
class RandomParts(Clustering):
    """Put the records into clusters of equal size at random."""

    def cluster(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> NDArray[np.int64]:
        """Sizes differ by at most one."""
        labels = np.empty(len(table), dtype=np.int64)
        labels[rng.permutation(len(table))] = np.arange(len(table)) % self.clusters
        return numbered(labels)


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
