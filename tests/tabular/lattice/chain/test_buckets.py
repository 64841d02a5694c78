"""Which rows have to go, trail by trail, in cases worked by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.chain.buckets import lost, withheld
from tabular.lattice.evaluator.rollup import RankedColumn, coding_of, packed
from tabular.lattice.space import MOST_ROWS


def goes(buckets, absent, *, silent=None, k=2, l=0):  # noqa: E741
    """How many rows go of each of the *buckets*, which are trail, rows and sensitive values."""
    trails, sizes, distinct = (np.array(each, dtype=np.int64) for each in zip(*buckets, strict=True))
    keys, found = np.arange(len(sizes))[:, None], np.zeros(len(sizes), dtype=np.int64)
    quiet = np.zeros(len(absent), dtype=np.bool_) if silent is None else np.array(silent)
    total = withheld(keys, sizes, distinct, trails, np.array(absent), quiet, k, l, found)
    assert total == found.sum()
    return found.tolist()


@pytest.mark.parametrize(
    ("buckets", "absent", "expected"),
    [
        # Nobody is gone and all have k.
        ([(0, 2, 1), (0, 3, 1)], [0], [0, 0]),
        # A bucket below k goes, and it alone is enough to be gone with.
        ([(0, 1, 1), (0, 1, 1), (0, 4, 1)], [0], [1, 1, 0]),
        # One is gone: the largest bucket can spare one more.
        ([(0, 2, 1), (0, 4, 1)], [1], [0, 1]),
        # None can spare a row: the smallest goes as a whole, of two the one with the lower key.
        ([(0, 2, 1), (0, 2, 1)], [1], [2, 0]),
        # Each trail for itself.
        ([(0, 3, 1), (1, 3, 1)], [0, 1], [0, 1]),
    ],
)
def test_the_fewest_rows_go_with_those_who_are_gone(buckets, absent, expected):
    assert goes(buckets, absent) == expected


def test_of_those_of_whom_nothing_was_published_anybody_may_be_missing():
    assert goes([(0, 2, 1)], [1], silent=[True]) == [0]
    assert goes([(0, 2, 1)], [1], silent=[False]) == [2]


def test_a_bucket_of_too_few_values_goes_and_one_spares_no_more_than_its_values_need():
    assert goes([(0, 4, 1), (0, 4, 3)], [0], l=2) == [4, 0]
    assert goes([(0, 4, 3), (0, 4, 3)], [1], k=2, l=3) == [1, 0]


def test_rows_are_spared_by_the_largest_buckets_first():
    assert goes([(0, 4, 1), (0, 5, 1)], [1], k=3) == [0, 2]
    assert goes([(0, 4, 1), (0, 4, 1)], [1], k=3) == [1, 1]


def test_of_a_thousand_million_rows_the_fewest_go():
    most = MOST_ROWS // 2
    assert goes([(0, most, 1), (0, most, 1)], [1], k=most) == [most, 0]
    assert goes([(0, most - 1, 1), (0, most - 1, 1)], [most - 4], k=most - 2) == [1, 1]
    assert goes([(0, most, 1), (1, most, 1)], [1, 0], k=2) == [1, 0]


def test_the_bits_of_a_thousand_million_rows_stay_within_a_word():
    values, attributes = 1000, 5
    names = [str(value) for value in range(values)]
    one = RankedColumn.of(Hierarchy.of("a", names, [["*"] * values]), np.arange(values, dtype=np.int32))
    column = replace(one, counts=one.counts * (MOST_ROWS // values))
    columns = [column] * attributes
    coding = coding_of(columns)
    keys = np.column_stack([packed([each.ranks for each in columns], range(attributes), coding), np.zeros(values)])
    leaves = np.zeros(attributes + 1, dtype=np.int64)
    node = np.zeros(attributes, dtype=np.int16)
    bits = lost(keys.astype(np.int64), column.counts, node, coding, leaves)
    assert bits / coding.unit == pytest.approx(MOST_ROWS * attributes * np.log2(values), rel=1e-6)
