"""Dominance against the definition, boxes and their archive against its two theorems, and how near a front comes."""

from __future__ import annotations

from itertools import combinations
from math import floor, prod

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tabular.errors import InvalidParameter
from tabular.lattice import front as dominance
from tabular.lattice.front import (
    Archive,
    boxes,
    checked_epsilon,
    convergence_error,
    non_dominated,
    representation_ratio,
)


def dominates(one, other):
    return all(a <= b for a, b in zip(one, other, strict=True)) and any(a < b for a, b in zip(one, other, strict=True))


@st.composite
def points(draw, max_points=40, max_objectives=5):
    width = draw(st.integers(1, max_objectives))
    rows = draw(st.lists(st.lists(st.integers(-3, 3), min_size=width, max_size=width), max_size=max_points))
    return np.array(rows, dtype=np.float64).reshape(-1, width)


@settings(max_examples=300)
@given(points())
def test_the_front_is_what_no_other_row_dominates(costs):
    expected = [not any(dominates(other, row) for other in costs) for row in costs]
    assert non_dominated(costs).tolist() == expected


@pytest.mark.parametrize("objectives", [2, 3, 4, 5])
def test_the_front_of_many_points_dominates_all_others_and_none_of_itself(objectives):
    costs = np.random.default_rng(3).random((20_000, objectives))
    costs[10_000:] = costs[:10_000].round(2)
    stays = non_dominated(costs)
    front = costs[stays]
    for row in costs[~stays][::97]:
        assert ((front <= row).all(axis=1) & (front < row).any(axis=1)).any()
    for row in front:
        assert not ((front <= row).all(axis=1) & (front < row).any(axis=1)).any()


def test_infinite_costs_are_the_worst_there_are():
    costs = np.array([[0.0, np.inf], [0.0, 1.0], [np.inf, 0.0], [np.inf, np.inf]])
    assert non_dominated(costs).tolist() == [False, True, True, False]
    assert non_dominated(costs[[0]]).tolist() == [True]
    assert non_dominated(np.full((3, 3), np.inf)).all()


@given(points(), points())
def test_pairs_are_compared_as_the_definition_has_it(costs, others):
    width = min(costs.shape[1], others.shape[1])
    expected = [[dominates(row, other) for other in others[:, :width]] for row in costs[:, :width]]
    assert dominance.dominates(costs[:, :width], others[:, :width]).tolist() == expected


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
    total, mean = convergence_error(exact, found)
    # 3 of 10 away from the second member; 80 of 200 away from the second one.
    assert total == pytest.approx(0.3 + 0.4)
    assert mean == pytest.approx(0.7 / 3)
    zero = convergence_error(np.array([[1.0, 0.0]]), np.array([[1.0, -3.0]]))
    assert zero[0] == 3


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


#: Values with both signs, whole and broken, many of them equal.
numbers = st.integers(-5, 5).map(lambda number: number / 2) | st.floats(-4, 4)


@st.composite
def offers(draw, max_offers=30):
    """Sides of boxes, and values to offer one after the other."""
    objectives = draw(st.integers(1, 4))
    epsilon = draw(st.lists(st.sampled_from([0.25, 1.0, 1.5, 3.0]), min_size=objectives, max_size=objectives))
    rows = st.lists(numbers, min_size=objectives, max_size=objectives)
    values = draw(st.lists(rows, min_size=draw(st.integers(1, 12)), max_size=max_offers))
    return np.array(epsilon), np.array(values)


@given(offers())
def test_theorem_1_the_archive_holds_only_what_nothing_generated_dominates(offered):
    epsilon, values = offered
    archive = Archive(epsilon)
    for number, value in enumerate(values):
        archive.offer(value, number)
        minimal = np.flatnonzero(non_dominated(-values[: number + 1]))
        assert set(archive.items) <= set(minimal.tolist())
        assert (values[archive.items] == archive.values).all()


@given(offers())
def test_theorem_2_the_archive_is_no_larger_than_the_boxes_of_all_objectives_but_one(offered):
    epsilon, values = offered
    archive = Archive(epsilon)
    for number, value in enumerate(values):
        archive.offer(value, number)
        least, greatest = values[: number + 1].min(axis=0), values[: number + 1].max(axis=0)
        ways = [
            floor(high / side) - floor(low / side) + 1 for low, high, side in zip(least, greatest, epsilon, strict=True)
        ]
        for chosen in combinations(ways, len(ways) - 1):
            assert len(archive) <= prod(chosen)


@given(offers())
@example((np.array([3.0, 3.0]), np.array([[1.0, 2.0], [2.0, 1.0]])))
def test_the_archive_is_algorithm_1_taken_literally(offered):
    epsilon, values = offered
    archive, plain = Archive(epsilon), []
    for number, value in enumerate(values):
        bars = archive.bars(value[np.newaxis])[0]
        entered = archive.offer(value, number)
        plain = updated(plain, number, values, epsilon)
        assert archive.items == plain
        assert entered == (number in plain)
        assert entered == (not bars)


def updated(archive, candidate, values, epsilon):
    def dominates(one, other):
        return all(one >= other) and any(one > other)

    def box(place):
        return np.floor(values[place] / epsilon)

    def box_dominates(one, other):
        if all(box(one) == box(other)):
            return dominates(values[one], values[other])
        return dominates(box(one), box(other))

    archive = [each for each in archive if not box_dominates(candidate, each)]
    dominated = [each for each in archive if box_dominates(each, candidate)]
    in_box = [each for each in archive if all(box(each) == box(candidate))]
    return archive if dominated or in_box else [*archive, candidate]


@given(offers())
def test_every_non_dominated_box_is_occupied(offered):
    epsilon, values = offered
    archive = Archive(epsilon)
    for number, value in enumerate(values):
        archive.offer(value, number)
    boxes = np.floor(values / epsilon)
    marked = {tuple(row) for row in boxes[non_dominated(-boxes)].tolist()}
    assert {tuple(row) for row in archive.boxes.tolist()} == marked


def test_the_count_of_the_paper_is_short_by_the_box_on_the_edge():
    # Values above 0 and up to 1 in boxes of side 1: the paper's bound is 1, and two boxes can be occupied.
    archive = Archive(np.ones(2))
    assert archive.offer(np.array([0.5, 1.0]), 0)
    assert archive.offer(np.array([1.0, 0.5]), 1)
    assert len(archive) == 2
