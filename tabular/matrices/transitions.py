"""What a transition matrix does to the counts of a table, and what it gives away (Mares Soler 2013, section 4.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidInput
from tabular.measures.comparison import Column, compared
from tabular.measures.ctbil import difference
from tabular.table import Table

#: A chi-square statistic below this, for each record, is that of independent attributes.
ROUNDING = 1e-12


def bivariate_difference(original: Table, masked: Table, one: str, other: str) -> float:
    """Percent of the records that lie in another cell of the table of two attributes (eq 4.5)."""
    columns = compared(original, masked, [one, other])
    return 100 * difference(columns) / (2 * len(original))


def chi_square_difference(original: Table, masked: Table, one: str, other: str) -> float:
    """Percent by which the chi-square statistic of two attributes changed (eq 4.8)."""
    columns = compared(original, masked, [one, other])
    if any(column.sets for column in columns):
        raise InvalidInput("A chi-square statistic needs values; the masked table holds labels that stand for sets.")
    before = chi_square(_counts(columns, [column.original for column in columns]))
    after = chi_square(_counts(columns, [column.masked for column in columns]))
    # Independent counts can differ from the expected ones in the last digit.
    if before <= ROUNDING * len(original):
        raise InvalidInput(f"{one!r} and {other!r} are independent in the original: there is no chi-square to compare.")
    return 100 * abs(after - before) / before


def chi_square(counts: NDArray[np.int64]) -> float:
    """Pearson's statistic of a table of counts; empty rows and columns add nothing."""
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    return float(((counts - expected) ** 2 / expected).sum())


def expectation_ratios(matrix: NDArray[np.float64], frequencies: NDArray[np.integer]) -> NDArray[np.float64]:
    """For each category the records expected to keep it, over those expected to come to it from others.

    The smaller, the more probably a record of the category was another (Gouweleeuw and others 1998). Infinite where
    nothing comes from others; not a number where nothing is expected at all.

    >>> matrix = np.array([[0.8, 0.2], [0.5, 0.5]])
    >>> expectation_ratios(matrix, np.array([10, 20])).tolist()
    [0.8, 5.0]
    """
    kept, others = _kept_and_others(matrix, frequencies)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios: NDArray[np.float64] = kept / others
    return ratios


def mean_expectation_ratio(matrix: NDArray[np.float64], frequencies: NDArray[np.integer]) -> float:
    """The expectation ratios' mean, weighted by frequency; categories that do not occur have no weight."""
    occurring = np.asarray(frequencies) > 0
    return float(np.average(expectation_ratios(matrix, frequencies)[occurring], weights=frequencies[occurring]))


def _kept_and_others(
    matrix: NDArray[np.float64], frequencies: NDArray[np.integer]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if matrix.shape != (len(frequencies), len(frequencies)):
        raise InvalidInput(f"The matrix must be {len(frequencies)} x {len(frequencies)}, as there are categories.")
    moved = matrix * np.asarray(frequencies)[:, None]
    return np.diag(moved).copy(), (moved - np.diag(np.diag(moved))).sum(axis=0)


def _counts(columns: tuple[Column, ...], codes: list[NDArray[np.int32]]) -> NDArray[np.int64]:
    sizes = [column.size for column in columns]
    cells = np.bincount(np.ravel_multi_index(codes, sizes), minlength=int(np.prod(sizes)))
    return cells.reshape(sizes)
