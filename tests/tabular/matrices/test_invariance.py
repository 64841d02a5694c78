from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidParameter, NoSolution
from tabular.matrices.invariance import bounded, check_bounds, invariant
from tabular.matrices.transition import retaining
from tests.strategies import generators


def attribute(size):
    return Attribute(name="degree", domain=tuple(f"v{code}" for code in range(size)))


@st.composite
def columns(draw):
    """A transition matrix and frequencies, with zeros in both, and matrices of any concentration."""
    counts = np.array(draw(st.lists(st.one_of(st.just(0), st.integers(0, 60)), min_size=1, max_size=7)))
    assume(counts.sum() > 0)
    rng = draw(generators)
    matrix = rng.dirichlet(np.full(len(counts), draw(st.sampled_from([0.05, 0.5, 5]))), size=len(counts))
    return matrix, counts


bounds = st.tuples(st.integers(0, 100), st.integers(1, 100)).map(
    lambda ends: tuple(each / 100 for each in sorted(ends))
)


def slow_two_stages(matrix, counts):
    """R = PQ with Q by Bayes, as section 4.1.4 writes it, for categories that all occur."""
    size, v = len(counts), counts / counts.sum()
    q = [
        [matrix[j, k] * v[j] / sum(matrix[other, k] * v[other] for other in range(size)) for j in range(size)]
        for k in range(size)
    ]
    return matrix @ np.array(q)


def test_an_invariant_matrix_worked_by_hand():
    matrix = np.array([[0.8, 0.2], [0.5, 0.5]])
    # v = (2/3, 1/3), so 0.7 and 0.3 are drawn: Q = [[16/21, 5/21], [4/9, 5/9]].
    found = invariant(matrix, np.array([20, 10]), attribute(2))
    assert found == pytest.approx(
        np.array(
            [
                [0.8 * 16 / 21 + 0.2 * 4 / 9, 0.8 * 5 / 21 + 0.2 * 5 / 9],
                [0.5 * 16 / 21 + 0.5 * 4 / 9, 0.5 * 5 / 21 + 0.5 * 5 / 9],
            ]
        )
    )


def test_it_is_the_two_stages_of_the_thesis_where_that_can_be_inverted():
    counts = np.array([98, 173, 251, 195, 170, 80])
    matrix = retaining(counts, 0.6)
    assert invariant(matrix, counts, attribute(6)) == pytest.approx(slow_two_stages(matrix, counts))


@given(columns())
def test_an_invariant_matrix_keeps_every_frequency_and_can_be_inverted(column):
    matrix, counts = column
    found = invariant(matrix, counts, attribute(len(counts)))
    assert counts @ found == pytest.approx(counts, abs=1e-9)
    assert (found >= -1e-15).all()
    assert found.sum(axis=1) == pytest.approx(1)
    assert np.linalg.cond(found) < 1e8


@given(columns(), bounds)
def test_a_bounded_matrix_has_its_diagonal_in_bounds(column, ends):
    matrix, counts = column
    assume(len(counts) > 1)
    found = bounded(matrix, ends, attribute(len(counts)))
    assert (found >= 0).all()
    assert found.sum(axis=1) == pytest.approx(1)
    assert ((np.diag(found) >= ends[0]) & (np.diag(found) <= ends[1])).all()
    within = (np.diag(matrix) >= ends[0]) & (np.diag(matrix) <= ends[1])
    assert (found[within] == matrix[within]).all()


def test_bounds_worked_by_hand():
    matrix = np.array([[0.9, 0.1, 0.0], [0.4, 0.4, 0.2], [0.2, 0.2, 0.6]])
    # 0.9 falls to 0.75 and gives 1 - 0.75/0.9 = 1/6 to the others alike; 0.4 rises to 0.55, the others keep 0.45/0.6.
    assert bounded(matrix, (0.55, 0.75), attribute(3)) == pytest.approx(
        np.array([[0.75, 0.1 * 5 / 6 + 1 / 12, 1 / 12], [0.3, 0.55, 0.15], [0.2, 0.2, 0.6]])
    )


@given(columns(), bounds)
def test_both_at_once_hold_or_bounds_that_work_are_named(column, ends):
    matrix, counts = column
    low, high = ends
    share = counts.max() / counts.sum()
    try:
        found = invariant(matrix, counts, attribute(len(counts)), ends)
    except NoSolution as error:
        out, into = share * (1 - high), (1 - share) * (1 - low)
        possible = out <= into + 1e-12
        assert possible == ("can be inverted" in str(error))
        # Only where there is no choice, what is possible can have no inverse.
        assert not possible or low == high or out > into - 1e-9
        named = re.search(r"A diagonal from ([\d.]+) to ([\d.]+) works", str(error))
        wider = (float(named[1]), float(named[2]))
        assert wider[0] <= low
        assert wider[1] >= high
        found, (low, high) = invariant(matrix, counts, attribute(len(counts)), wider), wider
    assert counts @ found == pytest.approx(counts, abs=1e-9)
    assert (found >= -1e-15).all()
    assert found.sum(axis=1) == pytest.approx(1)
    assert (np.diag(found) >= low - 1e-9).all()
    assert (np.diag(found) <= high + 1e-9).all()
    assert np.linalg.cond(found) < 1e8


def test_a_category_that_is_too_frequent_is_named_with_the_nearest_bounds():
    with pytest.raises(NoSolution) as error:
        invariant(np.full((2, 2), 0.5), np.array([90, 10]), attribute(2), (0.55, 0.75))
    # The other category gives at most 0.1 x 0.45 = 0.045 of the records; 0.9 must keep 0.855 of its 0.9.
    assert str(error.value) == (
        "No invariant matrix for 'degree' with a diagonal from 0.55 to 0.75 exists: 90 % of the records have 'v0', too "
        "many for that. A diagonal from 0.55 to 0.95 works."
    )
    found = invariant(np.full((2, 2), 0.5), np.array([90, 10]), attribute(2), (0.55, 0.95))
    assert found == pytest.approx(np.array([[0.95, 0.05], [0.45, 0.55]]))


def test_a_diagonal_of_one_value_that_leaves_a_singular_matrix_alone_is_told():
    with pytest.raises(NoSolution, match=r"was found that can be inverted\. A diagonal from 0\.5 to 0\.501 works"):
        invariant(np.full((2, 2), 0.5), np.array([5, 5]), attribute(2), (0.5, 0.5))


def test_the_only_category_stays():
    assert invariant(np.eye(1), np.array([3]), attribute(1)).tolist() == [[1]]
    assert bounded(np.eye(1), (0.5, 1), attribute(1)).tolist() == [[1]]
    with pytest.raises(NoSolution, match=r"it has one category only\. A diagonal from 0\.5 to 1 works"):
        bounded(np.eye(1), (0.5, 0.9), attribute(1))


def test_a_category_that_does_not_occur_goes_to_the_others_by_their_frequency():
    found = invariant(np.full((3, 3), 1 / 3), np.array([24, 16, 0]), attribute(3), (0.6, 0.8))
    assert found[2] == pytest.approx([0.4 * 0.6, 0.4 * 0.4, 0.6])
    assert (found[:2, 2] == 0).all()


@pytest.mark.parametrize("ends", [(0.8, 0.2), (-0.1, 0.5), (0.5, 1.1), (0, 0), (float("nan"), 1)])
def test_bounds_are_two_probabilities_in_order(ends):
    with pytest.raises(InvalidParameter, match="diagonal must be two probabilities, the lower one first"):
        check_bounds(ends)
