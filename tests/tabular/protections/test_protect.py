"""What every call of protect() is checked for, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter, NoSolution, UnknownName
from tabular.protections import Protection, protect, protections
from tabular.registry import Registry, option
from tabular.table import Table

RNG = np.random.default_rng(1)
TABLE = Table.from_columns(
    {"colour": ["red", "blue", "red", "green"], "size": ["S", "M", "L", "M"], "weight": [1.5, 2.0, 2.5, 9.75]},
    [Attribute(name="size", kind="ordinal", domain=("S", "M", "L"))],
)


@dataclass(frozen=True, kw_only=True)
class OneClass(Protection):
    """Put all records into one class."""

    promises_k: ClassVar[bool] = True

    k: int = option(3, low=2, help="records that agree")

    def protect(self, table, attributes, rng):
        for name in attributes:
            size = len(table.attribute(name).domain)
            table = table.with_labels(name, np.full(len(table), size), [range(size)])
        return table


@pytest.fixture
def one_class(monkeypatch):
    mine = Registry("protection")
    mine.add("one-class", cites="Nobody (2026)", limits="Loses all.")(OneClass)
    monkeypatch.setattr("tabular.protections.contract.protections", mine)


def test_k_records_or_no_solution(one_class):
    masked = protect(TABLE, "one-class", ["size"], rng=RNG, k=4)
    assert masked.values("size") == ["*"] * 4
    assert masked.values("colour") == TABLE.values("colour")
    with pytest.raises(NoSolution) as error:
        protect(TABLE, "one-class", ["size"], rng=RNG, k=5)
    assert str(error.value) == "No release with k=5 exists: the table has 4 records. Lower k or add records."
    with pytest.raises(NoSolution, match=r"the table has 1 record\. Lower"):
        protect(TABLE.rows(np.array([0])), "one-class", ["size"], rng=RNG)


@pytest.mark.parametrize(
    ("k", "text"),
    [(2.5, "k must be a whole number, not 2.5"), (1, "k must be at least 2, not 1"), ("3", "k must be a number")],
)
def test_k_is_a_whole_number(one_class, k, text):
    with pytest.raises(InvalidParameter, match=text):
        protect(TABLE, "one-class", ["size"], rng=RNG, k=k)


def test_k_holds_over_all_columns_together_unless_a_method_says_otherwise():
    assert OneClass().k_holds_over(["a", "b"]) == (("a", "b"),)
    assert protections["pram"].method().k_holds_over(["a", "b"]) == ()


@pytest.mark.parametrize(
    ("method", "attributes", "parameters", "text"),
    [
        ("rank-swaping", ["size"], {}, "No protection is called 'rank-swaping'; did you mean 'rank-swapping'?"),
        ("pram", ["colur"], {}, "No column is called 'colur'; did you mean 'colour'?"),
        ("pram", ["size"], {"reatin": 1}, "No parameter of pram is called 'reatin'; did you mean 'retain'?"),
        ("pram", ["size"], {"k": 3}, "No parameter of pram is called 'k';"),
        ("pram", [], {}, "A protection needs a list of one or more columns, none of them twice."),
        ("pram", ["size", "size"], {}, "A protection needs a list of one or more columns, none of them twice."),
        ("pram", "size", {}, "A protection needs a list of one or more columns, none of them twice."),
        (
            "top-coding",
            ["size", "colour"],
            {},
            "Column 'colour' is nominal, and top-coding takes ordinal or continuous columns only: give it the kind "
            "ordinal and its values in order, or take another method (",
        ),
        (
            "pram",
            ["weight"],
            {},
            "Column 'weight' is continuous, and pram takes nominal or ordinal columns only: put its numbers into "
            "ranges first, or take another method (",
        ),
    ],
)
def test_what_cannot_be_taken_is_told(method, attributes, parameters, text):
    with pytest.raises((InvalidInput, UnknownName)) as error:
        protect(TABLE, method, attributes, rng=RNG, **parameters)
    assert str(error.value).startswith(text)


def test_a_table_that_was_masked_before_is_refused_where_it_holds_sets():
    masked = protect(TABLE, "top-coding", ["size"], rng=RNG)
    with pytest.raises(InvalidInput, match="Column 'size' holds labels that stand for sets"):
        protect(masked, "rank-swapping", ["size"], rng=RNG)
    protect(masked, "pram", ["colour"], rng=RNG)


def test_a_table_without_records_is_refused():
    with pytest.raises(InvalidInput, match="The table has no records"):
        protect(TABLE.rows(np.array([], dtype=int)), "pram", ["size"], rng=RNG)


def test_a_column_may_have_any_name():
    table = Table.from_columns({"self": ["a", "b"] * 10, "rng": [1, 2] * 10, "k": [1, 2, 3, 3, 3] * 4})
    for method in ("pram", "rank-swapping"):
        masked = protect(table, method, table.names, rng=np.random.default_rng(1))
        assert masked.names == table.names
