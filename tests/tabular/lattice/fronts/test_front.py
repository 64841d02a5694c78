"""Boxes of a front, and how near another one comes to it."""

from __future__ import annotations

import numpy as np
import pytest

from tabular.errors import InvalidParameter
from tabular.lattice.fronts.front import boxes, checked_epsilon, convergence_error, representation_ratio


def test_boxes_are_rounded_down_on_the_signed_value():
    # A loss of 250 enters as -250 and lies in the box from -300 to -200.
    assert boxes(np.array([[4.9, -250.0], [5.0, -200.0], [0.0, 0.0]]), np.array([5.0, 100.0])).tolist() == [
        [0.0, -3.0],
        [1.0, -2.0],
        [0.0, 0.0],
    ]


def test_representation_counts_the_non_dominated_boxes_of_the_front():
    exact = np.array([[1.0, -10.0], [2.0, -20.0], [7.0, -25.0], [9.0, -90.0]])
    # By sides 5 and 30 the boxes are (0, -1), (0, -1), (1, -1), (1, -3): one of them dominates all others.
    assert representation_ratio(exact, exact[[2]], np.array([5.0, 30.0])) == 1
    assert representation_ratio(exact, exact[[0, 1, 3]], np.array([5.0, 30.0])) == 0
    assert representation_ratio(exact, exact[[0, 3]], np.ones(2)) == 0.5
    # What is no member of the front can stand in its box; a loss of 0 may come as minus 0.
    assert representation_ratio(np.array([[1.0, 0.0]]), np.array([[1.5, -0.0]]), np.ones(2)) == 1


def test_convergence_is_the_distance_to_the_nearest_by_the_largest_of_the_front():
    exact = np.array([[10.0, -200.0], [4.0, -100.0]])
    found = np.array([[10.0, -200.0], [7.0, -100.0], [4.0, -180.0]])
    error = convergence_error(exact, found)
    # 3 of 10 away from the second member; 80 of 200 away from the second one.
    assert error.total == pytest.approx(0.3 + 0.4)
    assert error.mean == pytest.approx(0.7 / 3)
    zero = convergence_error(np.array([[1.0, 0.0]]), np.array([[1.0, -3.0]]))
    assert zero.total == 3


@pytest.mark.parametrize(
    ("given_epsilon", "said"),
    [
        ((5.0,), "one number for each of k,glm, not \\(5.0,\\)"),
        ("5,100,3", "one number for each of k,glm, not '5,100,3'"),
        ((5, -1), "epsilon of glm must be above 0 and finite, not -1"),
        ("0,1", "epsilon of k must be above 0"),
        ("1,inf", "epsilon of glm must be above 0 and finite, not inf"),
        ("nan,1", "epsilon of k"),
        ("five,1", "must be numbers, as in '5,100'"),
        (7, "must be numbers"),
    ],
)
def test_an_epsilon_of_the_wrong_length_or_sign_is_refused(given_epsilon, said):
    with pytest.raises(InvalidParameter, match=said):
        checked_epsilon(given_epsilon, ("k", "glm"))
