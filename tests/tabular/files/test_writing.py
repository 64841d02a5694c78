import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter, NameTaken
from tabular.files.csv_tables import plain
from tabular.files.dialect import Dialect, DialectOptions
from tabular.files.reading import read_file
from tabular.files.sniffing import found_dialect
from tabular.files.writing import write_csv_table, write_table
from tabular.table import Table
from tests.tabular.csv_files import dialects, rows_of_cells, written

pytestmark = pytest.mark.usefixtures("both_readers")


def options_of(dialect):
    """All that is found out about a dialect, said."""
    return DialectOptions(
        delimiter=dialect.delimiter,
        quote=dialect.quote,
        encoding=dialect.encoding,
        header=dialect.header,
        spaced=dialect.spaced,
        decimal=dialect.decimal,
    )


def cells_of(found):
    """The cells of a file that was read, as they stand there; a missing value as its marker."""
    columns = [
        [found.markers.get(name, "") if value is None else str(value) for value in found.table.values(name)]
        for name in found.table.names
    ]
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("round") / "trip.csv"


@given(dialects(), rows_of_cells())
@example(Dialect(delimiter=" "), [[" \n"], ["x"]])
@example(Dialect(), [["1.5", ""], ["1.50", "NA"], ["01", "?"]])
def test_a_round_trip_changes_no_cell(file, dialect, rows):
    header = [[f"n{place}" for place in range(len(rows[0]))]] if dialect.header else []
    file.write_bytes(written([*header, *rows], dialect))
    found = read_file(file, options=options_of(dialect))
    # What makes a cell harmless is taken away on reading.
    assert cells_of(found) == [[plain(cell) for cell in row] for row in rows]
    write_table(found.table, file, like=found, overwrite=True)
    again = read_file(file, options=options_of(found.dialect))
    assert cells_of(again) == cells_of(found)
    assert again.table.to_columns() == found.table.to_columns()
    assert again.dialect == found.dialect
    assert again.markers == found.markers


@given(rows_of_cells(), st.sampled_from([",", ";", "\t", "|"]), st.sampled_from(["\n", "\r\n"]))
def test_another_reader_of_csv_sees_the_same_cells(file, rows, delimiter, line_end):
    dialect = Dialect(delimiter=delimiter, line_end=line_end, header=False)
    file.write_bytes(written(rows, dialect))
    found = read_file(file, options=options_of(dialect))
    write_table(found.table, file, like=found, overwrite=True)
    theirs = list(csv.reader(io.StringIO(file.read_bytes().decode(), newline=""), delimiter=delimiter, strict=True))
    assert [[plain(cell) for cell in row] for row in theirs] == cells_of(found)


@given(rows_of_cells(min_rows=2))
def test_no_cell_is_one_that_a_spreadsheet_would_run(file, rows):
    dialect = Dialect(header=False)
    file.write_bytes(written(rows, dialect))
    found = read_file(file, options=options_of(dialect))
    write_table(found.table, file, like=found, overwrite=True)
    for row in csv.reader(io.StringIO(file.read_bytes().decode(), newline="")):
        for cell in row:
            if cell.startswith(("=", "+", "-", "@", "\t", "\r")):
                # Numbers are, and what stands for no value is written as it was.
                assert cell in found.markers.values() or float(cell) is not None


@pytest.mark.shared_data
def test_every_csv_file_of_the_shared_data_comes_back(shared_folder, tmp_path):
    others = ("adult/adult.data", "adult/adult.test", "german_credit/german.data", "solar_flare/flare.data1")
    paths = [*sorted(shared_folder.rglob("*.csv")), *(shared_folder / other for other in others)]
    assert len(paths) > 20
    for path in paths:
        found = read_file(path)
        copy = tmp_path / "copy.csv"
        write_table(found.table, copy, like=found, overwrite=True)
        again = read_file(copy)
        assert again.dialect == found.dialect, path
        assert again.table.to_columns() == found.table.to_columns(), path
        assert cells_by_another_reader(copy, found.dialect) == cells_by_another_reader(path, found.dialect), path


