"""Counts by several codes, dense and sparse, beside a counter."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.queries import cells
from graphpriv.queries.cells import Tally
from tabular.errors import InvalidParameter


@st.composite
def batches(draw: st.DrawFn) -> tuple[list[int], list[list[tuple[int, ...]]]]:
    """Sizes of up to three keys, and batches of rows of codes; -1 is a code that does not count."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    row = st.tuples(*(st.integers(-1, size - 1) for size in sizes))
    return sizes, draw(st.lists(st.lists(row, max_size=8), max_size=4))


@given(batches(), st.booleans(), st.booleans())
def test_counts_are_those_of_a_counter(
    given_batches: tuple[list[int], list[list[tuple[int, ...]]]], dense: bool, largest_first: bool
) -> None:
    sizes, rows = given_batches
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "DENSE", 1000 if dense else 0)
        patch.setattr(cells, "_MERGED", 2)
        tally = Tally(sizes)
        for batch in rows:
            tally.add(list(np.array(batch, dtype=np.int64).reshape(-1, len(sizes)).T))
        found = tally.cells(largest_first=largest_first)
    expected = Counter(row for batch in rows for row in batch if min(row) >= 0)
    order = sorted(expected, key=lambda row: (-expected[row] if largest_first else 0, row))
    assert found.codes(0, len(found)) == order
    assert found.counts.tolist() == [expected[row] for row in order]
    for at in range(len(found)):
        assert found.first_after(found.place(at)) == at + 1


def test_the_place_of_a_cell_that_is_gone_leads_to_the_one_after_it() -> None:
    tally = Tally([10])
    tally.add([np.array([1, 1, 1, 4, 4, 8])])
    assert [tally.cells(largest_first=False).first_after((2, code)) for code in (0, 1, 2, 4, 9)] == [0, 1, 1, 2, 3]
    found = tally.cells(largest_first=True)
    assert [found.first_after(place) for place in ((9, 5), (3, 1), (2, 3), (2, 4), (1, 9))] == [0, 1, 1, 2, 3]


def test_more_cells_than_a_number_can_name_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="too many values") as caught:
        Tally([2**31, 2**31])
    assert caught.value.parameter == "by"
