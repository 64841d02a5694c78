from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.classes import equivalence_classes, smallest_class

#: Codes as they come, missing ones among them, and some so far apart that keys of them all would run over.
code = st.one_of(st.integers(-1, 2), st.sampled_from([2**62, -(2**62), 2**40]))


@st.composite
def tables(draw):
    rows = draw(st.integers(1, 12))
    columns = draw(st.integers(1, 5))
    cells = st.lists(code, min_size=rows, max_size=rows)
    return [np.array(draw(cells), dtype=np.int64) for _ in range(columns)]


@given(tables())
def test_rows_share_a_class_where_they_agree_in_every_column(columns):
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    found = equivalence_classes(columns)
    assert dict(zip(rows, found.labels.tolist(), strict=True)) == {
        row: label for label, row in enumerate(sorted(set(rows)))
    }
    counts = Counter(rows)
    assert found.sizes.tolist() == [counts[row] for row in sorted(counts)]
    assert smallest_class(columns) == found.k == min(counts.values())
    assert len(found.sizes) == len(counts)


def test_a_table_worked_by_hand():
    place = np.array([0, 0, 1, 1, -1, -1])
    topic = np.array([3, 3, 3, 3, 3, 4])
    found = equivalence_classes([place, topic])
    assert found.labels.tolist() == [2, 2, 3, 3, 0, 1]
    assert found.sizes.tolist() == [1, 1, 2, 2]
    assert smallest_class([place]) == 2


def test_a_table_without_rows_has_no_classes_and_k_0():
    empty = np.zeros(0, dtype=np.int32)
    assert smallest_class([empty, empty]) == 0
    assert len(equivalence_classes([empty]).sizes) == 0


def test_classes_need_a_column():
    with pytest.raises(ValueError, match="column"):
        equivalence_classes([])
