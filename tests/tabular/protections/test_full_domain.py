import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.anonymity import Anonymity
from tabular.attributes import Attribute
from tabular.errors import InvalidHierarchy, InvalidParameter, NoSolution, UnknownName
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.protections import protect
from tabular.table import Table, suppression_limit
from tests.tabular.mixed_tables import mixed_tables

AGE = Hierarchy.of("age", [17, 25, 31, 47], [["young", "young", "old", "old"], ["*"] * 4])
SEX = Hierarchy.of("sex", ["f", "m"], [["*", "*"]])
PEOPLE = Table.from_columns(
    {"age": [17, 25, 31, 47, 47, 31, 17], "sex": ["f", "f", "m", "m", "m", "f", "f"], "wage": [1, 2, 3, 4, 5, 6, 7]},
    [Attribute(name="age", kind="ordinal"), Attribute(name="sex")],
)
HIERARCHIES = {"age": AGE, "sex": SEX}


def masked(**parameters):
    parameters = {"hierarchies": HIERARCHIES, **parameters}
    return protect(PEOPLE, "full-domain", ["age", "sex"], rng=np.random.default_rng(0), **parameters)


def test_rows_of_small_classes_are_suppressed_and_the_others_generalised():
    result = masked(k=3, levels="1,0", suppression=0.15)
    young, old = "<=30", ">=30"
    assert result.to_columns() == {
        "age": [young, young, old, old, old, "*", young],
        "sex": ["f", "f", "m", "m", "m", "*", "f"],
        "wage": PEOPLE.values("wage"),
    }
    suppressed = np.array([label == "*" for label in result.values("age")])
    assert Anonymity.of(result, ["age", "sex"], suppressed=suppressed).k == 3


def test_where_more_would_have_to_be_suppressed_it_says_how_many():
    with pytest.raises(NoSolution) as raised:
        masked(k=3, levels="1,0", suppression=0.1)
    assert str(raised.value) == (
        "No release with k=3 exists at the levels age=1, sex=0: 1 of 7 records lie in smaller classes, and 0 may be "
        "suppressed. Raise the levels or the suppression, or lower k."
    )


def test_levels_can_be_given_in_several_ways_and_are_the_last_if_not():
    for levels in ("1,0", "age=1,sex=0", "sex=0, age=1", (1, 0), {"age": 1, "sex": 0}):
        assert masked(k=1, levels=levels).values("age")[0] == "<=30"
        assert masked(k=1, levels=levels).values("sex") == PEOPLE.values("sex")
    assert masked(k=7).values("age") == ["*"] * 7
    assert masked(k=3, levels="age=1").values("sex") == ["*"] * 7


def test_a_column_without_a_hierarchy_has_its_values_or_any():
    assert masked(k=1, levels="0,0", hierarchies=None).to_columns() == PEOPLE.to_columns()
    assert masked(k=1, levels="1,0", hierarchies={"sex": SEX}).values("age") == ["*"] * 7


def test_a_hierarchy_of_more_values_is_fitted_to_the_column():
    wider = Hierarchy.of("age", [16, 17, 25, 31, 47, 80], [["a", "a", "a", "b", "b", "b"], ["*"] * 6])
    assert masked(k=1, levels="1,0", hierarchies={"age": wider}).values("age")[:3] == ["<=30", "<=30", ">=30"]


@pytest.mark.parametrize(
    ("parameters", "error", "text"),
    [
        ({"levels": "1"}, InvalidParameter, "levels must give a level for each of 2 columns, not '1'"),
        ({"levels": "1,x"}, InvalidParameter, "levels must give whole numbers, not '1,x'"),
        ({"levels": (1.5, 0)}, InvalidParameter, "levels must give whole numbers"),
        ({"levels": "3,0"}, InvalidParameter, "levels must be from 0 to 2 for 'age', not 3"),
        ({"levels": "ag=1"}, UnknownName, "did you mean 'age'"),
        ({"hierarchies": {"agee": AGE}}, UnknownName, "did you mean 'age'"),
        ({"hierarchies": {"sex": AGE}}, InvalidHierarchy, "2 values of the column are not in it."),
        ({"hierarchies": "folder"}, InvalidParameter, "must be a mapping, as read_hierarchies gives"),
        ({"suppression": 1.5}, InvalidParameter, "suppression must be from 0 to 1"),
        ({"k": 8}, NoSolution, "the table has 7 records"),
    ],
)
def test_what_cannot_be_done_is_said(parameters, error, text):
    with pytest.raises(error) as raised:
        masked(**parameters)
    assert text in str(raised.value)


def test_the_limit_of_adult_is_301_rows():
    assert suppression_limit(0.01, 30162) == 301
    assert [suppression_limit(share, 100) for share in (0.29, 0.57, 1, 0)] == [29, 57, 100, 0]


@given(mixed_tables(), st.data())
def test_k_holds_for_what_is_left_and_no_more_is_suppressed_than_lies_in_small_classes(table, data):
    k = data.draw(st.integers(1, len(table)))
    levels = [data.draw(st.integers(0, 1)) for _ in table.names]
    kept = [name for name, level in zip(table.names, levels, strict=True) if not level]
    result = protect(
        table, "full-domain", table.names, rng=np.random.default_rng(0), k=k, levels=levels, suppression=1.0
    )
    rows = list(zip(*(table.columns[name].tolist() for name in kept), strict=True)) or [()] * len(table)
    for row in range(len(table)):
        small = rows.count(rows[row]) < k
        for name in table.names:
            label = "*" if small or name not in kept else table.values(name)[row]
            only = len(table.attribute(name).domain) == 1
            assert result.values(name)[row] == (table.values(name)[row] if only else label)
