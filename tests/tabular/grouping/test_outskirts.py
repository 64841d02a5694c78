import numpy as np
import pytest

from tabular.grouping.outskirts import Outskirts, farthest_outside
from tabular.grouping.points import points_of
from tests.tabular.mixed_tables import random_table


def distances(points, target):
    total = np.zeros(len(points.values))
    for column, at in enumerate(target):
        apart = points.values[:, column] - at
        apart = apart if column < points.ordered else (apart != 0).astype(float)
        total += points.weights[column] * (apart * apart)
    return total


def ball(rows, width):
    """Whole numbers within a ball, the hard case of blocks of neighbours."""
    table = random_table(1, 50, ("continuous",) * width)
    rng = np.random.default_rng(3)
    drawn = rng.normal(size=(rows, width))
    drawn *= (rng.uniform(size=(rows, 1)) ** (1 / width)) / np.linalg.norm(drawn, axis=1, keepdims=True)
    return points_of(table, table.names)._replace(values=np.rint(drawn * 1e6), weights=np.full(width, 1e-12))


def test_by_hand():
    points = ball(4, 1)._replace(values=np.array([[-3.0], [1.0], [4.0], [5.0]]), weights=np.ones(1))
    outer = Outskirts.of(points, np.arange(4), np.zeros(1))
    assert outer.rows.tolist() == [3, 2, 0, 1]
    taken = np.full(4, -1)
    assert farthest_outside(outer, points.weights, 1, np.zeros(1), taken)[0] == 3
    # Seen from 1, -3 and 5 are equally far: the lower row.
    assert farthest_outside(outer, points.weights, 1, np.ones(1), taken)[0] == 0
    taken[0] = 7
    assert farthest_outside(outer, points.weights, 1, np.ones(1), taken)[0] == 3


@pytest.mark.parametrize(
    "kinds", [("continuous", "ordinal"), ("nominal", "ordinal", "nominal"), ("nominal",), ("continuous",) * 3]
)
@pytest.mark.parametrize("rows", [200, 3000])
def test_a_row_that_is_found_is_the_farthest_of_all_left(kinds, rows):
    table = random_table(4, rows, kinds, values=5)
    points, rng = points_of(table, table.names), np.random.default_rng(5)
    place = np.rint(points.values.mean(axis=0))
    taken, found = np.full(rows, -1), 0
    outer = Outskirts.of(points, np.arange(rows), place)
    for _ in range(60):
        target = np.where(np.arange(len(place)) < points.ordered, place + rng.normal(size=len(place)) / 50, place)
        row, _ = farthest_outside(outer, points.weights, points.ordered, target, taken)
        apart = np.where(taken < 0, distances(points, target), -1)
        if row >= 0:
            found += 1
            assert row == np.argmax(apart)
        taken[np.argmax(apart)] = 1
    # Of few points all are kept, and of many that differ enough are.
    assert found == 60 or (rows == 3000 and kinds != ("continuous",) * 3)


def test_it_says_when_the_farthest_may_lie_elsewhere():
    points = ball(10_000, 3)
    outer = Outskirts.of(points, np.arange(10_000), np.zeros(3))
    taken = np.full(10_000, -1)
    taken[outer.rows] = 0
    assert farthest_outside(outer, points.weights, 3, np.zeros(3), taken)[0] == -1


def test_a_place_near_by_needs_a_look_at_few_points_of_a_ball():
    # Of blocks of neighbours nearly all have to be looked into, since all reach about as far.
    points = ball(100_000, 5)
    outer, target = Outskirts.of(points, np.arange(100_000), np.zeros(5)), np.full(5, 30.0)
    row, looks = farthest_outside(outer, points.weights, 5, target, np.full(100_000, -1))
    assert row == np.argmax(distances(points, target))
    assert looks < 300
