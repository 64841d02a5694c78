"""Clustering: how far the clusters of the masked file are from those of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabular.grouping.medians import LabelColumn, best_partition, partition_from
from tabular.grouping.partitions import agreement
from tabular.measures.comparison import paired_columns
from tabular.measures.contract import Measure, Reading, measures
from tabular.registry import option
from tabular.table import Table


@measures.add(
    "clustering",
    cites="Mares Soler (2013), section 5.4.3 and eq 5.3",
    limits="looks at one number of clusters, and at the c-median clustering alone; the starts are records evenly "
    "spaced in the order of their codes, so that nothing is drawn; no part of information loss",
)
@dataclass(frozen=True, kw_only=True)
class ClusteringLoss(Measure):
    """What the Rand, Jaccard and Wallace indices of the c-median clusters of both files lack to 1, in the mean."""

    clusters: int = option(5, low=1, help="clusters, at most")
    starts: int = option(20, low=1, help="partitions of the original to take the best of")

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """The best of the partitions of the original; that of the masked file begins with the same centres."""
        columns = paired_columns(original, masked, attributes)
        before = [LabelColumn(each.original, each.size, each.ordered) for each in columns]
        after = [LabelColumn(each.masked, each.size, each.ordered, each.sets) for each in columns]
        firsts = [(2 * start + 1) * len(original) // (2 * self.starts) for start in range(self.starts)]
        best = best_partition(before, self.clusters, firsts)
        loss = agreement(best.clusters, partition_from(after, best.start)).loss
        return Reading(raw=loss, percent=100 * loss)
