"""How anonymous a table is as it stands: k, l, t, and the risks of its records.

The quasi-identifiers put the rows into classes. Suppressed rows are left out of all that is said of the rows kept; a
property vector has 0 for them. A missing value is a value like the others, and so is a label that stands for a set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular.classes import Classes, equivalence_classes
from tabular.errors import InvalidInput, InvalidParameter
from tabular.table import Table


@dataclass(frozen=True, eq=False)
class Diversity:
    """One sensitive attribute in the classes: `counts[c, v]` rows of class c have value v."""

    counts: NDArray[np.int64]
    ordered: bool

    @property
    def distinct(self) -> int:
        """Distinct l: the fewest values in a class."""
        return int((self.counts > 0).sum(axis=1).min())

    @property
    def entropy(self) -> float:
        """Entropy l: the least exponential of a class's entropy, the l that as many equally frequent values have."""
        shares = self.counts / self.counts.sum(axis=1, keepdims=True)
        entropies = -(shares * np.log(shares, where=shares > 0, out=np.zeros_like(shares))).sum(axis=1)
        return float(np.exp(entropies.min()))

    def recursive(self, values: int) -> float:
        """Recursive (c, l) for l = *values*: the table has it for every c greater than this; infinite if for none.

        Of each class the frequency of the commonest value over those of all values from the l-th commonest on.
        """
        if values < 1:
            raise InvalidParameter(f"l must be at least 1, not {values}.")
        ranked = -np.sort(-self.counts, axis=1)
        rest = ranked[:, values - 1 :].sum(axis=1)
        return float(np.divide(ranked[:, 0], rest, where=rest > 0, out=np.full(len(rest), np.inf)).max())

    @property
    def closeness(self) -> float:
        """t: the greatest earth mover's distance between a class's values and the whole table's.

        Ordinal values lie in a row, from end to end 1 apart; nominal ones are all 1 apart.
        """
        whole = self.counts.sum(axis=0) / self.counts.sum()
        differences = self.counts / self.counts.sum(axis=1, keepdims=True) - whole
        if not self.ordered:
            return float(np.abs(differences).sum(axis=1).max() / 2)
        steps = max(self.counts.shape[1] - 1, 1)
        return float(np.abs(np.cumsum(differences, axis=1)).sum(axis=1).max() / steps)


@dataclass(frozen=True, eq=False)
class Anonymity:
    """The classes of a table by its quasi-identifiers, suppressed rows apart."""

    table: Table
    quasi_identifiers: tuple[str, ...]
    kept: NDArray[np.int64]
    classes: Classes

    @classmethod
    def of(
        cls, table: Table, quasi_identifiers: Sequence[str], *, suppressed: NDArray[np.bool_] | None = None
    ) -> Anonymity:
        """The classes of *table*; *suppressed* says of each row whether it is left out of the release."""
        for name in quasi_identifiers:
            table.attribute(name)
        if not quasi_identifiers or isinstance(quasi_identifiers, str):
            raise InvalidInput("Anonymity needs a list of one or more quasi-identifiers.")
        if suppressed is not None and len(suppressed) != len(table):
            raise InvalidInput(f"Suppression is said row by row: {len(suppressed)} given for {len(table)} rows.")
        kept = np.arange(len(table)) if suppressed is None else np.flatnonzero(~np.asarray(suppressed, dtype=bool))
        if not kept.size:
            raise InvalidInput("No rows are left; there is nothing to say of them.")
        columns = [table.columns[name][kept] for name in quasi_identifiers]
        return cls(table, tuple(quasi_identifiers), kept, equivalence_classes(columns))

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
    def marketer_risk(self) -> float:
        """The expected share of rows found when all are sought: the classes over the rows."""
        return len(self.classes.sizes) / len(self.kept)

    def share_above(self, risk: float) -> float:
        """The share of rows whose own chance to be found, 1 over the size of their class, is above *risk*."""
        return float(self.classes.sizes[1 / self.classes.sizes > risk].sum() / len(self.kept))

    def journalist_risk(self, population: Table) -> float:
        """The greatest chance to find a row whose owner is only known to be in the *population*, masked as the table.

        1 over the fewest people of the population who share the values of a class.
        """
        together = []
        for name in self.quasi_identifiers:
            if population.attribute(name).domain != self.table.attribute(name).domain:
                raise InvalidInput(f"Column {name!r}: the population must have the domain of the table.")
            if population.sets[name] != self.table.sets[name]:
                raise InvalidInput(f"Column {name!r}: the population must be masked with the labels of the table.")
            together.append(np.concatenate([self.table.columns[name][self.kept], population.columns[name]]))
        labels = equivalence_classes(together).labels
        people = np.bincount(labels[len(self.kept) :], minlength=int(labels.max()) + 1)
        fewest = int(people[labels[: len(self.kept)]].min())
        if not fewest:
            raise InvalidInput("The table holds rows that nobody in the population has; it must be a part of it.")
        return 1 / fewest

    def diversity(self, sensitive: str) -> Diversity:
        """How the values of a *sensitive* attribute are spread over the classes."""
        attribute, codes = self.table.attribute(sensitive), self._sensitive(sensitive)
        size = len(attribute.domain)
        counts = np.bincount(self.classes.labels * size + codes, minlength=len(self.classes.sizes) * size)
        return Diversity(counts.reshape(-1, size), attribute.is_ordered)

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


def spread(first: NDArray[np.int64], second: NDArray[np.int64]) -> int:
    """By how much the rows of one release are better off than in another, summed over those that are.

    Both are property vectors of the same rows. The binary index of property-based generalisation.

    >>> spread(np.array([3, 3, 1]), np.array([1, 2, 5])), spread(np.array([1, 2, 5]), np.array([3, 3, 1]))
    (3, 4)
    """
    return int(np.maximum(first - second, 0).sum())
