"""Equivalence classes: the rows of a table that agree in the given columns, and the k that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

#: With up to so many possible keys a row, marking those that occur is quicker than sorting.
_MARKED = 16


@dataclass(frozen=True)
class Classes:
    """Rows put into classes: the class of each row, and how many rows each class has."""

    labels: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @cached_property
    def firsts(self) -> NDArray[np.int64]:
        """The first row of each class."""
        rows = np.empty(len(self.sizes), dtype=np.int64)
        rows[self.labels[::-1]] = np.arange(len(self.labels))[::-1]
        return rows

    @property
    def k(self) -> int:
        """The size of the smallest class; a table without rows has 0."""
        return int(self.sizes.min()) if len(self.sizes) else 0


def equivalence_classes(columns: Sequence[NDArray[np.integer]]) -> Classes:
    """The classes of rows with equal codes in all *columns*, numbered in the order of their codes.

    A missing value is a code like any other.

    >>> equivalence_classes([np.array([3, 3, -1, 3]), np.array([0, 1, 0, 0])]).labels.tolist()
    [1, 2, 0, 1]
    """
    if not columns:
        raise ValueError("Classes need at least one column.")
    labels = np.zeros(len(columns[0]), dtype=np.int64)
    found = 1
    for column in columns:
        codes = np.asarray(column, dtype=np.int64)
        if not len(codes):
            break
        low, high = int(codes.min()), int(codes.max())
        span = high - low + 1
        if span * found >= 2**63:
            # The codes are far apart: number those that occur, at most one a row.
            values, codes = np.unique(codes, return_inverse=True)
            low, span = 0, len(values)
        # Renumbered after each column, so that the keys of many columns never overflow.
        labels, found = _numbered(labels * span + (codes - low), found * span)
    return Classes(labels=labels, sizes=np.bincount(labels))


def _numbered(keys: NDArray[np.int64], bound: int) -> tuple[NDArray[np.int64], int]:
    """The rank of each key among those that occur, and how many occur; all keys are below *bound*."""
    if bound > _MARKED * len(keys):
        kept, numbers = np.unique(keys, return_inverse=True)
        return numbers, len(kept)
    occurs = np.zeros(bound, dtype=np.bool_)
    occurs[keys] = True
    numbers = np.cumsum(occurs) - 1
    return numbers[keys], int(numbers[-1]) + 1


def smallest_class(columns: Sequence[NDArray[np.integer]]) -> int:
    """The k of a table: how many rows share the rarest combination of the values in *columns*.

    >>> smallest_class([np.array([1, 1, 2, 2, 2])])
    2
    """
    return equivalence_classes(columns).k
