import re

import pytest

from tabular.attributes import Attribute
from tabular.errors import InvalidInput
from tabular.files.table_files import read_file
from tabular.hierarchies import build, hierarchy_files, read_hierarchies, read_hierarchy, write_hierarchy
from tabular.table import Table

AGE = Attribute(name="age", kind="ordinal", domain=(1, 2))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("1;young;*\n2;young;*\n", [["1", "young", "*"], ["2", "young", "*"]]),
        ("2,*\r\n1,*", [["1", "*"], ["2", "*"]]),
        ("1;[1,2];*\n2;[1,2];*\n3;[3,4];*\n", [["1", "[1,2]", "*"], ["2", "[1,2]", "*"]]),
        ('"1"; "a b";*\n 2;"a b"; *\n', [["1", "a b", "*"], ["2", "a b", "*"]]),
        ("1.0;*\n2.0;*\n", [["1", "*"], ["2", "*"]]),
    ],
)
def test_a_file_is_one_row_a_value_and_one_column_a_level(tmp_path, text, rows):
    path = tmp_path / "age.csv"
    path.write_text(text)
    assert read_hierarchy(path, AGE).rows() == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "age.csv: the file is empty."),
        (
            "1;a;x;*\n2;a;y;*\n",
            "age.csv, line 2: Hierarchy of age, level 2: 'a' lies under both a label of one value and a label of one "
            "value; each",
        ),
        ("1;*\n\n2;+\n", "age.csv, line 3: Hierarchy of age, level 1: the last level must be one label for all"),
        ("1;a;*\n2;*\n", "age.csv, line 2: this line has 2 cells, the first 3."),
        ("1;a;*\n1;b;*\n2;a;*\n", "age.csv, line 2: Hierarchy of age: its value has another row above."),
        ("1;*\n3;*\n", "age.csv: Hierarchy of age: 1 value of the column is not in it."),
        ('1;"*\n2;*\n', "age.csv, line 1: this is no row of a table: a quote opens here and is never closed."),
        ("1\n2\n", "age.csv, line 2: Hierarchy of age, level 0: the last level must be one label for all"),
    ],
)
def test_a_file_that_is_no_hierarchy_is_refused_with_its_line(tmp_path, text, message):
    path = tmp_path / "age.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=re.escape(message)):
        read_hierarchy(path, AGE)


def test_a_missing_value_has_a_row_of_its_own(tmp_path):
    path = tmp_path / "a.csv"
    column = Attribute(name="a", domain=("x", None))
    path.write_text("x;letter;*\n;none;*\n")
    assert read_hierarchy(path, column).rows() == [["x", "letter", "*"], ["", "none", "*"]]
    path.write_text("x;letter;*\n?;none;*\n")
    assert read_hierarchy(path, column).levels[1].labels == ("letter", "none")
    path.write_text("x;*\n")
    with pytest.raises(InvalidInput, match="it does not place missing values"):
        read_hierarchy(path, column)


def test_files_are_found_by_the_name_of_the_column(tmp_path):
    for name in ("adult_hierarchy_age.csv", "salary_class.csv", "class.csv", "notes.txt"):
        (tmp_path / name).write_text("x;*\n")
    columns = ["age", "class", "salary_class", "sex"]
    found = {name: path.name for name, path in hierarchy_files(tmp_path, columns).items()}
    assert found == {"age": "adult_hierarchy_age.csv", "class": "class.csv", "salary_class": "salary_class.csv"}
    (tmp_path / "old_age.csv").write_text("x;*\n")
    with pytest.raises(InvalidInput, match=r"adult_hierarchy_age\.csv and old_age\.csv could both be"):
        hierarchy_files(tmp_path, columns)
    with pytest.raises(InvalidInput, match="there is no such folder"):
        hierarchy_files(tmp_path / "nothing", columns)


def test_a_column_without_a_file_is_named(tmp_path):
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n")
    table = Table.from_columns({"sex": ["f", "m"], "age": [1, 2]})
    assert read_hierarchies(tmp_path, table, ["sex"])["sex"].height == 1
    with pytest.raises(InvalidInput, match=r"no hierarchy for 'age', age\.csv or \*_age\.csv; there is sex\.csv"):
        read_hierarchies(tmp_path, table, ["sex", "age"])


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "x.csv"
    column = Attribute(name="x", kind="ordinal", domain=("a;b", '"c"', "d", "e\nf", "g", None))
    made = build(column, "balanced", fan_out=2)
    write_hierarchy(path, made)
    assert path.read_text().splitlines()[0] == '"a;b";"[a;b,""c""]";"[a;b,e'
    assert read_hierarchy(path, column).rows() == made.rows()


@pytest.mark.shared_data
def test_the_hierarchies_of_arx_are_read_as_they_are(shared_folder):
    folder = shared_folder / "adult" / "arx"
    table = read_file(folder / "adult.csv").table
    found = read_hierarchies(folder, table, table.names)
    # The heights of the lattice of 17,920 nodes (Table 1(a) of the PBG-EA paper, without the two constants).
    heights = {name: hierarchy.height for name, hierarchy in found.items()}
    assert heights == {
        "sex": 1,
        "age": 4,
        "race": 1,
        "marital-status": 2,
        "education": 3,
        "native-country": 2,
        "workclass": 2,
        "occupation": 2,
        "salary-class": 1,
    }
    for name, hierarchy in found.items():
        rows = {row[0]: row for row in hierarchy.rows()}
        for line in (folder / f"adult_hierarchy_{name}.csv").read_text().splitlines():
            cells = line.split(";")
            assert rows.get(cells[0], cells) == cells
