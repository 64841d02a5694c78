"""Sets of neighbouring codes: they are what the tuples of their codes are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute, LabelReader, canonical, paired_distances, words_of, write_label
from tabular.errors import InvalidInput
from tabular.intervals import Span, Spans, place_of, runs_of
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
