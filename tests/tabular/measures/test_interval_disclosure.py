from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.measures import measures
from tabular.table import Table
from tests.tabular.pairs_of_tables import pairs_of_tables, slow_id

ID = measures["id"].method


def test_a_case_worked_by_hand():
    # Mid-ranks of ten records: 1 has 1.5, 2 has 4, 3 has 7.5, 4 has 10.
    original = Table.from_columns({"a": [1, 1, 2, 2, 2, 3, 3, 3, 3, 4]})
    masked = original.masked({"a": [1, 2, 2, 1, 3, 4, "[3,4]", "[2,4]", "*", "[3,4]"]})
    # 25 % are 2.5 ranks: equal, 2.5, equal, 2.5, 3.5, 2.5, 0.5, 0.75 (mean of ranks 3 to 10 is 6.5: 1), 2, 2.
    assert ID(percent=25).measure(original, masked, ["a"]).raw == 9
    assert ID(percent=24).measure(original, masked, ["a"]).raw == 6
    assert ID().measure(original, masked, ["a"]).percent == pytest.approx(40)


def test_a_nominal_value_is_disclosed_by_itself_only():
    original = Table.from_columns({"a": ["x", "y", "x", "y"]})
    masked = original.masked({"a": ["x", "x", "*", "{y}"]})
    assert ID(percent=100).measure(original, masked, ["a"]).raw == 2


@given(pairs_of_tables(), st.integers(0, 100))
def test_the_slow_version_says_the_same(pair, percent):
    original, masked = pair
    reading = ID(percent=percent).measure(original, masked, original.names)
    assert reading.raw == slow_id(original, masked, percent)
    assert reading.percent == pytest.approx(100 * reading.raw / len(original) / len(original.names))


def test_a_file_gives_itself_away():
    original = Table.from_columns({"a": [1, 2, 3], "b": ["x", None, "y"]})
    assert ID(percent=0).measure(original, original, ["a", "b"]).percent == 100
