from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tabular.errors import InvalidInput
from tabular.measures import measures
from tabular.table import Table
from tests.tabular.pairs_of_tables import pairs_of_tables, random_pair

INFORMED = measures["informed"].method
DBRL = measures["dbrl"].method


def slow_informed(original, masked):
    rows = range(len(original))
    before = [[int(original.columns[name][row]) for row in rows] for name in original.names]
    after = [[int(masked.columns[name][row]) for row in rows] for name in original.names]
    right = 0.0
    for masked_row in rows:
        chances = []
        for row in rows:
            chance = 1.0
            for values, labels in zip(before, after, strict=True):
                became = [label for value, label in zip(values, labels, strict=True) if value == values[row]]
                chance *= became.count(labels[masked_row]) / len(became)
            chances.append(chance)
        tied = [row for row in rows if chances[row] >= max(chances) * (1 - 1e-12)]
        right += (masked_row in tied) / len(tied)
    return right


@given(pairs_of_tables())
def test_the_slow_version_says_the_same(pair):
    original, masked = pair
    reading = INFORMED().measure(original, masked, original.names)
    assert reading.raw == pytest.approx(slow_informed(original, masked))
    assert reading.percent == pytest.approx(100 * reading.raw / len(original))


def test_who_knows_a_permutation_undoes_it():
    original = Table.from_columns({"a": ["x", "y", "z"]})
    masked = original.masked({"a": ["y", "z", "x"]})
    assert DBRL().measure(original, masked, ["a"]).percent == 0
    assert INFORMED().measure(original, masked, ["a"]).percent == 100
    wheel = np.roll(np.eye(3), 1, axis=1)
    assert INFORMED(matrices={"a": wheel}).measure(original, masked, ["a"]).percent == 100
    # Who believes in no change finds somebody else, and in a change that cannot have been finds nobody.
    assert INFORMED(matrices={"a": np.eye(3)}).measure(original, masked, ["a"]).percent == 0


def test_a_matrix_is_read_by_original_value():
    original = Table.from_columns({"a": ["x", "y", "y"]})
    masked = original.masked({"a": ["x", "x", "y"]})
    # x is more probable from y here, although x stays x half of the time: rows 2 and 3 look alike, row 1 is missed.
    matrix = np.array([[0.5, 0.5], [0.9, 0.1]])
    # The third masked record is y, most probably from x.
    assert INFORMED(matrices={"a": matrix}).measure(original, masked, ["a"]).raw == pytest.approx(0 + 1 / 2 + 0)


def test_more_attributes_are_weighed_together():
    original, masked = random_pair(3, 60, (5, 4, 6), sets=0)
    found = INFORMED().measure(original, masked, original.names)
    assert found.raw == pytest.approx(slow_informed(original, masked))


def test_a_matrix_that_does_not_fit_is_refused():
    original = Table.from_columns({"a": ["x", "y"]})
    with pytest.raises(InvalidInput, match="must be 2 x 2"):
        INFORMED(matrices={"a": np.eye(3)}).measure(original, original, ["a"])
