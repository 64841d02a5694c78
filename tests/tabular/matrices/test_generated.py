from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.matrices.transition import by_frequency, retaining

#: T Table 4.2: the attribute DEGREE of the U.S. Housing Survey.
DEGREE = np.array([98, 173, 251, 195, 170, 80, 33, 0])

TABLE_4_1 = [
    [0.500, 0.067, 0.060, 0.065, 0.067, 0.076, 0.080, 0.083],
    [0.073, 0.500, 0.058, 0.064, 0.066, 0.075, 0.080, 0.083],
    [0.072, 0.064, 0.500, 0.062, 0.064, 0.074, 0.080, 0.083],
    [0.073, 0.065, 0.057, 0.500, 0.066, 0.075, 0.080, 0.083],
    [0.073, 0.066, 0.058, 0.064, 0.500, 0.075, 0.080, 0.083],
    [0.074, 0.068, 0.061, 0.066, 0.068, 0.500, 0.080, 0.083],
    [0.075, 0.068, 0.062, 0.067, 0.069, 0.076, 0.500, 0.083],
    [0.075, 0.069, 0.062, 0.067, 0.069, 0.077, 0.081, 0.500],
]

frequencies = st.lists(st.one_of(st.just(0), st.integers(0, 40)), min_size=1, max_size=7).map(np.array)
shares = st.fractions(0, 1, max_denominator=20)


def slow_retaining(counts, p):
    """Eq 2.3 in fractions, cell by cell."""
    size, total = len(counts), sum(counts)
    if sum(count > 0 for count in counts) < 2:
        return [[Fraction(row == column) for column in range(size)] for row in range(size)]
    if size == 2:
        return [[p, 1 - p], [1 - p, p]]
    return [
        [
            p
            if row == column
            else (1 - p) * (total - counts[row] - counts[column]) / ((size - 2) * (total - counts[row]))
            for column in range(size)
        ]
        for row in range(size)
    ]


def slow_by_frequency(counts, theta):
    """Eq 2.4 and 2.5 in fractions, cell by cell."""
    size = len(counts)
    present = [count for count in counts if count > 0]
    matrix = []
    for row, count in enumerate(counts):
        kept = 1 - min(max(theta * Fraction(min(present), count), 0), 1) if count and len(present) > 1 else Fraction(1)
        matrix.append([kept if row == column else (1 - kept) / (size - 1) for column in range(size)])
    return matrix


def test_table_4_1_retain_half():
    assert np.abs(retaining(DEGREE, 0.5) - np.array(TABLE_4_1)).max() <= 0.001


@given(frequencies, shares)
def test_retaining_is_equation_2_3(counts, p):
    expected = slow_retaining([int(count) for count in counts], p)
    assert retaining(counts, float(p)) == pytest.approx(np.array(expected, dtype=float), abs=1e-12)


@given(frequencies, shares)
def test_by_frequency_is_equations_2_4_and_2_5(counts, theta):
    expected = slow_by_frequency([int(count) for count in counts], theta)
    assert by_frequency(counts, float(theta)) == pytest.approx(np.array(expected, dtype=float), abs=1e-12)


@given(frequencies, shares)
def test_rows_are_probabilities(counts, parameter):
    for matrix in (retaining(counts, float(parameter)), by_frequency(counts, float(parameter))):
        assert (matrix >= 0).all()
        assert matrix.sum(axis=1) == pytest.approx(1)


def test_of_two_categories_the_other_takes_the_rest():
    assert retaining(np.array([9, 1]), 0.75).tolist() == [[0.75, 0.25], [0.25, 0.75]]


def test_one_occurring_category_stays():
    for counts in ([5], [5, 0], [0, 0, 7]):
        assert (retaining(np.array(counts), 0.5) == np.eye(len(counts))).all()
        assert (by_frequency(np.array(counts), 0.5) == np.eye(len(counts))).all()


def test_what_does_not_occur_is_the_last_row_of_table_4_1_or_the_identity():
    assert retaining(DEGREE, 0.5)[-1] == pytest.approx(TABLE_4_1[-1], abs=0.001)
    assert by_frequency(DEGREE, 0.5)[-1].tolist() == [0, 0, 0, 0, 0, 0, 0, 1]
