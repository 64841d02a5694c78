"""c-median: records around medians, from centres far apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular.clusterings.contract import Clustering, clusterings, numbered
from tabular.grouping.medians import LabelColumn, best_partition
from tabular.registry import option
from tabular.table import Table


@clusterings.add(
    "c-median",
    cites="Mares Soler (2013), section 5.2, Alg. 10 and 11; Kennard and Stone (1969)",
    limits="continuous values count by their rank; the best of several starts need not be the best there is; centres "
    "that begin far apart favour outliers, so clusters can be small",
)
@dataclass(frozen=True, kw_only=True)
class CMedian(Clustering):
    """Put each record to the nearest of c medians, from centres far apart; the best of several starts."""

    starts: int = option(20, low=1, help="partitions to take the best of")

    def cluster(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> NDArray[np.int64]:
        """Each start has its first centre drawn at random."""
        columns = [
            LabelColumn(table.columns[name], len(table.attribute(name).domain), table.attribute(name).is_ordered)
            for name in attributes
        ]
        firsts = rng.integers(0, len(table), self.starts).tolist()
        return numbered(best_partition(columns, self.clusters, firsts).clusters)
