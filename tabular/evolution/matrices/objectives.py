"""What matrices are judged by: expected scores, scores of drawn files, and the three fitness kinds of section 4.1.

Less is better for all of them. What is expected is exact and the same each time. What is measured on drawn files is a
matter of luck: the files follow from a seed, so that two sets of matrices can be compared by the same luck.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tabular.evolution.matrices.expectation import Expectation, Matrix, TableExpectation
from tabular.measures.transitions import bivariate_difference, chi_square_difference, mean_expectation_ratio
from tabular.protections.pram import drawn
from tabular.table import Table

if TYPE_CHECKING:
    from tabular.evolution.fitness.contract import Fitness

Matrices = Mapping[str, Matrix]

#: The fitness kinds of the chapter: a score of loss and risk; eq 4.5; eq 4.8; the mean expectation ratio.
SCORE, COUNTS, CHI_SQUARE, RATIO = KINDS = ("score", "counts", "chi-square", "ratio")

#: What is judged worse than anything: ratios are infinite where nothing changes.
WORST = 1e300


class Objective(ABC):
    """Judges matrices by column."""

    #: Whether it is a matter of luck, which a seed decides.
    is_drawn: bool = False

    @abstractmethod
    def loss(self, matrices: Matrices, seed: int = 0) -> float:
        """What *matrices* lose; less is better."""


@dataclass(frozen=True, eq=False)
class ExpectedScore(Objective):
    """A score of the expected loss and the expected risk, the linkage being DBRL."""

    expectation: Expectation
    kind: str

    def loss(self, matrices: Matrices, seed: int = 0) -> float:
        return self.expectation.measured(matrices).score(self.kind)


@dataclass(frozen=True, eq=False)
class ExpectedCounts(Objective):
    """Eq 4.5 in percent: records expected in another cell of the table of a masked attribute and an unmasked one."""

    masked: str
    table: TableExpectation

    @classmethod
    def of(cls, table: Table, masked: str, beside: str) -> ExpectedCounts:
        """That of the column *masked* and another one *beside* it that stays as it is."""
        return cls(masked, TableExpectation.of(table, (masked, beside)))

    def loss(self, matrices: Matrices, seed: int = 0) -> float:
        still = np.eye(self.table.counts.shape[1])
        return 50 * self.table.difference([matrices[self.masked], still]) / float(self.table.records.sum())


@dataclass(frozen=True, eq=False)
class ExpectedChiSquare(Objective):
    """Eq 4.8 in percent, of the expected counts.

    This is no expectation of eq 4.8: it leaves out what chance adds to the statistic of a drawn table, about as much
    as the statistic of independent attributes has.
    """

    masked: str
    table: TableExpectation

    @classmethod
    def of(cls, table: Table, masked: str, beside: str) -> ExpectedChiSquare:
        """That of the column *masked* and another one *beside* it that stays as it is."""
        return cls(masked, TableExpectation.of(table, (masked, beside)))

    def loss(self, matrices: Matrices, seed: int = 0) -> float:
        still = np.eye(self.table.counts.shape[1])
        before = chi_square_of(self.table.counts)
        after = chi_square_of(self.table.expected_counts([matrices[self.masked], still]))
        return 100 * abs(after - before) / before if before > 0 else 0.0


@dataclass(frozen=True, eq=False)
class ExpectationRatio(Objective):
    """The expectation ratios' mean, over all columns: how many values stay for each that comes from elsewhere.

    It is a risk alone; without bounds of the diagonal it is least where no value stays.
    """

    frequencies: Mapping[str, NDArray[np.int64]]

    def loss(self, matrices: Matrices, seed: int = 0) -> float:
        ratios = [mean_expectation_ratio(matrix, self.frequencies[name]) for name, matrix in matrices.items()]
        return float(np.nan_to_num(np.mean(ratios), nan=WORST, posinf=WORST))


@dataclass(frozen=True, eq=False)
class DrawnScore(Objective):
    """The mean score of some drawn files (eq 4.3 and 4.4), PRL included."""

    fitness: Fitness
    kind: str
    replicas: int

    is_drawn = True

    def loss(self, matrices: Matrices, seed: int = 0) -> float:
        original = self.fitness.codes
        found = []
        for rng in _generators(seed, self.replicas):
            columns = [
                drawn(original[:, place], matrices[name], rng) for place, name in enumerate(self.fitness.attributes)
            ]
            found.append(self.fitness.full(np.stack(columns, axis=1)).score(self.kind))
        return float(np.mean(found))


@dataclass(frozen=True, eq=False)
class DrawnDifference(Objective):
    """The mean of eq 4.5 or eq 4.8 over some drawn files."""

    table: Table
    masked: str
    beside: str
    kind: str
    replicas: int

    is_drawn = True

    def loss(self, matrices: Matrices, seed: int = 0) -> float:
        difference = bivariate_difference if self.kind == COUNTS else chi_square_difference
        found = []
        for rng in _generators(seed, self.replicas):
            codes = drawn(self.table.columns[self.masked], matrices[self.masked], rng)
            found.append(
                difference(self.table, self.table.with_codes(**{self.masked: codes}), self.masked, self.beside)
            )
        return float(np.mean([each or 0.0 for each in found]))


def _generators(seed: int, count: int) -> list[np.random.Generator]:
    """A generator for each of *count* files, whoever draws them and in whichever order."""
    return [np.random.default_rng((seed, number)) for number in range(count)]


def chi_square_of(counts: Matrix) -> float:
    """Pearson's statistic of a table of counts; of cells whose row or column is empty nothing is expected.

    >>> round(chi_square_of(np.array([[2.0, 0.0], [1.0, 1.0]])), 3)
    1.333
    """
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    held = expected > 0
    return float(((counts - expected)[held] ** 2 / expected[held]).sum())
