import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter
from tabular.release.identifiers import distinct_columns, release_table
from tabular.table import Table

ID = Attribute(name="id", role="identifier")


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
