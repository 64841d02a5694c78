"""Ticks are round, labels keep clear of one another."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.report.kit.drawing import Axis, nice_top, spread_apart

positions = st.lists(st.floats(0, 200), min_size=1, max_size=8)


@given(positions)
def test_labels_keep_their_distance_their_order_and_the_bounds(wanted):
    placed = spread_apart(wanted, 12, 0, 200)
    assert all(-1e-6 <= each <= 200 + 1e-6 for each in placed)
    order = sorted(range(len(wanted)), key=lambda each: (wanted[each], each))
    assert all(placed[after] - placed[before] >= 12 - 1e-6 for before, after in itertools.pairwise(order))


def test_labels_with_room_stay_where_they_want_to_be():
    assert spread_apart([10, 50, 30], 12, 0, 200) == [10, 50, 30]


def test_too_many_labels_share_the_room_there_is():
    assert spread_apart([5, 5, 5], 12, 0, 10) == pytest.approx([0, 5, 10])


@given(st.floats(1e-6, 1e6))
def test_an_axis_ends_at_a_round_number_not_far_above(value):
    top = nice_top([value])
    assert value <= top * (1 + 1e-9)
    assert top <= 2 * value * (1 + 1e-9)
    axis = Axis.from_zero([value], 0, 100)
    assert axis.high == top
    ticks = [tick for tick, _ in axis.ticks]
    assert ticks[0] == 0
    assert ticks[-1] == pytest.approx(top)
    assert 2 <= len(ticks) <= 7


def test_a_logarithmic_scale_has_equal_steps_for_equal_factors():
    scale = Axis(2, 32, 0, 100, is_logarithmic=True)
    assert [scale(each) for each in (2, 8, 32)] == pytest.approx([0, 50, 100])


def test_a_scale_of_one_value_puts_it_in_the_middle():
    assert Axis(5, 5, 0, 100, is_logarithmic=True)(5) == 50


def test_numbers_far_apart_lie_on_a_logarithmic_axis():
    axis = Axis.fitting([3, 40_000], 0, 100)
    assert axis.is_logarithmic
    assert [words for _, words in axis.ticks] == ["1", "10", "100", "1,000", "10,000", "10⁵"]
    assert not Axis.fitting([3, 40], 0, 100).is_logarithmic
    # Where a 0 is among them there is no logarithm.
    assert not Axis.fitting([0, 40_000], 0, 100).is_logarithmic


@pytest.mark.parametrize("values", [[], [0.0], [7.0], [0.0, 0.0]])
def test_an_axis_has_room_for_few_numbers_and_for_none(values):
    axis = Axis.fitting(values, 0, 100)
    assert len(axis.ticks) >= 2
    for value in values:
        assert 0 <= axis(value) <= 100


def test_an_axis_around_values_begins_and_ends_at_round_numbers():
    axis = Axis.around([111.2, 180.5], 0, 100)
    assert (axis.low, axis.high) == (100, 200)
    assert [words for _, words in axis.ticks] == ["100", "120", "140", "160", "180", "200"]


def test_the_names_of_steps_keep_clear_of_one_another():
    axis = Axis.by_factor([2, 3, 99, 100], 0, 100)
    assert axis.is_logarithmic
    assert [words for _, words in axis.ticks] == ["2", "99"]


def test_each_category_has_the_middle_of_its_room():
    axis = Axis.by_category(["a", "b"], 0, 100, width=9)
    assert [axis(place) for place, _ in axis.ticks] == [25, 75]
