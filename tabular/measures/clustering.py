"""Clustering: how far the clusters of the masked file are from those of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tabular.clusterings import LabelColumn, best_partition, partition_from
from tabular.errors import InvalidInput
from tabular.measures.contract import Measure, Reading, measures, paired_columns
from tabular.registry import option
from tabular.table import Table, equivalence_classes

#: Of more distinct records so many are looked at.
MOST = 10_000


@measures.add(
    "clustering",
    cites="Mares Soler (2013), section 5.4.3 and eq 5.3",
    limits="looks at one number of clusters, and at the c-median clustering alone; the starts are records evenly "
    "spaced in the order of their codes, so that nothing is drawn; of more than 10,000 distinct records it looks at "
    "10,000, evenly spaced in that order; no part of information loss",
)
@dataclass(frozen=True, kw_only=True)
class ClusteringLoss(Measure):
    """Mean of 1 minus the Rand, Jaccard and Wallace indices between the c-median clusters of both files."""

    clusters: int = option(5, low=1, help="most clusters")
    starts: int = option(20, low=1, help="number of partitions of the original to choose the best from")

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """The best of the partitions of the original; that of the masked file begins with the same centres."""
        columns = paired_columns(original, masked, attributes)
        rows = looked_at([each.original for each in columns], [each.masked for each in columns])
        before = [LabelColumn(each.original[rows], each.size, each.ordered) for each in columns]
        after = [LabelColumn(each.masked[rows], each.size, each.ordered, each.sets) for each in columns]
        firsts = spaced(len(rows), self.starts)
        best = best_partition(before, self.clusters, firsts)
        return Reading.share(pair_counts(best.clusters, partition_from(after, best.start)).loss, of=1)


def looked_at(original: Sequence[NDArray[np.int32]], masked: Sequence[NDArray[np.int32]]) -> NDArray[np.int64]:
    """The rows to look at: all, or `MOST` of them evenly spaced in the order of their codes, however the rows stand."""
    first, second = equivalence_classes(original), equivalence_classes(masked)
    rows = len(first.labels)
    if max(len(first.sizes), len(second.sizes)) <= MOST:
        return np.arange(rows)
    return np.lexsort((second.labels, first.labels))[spaced(rows, MOST)]


def spaced(rows: int, places: int) -> list[int]:
    """So many *places*, evenly spaced over the rows.

    >>> spaced(100, 4)
    [12, 37, 62, 87]
    """
    return [(2 * place + 1) * rows // (2 * places) for place in range(places)]


@dataclass(frozen=True)
class PairCounts:
    """Pairs of records: together in both partitions, in the first alone, in the second alone, in neither."""

    both: int
    first: int
    second: int
    neither: int

    @property
    def rand(self) -> float:
        """Share of pairs on which both partitions say the same; 1 where there are no pairs."""
        return _share(self.both + self.neither, self.both + self.first + self.second + self.neither)

    @property
    def jaccard(self) -> float:
        """Share of the pairs together in either that are together in both; 1 where none are together."""
        return _share(self.both, self.both + self.first + self.second)

    @property
    def wallace(self) -> float:
        """Pairs together in both over the geometric mean of those together in each; 1 where none are in either."""
        first, second = self.both + self.first, self.both + self.second
        if not first or not second:
            return float(first == second)
        return self.both / sqrt(first * second)

    @property
    def loss(self) -> float:
        """The mean of 1 minus each of the three indices (eq 5.3)."""
        return ((1 - self.rand) + (1 - self.jaccard) + (1 - self.wallace)) / 3


def pair_counts(first: NDArray[np.integer], second: NDArray[np.integer]) -> PairCounts:
    """Compare two partitions, given as the cluster of each record; the names of clusters do not matter.

    >>> pair_counts(np.array([0, 0, 1, 1]), np.array([7, 7, 7, 8]))
    PairCounts(both=1, first=1, second=2, neither=2)
    """
    if len(first) != len(second):
        raise InvalidInput(f"Both partitions are of the same records; they have {len(first)} and {len(second)}.")
    sizes = [equivalence_classes(columns).sizes for columns in ([first, second], [first], [second])]
    both, one, other = (int((each * (each - 1) // 2).sum()) for each in sizes)
    every = len(first) * (len(first) - 1) // 2
    return PairCounts(both=both, first=one - both, second=other - both, neither=every - one - other + both)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
