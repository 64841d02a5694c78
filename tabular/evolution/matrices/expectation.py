"""What the measures of a table are expected to say when PRAM has masked it by given matrices; no table is drawn.

A record of the combination u becomes v with the probability that is the product of `matrix[u_a, v_a]` over the
attributes a, each record by itself. From that follow, exactly:

- DBIL and ID: sums over records of what depends on the record alone (ranks are those of the original), so each
  record adds its expectation.
- DBRL: whether a masked record is linked rightly depends on its own values and on the original file, which is known;
  it too is a sum over records. For each v the nearest combinations and their ties are found once.
- CTBIL: the records in a masked cell are a sum of independent binomial counts, one for each original combination of
  the cell's attributes; `expected_distance` gives the mean of its distance from the original count.
- EBIL as the two files show it: the sum of N_j log N_j over masked categories less that of N_ij log N_ij over pairs
  of categories; N_ij is binomial, N_j a sum of such, and `expected_logarithm` gives the means.

"Exactly" is up to 1e-8 of a record and of a record's entropy in each cell. The expected score is not the score of the
expected measures where the score takes a maximum (of DBRL and PRL, or of loss and risk): E max(X, Y) >= max(EX, EY).

PRL has no such form: one-to-one linkage assigns all records together. It is not bounded here either; where it counts it
is measured on replicas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Attribute
from tabular.errors import NoSolution
from tabular.evolution.fitness.contract import Scores
from tabular.evolution.matrices.binomials import expected_distance, expected_logarithm
from tabular.evolution.matrices.nearest import NearestOriginals
from tabular.kernels import compiled
from tabular.matrices.transition import EXACT, refuse_many, stochastic
from tabular.measures.interval_disclosure import TOLERANCE, mid_ranks
from tabular.table import Table

Matrix = NDArray[np.float64]

#: How far a disclosing interval reaches each way, as a share of the records.
REACH = 0.1


@dataclass(frozen=True, eq=False)
class ColumnExpectation:
    """What is known of one attribute of the original before a matrix is."""

    attribute: Attribute
    frequencies: NDArray[np.float64]
    #: For each pair of categories the records of the first times the distance, and times whether it is disclosed.
    distances: Matrix
    disclosed: Matrix

    @classmethod
    def of(cls, table: Table, name: str) -> ColumnExpectation:
        """That of the column *name*."""
        attribute = table.attribute(name)
        refuse_many(attribute)
        codes = np.arange(len(attribute.domain))
        counts = np.bincount(table.columns[name], minlength=len(codes))
        apart = codes[:, None] - codes
        if attribute.is_ordered:
            ranks = mid_ranks(counts, ())
            distances = np.abs(apart) / len(codes)
            near = np.abs(ranks[:, None] - ranks) <= REACH * len(table) + TOLERANCE
        else:
            distances, near = (apart != 0).astype(np.float64), apart == 0
        records = counts.astype(np.float64)
        return cls(attribute, records, records[:, None] * distances, records[:, None] * near)

    def distance(self, matrix: Matrix) -> float:
        """The expected sum of the distances between original and masked values."""
        return float((self.distances * matrix).sum())

    def disclosures(self, matrix: Matrix) -> float:
        """The expected number of values disclosed."""
        return float((self.disclosed * matrix).sum())

    def entropy(self, matrix: Matrix) -> float:
        """The expected entropy of the original value given the masked one, summed over the records (eq 2.13)."""
        return float(_entropy(self.frequencies, matrix))


@dataclass(frozen=True, eq=False)
class TableExpectation:
    """The contingency table of some attributes of the original: its cells that occur, and the counts of all."""

    names: tuple[str, ...]
    cells: NDArray[np.int64]
    records: NDArray[np.float64]
    counts: NDArray[np.float64]

    @classmethod
    def of(cls, table: Table, names: Sequence[str]) -> TableExpectation:
        """That of the columns *names*."""
        sizes = [len(table.attribute(name).domain) for name in names]
        places = np.ravel_multi_index([table.columns[name] for name in names], sizes)
        counts = np.bincount(places, minlength=prod(sizes)).astype(np.float64)
        cells = np.flatnonzero(counts)
        return cls(tuple(names), np.stack(np.unravel_index(cells, sizes)), counts[cells], counts.reshape(sizes))

    def difference(self, matrices: Sequence[Matrix]) -> float:
        """The expected sum over all cells of |masked count - original count| (eq 2.10), one matrix an attribute."""
        first, *rest = matrices
        second = rest[0] if rest else np.ones((1, 1))
        cells = self.cells if rest else np.concatenate([self.cells, np.zeros_like(self.cells)])
        counts = self.counts.reshape(len(first), len(second))
        return float(_difference(cells, self.records, counts, first, second))

    def expected_counts(self, matrices: Sequence[Matrix]) -> Matrix:
        """The expected count of each masked cell."""
        counts = self.counts
        for matrix in matrices:
            # The axis that is summed over goes to the end: after all of them the order is the first one.
            counts = np.tensordot(counts, matrix, axes=(0, 0))
        return counts


@dataclass(frozen=True, eq=False)
class Expectation:
    """What measures of a table are expected to say, made ready from the original.

    >>> from tabular.table import Table
    >>> people = Table.from_columns({"job": ["a", "a", "b", "b"]})
    >>> Expectation.of(people, ["job"]).measured({"job": np.full((2, 2), 0.5)}).dbil
    50.0
    """

    records: int
    columns: tuple[ColumnExpectation, ...]
    tables: tuple[TableExpectation, ...]
    nearest: NearestOriginals | None

    @classmethod
    def of(cls, table: Table, attributes: Sequence[str], *, linkage: bool = True) -> Expectation:
        """That of *attributes* of *table*, with contingency tables of one and two of them.

        Without *linkage* DBRL is left out and stands as 0: it needs all combinations of the domains.
        """
        if not len(table):
            raise NoSolution("A table without records has no measures to expect.")
        pairs = [*((name,) for name in attributes), *combinations(attributes, 2)]
        return cls(
            records=len(table),
            columns=tuple(ColumnExpectation.of(table, name) for name in attributes),
            tables=tuple(TableExpectation.of(table, names) for names in pairs),
            nearest=NearestOriginals.of(table, attributes) if linkage else None,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that are measured."""
        return tuple(column.attribute.name for column in self.columns)

    def measured(self, matrices: Mapping[str, Matrix]) -> Scores:
        """The expected measures of the table masked by *matrices*, one for each attribute by its name; without PRL."""
        given = [_checked(column, matrices[column.attribute.name]) for column in self.columns]
        by_name = dict(zip(self.names, given, strict=True))
        return Scores(
            ctbil=100 * self._differences(by_name) / (2 * self.records * len(self.tables)),
            dbil=self._share([column.distance(matrix) for column, matrix in self._pairs(given)]),
            ebil=self._share([column.entropy(matrix) / _greatest(column) for column, matrix in self._pairs(given)]),
            id=self._share([column.disclosures(matrix) for column, matrix in self._pairs(given)]),
            dbrl=100 * self.nearest.linked(given) / self.records if self.nearest else 0.0,
        )

    def _pairs(self, matrices: Sequence[Matrix]) -> list[tuple[ColumnExpectation, Matrix]]:
        return list(zip(self.columns, matrices, strict=True))

    def _differences(self, matrices: Mapping[str, Matrix]) -> float:
        return sum(table.difference([matrices[name] for name in table.names]) for table in self.tables)

    def _share(self, sums: Sequence[float]) -> float:
        return 100 * sum(sums) / (self.records * len(self.columns))


