"""Counts by several codes at once: added up piece by piece, sorted, and cut into pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidParameter, named

#: So many cells are counted in an array of all of them; where there may be more, in lists that are merged.
DENSE = 1 << 22

#: Lists are merged once they hold so many entries.
_MERGED = 1 << 20


@dataclass
class Tally:
    """Counts of combinations of codes, each code below one of the *sizes*."""

    sizes: Sequence[int]
    _dense: NDArray[np.int64] | None = field(init=False, default=None)
    _keys: list[NDArray[np.int64]] = field(init=False, default_factory=list)
    _counts: list[NDArray[np.int64]] = field(init=False, default_factory=list)
    _waiting: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        cells = 1
        for size in self.sizes:
            cells *= size
        if cells >= 1 << 62:
            raise InvalidParameter(
                f"{named('by')} names keys with too many values to be counted together; leave one out."
            )
        if cells <= DENSE:
            self._dense = np.zeros(cells, dtype=np.int64)

    def add(self, codes: Sequence[NDArray[np.int64]]) -> None:
        """Count one more for each combination of *codes*, position by position; one with a code below 0 is left out."""
        known = np.logical_and.reduce([each >= 0 for each in codes])
        keys = np.zeros(int(known.sum()), dtype=np.int64)
        for size, each in zip(self.sizes, codes, strict=True):
            keys = keys * size + each[known]
        if self._dense is not None:
            self._dense += np.bincount(keys, minlength=len(self._dense))
            return
        distinct, counts = np.unique(keys, return_counts=True)
        self._keys.append(distinct)
        self._counts.append(counts)
        self._waiting += len(distinct)
        if self._waiting > max(_MERGED, 2 * len(self._keys[0])):
            self._merge()

    def _merge(self) -> None:
        none = np.zeros(0, dtype=np.int64)
        keys, inverse = np.unique(np.concatenate([none, *self._keys]), return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, inverse, np.concatenate([none, *self._counts]))
        self._keys, self._counts, self._waiting = [keys], [counts], len(keys)

    def cells(self, *, largest_first: bool) -> Cells:
        """The combinations that occur, in the order of their codes or by their counts."""
        if self._dense is not None:
            keys = np.flatnonzero(self._dense)
            counts = self._dense[keys]
        else:
            self._merge()
            keys, counts = self._keys[0], self._counts[0]
        order = np.lexsort((keys, -counts)) if largest_first else slice(None)
        return Cells(tuple(self.sizes), keys[order], counts[order], largest_first)


@dataclass(frozen=True, eq=False)
class Cells:
    """Combinations of codes with their counts, in an order that each has one place in."""

    sizes: tuple[int, ...]
    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    largest_first: bool

    def __len__(self) -> int:
        return len(self.keys)

    def place(self, at: int) -> tuple[int, int]:
        """Where a cell stands in the order."""
        return int(self.counts[at]), int(self.keys[at])

    def first_after(self, place: tuple[int, ...]) -> int:
        """The first cell after a place, which need not be that of a cell."""
        count, key = (*place, 0)[:2]
        if not self.largest_first:
            return int(np.searchsorted(self.keys, key, side="right"))
        return int(((self.counts > count) | ((self.counts == count) & (self.keys <= key))).sum())

    def codes(self, begin: int, end: int) -> list[tuple[int, ...]]:
        """The codes of a range of cells."""
        rest, columns = self.keys[begin:end], []
        for size in reversed(self.sizes):
            columns.append((rest % size).tolist())
            rest = rest // size
        return list(zip(*reversed(columns), strict=True))
