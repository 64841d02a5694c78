import json
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter
from tabular.protections import Protection, protect, protections
from tabular.release import (
    MOST_VALUES,
    Counted,
    counted_k,
    distinct_columns,
    effective_parameters,
    release_table,
    table_dictionary,
    verify,
)
from tabular.table import Table

ID = Attribute(name="id", role="identifier")

TABLE = Table.from_columns({"size": ["S", "S", "M", "M", "M"], "colour": ["red", "red", "red", "blue", "blue"]})

ROWS = MOST_VALUES + 1


def test_identifiers_are_dropped_or_starred():
    table = Table.from_columns({"id": ["a1", "a2"], "sex": ["f", "f"]}, [ID])
    assert release_table(table).to_columns() == {"sex": ["f", "f"]}
    starred = release_table(table, identifiers="star")
    assert starred.to_columns() == {"id": ["*", "*"], "sex": ["f", "f"]}
    # Nothing of the identifiers is left in the domain either.
    assert starred.attribute("id").domain == ("*",)
    with pytest.raises(InvalidParameter, match="identifiers must be drop or star, not 'keep'"):
        release_table(table, identifiers="keep")


@pytest.mark.parametrize("values", [["a1", "a2", "a3"], [1, 2, 3], [1.5, 2.5, 3.5], ["x", "y", None], [7]])
def test_a_column_of_distinct_values_without_a_role_stops_the_writing(values):
    table = Table.from_columns({"nr": values})
    with pytest.raises(InvalidInput, match=r"^Column 'nr': all its values are distinct.*role nr=identifier"):
        release_table(table)
    kept = Table.from_columns({"nr": values}, [Attribute(name="nr", role="insensitive")])
    assert release_table(kept).to_columns() == {"nr": values}


def test_distinct_values_that_few_rows_have_stop_the_writing_too():
    few = Table.from_columns({"a": [*range(9), *[None] * 90]})
    many = Table.from_columns({"a": [*range(10), *[None] * 90]})
    assert distinct_columns(few) == []
    assert distinct_columns(many) == ["a"]


def test_stars_in_some_rows_do_not_hide_the_distinct_values_of_others():
    table = Table.from_columns({"a": list("wxyz")})
    assert distinct_columns(table.masked({"a": ["*", "*", "y", "z"]})) == ["a"]
    assert distinct_columns(table.masked({"a": ["*", "*", "*", "*"]})) == []
    assert distinct_columns(table.masked({"a": ["{w|x}", "{w|x}", "y", "z"]})) == []


def test_a_table_of_identifiers_alone_cannot_be_released():
    with pytest.raises(InvalidInput, match="nothing is left"):
        release_table(Table.from_columns({"id": ["a", "b"]}, [ID]))


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=12))
def test_distinct_is_what_counting_says(values):
    present = [value for value in values if value is not None]
    distinct = len(present) * 2 >= len(values) and present and len(set(present)) == len(present)
    assert distinct_columns(Table.from_columns({"a": values})) == (["a"] if distinct else [])


def test_k_is_that_of_the_rarest_row():
    assert counted_k(TABLE, ["size"]) == Counted(2)
    assert counted_k(TABLE, ["colour"]) == Counted(2)
    assert counted_k(TABLE, ["size", "colour"]) == Counted(1)


def test_suppressed_rows_are_set_aside_also_beside_columns_of_one_value():
    columns = {"a": ["x", "x", "*", "*", "*"], "b": ["y", "y", "*", "*", "*"], "c": ["only"] * 5}
    assert counted_k(Table.from_columns(columns), ["a", "b", "c"]) == Counted(2, 3)
    assert counted_k(Table.from_columns({"a": ["*", "*"]}), ["a"]) == Counted(2)


@given(st.lists(st.tuples(*[st.sampled_from(["x", "1", 1, None, "*"])] * 3), max_size=12))
def test_k_is_what_counting_the_texts_of_the_rows_says(rows):
    names = ("a", "b", "c")
    kinds = [Attribute(name=name, domain=("x", "1", 1, "*")) for name in names]
    table = Table.from_columns({name: [row[place] for row in rows] for place, name in enumerate(names)}, kinds)
    counts = Counter(tuple("" if value is None else str(value) for value in row) for row in rows)
    suppressed = counts.pop(("*", "*", "*"), 0) if len(counts) > 1 else 0
    assert counted_k(table, names) == Counted(min(counts.values(), default=0), suppressed)


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


def table():
    return Table.from_columns({
        "size": (["S", "M", "L", None] * ROWS)[:ROWS],
        "number": list(range(ROWS)),
    })  # fmt: skip


def dictionary(released, *, k=2, promises_k=True, suppressed=0, shuffled=False):
    findings = {"promises_k": promises_k, "k": k, "suppressed": suppressed}
    return table_dictionary(
        released, ["size"], method="mondrian", parameters={"k": 2}, findings=findings, shuffled=shuffled, titles={}
    )


def test_values_are_counted_and_of_long_columns_only_their_number_is_told():
    size, number = dictionary(table())["fields"]
    assert {each["value"]: each["count"] for each in size["values"]} == {"S": 51, "M": 50, "L": 50}
    assert size["missing"] == 50
    assert number["distinct_values"] == ROWS
    assert "values" not in number


def test_values_that_do_not_stand_in_the_release_are_not_told():
    released = table().rows(np.array([0, 4, 8]))
    size = dictionary(released)["fields"][0]
    assert size["values"] == [{"value": "S", "count": 3}]
    assert '"M"' not in json.dumps(dictionary(released))


def test_what_is_not_protected_is_said():
    order = "Rows stand in the order of the original: whoever has that file can match them."
    assert any(said.startswith(order) for said in dictionary(table())["not_protected"])
    assert not any(said.startswith(order) for said in dictionary(table(), shuffled=True)["not_protected"])
    assert any("no k" in said for said in dictionary(table(), promises_k=False)["not_protected"])
    assert "7 suppressed" in dictionary(table(), suppressed=7)["protected"]
    assert "can stand alone" in dictionary(table(), k=1)["protected"]


def test_labels_of_sets_are_told_as_they_are_written():
    masked = protect(table(), "mondrian", ["size"], rng=np.random.default_rng(1), k=100)
    assert sum(each["count"] for each in dictionary(masked)["fields"][0]["values"]) == ROWS


def test_a_matrix_or_a_folder_is_only_said_to_be_given():
    matrix = np.eye(4)
    protection = protections["pram"].method(matrix=matrix)
    assert effective_parameters(protection, {"matrix": "secret/m.csv"}) == {"invariant": False, "matrix": "given"}
    assert effective_parameters(protections["mondrian"].method(k=7), {"k": 7}) == {"k": 7, "cuts": "strict"}
