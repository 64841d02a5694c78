"""How anonymous a table is as it stands: the classes of its rows, and the sensitive values within them.

The quasi-identifiers put the rows into classes. Suppressed rows are left out, and have 0 in a property vector. A
missing value is a value like the others, and so is a label that stands for a set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import ANY
from tabular.errors import InvalidInput, InvalidParameter
from tabular.table import Classes, Table, equivalence_classes


@dataclass(frozen=True, eq=False)
class Anonymity:
    """The classes of a table by its quasi-identifiers, suppressed rows apart.

    The people who could be meant are those of the *population*, masked as the table; without one those of the table.
    """

    table: Table
    quasi_identifiers: tuple[str, ...]
    kept: NDArray[np.int64]
    classes: Classes
    population: Table | None = None

    @classmethod
    def of(
        cls,
        table: Table,
        quasi_identifiers: Sequence[str],
        *,
        suppressed: NDArray[np.bool_] | None = None,
        population: Table | None = None,
    ) -> Anonymity:
        """The classes of *table*; *suppressed* marks the rows that are left out of the release."""
        for name in quasi_identifiers:
            table.attribute(name)
        if not quasi_identifiers or isinstance(quasi_identifiers, str):
            raise InvalidInput("Anonymity needs a list of one or more quasi-identifiers.")
        if suppressed is not None and len(suppressed) != len(table):
            raise InvalidInput(f"Suppression needs one value per row: {len(suppressed)} given for {len(table)} rows.")
        kept = np.arange(len(table)) if suppressed is None else np.flatnonzero(~np.asarray(suppressed, dtype=bool))
        if not kept.size:
            raise InvalidInput("No rows are left to check.")
        columns = [table.columns[name][kept] for name in quasi_identifiers]
        return cls(table, tuple(quasi_identifiers), kept, equivalence_classes(columns), population)

    @property
    def k(self) -> int:
        """The rows of the smallest class."""
        return self.classes.k

    @property
    def uniqueness(self) -> float:
        """The share of rows that are alone in their class."""
        return float((self.classes.sizes == 1).sum() / len(self.kept))

    @property
    def prosecutor_risk(self) -> float:
        """The greatest chance to find a row whose owner is known to be in the table: 1 / k."""
        return 1 / self.k

    @property
    def journalist_risk(self) -> float:
        """The greatest chance to find a row whose owner is only known to be in the population.

        1 over the fewest people of the population who share the values of a class.
        """
        return 1 / int(self.people.min())

    @property
    def marketer_risk(self) -> float:
        """The expected share of rows that an attacker finds: the mean over the rows of 1 over their people."""
        if self.population is None:
            return len(self.classes.sizes) / len(self.kept)
        return float(np.dot(self.classes.sizes, 1 / self.people) / len(self.kept))

    @cached_property
    def people(self) -> NDArray[np.int64]:
        """For each class the number of people who share its values."""
        if self.population is None:
            return self.classes.sizes
        together = []
        for name in self.quasi_identifiers:
            if self.population.attribute(name).domain != self.table.attribute(name).domain:
                raise InvalidInput(f"Column {name!r}: the population must have the domain of the table.")
            if self.population.sets[name] != self.table.sets[name]:
                raise InvalidInput(f"Column {name!r}: the population must be masked with the labels of the table.")
            together.append(np.concatenate([self.table.columns[name][self.kept], self.population.columns[name]]))
        labels = equivalence_classes(together).labels
        mine, theirs = labels[: len(self.kept)], labels[len(self.kept) :]
        found = np.empty(len(self.classes.sizes), dtype=np.int64)
        found[self.classes.labels] = np.bincount(theirs, minlength=int(labels.max()) + 1)[mine]
        # Every person in the table is in the population, and as often.
        short = np.flatnonzero((found < self.classes.sizes)[self.classes.labels])
        if short.size:
            raise InvalidInput(
                f"Row {self.kept[short[0]] + 1} of the table has values that fewer people of the population have than "
                "rows of the table; the table must be a part of the population, masked alike."
            )
        return found

    def diversity(self, sensitive: str) -> Diversity:
        """How the values of a *sensitive* attribute are spread over the classes."""
        attribute, codes = self.table.attribute(sensitive), self._sensitive(sensitive)
        return Diversity.of(self.classes.labels, codes, len(attribute.domain), ordered=attribute.is_ordered)

    def class_sizes(self) -> NDArray[np.int64]:
        """The property vector of k: for each row of the table the size of its class; its sum is S_k."""
        return self._vector(self.classes.sizes[self.classes.labels])

    def value_counts(self, sensitive: str) -> NDArray[np.int64]:
        """The property vector of l: for each row how often its sensitive value stands in its class; its sum is S_l."""
        both = equivalence_classes([self.classes.labels, self._sensitive(sensitive)])
        return self._vector(both.sizes[both.labels])

    def _vector(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        vector = np.zeros(len(self.table), dtype=np.int64)
        vector[self.kept] = values
        return vector

    def _sensitive(self, name: str) -> NDArray[np.int32]:
        self.table.attribute(name)
        if self.table.sets[name]:
            raise InvalidInput(
                f"Column {name!r} is sensitive and holds labels that stand for sets; it must hold values."
            )
        return self.table.columns[name][self.kept]


def suppressed_rows(table: Table, quasi_identifiers: Sequence[str]) -> NDArray[np.bool_]:
    """Which rows have `*` in all quasi-identifiers, except those with a single value.

    If all rows do, none is suppressed: the table is fully generalised, and they are one class.

    >>> suppressed_rows(Table.from_columns({"a": ["x", "*", "*"], "b": ["*", "*", "y"]}), ["a", "b"]).tolist()
    [False, True, False]
    """
    out = np.ones(len(table), dtype=np.bool_)
    for name in quasi_identifiers:
        attribute = table.attribute(name)
        # Read as labels, `*` is a value; read as sets, it has all values for members.
        says_nothing = [value == ANY or len(attribute.domain) == 1 for value in attribute.domain]
        says_nothing += [len(members) == len(attribute.domain) for members in table.sets[name]]
        out &= np.array(says_nothing, dtype=np.bool_)[table.columns[name]]
    return out & ~out.all()


def spread(first: NDArray[np.int64], second: NDArray[np.int64]) -> int:
    """How much better off the rows of one release are than in another, summed over those that are.

    Both are property vectors of the same rows. The binary index of property-based generalisation.

    >>> spread(np.array([3, 3, 1]), np.array([1, 2, 5])), spread(np.array([1, 2, 5]), np.array([3, 3, 1]))
    (3, 4)
    """
    return int(np.maximum(first - second, 0).sum())


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
