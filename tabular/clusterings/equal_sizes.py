"""Clusters of equal size: by MDAV, or at random for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular.clusterings.contract import Clustering, clusterings, numbered
from tabular.grouping.mdav import mdav
from tabular.grouping.points import points_of
from tabular.table import Table


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
