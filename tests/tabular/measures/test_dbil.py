from __future__ import annotations

import pytest
from hypothesis import given

from tabular.attributes import Attribute
from tabular.measures import measures
from tabular.table import Table
from tests.tabular.pairs_of_tables import pairs_of_tables, slow_dbil

DBIL = measures["dbil"].method()


def test_a_case_worked_by_hand():
    size = Attribute(name="size", kind="ordinal", domain=("S", "M", "L", "XL"))
    original = Table.from_columns({"size": ["S", "M", "XL", "L"], "colour": ["red", "red", "blue", "green"]}, [size])
    masked = original.masked({"size": ["S", "XL", "[M,XL]", "*"], "colour": ["blue", "red", "{blue|red}", "*"]})
    # Sizes: 0, 2/4, (2+1+0)/3/4, (2+1+0+1)/4/4. Colours: 1, 0, 1/2, 2/3.
    reading = DBIL.measure(original, masked, ["size", "colour"])
    assert reading.raw == pytest.approx(0.5 + 0.25 + 0.25 + 1 + 0.5 + 2 / 3)
    assert reading.percent == pytest.approx(100 * reading.raw / 8)


@given(pairs_of_tables())
def test_the_slow_version_says_the_same(pair):
    original, masked = pair
    reading = DBIL.measure(original, masked, original.names)
    assert reading.raw == pytest.approx(float(slow_dbil(original, masked)))
    assert 0 <= reading.percent <= 100