def _checked(column: ColumnExpectation, matrix: Matrix) -> Matrix:
    """*matrix*, or an error where it is no transition matrix of the column."""
    size = len(column.frequencies)
    # A quick look; what is wrong is said by the slow one.
    if matrix.shape == (size, size) and (matrix >= -EXACT).all() and (abs(matrix.sum(axis=1) - 1) <= EXACT).all():
        return matrix
    return stochastic(column.attribute, matrix)


def _greatest(column: ColumnExpectation) -> float:
    """The greatest entropy of a record; of one category alone it is 0, and so is what is divided by it."""
    return log(len(column.frequencies)) if len(column.frequencies) > 1 else 1.0


@compiled
def _entropy(frequencies: NDArray[np.float64], matrix: NDArray[np.float64]) -> float:
    total = 0.0
    for masked in range(matrix.shape[1]):
        chances = matrix[:, masked].copy()
        total += expected_logarithm(frequencies, chances)
        for value in range(len(frequencies)):
            total -= expected_logarithm(frequencies[value : value + 1], chances[value : value + 1])
    return max(total, 0.0)


@compiled
def _difference(
    cells: NDArray[np.int64],
    records: NDArray[np.float64],
    counts: NDArray[np.float64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
) -> float:
    chances = np.empty(len(records))
    total = 0.0
    for one in range(len(first)):
        for other in range(len(second)):
            for cell in range(len(records)):
                chances[cell] = first[cells[0, cell], one] * second[cells[1, cell], other]
            total += expected_distance(records, chances, counts[one, other])
    return total
