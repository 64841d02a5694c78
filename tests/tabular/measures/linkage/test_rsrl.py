from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.measures import measures
from tabular.table import Table
from tests.tabular.pairs_of_tables import members_of, pairs_of_tables, random_pair, slow_record_distance

RSRL = measures["rsrl"].method
DBRL = measures["dbrl"].method


def can_be_swapped(original, name, value, label_members, reach):
    """Whether some record of the value and some record of the label's span stand within reach of each other."""
    column = sorted(original.columns[name].tolist())

    def places(code):
        found = [place for place, each in enumerate(column) if each == code]
        start = sum(each < code for each in column)
        return (found[0], found[-1]) if found else (start, start - 1)

    (low, high), (first, last) = places(value), (places(label_members[0])[0], places(label_members[-1])[1])
    return label_members[0] <= value <= label_members[-1] or (first - high <= reach and low - last <= reach)


def slow_rsrl(original, masked, reach):
    right = Fraction(0)
    for masked_row in range(len(masked)):
        apart = {
            row: slow_record_distance(original, masked, row, masked_row)
            for row in range(len(original))
            if all(
                can_be_swapped(
                    original, name, int(original.columns[name][row]), members_of(masked, name, masked_row), reach
                )
                for name in original.names
            )
        }
        if masked_row in apart and apart[masked_row] == min(apart.values()):
            right += Fraction(1, list(apart.values()).count(min(apart.values())))
    return right


def test_a_case_worked_by_hand():
    original = Table.from_columns({"a": [1, 2, 3, 4, 5], "b": [1, 2, 3, 4, 5]})
    masked = original.masked({"a": [2, 1, 3, 5, 1], "b": [2, 1, 3, 4, 5]})
    # A reach of 20 % is one place. Rows 1 and 2 look like each other; rows 3 and 4 find their own (row 4 at 1/5, row 5
    # at 1/5 as well: half); of row 5 the first value comes from 1 or 2, the second from 4 or 5: nobody.
    assert RSRL(percent=20).measure(original, masked, ["a", "b"]).raw == pytest.approx(1 + 1 / 2)


@given(pairs_of_tables(), st.integers(0, 100))
def test_the_slow_version_says_the_same(pair, percent):
    original, masked = pair
    reach = round(len(original) * percent / 100)
    found = RSRL(percent=percent).measure(original, masked, original.names)
    assert found.raw == pytest.approx(float(slow_rsrl(original, masked, reach)))


def test_without_a_window_it_is_linkage_by_distance():
    original, masked = random_pair(7, 80, (5, 6, 4))
    everywhere = RSRL(percent=100).measure(original, masked, original.names)
    assert everywhere == DBRL().measure(original, masked, original.names)


def test_the_window_helps_the_attacker():
    rng = np.random.default_rng(2)
    places = rng.permuted(np.tile(np.arange(200), (3, 1)), axis=1)
    original = Table.from_columns({f"a{number}": column for number, column in enumerate(places)})
    moved = np.clip(places + rng.integers(-10, 11, places.shape), 0, 199)
    masked = original.with_codes(**{f"a{number}": column for number, column in enumerate(moved)})
    near = RSRL(percent=5).measure(original, masked, original.names)
    assert near.percent >= DBRL().measure(original, masked, original.names).percent
    assert near.percent > 80
