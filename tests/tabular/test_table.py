from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute, LabelReader, write_label
from tabular.errors import InvalidInput, InvalidParameter, UnknownName
from tabular.table import Table, equivalence_classes, smallest_class

SIZES = Attribute(name="size", kind="ordinal", domain=("S", "M", "L"))

#: Codes as they come, missing ones among them, and some so far apart that keys of them all would run over.
code = st.one_of(st.integers(-1, 2), st.sampled_from([2**62, -(2**62), 2**40]))


def shirts():
    return Table.from_columns({"size": ["S", "L", "M", "S"], "colour": ["red", "red", None, "blue"]}, [SIZES])


def test_codes_stand_by_row_and_follow_the_domain():
    table = shirts()
    assert table.names == ("size", "colour")
    assert table.columns["size"].tolist() == [0, 2, 1, 0]
    assert table.attribute("colour").domain == ("blue", "red", None)
    assert table.columns["colour"].tolist() == [1, 1, 2, 0]
    assert len(table) == 4


def test_a_missing_value_is_in_the_domain_only_if_it_occurs():
    given_order = Attribute(name="a", kind="ordinal", domain=(None, 1, 2))
    assert Table.from_columns({"a": [1, 2]}, [given_order]).attribute("a").domain == (1, 2)
    assert Table.from_columns({"a": [1, math.nan]}, [given_order]).attribute("a").domain == (None, 1, 2)
    assert Table.from_columns({"a": [1, None]}).attribute("a").domain == (1, None)


def test_the_domain_does_not_depend_on_the_order_of_the_rows():
    rows = ["b", 2, None, "a", 1.5]
    assert Table.from_columns({"a": rows}).attribute("a") == Table.from_columns({"a": rows[::-1]}).attribute("a")


def test_numbers_are_ordinal_or_continuous_unless_described():
    table = Table.from_columns({"a": [3, 1], "b": [0.5, 1], "c": ["x", "y"], "d": [True, False], "e": [None, None]})
    assert [each.kind for each in table.attributes] == ["ordinal", "continuous", "nominal", "nominal", "nominal"]
    assert all(each.role is None for each in table.attributes)


def test_numpy_columns_give_plain_values():
    table = Table.from_columns({"a": np.array([3, 1]), "b": np.array(["x", "y"])})
    assert table.to_columns() == {"a": [3, 1], "b": ["x", "y"]}
    assert type(table.values("a")[0]) is int


def test_nothing_handed_in_is_changed_or_shared():
    codes = np.array([1, 1, 0, 0])
    table = shirts().with_codes(size=codes)
    codes[:] = 2
    assert table.columns["size"].tolist() == [1, 1, 0, 0]
    with pytest.raises(ValueError, match="read-only"):
        table.columns["size"][0] = 2


def test_other_codes_make_a_new_table():
    before = shirts()
    after = before.with_codes(size=np.array([2, 2, 2, 2]))
    assert after.values("size") == ["L"] * 4
    assert before.values("size") == ["S", "L", "M", "S"]
    assert after.values("colour") == before.values("colour")


def test_labels_of_sets_are_read_and_written():
    masked = shirts().masked({"size": ["[S,M]", "*", "M", "{S|L}"], "colour": ["{blue|red}", "red", None, "*"]})
    assert masked.sets["size"] == ((0, 1), (0, 1, 2), (0, 2))
    assert masked.columns["size"].tolist() == [3, 4, 1, 5]
    assert masked.values("size") == ["[S,M]", "*", "M", "{S|L}"]
    assert masked.values("colour") == ["{blue|red}", "red", None, "*"]


def test_equal_sets_are_one_label_and_a_set_of_one_is_its_value():
    masked = shirts().masked({"size": ["{S|M}", "[S,M]", "{M|S}", "[L,L]"]})
    assert masked.sets["size"] == ((0, 1),)
    assert masked.columns["size"].tolist() == [3, 3, 3, 2]
    assert masked.names == ("size",)


def test_any_value_of_a_domain_of_one_is_that_value():
    assert Table.from_columns({"a": ["x", "x"]}).masked({"a": ["*", "x"]}).columns["a"].tolist() == [0, 0]


def test_a_value_of_the_domain_comes_before_a_label():
    table = Table.from_columns({"a": ["*", "[x,y]", "x", "y"]})
    assert table.masked({"a": ["*", "[x,y]", "{x|y}", "x"]}).columns["a"].tolist() == [0, 1, 4, 2]


def test_numbers_may_come_back_as_text():
    table = Table.from_columns({"degree": [1, 2, 10]})
    assert table.masked({"degree": ["10", "[2,10]", 1]}).values("degree") == [10, "[2,10]", 1]


def test_values_may_hold_the_separators():
    domain = ("Aa", "Aa, Bb", " Bb", "c|d", "e")
    table = Table.from_columns({"a": list(domain)}, [Attribute(name="a", kind="ordinal", domain=domain)])
    masked = table.masked({"a": ["[Aa,Aa, Bb]", "{c|d|e}", "e", "e", "e"]})
    assert masked.sets["a"] == ((0, 1), (3, 4))


