from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.errors import InvalidParameter
from tabular.measures import measures
from tabular.table import Table
from tests.tabular.pairs_of_tables import pairs_of_tables, random_pair, slow_cells, slow_ctbil

CTBIL = measures["ctbil"].method
ACTBIL = measures["actbil"].method


def test_a_case_worked_by_hand():
    original = Table.from_columns({"a": ["x", "x", "y"], "b": ["p", "q", "q"]})
    masked = original.masked({"a": ["x", "y", "*"], "b": ["p", "q", "p"]})
    # a: x 2 -> 1.5, y 1 -> 1.5. b: p 1 -> 2, q 2 -> 1. Both: xp 1 -> 1.5, xq 1 -> 0, yp 0 -> 0.5, yq 1 -> 1.
    reading = CTBIL().measure(original, masked, ["a", "b"])
    assert reading.raw == pytest.approx(1 + 2 + 2)
    assert reading.percent == pytest.approx(100 * 5 / (2 * 3 * 3))
    assert ACTBIL().measure(original, masked, ["a", "b"]).raw == pytest.approx(5 / (2 + 2 + 4))
    assert ACTBIL().measure(original, masked, ["a", "b"]).percent == reading.percent
    assert CTBIL(dimensions=1).measure(original, masked, ["a", "b"]).raw == pytest.approx(3)


@given(pairs_of_tables(max_rows=6), st.integers(1, 3))
def test_the_slow_version_says_the_same(pair, dimensions):
    original, masked = pair
    reading = CTBIL(dimensions=dimensions).measure(original, masked, original.names)
    dimensions = min(dimensions, len(original.names))
    assert reading.raw == pytest.approx(float(slow_ctbil(original, masked, dimensions)))
    assert 0 <= reading.percent <= 100 + 1e-9
    average = ACTBIL(dimensions=dimensions).measure(original, masked, original.names)
    assert average.raw == pytest.approx(reading.raw / slow_cells(original, dimensions))


def test_counting_only_the_cells_that_occur_gives_the_same(monkeypatch):
    original, masked = random_pair(3, 200, (5, 4, 3), sets=0)
    dense = CTBIL().measure(original, masked, original.names)
    monkeypatch.setattr("tabular.measures.information_loss.DENSE", -100)
    assert CTBIL().measure(original, masked, original.names) == dense
    assert dense.raw == float(slow_ctbil(original, masked))


def test_tables_have_one_attribute_or_more():
    with pytest.raises(InvalidParameter, match="dimensions must be at least 1"):
        CTBIL(dimensions=0)


@given(pairs_of_tables(max_rows=6), st.integers(1, 2))
def test_masses_that_are_looked_up_give_what_spreading_them_gives(pair, dimensions):
    expected = measures["ctbil"].method(dimensions=dimensions).measure(*pair, pair[0].names).raw
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tabular.measures.information_loss.SPREAD", 0)
        assert measures["ctbil"].method(dimensions=dimensions).measure(*pair, pair[0].names).raw == pytest.approx(
            expected, abs=1e-9
        )
