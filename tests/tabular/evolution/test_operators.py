"""What evolution draws, against what the thesis says of it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.evolution.operators import (
    another_value,
    leaders,
    mutable_columns,
    selected,
    selection_weights,
    two_points,
)
from tests.strategies import seeds

scores = st.lists(st.floats(0, 100), min_size=1, max_size=12).map(np.array)


@given(scores)
def test_weights_turn_the_order_of_the_scores_around_and_none_is_negative(found):
    weights = selection_weights(found)
    assert (weights >= 0).all() and weights.sum() > 0
    for one in range(len(found)):
        for other in range(len(found)):
            assert not (found[one] < found[other] and weights[one] < weights[other])


def test_where_all_scores_are_zero_all_are_as_likely():
    assert selection_weights(np.zeros(3)).tolist() == [1.0, 1.0, 1.0]


def test_the_shares_that_are_drawn_are_those_of_the_weights():
    rng = np.random.default_rng(1)
    weights = np.array([0.0, 3.0, 1.0])
    found = Counter(selected(weights, rng) for _ in range(4000))
    assert set(found) == {1, 2}
    assert found[1] / 4000 == pytest.approx(0.75, abs=0.03)


@given(scores, st.integers(1, 5))
def test_leaders_are_the_best_as_a_slow_sort_has_them(found, size):
    slow = [place for _, place in sorted(zip(found.tolist(), range(len(found)), strict=True))]
    assert leaders(found, size).tolist() == slow[:size]


def test_leaders_can_be_taken_from_some_alone():
    assert leaders(np.array([1.0, 2.0, 3.0, 0.0]), 2, [1, 2]).tolist() == [1, 2]


@given(st.integers(1, 50), seeds)
def test_the_second_point_lies_at_the_first_or_after_it(genes, seed):
    first, last = two_points(genes, np.random.default_rng(seed))
    assert 0 <= first <= last < genes


def test_the_first_point_lies_anywhere_and_the_second_anywhere_after_it():
    rng = np.random.default_rng(2)
    found = [two_points(3, rng) for _ in range(6000)]
    firsts = Counter(first for first, _ in found)
    assert all(firsts[gene] / 6000 == pytest.approx(1 / 3, abs=0.03) for gene in range(3))
    lasts = Counter(last for first, last in found if first == 1)
    assert lasts[1] / firsts[1] == pytest.approx(0.5, abs=0.04)


@given(st.integers(2, 9), seeds, st.data())
def test_a_mutation_is_another_value_of_the_domain(size, seed, data):
    value = data.draw(st.integers(0, size - 1))
    drawn = another_value(value, size, np.random.default_rng(seed))
    assert 0 <= drawn < size and drawn != value


def test_all_other_values_are_as_likely():
    rng = np.random.default_rng(3)
    found = Counter(another_value(1, 4, rng) for _ in range(6000))
    assert set(found) == {0, 2, 3}
    assert all(count / 6000 == pytest.approx(1 / 3, abs=0.03) for count in found.values())


def test_a_column_with_one_value_cannot_change():
    assert mutable_columns([3, 1, 2]).tolist() == [0, 2]
