"""Sets of neighbouring codes: they are what the tuples of their codes are, and their published ends are round."""

from __future__ import annotations

import itertools
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute, LabelReader, canonical, paired_distances, words_of, write_label
from tabular.errors import InvalidInput
from tabular.intervals import (
    Grid,
    Span,
    Spans,
    on_a_grid,
    place_of,
    roundest_above,
    roundest_below,
    runs_of,
    with_round_ends,
)
from tabular.measures.interval_disclosure import mid_ranks

some_sets = st.lists(
    st.sets(st.integers(0, 7), min_size=1).map(lambda each: tuple(sorted(each))), min_size=1, max_size=6
)
some_spans = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7)).map(lambda pair: Span(min(pair), max(pair))), min_size=1, max_size=6
)
AGE = Attribute(name="age", kind="ordinal", domain=(17, 21, 24, 30, 90, None))


@given(some_sets)
def test_sets_sort_by_their_places_as_their_tuples_do(sets):
    assert sorted(sets, key=place_of) == sorted(sets)


@given(some_sets)
def test_a_set_is_its_runs(sets):
    owners, runs = runs_of(sets)
    for owner, members in enumerate(sets):
        parts = [runs[int(place)] for place in np.flatnonzero(owners == owner)]
        assert tuple(itertools.chain(*parts)) == members


ends = st.sampled_from([None, -np.inf, np.inf, -3.5, 17.0, 20.0, 1e300])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), ends, ends), max_size=8))
def test_the_labels_of_many_ranges_are_those_of_each(drawn):
    spans = [Span(min(pair), max(pair), low, high) for *pair, low, high in drawn]
    assert list(words_of(AGE, Spans.of(spans))) == [*AGE.domain, *(write_label(AGE, each) for each in spans)]


@given(some_spans, st.lists(st.integers(0, 13), min_size=1, max_size=9))
def test_spans_become_canonical_as_tuples_do(spans, labels):
    codes = np.array(labels) % (8 + len(spans))
    expected, tuples = canonical(codes, [tuple(each) for each in spans], 8)
    for sets in (spans, Spans.of(spans)):
        found, kept = canonical(codes, sets, 8)
        assert found.tolist() == expected.tolist()
        assert tuple(kept) == tuples


@given(some_spans, st.lists(st.tuples(st.integers(0, 7), st.integers(0, 13)), min_size=1), st.booleans())
def test_spans_are_as_far_as_the_tuples_of_their_codes(spans, rows, ordered):
    values, labels = np.array(rows).T
    labels = labels % (8 + len(spans))
    tuples = [tuple(each) for each in spans]
    found = paired_distances(values, labels, Spans.of(spans), 8, ordered=ordered)
    assert found.tolist() == paired_distances(values, labels, tuples, 8, ordered=ordered).tolist()


@given(some_spans, st.lists(st.integers(0, 3), min_size=8, max_size=8).map(np.array))
def test_spans_have_the_ranks_of_the_tuples_of_their_codes(spans, frequencies):
    tuples = [tuple(each) for each in spans]
    assert mid_ranks(frequencies, Spans.of(spans)).tolist() == mid_ranks(frequencies, tuples).tolist()


def test_a_long_range_needs_no_room_for_its_codes():
    everything = Span(0, 10**12)
    assert len(everything) == 10**12 + 1
    assert everything[-1] == 10**12
    assert 10**11 in everything
    assert everything == Span(0, 10**12)


@pytest.mark.parametrize(
    ("text", "codes", "written"),
    [
        ("[20,25]", (1, 2), "[20,25]"),
        ("[21,24]", (1, 2), "[21,24]"),
        ("<=25", (0, 1, 2), "<=25"),
        ("<=24", (0, 1, 2), "<=24"),
        (">=20.5", (1, 2, 3, 4), ">=20.5"),
        (">=24", (2, 3, 4), ">=24"),
        ("[17,90]", (0, 1, 2, 3, 4), "[17,90]"),
        ("[22,]", (2, 3, 4, 5), "[22,]"),
        ("*", (0, 1, 2, 3, 4, 5), "*"),
    ],
)
def test_ends_need_not_be_values_and_open_labels_leave_missing_values_out(text, codes, written):
    members = LabelReader(AGE).members(text)
    assert members == codes
    assert write_label(AGE, members) == written


def test_numbers_as_texts_are_read_by_size():
    reader = LabelReader(Attribute(name="age", kind="ordinal", domain=("17", "21", "24", "")))
    assert reader.members("<=22") == (0, 1)
    assert reader.members("[20,25]") == (1, 2)


def test_a_value_that_looks_like_an_open_label_is_a_value():
    salary = Attribute(name="salary", domain=("<=50K", ">50K"))
    assert LabelReader(salary).members("<=50K") == (0,)


@pytest.mark.parametrize("text", ["[18,20]", "[30,20]", ">=91", "<=x", "[1,2,3]", ">=nan"])
def test_what_covers_nothing_is_refused(text):
    with pytest.raises(InvalidInput):
        LabelReader(AGE).members(text)


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
