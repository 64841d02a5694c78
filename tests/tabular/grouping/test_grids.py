from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute, write_label
from tabular.grouping.grids import Grid, on_a_grid, roundest_above, roundest_below, with_round_ends
from tabular.intervals import Spans

some_numbers = st.lists(st.integers(-3000, 3000), min_size=2, max_size=40, unique=True).map(
    lambda wholes: sorted(whole / 4 for whole in wholes)
)


def spans_of(pairs):
    firsts, lasts = np.array([sorted(pair) for pair in pairs]).T
    return Spans(firsts, lasts, np.full(len(pairs), np.nan), np.full(len(pairs), np.nan))


@given(some_numbers, st.integers(1, 4), st.integers(1, 5), st.data())
def test_rounded_spans_cover_theirs_and_end_where_k_records_lie_on_both_sides(numbers, k, most, data):
    size = len(numbers)
    attribute = Attribute(name="x", kind="continuous", domain=tuple(numbers))
    counts = np.array(data.draw(st.lists(st.integers(1, most), min_size=size, max_size=size)))
    places = st.integers(0, size - 1)
    spans = spans_of(data.draw(st.lists(st.tuples(places, places), min_size=1, max_size=5)))
    found = on_a_grid(attribute, spans, np.ones(len(spans), dtype=np.int64), counts, k)
    values, ends = np.repeat(numbers, counts), set()
    for before, after in zip(spans, found, strict=True):
        assert after.first <= before.first
        assert after.last >= before.last
        if before.first == before.last:
            assert (after.first, after.last, after.low, after.high) == (before.first, before.last, None, None)
            continue
        covered = [code for code, number in enumerate(numbers) if after.low <= number <= after.high]
        assert tuple(after) == tuple(covered)
        ends |= {after.low, after.high} - {-inf, inf}
    steps = [factor * 10.0**exponent for exponent in range(4, -4, -1) for factor in (5, 2, 1)]
    full = [
        all(((end - step <= values) & (values < end)).sum() >= k for end in ends)
        and all(((end <= values) & (values < end + step)).sum() >= k for end in ends)
        and all(abs(end / step - round(end / step)) < 1e-9 for end in ends)
        for step in steps
    ]
    assert any(full)


def test_the_grid_is_as_fine_as_the_records_allow():
    ages = Attribute(name="age", kind="ordinal", domain=tuple(range(100)))
    spans = spans_of([(13, 37)])
    for each, k, expected in ((10, 5, "[13,37]"), (3, 5, "[12,38]"), (1, 5, "[10,40]"), (1, 60, "*")):
        found = on_a_grid(ages, spans, np.ones(1, dtype=np.int64), np.full(100, each), k)
        assert write_label(ages, found[0]) == expected


def test_declared_values_and_what_is_no_number_stay():
    spans, ones = spans_of([(0, 1)]), np.ones(1, dtype=np.int64)
    for attribute in (
        Attribute(name="x", kind="ordinal", domain=(1, 2, 3), declared=True),
        Attribute(name="x", kind="ordinal", domain=("a", "b", "c")),
        Attribute(name="x", kind="nominal", domain=(1, 2, 3)),
        Attribute(name="x", kind="ordinal", domain=(1, 2, 10**400)),
    ):
        assert on_a_grid(attribute, spans, ones, np.ones(3, dtype=np.int64), 2) is spans
        assert with_round_ends(attribute, [(0, 1)]) == ((0, 1),)


def test_decimals_are_the_nearest_numbers_to_theirs():
    grid = Grid(1, -1)
    assert grid.at(np.array([3, 7])).tolist() == [0.3, 0.7]
    assert grid.below(np.array([0.3, 0.7, 0.69, -0.05])).tolist() == [3, 7, 6, -1]


@pytest.mark.parametrize(
    ("before", "number", "round_number"),
    [(79, 81, 80), (28, 29, 29), (-31, -28, -30), (0.1, 0.13, 0.12), (-5, 2, 0), (99, 1001, 1000), (-1e300, 3, 0)],
)
def test_the_roundest_number_between_two(before, number, round_number):
    assert roundest_above(before, number) == round_number
    assert roundest_below(-number, -before) == -round_number


@pytest.mark.parametrize("scale", [1e308, 1e-300, 1e15])
def test_very_great_and_very_small_numbers_are_covered(scale):
    numbers = np.linspace(-1, 1, 50) * scale
    attribute = Attribute(name="x", kind="continuous", domain=tuple(numbers.tolist()))
    found = on_a_grid(attribute, spans_of([(3, 20), (20, 49)]), np.ones(2, dtype=np.int64), np.full(50, 3), 3)
    for span, (first, last) in zip(found, [(3, 20), (20, 49)], strict=True):
        assert span.first <= first
        assert span.last >= last
    for part in with_round_ends(attribute, [(0, 1, 2), tuple(range(3, 50))]):
        assert part.low <= numbers[part.first]
        assert part.high >= numbers[part.last]


def test_a_hierarchy_of_fixed_width_keeps_its_grid():
    ages = Attribute(name="age", kind="ordinal", domain=(18, 21, 23, 31, 58))
    parts = with_round_ends(ages, [(0,), (1, 2), (3,), (4,)], ["[15,19]", "[20,24]", "[30, 35)", "[55,59]"])
    assert [write_label(ages, part) for part in parts] == ["[15,19]", "[20,24]", "[30,35]", "[55,59]"]


def test_declared_bounds_are_the_outer_ends():
    ages = Attribute(name="age", kind="ordinal", domain=tuple(range(20, 60)), bounds=(0, 120))
    found = on_a_grid(ages, spans_of([(0, 15), (12, 39)]), np.ones(2, dtype=np.int64), np.full(40, 2), 4)
    assert [write_label(ages, each) for each in found] == ["[0,36]", "[32,120]"]
    assert [write_label(ages, each) for each in with_round_ends(ages, [tuple(range(9)), tuple(range(9, 40))])] == [
        "[0,28]",
        "[29,120]",
    ]
    narrow = Attribute(name="age", kind="ordinal", domain=tuple(range(20, 60)), bounds=(0, 50))
    assert write_label(narrow, with_round_ends(narrow, [(0, 1)])[0]) == "<=21"
