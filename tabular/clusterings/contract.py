"""The base class of clusterings of records, and their registry."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular.registry import Method, Registry, option
from tabular.table import Table


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
