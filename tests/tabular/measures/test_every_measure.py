"""What all measures promise, over the registry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, UnknownName
from tabular.measures import NUMERIC, measures
from tabular.table import Table
from tests.tabular.pairs_of_tables import pairs_of_tables, random_pair

NAMES = tuple(name for name in measures if name not in NUMERIC)
every_measure = pytest.mark.parametrize("name", NAMES)


def read(name, original, masked, attributes=None):
    return measures[name].method().measure(original, masked, attributes or original.names)


def test_the_measures_of_the_thesis_are_there():
    assert set(NAMES) >= {"ctbil", "actbil", "dbil", "ebil", "id", "dbrl", "prl", "rsrl", "informed"}
    assert set(NUMERIC) < set(measures)
    for entry in measures.entries():
        assert entry.summary.endswith(".")
        assert entry.cites
        assert entry.limits


@every_measure
@settings(max_examples=30, deadline=None)
@given(pair=pairs_of_tables(), data=st.data())
def test_the_order_of_the_rows_changes_nothing(name, pair, data):
    original, masked = pair
    order = np.array(data.draw(st.permutations(range(len(original)))))
    assert read(name, original.rows(order), masked.rows(order)) == read(name, original, masked)


@every_measure
def test_the_order_of_many_rows_changes_nothing(name):
    original, masked = random_pair(8, 400, (6, 5, 30))
    order = np.random.default_rng(1).permutation(400)
    assert read(name, original.rows(order), masked.rows(order)) == read(name, original, masked)


@every_measure
@settings(max_examples=30, deadline=None)
@given(pair=pairs_of_tables())
def test_a_percentage_is_one_and_nothing_is_changed(name, pair):
    original, masked = pair
    before = original.to_columns(), masked.to_columns()
    reading = read(name, original, masked)
    assert reading.raw >= 0
    assert reading.percent is None or -1e-9 <= reading.percent <= 100 + 1e-9
    assert (original.to_columns(), masked.to_columns()) == before


@settings(max_examples=30, deadline=None)
@given(pair=pairs_of_tables())
def test_a_file_against_itself_loses_nothing(pair):
    original, _ = pair
    for name in ("ctbil", "actbil", "dbil", "ebil"):
        assert read(name, original, original).raw == 0
    assert read("id", original, original).percent == 100


@every_measure
def test_only_the_columns_named_count(name):
    original, masked = random_pair(2, 40, (4, 3, 5))
    some = original.names[:2]
    columns = original.to_columns()
    fewer = Table.from_columns({each: columns[each] for each in some}, [original.attribute(each) for each in some])
    fewer_masked = fewer.masked({each: masked.values(each) for each in some})
    assert read(name, original, masked, some) == read(name, fewer, fewer_masked)


@every_measure
def test_tables_that_are_no_versions_of_each_other_are_refused(name):
    original = Table.from_columns({"colour": ["red", "blue", "red"], "size": [1, 2, 3]})
    with pytest.raises(InvalidInput, match="the original has 3, the masked one 2"):
        read(name, original, original.masked({"colour": ["red", "blue"]}), ["colour"])
    with pytest.raises(UnknownName, match="No column is called 'color'; did you mean 'colour'"):
        read(name, original, original, ["color"])
    with pytest.raises(UnknownName, match="size"):
        read(name, original, original.masked({"colour": ["red"] * 3}), ["size"])
    with pytest.raises(InvalidInput, match="must have the domain of the original"):
        read(name, original, Table.from_columns({"colour": ["red"] * 3}), ["colour"])
    with pytest.raises(InvalidInput, match="it must hold values"):
        read(name, original.masked({"size": ["*", 1, 2]}), original, ["size"])
    for attributes in ([], ["size", "size"], "size"):
        with pytest.raises(InvalidInput, match="list of one or more columns"):
            measures[name].method().measure(original, original, attributes)
    empty = Table.from_columns({"a": []}, [Attribute(name="a", domain=("x",))])
    with pytest.raises(InvalidInput, match="no records"):
        read(name, empty, empty)
