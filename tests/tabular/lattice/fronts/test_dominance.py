"""Dominance against the definition, pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.lattice.fronts import dominance
from tabular.lattice.fronts.dominance import non_dominated


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