def cells_by_another_reader(path, dialect):
    text = path.read_bytes().decode(dialect.encoding)
    if dialect.delimiter == " ":
        return [line.split() for line in text.splitlines()]
    lines = io.StringIO(text, newline="")
    rows = csv.reader(lines, delimiter=dialect.delimiter, skipinitialspace=dialect.spaced)
    return [[plain(cell) for cell in row] for row in rows if row]


def csv_text(table, like=None):
    file = io.BytesIO()
    write_csv_table(file, table, like)
    return file.getvalue().decode()


def test_labels_and_missing_values_are_written():
    size = Attribute(name="size", kind="ordinal", domain=("S", "M", "L"))
    table = Table.from_columns({"size": ["S", "L", None], "n": [-1, 2.5, None]}, [size])
    masked = table.masked({"size": ["[S,M]", "*", None], "n": [-1, 2.5, None]})
    assert csv_text(masked) == 'size,n\n"[S,M]",-1\n*,2.5\n,\n'


def test_what_stands_for_no_value_is_no_value_of_the_column():
    table = Table.from_columns({"a": ["", None, "x", "?"]})
    assert csv_text(table) == 'a\n""\nNULL\nx\n?\n'


def test_a_new_number_has_the_decimal_mark_of_the_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a;b\n1,50;x\n2,5;y\n")
    found = read_file(path)
    assert found.dialect.decimal == ","
    assert csv_text(found.table.masked({"a": [2.25, 1.5], "b": ["x", "y"]}), found) == "a;b\n2,25;x\n1,50;y\n"


def test_a_file_without_a_header_gets_one_when_columns_are_left_out(tmp_path):
    path = tmp_path / "x.data"
    path.write_text("1 a\n2 b\n2 b\n")
    found = read_file(path)
    assert csv_text(found.table, found) == "1 a\n2 b\n2 b\n"
    less = Table(found.table.attributes[1:], {"column2": found.table.columns["column2"]})
    assert csv_text(less, found) == "column2\na\nb\nb\n"


def test_headings_come_back_as_they_stood(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(",age \n0,30\n1,40\n")
    found = read_file(path)
    assert found.table.names == ("column1", "age")
    assert csv_text(found.table, found) == ',"age "\n0,30\n1,40\n'


def test_a_cell_that_the_dialect_cannot_hold_is_refused_and_nothing_is_written(tmp_path):
    path, out = tmp_path / "x.csv", tmp_path / "out.csv"
    path.write_bytes("a;b\né;1\nö;2\n".encode("cp1252"))
    found = read_file(path)
    assert found.dialect.encoding == "cp1252"
    strange = Table.from_columns({"a": ["東", "x"], "b": [1, 2]})
    with pytest.raises(InvalidInput, match="'東' cannot be written as cp1252"):
        write_table(strange, out, like=found)
    bare = read_file(path, options=DialectOptions(quote="none"))
    with pytest.raises(InvalidParameter, match="A cell needs quotes"):
        write_table(Table.from_columns({"a": ["x;y", "x"], "b": [1, 2]}), out, like=bare)
    with pytest.raises(InvalidInput, match="without columns"):
        write_table(Table((), {}), out)
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_replaced_only_when_asked(tmp_path):
    table = Table.from_columns({"a": [1, 2]})
    path = tmp_path / "x.csv"
    write_table(table, path)
    with pytest.raises(NameTaken):
        write_table(table, path)
    write_table(table, path, overwrite=True)
    assert path.read_text() == "a\n1\n2\n"


def test_standard_output_takes_a_table(capsysbinary):
    write_table(Table.from_columns({"a": ["x", "y"]}), "-")
    assert capsysbinary.readouterr().out == b"a\nx\ny\n"


def test_a_written_file_is_found_to_be_what_it_was_written_as():
    labels = Table.from_columns({"a": ["[1,2]", "[1,3]"], "b": ["x;y", "p|q"]})
    text = csv_text(labels)
    assert found_dialect(text, "utf-8", DialectOptions()).dialect == Dialect()


@pytest.mark.parametrize("name", ["t.xlsx", "T.JSON", "t.csv.gz"])
def test_a_name_of_another_format_is_refused(tmp_path, name):
    with pytest.raises(InvalidParameter, match="as CSV or Parquet"):
        write_table(Table.from_columns({"a": [1, 2]}), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
