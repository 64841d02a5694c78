"""What knowing the origin of labels adds to reading them: nothing for honest labels, all for renamed ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.evolution.renaming import added_by_labels, remark
from tests.strategies import seeds

columns = st.lists(st.integers(0, 4), min_size=2, max_size=40).map(np.array)


def test_two_values_that_change_places_are_read_back_by_who_knows():
    original = np.array([0] * 5 + [1] * 3 + [2] * 2)
    renamed = np.array([1] * 5 + [0] * 3 + [2] * 2)
    # Others guess the first value and are right in 5 of 10; who knows is right in all.
    assert added_by_labels(original, renamed, 3) == 1.0


def test_what_is_added_is_a_share_of_what_others_miss():
    original = np.array([0] * 6 + [1] * 2 + [2] * 2)
    labels = np.array([0] * 6 + [2] * 2 + [2, 1])
    # Others: 6 + 1 as they stand. Who knows takes label 2 for value 1: 6 + 2 + 1. So 2 of the 3 others.
    assert added_by_labels(original, labels, 3) == pytest.approx(2 / 3)


def test_a_set_that_hides_a_rarer_member_alone_is_seen_through():
    original = np.array([0] * 4 + [1] * 3 + [2] * 3)
    # Others take the set {0, 1} for value 0, and only values 1 are behind it.
    labels = np.array([0] * 4 + [3] * 3 + [2] * 3)
    assert added_by_labels(original, labels, 3, [(0, 1)]) == 1.0


def test_rare_values_that_change_places_are_seen_where_each_value_counts_alike():
    original = np.array([0] * 96 + [1, 1, 2, 2])
    renamed = np.array([0] * 96 + [2, 2, 1, 1])
    unequal = np.array([0] * 95 + [1, 2, 2, 1, 1])
    assert added_by_labels(original, renamed, 3) == 1.0
    assert added_by_labels(original, unequal, 3) > 0.9


@given(columns)
def test_a_file_as_it_is_adds_nothing(original):
    assert added_by_labels(original, original, 5) == 0.0


@given(columns, st.sets(st.integers(0, 4), min_size=2))
def test_joined_values_add_nothing(original, joined):
    labels = np.where(np.isin(original, list(joined)), 5, original)
    assert added_by_labels(original, labels, 5, [sorted(joined)]) == pytest.approx(0.0, abs=1e-12)


@given(columns, seeds)
def test_it_is_a_share_and_the_order_of_records_does_not_matter(original, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 6, len(original))
    found = added_by_labels(original, labels, 5, [(1, 3)])
    assert 0.0 <= found <= 1.0
    order = rng.permutation(len(original))
    assert added_by_labels(original[order], labels[order], 5, [(1, 3)]) == pytest.approx(found)


def test_only_what_adds_more_than_a_tenth_is_remarked():
    assert remark(0.1) is None
    assert "names 25.0 % of the values" in (remark(0.25) or "")
