import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidInput
from tabular.protections import protect
from tabular.table import Table, smallest_class
from tests.tabular.mixed_tables import mixed_tables


def masked(table, method="global-median", **parameters):
    return protect(table, method, table.names, rng=np.random.default_rng(0), **parameters)


def test_the_middle_of_the_domain_between_the_ends_is_taken_though_it_does_not_occur():
    table = Table.from_columns(
        {"x": [1, 5, 1, 5, 6, 7]}, [Attribute(name="x", kind="ordinal", domain=(1, 2, 3, 4, 5, 6, 7))]
    )
    # Parts of 2: 1 and 1, 5 and 5, 6 and 7; of more: all.
    assert masked(table, k=2).values("x") == [1, 5, 1, 5, 6, 6]
    assert masked(table, k=4).values("x") == [4] * 6
    assert masked(table, k=6).values("x") == [4] * 6


def test_of_two_middles_the_lower_one_is_taken():
    table = Table.from_columns({"x": ["a", "d"]}, [Attribute(name="x", kind="ordinal", domain=tuple("abcd"))])
    assert masked(table, k=2).values("x") == ["b", "b"]


def test_nominal_and_continuous_columns_are_refused():
    for kind in ("nominal", "continuous"):
        table = Table.from_columns({"x": [1, 2]}, [Attribute(name="x", kind=kind)])
        with pytest.raises(InvalidInput, match=f"'x' is {kind}, and global-median takes ordinal columns only"):
            masked(table)


@given(mixed_tables(kinds=("ordinal",)), st.data())
def test_it_is_the_middle_of_the_range_that_mondrian_gives(table, data):
    k = data.draw(st.integers(1, len(table)))
    ranges, middles = masked(table, "mondrian", k=k), masked(table, k=k)
    for name in table.names:
        size = len(table.attribute(name).domain)
        for label, middle in zip(ranges.columns[name].tolist(), middles.columns[name].tolist(), strict=True):
            members = (label,) if label < size else ranges.sets[name][label - size]
            assert middle == (members[0] + members[-1]) // 2
    assert smallest_class([middles.columns[name] for name in table.names]) >= k
    assert [table.attribute(name) for name in table.names] == [middles.attribute(name) for name in table.names]
