from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidParameter, NoSolution
from tabular.matrices.invariance import bounded, invariant
from tabular.matrices.window import WindowedInvariance, flows_within, window_of, windowed
from tests.strategies import generators


def attribute(size):
    return Attribute(name="degree", kind="ordinal", domain=tuple(f"v{code}" for code in range(size)))


@st.composite
def columns(draw):
    """A transition matrix, frequencies with zeros in them, and the reach of a window."""
    counts = np.array(draw(st.lists(st.one_of(st.just(0), st.integers(0, 60)), min_size=1, max_size=7)))
    assume(counts.sum() > 0)
    matrix = draw(generators).dirichlet(np.full(len(counts), 0.5), size=len(counts))
    return matrix, counts, draw(st.integers(1, 4))


bounds = st.tuples(st.integers(0, 100), st.integers(1, 100)).map(
    lambda ends: tuple(each / 100 for each in sorted(ends))
)


def check(found, counts, reach, low=0.0, high=1.0):
    outside = ~window_of(len(counts), reach)
    assert (found[outside] == 0).all()
    assert counts @ found / counts.sum() == pytest.approx(counts / counts.sum(), abs=1e-9)
    assert (found >= -1e-15).all()
    assert found.sum(axis=1) == pytest.approx(1)
    assert (np.diag(found) >= low - 1e-9).all()
    assert (np.diag(found) <= high + 1e-9).all()
    assert np.linalg.cond(found) < 1e8


def test_a_window_of_no_places_is_refused():
    with pytest.raises(InvalidParameter, match="window must be 1 or more places, or no value can change, not 0"):
        window_of(3, 0)


def test_what_leaves_the_window_goes_back_by_the_rest_of_the_row():
    matrix = np.array([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [1.0, 0.0, 0.0]])
    assert windowed(matrix, window_of(3, 1)) == pytest.approx(
        np.array([[0.625, 0.375, 0.0], [0.2, 0.6, 0.2], [0.0, 0.0, 1.0]])
    )


def test_a_diagonal_that_falls_gives_to_neighbours_alone():
    found = bounded(np.eye(4), (0.5, 0.7), attribute(4), window_of(4, 1))
    assert found[0] == pytest.approx([0.7, 0.3, 0, 0])
    assert found[1] == pytest.approx([0.15, 0.7, 0.15, 0])


def test_flows_worked_by_hand():
    # v0 and v2 can exchange with v1 alone; as far within 0.5 to 0.9 as can be is 0.7 each: 0.09 and 0.06 of 0.15.
    found = flows_within(np.array([0.3, 0.5, 0.2]), window_of(3, 1), 0.5, 0.9)
    assert found == pytest.approx(np.array([[0.21, 0.09, 0.0], [0.09, 0.35, 0.06], [0.0, 0.06, 0.14]]))
    assert flows_within(np.array([0.45, 0.1, 0.45]), window_of(3, 1), 0.5, 0.9) is None


@settings(deadline=None, max_examples=60)
@given(columns())
def test_an_invariant_matrix_in_a_window(column):
    matrix, counts, reach = column
    found = WindowedInvariance.of(attribute(len(counts)), counts, reach).matrix(matrix)
    check(found, counts, reach)


@settings(deadline=None, max_examples=60)
@given(columns(), bounds)
def test_with_bounds_too_or_bounds_that_work_are_named(column, ends):
    matrix, counts, reach = column
    assume(ends[1] - ends[0] > 0.01)
    low, high = ends
    try:
        made = WindowedInvariance.of(attribute(len(counts)), counts, reach, ends)
    except NoSolution as error:
        high = float(re.search(r"A diagonal from ([\d.]+) to ([\d.]+) works", str(error))[2])
        assert high > ends[1]
        made = WindowedInvariance.of(attribute(len(counts)), counts, reach, (low, high))
    found = made.matrix(matrix)
    if found is not None:
        check(found, counts, reach, low, high)
    else:
        # Only where neighbours leave next to no choice, what is possible can have no inverse.
        assert low < 0.5


def test_a_wide_window_is_none():
    counts, matrix = np.array([30, 50, 20]), np.full((3, 3), 0.2) + 0.4 * np.eye(3)
    found = WindowedInvariance.of(attribute(3), counts, 5).matrix(matrix)
    assert found == pytest.approx(invariant(matrix, counts, attribute(3)))
