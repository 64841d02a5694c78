"""What transition matrices do to the counts of a table, and what they give away (Mares Soler 2013, section 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import text_of
from tabular.errors import InvalidInput
from tabular.measures.contract import paired_columns
from tabular.measures.information_loss import difference
from tabular.table import Table, equivalence_classes

#: A chi-square statistic below this, for each record, is that of independent attributes.
ROUNDING = 1e-12


def matrix_measures(original: Table, masked: Table, matrices: Mapping[str, NDArray[np.float64]]) -> dict[str, Any]:
    """What *matrices*, by column, give away, and what they did to *original* when they made *masked* of it.

    For each column its expectation ratios and their mean weighted by frequency, None where one is infinite or does not
    exist; for each two the difference of their counts and, if they depend on each other in the original, of their
    chi-square statistic.
    """
    ratios = {}
    for name, matrix in matrices.items():
        domain = original.attribute(name).domain
        frequencies = np.bincount(original.columns[name], minlength=len(domain))
        ratios[name] = {
            "categories": [text_of(value) for value in domain],
            "ratios": [_plain(ratio) for ratio in expectation_ratios(matrix, frequencies).tolist()],
            "mean": _plain(mean_expectation_ratio(matrix, frequencies)),
        }
    pairs = [
        {
            "columns": list(pair),
            "count_difference": bivariate_difference(original, masked, *pair),
            "chi_square_difference": chi_square_difference(original, masked, *pair),
        }
        for pair in combinations(matrices, 2)
    ]
    return {"expectation_ratios": ratios, "pairs": pairs}


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
