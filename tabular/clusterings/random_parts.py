"""Random parts: what other clusterings are to be compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular.clusterings.contract import Clustering, clusterings, numbered
from tabular.table import Table


@clusterings.add(
    "random",
    cites="no paper: the baseline",
    limits="does not look at the values",
)
@dataclass(frozen=True, kw_only=True)
class RandomParts(Clustering):
    """Put the records into clusters of equal size at random."""

    def cluster(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> NDArray[np.int64]:
        """Sizes differ by one at most."""
        labels = np.empty(len(table), dtype=np.int64)
        labels[rng.permutation(len(table))] = np.arange(len(table)) % self.clusters
        return numbered(labels)
