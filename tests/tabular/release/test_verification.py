from dataclasses import dataclass

import numpy as np
import pytest

from tabular.protections import Protection, protect, protections
from tabular.release.verification import Counted, counted_k, verify
from tabular.table import Table

TABLE = Table.from_columns({"size": ["S", "S", "M", "M", "M"], "colour": ["red", "red", "red", "blue", "blue"]})


def test_k_is_that_of_the_rarest_row():
    assert counted_k(TABLE, ["size"]) == Counted(2)
    assert counted_k(TABLE, ["colour"]) == Counted(2)
    assert counted_k(TABLE, ["size", "colour"]) == Counted(1)


def test_suppressed_rows_are_set_aside_also_beside_columns_of_one_value():
    columns = {"a": ["x", "x", "*", "*", "*"], "b": ["y", "y", "*", "*", "*"], "c": ["only"] * 5}
    assert counted_k(Table.from_columns(columns), ["a", "b", "c"]) == Counted(2, 3)
    assert counted_k(Table.from_columns({"a": ["*", "*"]}), ["a"]) == Counted(2)


def test_a_label_is_a_value_like_others():
    masked = protect(TABLE, "mondrian", TABLE.names, rng=np.random.default_rng(1), k=5)
    assert counted_k(masked, TABLE.names) == Counted(5)


def test_a_promise_that_does_not_hold_stops_everything():
    @dataclass(frozen=True, kw_only=True)
    class Idle(Protection):
        """Do nothing and promise much."""

        promises_k = True
        k: int = 3

        def protect(self, table, attributes, rng):
            return table

    with pytest.raises(RuntimeError, match="promises"):
        verify(TABLE, Idle(), TABLE.names)
    assert verify(TABLE, Idle(k=1), TABLE.names) == Counted(1)


def test_a_promise_over_groups_of_columns_is_held_group_by_group():
    alone = protections["microaggregation"].method(k=2, univariate=True)
    masked = protect(TABLE, "microaggregation", TABLE.names, rng=np.random.default_rng(1), k=2, univariate=True)
    assert verify(masked, alone, TABLE.names).k >= 1