def test_labels_that_can_be_read_in_two_ways_are_refused():
    table = Table.from_columns({"a": ["x", "y", "x|y", "z"]})
    with pytest.raises(InvalidInput, match="row 2: the label can be read in several ways"):
        table.masked({"a": ["x", "{x|y}"]})
    with pytest.raises(InvalidInput, match="several ways"):
        Table.from_columns({"a": [1, "1", 2]}, [Attribute(name="a")]).masked({"a": ["{1|2}"]})


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["S", "XL"], "Column 'size', row 2: neither a value"),
        (["[M,S]", "S"], "row 1: a range has two ends"),
        (["S", "[S,M,L]"], "row 2: a range has two ends|row 2: the set names"),
        (["S", None], "row 2: the value is not in the domain"),
        (["S", 3], "row 2: the value is not in the domain"),
        (["S", "{S|XL}"], "row 2: the set names a value"),
        (["S", "{}"], "row 2: the set names a value"),
    ],
)
def test_what_is_not_in_the_domain_is_named_by_column_and_row(cells, said):
    with pytest.raises(InvalidInput, match=said):
        shirts().masked({"size": cells})


def test_a_continuous_attribute_alone_takes_new_values():
    table = Table.from_columns({"income": [1.5, 3.0, None], "age": [1, 3, 5]})
    masked = table.masked({"income": [2.25, "[1.5,3.0]", None]})
    assert masked.attribute("income").domain == (1.5, 2.25, 3.0, None)
    assert masked.values("income") == [2.25, "[1.5,3.0]", None]
    assert table.attribute("income").domain == (1.5, 3.0, None)
    assert table.masked({"income": [3.0, 3.0, 1.5]}).attribute("income") == table.attribute("income")
    with pytest.raises(InvalidInput, match="Column 'age', row 1"):
        table.masked({"age": [2, 3, 5]})


def test_columns_are_read_as_numbers_where_each_cell_is_one():
    table = Table.from_columns({"a": [2, 1.5, 2], "b": [1, None, 2]})
    assert table.numbers("a").tolist() == [2.0, 1.5, 2.0]
    with pytest.raises(InvalidInput, match="Column 'b', row 2: a number is needed"):
        table.numbers("b")


def test_a_range_of_a_nominal_attribute_is_refused():
    with pytest.raises(InvalidInput, match="a range needs an order"):
        shirts().masked({"colour": ["[blue,red]"]})


def test_errors_hold_no_value_of_a_person():
    with pytest.raises(InvalidInput) as error:
        shirts().masked({"size": ["Mary Smith"]})
    assert "Mary" not in str(error.value)


def test_bad_tables_are_refused():
    with pytest.raises(InvalidInput, match="same number of rows; here they have: a 1, b 2"):
        Table.from_columns({"a": [1], "b": [1, 2]})
    with pytest.raises(UnknownName, match="did you mean 'size'"):
        Table.from_columns({"size": ["S"]}, [Attribute(name="sizes")])
    with pytest.raises(UnknownName, match="No column is called 'colours'; did you mean 'colour'"):
        shirts().masked({"colours": ["red"]})
    with pytest.raises(UnknownName):
        shirts().with_codes(sizes=np.array([0]))
    with pytest.raises(InvalidInput, match="ordinal and holds text"):
        Table.from_columns({"a": ["x"]}, [Attribute(name="a", kind="ordinal")])
    with pytest.raises(InvalidInput, match="row 2: the value is not in the domain"):
        Table.from_columns({"size": ["S", "XL"]}, [SIZES])
    with pytest.raises(InvalidInput, match="row 1: the code is not in the domain"):
        shirts().with_codes(size=np.array([3, 0, 0, 0]))
    with pytest.raises(InvalidInput, match="whole numbers"):
        shirts().with_codes(size=np.array([0.5, 0, 0, 0]))
    with pytest.raises(InvalidInput, match="row 2: a cell holds one plain value, not a list"):
        Table.from_columns({"a": ["x", ["y"]]})


def test_bad_attributes_are_refused():
    with pytest.raises(InvalidParameter, match="kind must be one of nominal, ordinal, continuous, not 'numeric'"):
        Attribute(name="a", kind="numeric")
    with pytest.raises(InvalidParameter, match="role must be one of"):
        Attribute(name="a", role="key")
    with pytest.raises(InvalidInput, match="appears twice"):
        Attribute(name="a", domain=("x", "x"))
    with pytest.raises(InvalidInput, match="numbers only"):
        Attribute(name="a", kind="continuous", domain=("x",))


def test_sets_can_be_given_as_codes():
    table = shirts().with_labels("size", np.array([3, 4, 5, 1]), [(1, 0), (0, 1), (2,)])
    assert table.values("size") == ["[S,M]", "[S,M]", "L", "M"]
    assert table.rows(np.array([2, 0])).values("size") == ["L", "[S,M]"]


def test_columns_are_found_by_role():
    quasi = Attribute(name="a", role="quasi-identifier")
    assert Table.from_columns({"a": ["x"], "b": ["y"]}, {"a": quasi}).with_role("quasi-identifier") == ("a",)


@given(st.data())
def test_every_set_of_a_domain_comes_back_from_its_label(data):
    size = data.draw(st.integers(2, 8))
    kind = data.draw(st.sampled_from(["nominal", "ordinal"]))
    attribute = Attribute(name="a", kind=kind, domain=tuple(f"v {number}" for number in range(size)))
    members = tuple(sorted(data.draw(st.sets(st.integers(0, size - 1), min_size=2))))
    assert LabelReader(attribute).members(write_label(attribute, members)) == members


cells = st.one_of(st.none(), st.sampled_from(["x", "y", "", "*", "[x,y]"]), st.integers(-2, 3))


@given(st.lists(cells, max_size=8))
def test_plain_columns_come_back(column):
    table = Table.from_columns({"a": column})
    assert table.values("a") == column
    assert table.masked({"a": column}).values("a") == column


def test_the_package_offers_its_table():
    import tabular

    assert (tabular.Table, tabular.Attribute) == (Table, Attribute)
    with pytest.raises(AttributeError, match="no attribute 'Tables'"):
        tabular.Tables  # noqa: B018


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
