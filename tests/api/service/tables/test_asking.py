"""What may be asked of the values of a table: a slow and obvious version gives the same."""

from __future__ import annotations

import math
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.service.tables import asking
from api.service.tables.asking import Values, counted_as

#: Names that a library might read as a path, and one that it uses itself.
NAMES = ["a.b", "[0]", "count_all", "rows"]

CELLS = st.tuples(
    st.sampled_from([None, 0.0, 1.5, math.nan, -2.0]),
    st.sampled_from([None, "", "x", "1", "é"]),
    st.sampled_from([None, True, False]),
    st.sampled_from([None, 1, 2, 2**60, 2**60 + 1]),
)

#: Conditions, and which values they hold for.
CONDITIONS = {
    "a.b>=0": lambda row: row[0] is not None and row[0] >= 0,
    "[0]=x": lambda row: row[1] == "x",
    "[0]=": lambda row: row[1] in (None, ""),
    "rows<=2": lambda row: row[3] is not None and row[3] <= 2,
}


def told(value):
    return None if isinstance(value, float) and math.isnan(value) else value


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("values") / "values.parquet"


def opened(file, rows):
    types = [pa.float64(), pa.string(), pa.bool_(), pa.int64()]
    columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)]
    pq.write_table(pa.table(columns, names=NAMES), file, row_group_size=7)
    return Values(file)


@settings(max_examples=60, deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=30), st.sets(st.sampled_from([*CONDITIONS])), st.integers(0, 31))
def test_rows_are_those_that_meet_all_conditions(file, rows, wanted, begin):
    values = opened(file, rows)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(asking, "_BLOCK", 5)
        patched.setattr(asking, "_PIECE", 2)
        found = [(number, row.cells) for number, row in values.rows([*map(values.condition, wanted)], begin)]
    expected = [
        (number, tuple(map(told, row)))
        for number, row in enumerate(rows)
        if number >= begin and all(CONDITIONS[each](row) for each in wanted)
    ]
    assert found == expected


@settings(max_examples=60, deadline=None)
@given(
    st.lists(CELLS, min_size=1, max_size=30),
    st.sets(st.sampled_from([*CONDITIONS])),
    st.lists(st.sampled_from(NAMES), min_size=1, unique=True),
)
def test_counts_are_those_of_a_plain_loop(file, rows, wanted, by):
    values = opened(file, rows)
    found = values.counts(by, [*map(values.condition, wanted)])
    kept = [row for row in rows if all(CONDITIONS[each](row) for each in wanted)]
    expected = Counter(tuple(told(row[NAMES.index(each)]) for each in by) for row in kept)
    assert {each.cells[:-1]: each.cells[-1] for each in found} == expected
    assert all([*each][-1] == counted_as(by) for each in found)
