"""Ticks are round, labels keep clear of one another."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.report.kit.scales import Scale, nice_ticks, nice_top, spread_apart

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
    ticks = nice_ticks(top)
    assert ticks[0] == 0
    assert ticks[-1] == pytest.approx(top)
    assert 2 <= len(ticks) <= 7


def test_a_logarithmic_scale_has_equal_steps_for_equal_factors():
    scale = Scale(2, 32, 0, 100, logarithmic=True)
    assert [scale(each) for each in (2, 8, 32)] == pytest.approx([0, 50, 100])


def test_a_scale_of_one_value_puts_it_in_the_middle():
    assert Scale(5, 5, 0, 100, logarithmic=True)(5) == 50
