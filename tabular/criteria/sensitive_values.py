"""How the values of a sensitive attribute are spread over the classes of a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidParameter


@dataclass(frozen=True, eq=False)
class Diversity:
    """The values of one sensitive attribute in the classes, as the sorted pairs of class and value that occur.

    `rows[i]` rows of class `classes[i]` have the value `values[i]` of a domain of *size*.
    """

    classes: NDArray[np.int64]
    values: NDArray[np.int64]
    rows: NDArray[np.int64]
    size: int
    ordered: bool

    @classmethod
    def of(cls, labels: NDArray[np.integer], codes: NDArray[np.integer], size: int, *, ordered: bool) -> Diversity:
        """The pairs in a table, given the class and the value of each row.

        >>> Diversity.of(np.array([0, 0, 1]), np.array([2, 2, 0]), 3, ordered=False).rows.tolist()
        [2, 1]
        """
        pairs, rows = np.unique(labels.astype(np.int64) * size + codes, return_counts=True)
        return cls(pairs // size, pairs % size, rows, size, ordered)

    @property
    def distinct(self) -> int:
        """Distinct l: the fewest values in a class."""
        return int(np.diff(self._starts, append=len(self.rows)).min())

    @property
    def entropy(self) -> float:
        """Entropy l: the least exponential of a class's entropy, the l that as many equally frequent values have."""
        shares = self._shares
        return float(np.exp(-np.add.reduceat(shares * np.log(shares), self._starts)).min())

    def recursive(self, values: int) -> float:
        """Recursive (c, l) for l = *values*: the table has it for every c greater than this; infinite if for none.

        Of each class the frequency of the commonest value over those of all values from the l-th commonest on.
        """
        if values < 1:
            raise InvalidParameter.wrong("l", must="be at least 1", was=values)
        starts = self._starts
        ranked = self.rows[np.lexsort((-self.rows, self.classes))]
        ranks = np.arange(len(ranked)) - np.repeat(starts, np.diff(starts, append=len(ranked)))
        rest = np.add.reduceat(np.where(ranks >= values - 1, ranked, 0), starts)
        return float(np.divide(ranked[starts], rest, where=rest > 0, out=np.full(len(rest), inf)).max())

    @property
    def majorities(self) -> NDArray[np.int64]:
        """For each class the rows that have its commonest value."""
        found: NDArray[np.int64] = np.maximum.reduceat(self.rows, self._starts)
        return found

    @property
    def largest_share(self) -> float:
        """Alpha of (alpha, k)-anonymity: the greatest share of a class that has one value."""
        return float(self._shares.max())

    @property
    def likeness(self) -> float:
        """Beta: the greatest relative excess of a value's share in a class over its share in the table."""
        return float(self._gains.max())

    @property
    def enhanced_likeness(self) -> float:
        """Beta where no gain exceeds -log of the value's share in the table, too; infinite where one does."""
        gains, limits = self._gains, -np.log(self._expected)
        return inf if ((gains > 0) & (gains > limits)).any() else float(gains.max())

    @property
    def disclosure(self) -> float:
        """Delta: the greatest |log| of the share of a class with a value over that of the table, where it occurs."""
        return float(np.abs(np.log(self._shares / self._expected)).max())

    @property
    def closeness(self) -> float:
        """t: the greatest earth mover's distance between a class's values and the whole table's.

        Ordered values lie in a row, from end to end 1 apart; nominal ones are all 1 apart.
        """
        if self.ordered:
            return self._closeness_in_order()
        # The excess of a class over the table has to be moved; only values that occur in the class can exceed.
        return float(np.add.reduceat(np.maximum(self._shares - self._expected, 0), self._starts).max())

    def _closeness_in_order(self) -> float:
        """The sum over the domain of the distance between both cumulative shares, over its steps.

        A class's cumulative share stays the same from one of its values to the next, and the table's grows: so each
        stretch has one place where the difference changes its sign, and sums of the table's counts give the rest.
        """
        total, starts = int(self.rows.sum()), self._starts
        sizes = np.add.reduceat(self.rows, starts)
        # Whole numbers, so that equal shares are at 0; beyond what 64 bits hold, the nearest numbers.
        kind = np.int64 if total * int(sizes.max()) * self.size < 2**62 else np.float64
        whole = np.cumsum(np.bincount(self.values, weights=self.rows, minlength=self.size)).astype(kind)
        below = np.concatenate([[0], np.cumsum(whole)]).astype(kind)
        own = np.cumsum(self.rows) - np.repeat(np.cumsum(sizes) - sizes, np.diff(starts, append=len(self.rows)))
        size = sizes[self.classes].astype(kind)
        ends = np.append(self.values[1:], self.size)
        ends[np.append(starts[1:], len(self.rows)) - 1] = self.size
        turns = np.clip(np.searchsorted(whole, own * (total / size)), self.values, ends)
        here = (2 * turns - self.values - ends) * own.astype(kind) * total
        there = size * (below[self.values] + below[ends] - 2 * below[turns])
        apart = np.add.reduceat(here + there, starts) + sizes.astype(kind) * below[self.values[starts]]
        return float((apart / sizes).max() / total / max(self.size - 1, 1))

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """Where each class begins."""
        return np.flatnonzero(np.diff(self.classes, prepend=-1))

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        """The share of the class that has the value."""
        shares: NDArray[np.float64] = self.rows / np.add.reduceat(self.rows, self._starts)[self.classes]
        return shares

    @cached_property
    def _expected(self) -> NDArray[np.float64]:
        """The share of the table that has the value."""
        frequencies = np.bincount(self.values, weights=self.rows, minlength=self.size)
        shares: NDArray[np.float64] = frequencies[self.values] / frequencies.sum()
        return shares

    @cached_property
    def _gains(self) -> NDArray[np.float64]:
        """The relative excess of the share of the class over that of the table."""
        gains: NDArray[np.float64] = (self._shares - self._expected) / self._expected
        return gains
