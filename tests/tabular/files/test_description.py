from types import SimpleNamespace

import pytest

from tabular.files.csv_tables import DialectOptions
from tabular.files.description import described_columns
from tabular.files.schema import Description, Schema
from tabular.files.table_files import read_file

PEOPLE = ["Ann", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ida", "Jo"]


@pytest.fixture
def described(tmp_path):
    """The columns of a file, by name."""

    def describing(header, rows, schema=None, **options):
        path = tmp_path / "x.csv"
        path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
        found = read_file(path, schema=schema, options=DialectOptions(**options))
        return {column["name"]: SimpleNamespace(**column) for column in described_columns(found)}

    return describing


def test_a_column_is_described_by_what_it_holds(described):
    rows = [(20 + place % 3, "?" if place == 0 else "fm"[place % 2]) for place in range(10)]
    columns = described("age,sex", rows)
    age, sex = columns["age"], columns["sex"]
    assert (age.kind, age.holds, age.values, age.missing, age.proposed) == (
        "ordinal",
        "whole numbers",
        3,
        0,
        "quasi-identifier",
    )
    assert (age.most_frequent, age.most_frequent_rows, age.lowest, age.highest) == ("20", 4, "20", "22")
    assert (sex.kind, sex.values, sex.missing, sex.missing_marker) == ("nominal", 2, 1, "?")
    assert (sex.most_frequent, sex.most_frequent_rows, sex.lowest) == ("m", 5, None)


def test_nothing_of_a_column_that_says_who_somebody_is_is_shown(described):
    columns = described("who,x", [(name, 1) for name in PEOPLE])
    who = columns["who"]
    assert (who.proposed, who.most_frequent, who.lowest) == ("identifier", None, None)
    assert who.doubts[0].startswith("all values are distinct, so none is shown")
    # One name twice changes nothing but the word for it.
    again = described("who,x", [(name, 1) for name in [*PEOPLE, *PEOPLE[:1]]])["who"]
    assert (again.proposed, again.most_frequent) == ("identifier", None)
    assert again.doubts[0] == "10 of 11 values are distinct, so none is shown"
    for column in (who, again):
        assert not any(name in str(column) for name in PEOPLE)


def test_what_few_rows_have_is_not_shown(described):
    incomes = [10, 10, 10, 20, 20, 20, 99999, 1, 2, 2]
    income = described("income,x", [(income, 1) for income in incomes])["income"]
    assert (income.lowest, income.highest, income.proposed) == ("10", "20", "sensitive")
    rare = described("a,x", [(text, 1) for text in "wwxxyy"])["a"]
    assert rare.most_frequent is None


def test_numbers_that_count_rows_are_taken_for_names_of_rows(described):
    columns = described("a,b,c", [(100 + place, place * 1000, place / 7) for place in range(1, 10)])
    assert [columns[name].proposed for name in "abc"] == ["identifier", None, None]
    assert all(column.doubts[0].startswith("all values are distinct") for column in columns.values())


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("AGE", "quasi-identifier"),
        ("birthDate", "quasi-identifier"),
        ("native-country", "quasi-identifier"),
        ("diagnosis", "sensitive"),
        ("patient_id", None),
        ("average", None),
    ],
)
def test_a_role_is_proposed_by_name(described, name, role):
    assert described(f"{name},x", [("ab"[place % 2], 1) for place in range(8)])[name].proposed == role


def test_what_a_schema_says_is_neither_proposed_nor_doubted(described):
    schema = Schema(attributes={"age": Description(kind="nominal", role="insensitive", title="Years")})
    age = described("age,x", [(place % 3, 1) for place in range(9)], schema)["age"]
    assert (age.kind, age.role, age.proposed, age.title, age.doubts) == ("nominal", "insensitive", None, "Years", [])


@pytest.mark.parametrize(
    ("cells", "doubt"),
    [
        ([1, 2, 1, 2], "few whole numbers may as well be codes"),
        (["1.5", "1.50", "2", "2"], "some numbers are written in two ways"),
        (["1", "2", "3", "x"], "3 of its 4 values are numbers"),
        (["NA", "x", "x", "x"], "a text that often stands for no value"),
        (["07", "12", "07", "12"], "digits with zeros in front"),
        ([" x", "y", "y", "y"], "some values begin or end with spaces"),
    ],
)
def test_a_guess_is_told(described, cells, doubt):
    columns = described("a,b", [(cell, "z") for cell in cells])
    assert any(doubt in said for said in columns["a"].doubts)
