"""What transition matrices do to the counts of a table, and what they give away (Mares Soler 2013, section 4.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import text_of
from tabular.classes import equivalence_classes
from tabular.errors import InvalidInput
from tabular.measures.comparison import paired_columns
from tabular.measures.information_loss import difference
from tabular.table import Table

#: A chi-square statistic below this, for each record, is that of independent attributes.
ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixMeasures:
    """What the matrices of some columns give away, and what they did to the counts of each two of the columns.

    *ratios* are expectation ratios by category, *means* those weighted by frequency. *pairs* are two columns, the
    difference of their counts and, if they depend on each other in the original, of their chi-square statistic.
    """

    categories: Mapping[str, Sequence[str]]
    ratios: Mapping[str, NDArray[np.float64]]
    means: Mapping[str, float]
    pairs: Sequence[tuple[str, str, float, float | None]]

    def document(self) -> dict[str, Any]:
        """Everything as plain values; a ratio of None is infinite or does not exist."""
        return {
            "expectation_ratios": {
                name: {
                    "categories": list(self.categories[name]),
                    "ratios": [_plain(ratio) for ratio in self.ratios[name].tolist()],
                    "mean": _plain(self.means[name]),
                }
                for name in self.ratios
            },
            "pairs": [
                {"columns": [one, other], "count_difference": counts, "chi_square_difference": chi_square}
                for one, other, counts, chi_square in self.pairs
            ],
        }


def matrix_measures(original: Table, masked: Table, matrices: Mapping[str, NDArray[np.float64]]) -> MatrixMeasures:
    """Measure what *matrices*, by column, did to *original* when they made *masked* of it."""
    frequencies = {
        name: np.bincount(original.columns[name], minlength=len(original.attribute(name).domain)) for name in matrices
    }
    return MatrixMeasures(
        categories={name: [text_of(value) for value in original.attribute(name).domain] for name in matrices},
        ratios={name: expectation_ratios(matrix, frequencies[name]) for name, matrix in matrices.items()},
        means={name: mean_expectation_ratio(matrix, frequencies[name]) for name, matrix in matrices.items()},
        pairs=[
            (*pair, bivariate_difference(original, masked, *pair), chi_square_difference(original, masked, *pair))
            for pair in combinations(matrices, 2)
        ],
    )


def bivariate_difference(original: Table, masked: Table, one: str, other: str) -> float:
    """Percent of the records that lie in another cell of the table of two attributes (eq 4.5)."""
    return 100 * difference(paired_columns(original, masked, [one, other])) / (2 * len(original))


def chi_square_difference(original: Table, masked: Table, one: str, other: str) -> float | None:
    """Percent by which the chi-square statistic of two attributes changed (eq 4.8); None if it was 0."""
    columns = paired_columns(original, masked, [one, other])
    if any(column.sets for column in columns):
        raise InvalidInput("A chi-square statistic needs values; the masked table holds labels that stand for sets.")
    before = chi_square(columns[0].original, columns[1].original)
    # Independent counts can differ from the expected ones in the last digit.
    if before <= ROUNDING * len(original):
        return None
    return 100 * abs(chi_square(columns[0].masked, columns[1].masked) - before) / before


def chi_square(one: NDArray[np.integer], other: NDArray[np.integer]) -> float:
    """Pearson's statistic of the table of counts of two columns.

    >>> round(chi_square(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0])), 3)
    1.333
    """
    cells = equivalence_classes([one, other])
    _, first = np.unique(cells.labels, return_index=True)
    expected = np.bincount(one)[one[first]] / len(one) * np.bincount(other)[other[first]]
    # An empty cell adds its expectation: together the records less the expectation of the occupied cells.
    occupied = ((cells.sizes - expected) ** 2 / expected).sum()
    return float(occupied + max(len(one) - expected.sum(), 0.0))


def expectation_ratios(matrix: NDArray[np.float64], frequencies: NDArray[np.integer]) -> NDArray[np.float64]:
    """For each category the records expected to keep it, over those expected to come to it from others.

    The smaller, the more probably a record of the category was another (Gouweleeuw and others 1998). Infinite where
    nothing comes from others; not a number where nothing is expected at all.

    >>> matrix = np.array([[0.8, 0.2], [0.5, 0.5]])
    >>> expectation_ratios(matrix, np.array([10, 20])).tolist()
    [0.8, 5.0]
    """
    if matrix.shape != (len(frequencies), len(frequencies)):
        raise InvalidInput(f"The matrix must be {len(frequencies)} x {len(frequencies)}, as there are categories.")
    moved = matrix * np.asarray(frequencies)[:, None]
    kept = np.diag(moved).copy()
    np.fill_diagonal(moved, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios: NDArray[np.float64] = kept / moved.sum(axis=0)
    return ratios


def mean_expectation_ratio(matrix: NDArray[np.float64], frequencies: NDArray[np.integer]) -> float:
    """The expectation ratios' mean, weighted by frequency; categories that do not occur have no weight."""
    occurring = np.asarray(frequencies) > 0
    return float(np.average(expectation_ratios(matrix, frequencies)[occurring], weights=frequencies[occurring]))


def _plain(value: float) -> float | None:
    return value if isfinite(value) else None
