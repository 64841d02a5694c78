"""The updater of property-based generalisation, held to its two theorems."""

from __future__ import annotations

from itertools import combinations
from math import floor, prod

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tabular.lattice.fronts.archive import Archive
from tabular.lattice.fronts.dominance import non_dominated

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
