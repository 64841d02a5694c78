"""How far two partitions of the same records are apart (Mares Soler 2013, section 2.5 and eq 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tabular.classes import equivalence_classes
from tabular.errors import InvalidInput


@dataclass(frozen=True)
class Agreement:
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
        """The mean of what the three indices lack to 1, from 0 to 1 (eq 5.3)."""
        return ((1 - self.rand) + (1 - self.jaccard) + (1 - self.wallace)) / 3


def agreement(first: NDArray[np.integer], second: NDArray[np.integer]) -> Agreement:
    """Compare two partitions, given as the cluster of each record; what clusters are called does not matter.

    >>> agreement(np.array([0, 0, 1, 1]), np.array([7, 7, 7, 8]))
    Agreement(both=1, first=1, second=2, neither=2)
    """
    if len(first) != len(second):
        raise InvalidInput(f"Both partitions are of the same records; they have {len(first)} and {len(second)}.")
    together = [_pairs(columns) for columns in ([first, second], [first], [second])]
    records = len(first)
    return Agreement(
        both=together[0],
        first=together[1] - together[0],
        second=together[2] - together[0],
        neither=records * (records - 1) // 2 - together[1] - together[2] + together[0],
    )


def _pairs(columns: list[NDArray[np.integer]]) -> int:
    sizes = equivalence_classes(columns).sizes
    return int((sizes * (sizes - 1) // 2).sum())


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
