"""What all criteria promise, over the registry."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.criteria import HIGHER, LOWER, Check, check, criteria, key_of
from tabular.errors import InvalidInput, InvalidParameter, UnknownName
from tabular.table import Table


@st.composite
def tables(draw):
    """A table with two quasi-identifiers and two sensitive columns, with missing values."""
    rows = draw(st.integers(1, 10))
    columns = {
        name: draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows))
        for name, values in (("a", ["x", "y", None]), ("b", ["p"]), ("s", ["u", "v", None]), ("n", [1, 2, 5, None]))
    }
    return Table.from_columns(columns, [Attribute(name="n", kind="ordinal")])


def document(table):
    return check(table, ["a", "b"], ["s", "n"]).document()


def test_the_criteria_of_the_literature_are_there():
    assert set(criteria) >= {"k", "l", "entropy-l", "recursive-c", "t", "beta", "enhanced-beta", "delta", "alpha"}
    assert set(criteria) >= {"prosecutor-risk", "journalist-risk", "marketer-risk", "uniqueness", "s-k", "s-l"}
    for entry in criteria.entries():
        assert entry.summary.endswith(".")
        assert entry.cites
        assert entry.limits
        assert entry.method.safer in (HIGHER, LOWER)


@given(tables(), st.data())
def test_the_order_of_the_rows_changes_no_byte(table, data):
    order = np.array(data.draw(st.permutations(range(len(table)))))
    assert json.dumps(document(table.rows(order))) == json.dumps(document(table))


@given(tables())
def test_several_sensitive_attributes_give_the_least_safe_value(table):
    both = check(table, ["a", "b"], ["s", "n"])
    alone = [check(table, ["a", "b"], [name]) for name in ("s", "n")]
    for name, entry in ((entry.name, entry) for entry in criteria.entries()):
        pick = min if entry.method.safer == HIGHER else max
        assert both.worst(name) == pick(each.worst(name) for each in alone)
        expected = [each.document()[key_of(name)] for each in alone]
        assert None in expected or both.document()[key_of(name)] in expected


def test_a_document_worked_by_hand():
    table = Table.from_columns({"a": ["x", "x", "x", "y", "y", "*"], "s": ["p", "p", "q", "q", "q", "p"]})
    out = np.array([False] * 5 + [True])
    found = check(table, ["a"], ["s"], suppressed=out).document()
    assert (found["rows"], found["suppressed"], found["classes"], found["k"]) == (6, 1, 2, 2)
    assert found["class_sizes"] == [[2, 1], [3, 1]]
    assert (found["s_k"], found["s_l"]) == (9 + 4, 2 + 2 + 1 + 2 + 2)
    assert (found["l"], found["recursive_c"], found["alpha"]) == (1, 1, 1)
    assert found["average_class_size"] == 2.5
    assert found["prosecutor_risk"] == found["journalist_risk"] == 0.5
    assert found["marketer_risk"] == pytest.approx(2 / 5)
    assert found["by_attribute"]["s"]["t"] == found["t"] == pytest.approx(1 - 3 / 5)


def test_without_a_sensitive_attribute_its_criteria_are_unknown():
    found = check(Table.from_columns({"a": ["x", "x"]}), ["a"]).document()
    assert (found["k"], found["l"], found["t"], found["by_attribute"]) == (2, None, None, {})
    assert set(map(key_of, criteria)) < set(found)


def test_a_population_lowers_the_risks_that_know_only_it():
    population = Table.from_columns({"a": ["x"] * 4 + ["y"] * 2})
    table = population.rows(np.array([0, 4]))
    found = check(table, ["a"], population=population).document()
    assert (found["prosecutor_risk"], found["journalist_risk"]) == (1, 1 / 2)
    assert found["marketer_risk"] == pytest.approx((1 / 4 + 1 / 2) / 2)


def test_recursive_diversity_takes_the_l_that_is_asked_for():
    table = Table.from_columns({"a": ["x"] * 4, "s": ["p", "p", "q", "r"]})
    classes = check(table, ["a"]).anonymity
    method = criteria["recursive-c"].method
    assert [method(l=number).value(classes, "s") for number in (1, 2, 3)] == [pytest.approx(1 / 2), 1, 2]
    assert method().value(classes, "s") == 2
    with pytest.raises(InvalidParameter, match="l must be at least 1"):
        method(l=0)


def test_bad_questions_are_refused():
    table = Table.from_columns({"a": ["x"], "s": ["p"]})
    with pytest.raises(UnknownName, match="No column is called 'ss'; did you mean 's'"):
        check(table, ["a"], ["ss"])
    with pytest.raises(InvalidInput, match="'s' cannot be a quasi-identifier and sensitive"):
        check(table, ["a", "s"], ["s"])
    with pytest.raises(InvalidInput, match="sensitive attributes are a list"):
        check(table, ["a"], ["s", "s"])
    with pytest.raises(InvalidInput, match="quasi-identifiers are a list"):
        check(table, ["a", "a"], ["s"])


def numbers_in(found, above=()):
    """The paths of the numbers, and of what could be one, in a document."""
    for key, value in found.items():
        if isinstance(value, dict):
            yield from numbers_in(value, (*above, key))
        elif value is None or isinstance(value, int | float):
            yield (*above, key)


@pytest.mark.parametrize("sensitive", [[], ["s"], ["s", "n"]])
def test_where_the_numbers_stand_is_known_before_the_table_is(sensitive):
    table = Table.from_columns({"a": ["x", "x"], "s": ["u", "v"], "n": [1, 2]})
    assert set(Check.paths(sensitive)) == set(numbers_in(check(table, ["a"], sensitive).document()))


def test_rows_that_say_nothing_are_left_out_unless_it_is_said_which_are():
    table = Table.from_columns({"a": ["x", "x", "*"], "b": ["y", "y", "*"]})
    assert [check(table, names).anonymity.k for names in (["a", "b"], ["a"])] == [2, 2]
    assert check(table, ["a"], suppressed=np.zeros(3, dtype=bool)).anonymity.k == 1


def test_a_population_is_compared_by_what_is_written():
    table = Table.from_columns({"size": [1, 2, 3], "s": ["p", "q", "q"]})
    masked = table.masked({"size": ["[1,2]", "[1,2]", 3], "s": ["p", "q", "q"]})
    population = Table.from_columns({"size": ["[1,2]"] * 6 + ["3"] * 2})
    found = check(masked, ["size"], ["s"], population=population).document()
    assert (found["k"], found["journalist_risk"], found["l"]) == (1, 1 / 2, 1)
