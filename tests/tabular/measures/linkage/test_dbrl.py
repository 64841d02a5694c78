from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tabular.measures import measures
from tabular.measures.linkage.nearest import PrefixTree
from tabular.table import Table
from tests.tabular.pairs_of_tables import pairs_of_tables, random_pair, slow_dbrl

DBRL = measures["dbrl"].method()


def test_a_case_worked_by_hand():
    original = Table.from_columns({"a": [1, 2, 3, 3, 4]})
    masked = original.masked({"a": [1, 3, 3, "[2,3]", "*"]})
    # 1 finds its own; 3 finds rows 3 and 4, so row 2 is not among them and row 3 has half; [2,3] is as near to 2 as to
    # both of 3: a third; * is nearest to 2 and 3, not to 4.
    reading = DBRL.measure(original, masked, ["a"])
    assert reading.raw == pytest.approx(1 + 0 + 1 / 2 + 1 / 3 + 0)
    assert reading.percent == pytest.approx(100 * reading.raw / 5)


@given(pairs_of_tables())
def test_the_slow_version_says_the_same(pair):
    original, masked = pair
    assert DBRL.measure(original, masked, original.names).raw == pytest.approx(float(slow_dbrl(original, masked)))


@pytest.mark.parametrize("seed", range(3))
def test_the_slow_version_says_the_same_of_larger_tables(seed):
    original, masked = random_pair(seed, 60, (5, 4, 7))
    assert DBRL.measure(original, masked, original.names).raw == pytest.approx(float(slow_dbrl(original, masked)))


def test_a_file_of_distinct_records_gives_itself_away():
    original, _ = random_pair(1, 50, (100, 100))
    assert DBRL.measure(original, original, original.names).percent == 100


def test_a_constant_file_gives_one_record_away():
    original = Table.from_columns({"a": ["x", "y", "y", "z", "z", "z"]})
    for label in ("z", "*"):
        assert DBRL.measure(original, original.masked({"a": [label] * 6}), ["a"]).raw == pytest.approx(1)


def test_the_tree_knows_where_a_beginning_ends():
    tree = PrefixTree.of(
        np.array([[0, 0, 1], [0, 0, 2], [0, 3, 0], [2, 3, 0]], dtype=np.int32), np.ones(4, dtype=np.int64)
    )
    assert tree.depth.tolist() == [0, 2, 1, 0]
    assert tree.past.tolist() == [[3, 2, 1], [3, 2, 2], [3, 3, 3], [4, 4, 4]]
