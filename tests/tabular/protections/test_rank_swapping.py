from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from tabular.attributes import Attribute
from tabular.errors import InvalidParameter
from tabular.protections import protect
from tabular.protections.rank_swapping import partners_in_reach, swapped
from tabular.table import Table
from tests.strategies import seeds

#: T Table 2.1: three columns and what was printed for them.
TABLE_2_1 = {
    "V1": ([8, 6, 10, 7, 9, 2, 1, 4, 5, 3], [10, 5, 8, 9, 7, 4, 3, 2, 6, 1]),
    "V2": ([9, 7, 3, 1, 4, 2, 10, 8, 5, 6], [10, 5, 4, 2, 3, 1, 9, 6, 7, 8]),
    "V3": ([1, 10, 4, 2, 6, 8, 3, 7, 5, 9], [3, 8, 2, 4, 5, 10, 1, 9, 6, 7]),
}


def outcomes(ranks, reach):
    """Every way the swaps can go, with its probability: go up the ranks, choose among the free ones within reach."""
    found = Counter()

    def go(low, partners, probability):
        while low in partners:
            low += 1
        if low == ranks:
            found[tuple(partners[rank] for rank in range(ranks))] += probability
            return
        free = [high for high in range(low + 1, min(low + reach, ranks - 1) + 1) if high not in partners]
        if not free:
            go(low + 1, {**partners, low: low}, probability)
        for high in free:
            go(low + 1, {**partners, low: high, high: low}, probability / len(free))

    go(0, {}, Fraction(1))
    return found


def test_table_2_1_reach_2():
    possible = outcomes(10, 2)
    for before, after in TABLE_2_1.values():
        partners = tuple(after[before.index(rank + 1)] - 1 for rank in range(10))
        assert partners in possible
    table = Table.from_columns({name: before for name, (before, _) in TABLE_2_1.items()})
    rng = np.random.default_rng(4)
    seen = {name: set() for name in TABLE_2_1}
    for _ in range(400):
        masked = protect(table, "rank-swapping", ["V1", "V2", "V3"], rng=rng, percent=20)
        for name in TABLE_2_1:
            seen[name].add(tuple(masked.values(name)))
    for name, (_, after) in TABLE_2_1.items():
        assert tuple(after) in seen[name]
        assert len(seen[name]) <= len(possible)


@pytest.mark.parametrize(("ranks", "reach"), [(1, 3), (2, 1), (4, 2), (5, 1), (5, 2), (6, 3), (6, 6), (7, 2)])
def test_every_outcome_is_as_probable_as_by_the_plain_way(ranks, reach):
    runs, rng = 20_000, np.random.default_rng(ranks * 10 + reach)
    expected = outcomes(ranks, reach)
    seen = Counter(tuple(partners_in_reach(rng.random(ranks), reach).tolist()) for _ in range(runs))
    assert set(seen) == set(expected)
    if len(expected) > 1:
        order = sorted(expected)
        assert chisquare([seen[each] for each in order], [float(expected[each]) * runs for each in order]).pvalue > 1e-3


@given(st.lists(st.integers(0, 6), max_size=40), st.integers(0, 45), seeds)
def test_swapping_keeps_every_frequency_and_the_reach(before, reach, seed):
    codes = np.array(before, dtype=np.int32)
    after = swapped(codes, reach, np.random.default_rng(seed))
    assert sorted(after) == sorted(before)
    # What one value is swapped for lies so near that records of the two can stand within reach of each other.
    starts = np.searchsorted(np.sort(codes), np.minimum(codes, after), side="right")
    ends = np.searchsorted(np.sort(codes), np.maximum(codes, after), side="left")
    assert (ends - starts + 1 <= np.maximum(reach, 1)).all()


@given(st.integers(0, 60), st.integers(0, 70), seeds)
def test_partners_swap_with_each_other_within_reach_and_few_are_left(ranks, reach, seed):
    partners = partners_in_reach(np.random.default_rng(seed).random(ranks), reach)
    assert (partners[partners] == np.arange(ranks)).all()
    assert (np.abs(partners - np.arange(ranks)) <= reach).all()
    alone = np.flatnonzero(partners == np.arange(ranks))
    # Two that are free within reach of each other would have swapped.
    assert (np.diff(alone) > reach).all()


def test_records_of_equal_value_are_as_probable_to_be_changed_wherever_they_stand():
    codes, rng = np.repeat([0, 1], 20).astype(np.int32), np.random.default_rng(3)
    changed = sum((swapped(codes, 4, rng) != codes).astype(int) for _ in range(4000))
    assert changed.min() > 0
    assert chisquare(changed).pvalue > 0.001


def test_a_reach_below_one_record_is_refused():
    table = Table.from_columns({"x": [1, 2, 3, 4]})
    with pytest.raises(InvalidParameter, match=r"5 % of 4 records is less than one.* Raise percent above 12\.5\."):
        protect(table, "rank-swapping", ["x"], rng=np.random.default_rng(1))
    assert protect(table, "rank-swapping", ["x"], rng=np.random.default_rng(1), percent=0).values("x") == [1, 2, 3, 4]
    assert protect(table, "rank-swapping", ["x"], rng=np.random.default_rng(1), percent=13).values("x") == [2, 1, 4, 3]


def test_numbers_and_names_are_swapped_in_the_order_of_the_domain():
    table = Table.from_columns(
        {"weight": [1.5, 9.5, 4.25], "colour": ["b", "c", "a"]},
        [Attribute(name="weight", kind="continuous"), Attribute(name="colour", domain=("c", "b", "a"))],
    )
    masked = protect(table, "rank-swapping", ["weight", "colour"], rng=np.random.default_rng(1), percent=30)
    assert masked.values("weight") == [4.25, 9.5, 1.5]
    assert masked.values("colour") == ["c", "b", "a"]
