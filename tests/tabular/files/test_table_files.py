import csv
import io
import re
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter, NameTaken, UnknownName
from tabular.files.csv_tables import Dialect, DialectOptions, plain
from tabular.files.csv_texts import found_dialect
from tabular.files.parquet import write_parquet
from tabular.files.schema import Description, Schema
from tabular.files.table_files import read_file, read_masked, write_csv_table, write_table
from tabular.table import Table
from tests.tabular.csv_files import dialects, rows_of_cells, written

pytestmark = pytest.mark.usefixtures("both_readers")


@pytest.fixture
def read(tmp_path):
    """Read text as a file."""

    def reading(text, schema=None, **options):
        path = tmp_path / "x.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_file(path, schema=schema, options=DialectOptions(**options))

    return reading


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"a,b\n1,x\n", {}),
        (b"a;b\r\n1;x\r\n", {"delimiter": "semicolon", "line_end": "CRLF"}),
        (b"a\tb\n1\tx, y\n", {"delimiter": "tab"}),
        (b"a|b\r1|x\r", {"delimiter": "pipe", "line_end": "CR"}),
        (b"A11  6 A34\nA12 48 A32\n", {"delimiter": "blanks", "header": False}),
        (b"39, x y, <=50K\n50, z, >50K\n", {"space_after_delimiter": True, "header": False}),
        (b'"a","b"\n"1","x;y;z"\n', {}),
        (b"'a','b'\n'1','x,y'\n", {"quote": "single"}),
        (b"name,b\nO'Neill's,1\nD'Arcy's,2\n", {}),
        (b"a;b\n1,5;2,25\n3;4,0\n", {"delimiter": "semicolon", "decimal": ","}),
        (b"1,5;2,5\n1,5;3,5\n", {"delimiter": "semicolon", "decimal": ",", "header": False}),
        ("a,b\né,1\n".encode(), {}),
        ("a,b\né,1\n".encode("utf-8-sig"), {"encoding": "utf-8-sig"}),
        ("a,b\né,1\n".encode("utf-16"), {"encoding": "utf-16"}),
        ("\ufeffa,b\né,1\n".encode("utf-16-be"), {"encoding": "utf-16"}),
        ("a,b\né,1\n".encode("cp1252"), {"encoding": "cp1252"}),
        (b"a,b\n\x81\xe9,1\n", {"encoding": "iso8859-1"}),
        (b"1,2,3\n5,6,7\n", {"header": True}),
        (b"5,2\n5,6\n", {"header": False}),
        (b"id,name\nx1,Ann\nx2,Bo\n", {}),
        (b"f,Ann\nm,Bo\nf,Cy\n", {"header": False}),
        (b"only\nx\ny\n", {}),
        (b"\n\n  \na,b\n1,x\n", {}),
    ],
)
def test_how_a_file_is_written_is_found_out(read, data, found):
    plain = {
        "delimiter": "comma",
        "quote": "double",
        "encoding": "utf-8",
        "line_end": "LF",
        "header": True,
        "space_after_delimiter": False,
        "decimal": ".",
    }
    shown = read(data).dialect.shown()
    if shown["encoding"] == "latin-1":
        shown["encoding"] = "iso8859-1"
    assert shown == plain | found


@pytest.mark.parametrize(
    ("data", "unsure"),
    [
        (b"a,b\n1,x\n", ()),
        (b"New York\nLos Angeles\n", ("delimiter", "header")),
        (b"1,2,3\n5,6,7\n", ("header",)),
        (b"id,name\nx1,Ann\nx2,Bo\n", ("header",)),
        ("a,b\né,1\n".encode("cp1252"), ("encoding",)),
        (b"a;b,c\n1;2,3\n", ("delimiter",)),
    ],
)
def test_a_guess_is_called_one(read, data, unsure):
    assert read(data).unsure == unsure


def test_every_finding_can_be_overruled(read):
    assert read("a;b\n1;2\n", delimiter="comma").table.names == ("a;b",)
    assert read("a,b\n1,2\n", header=False).table.names == ("column1", "column2")
    assert read("1,2\n1,3\n", header=True).table.names == ("1", "2")
    assert read("'a','b'\n'1','2'\n", quote="double").table.names == ("'a'", "'b'")
    assert read('a,b\n"x,1\n', quote="none").table.values("a") == ['"x']
    assert read("a\né\n".encode(), encoding="latin-1").table.values("a") == ["Ã©"]
    assert read("a;b\n1,5;2\n", decimal=".").table.values("a") == ["1,5"]
    assert read("a, b\n1, 2\n", spaced=False).table.names == ("a", "b")
    assert read("a,b\n1,-9\nx,2\n", missing=("-9", "x")).table.to_columns() == {"a": [1, None], "b": [None, 2]}
    assert read("a,b\n?,\n1,2\n", missing=()).table.values("b") == ["", "2"]


def test_a_schema_says_what_options_do_not(read):
    schema = Schema(columns=("x", "y"), options=DialectOptions(delimiter=";", missing=("-",)))
    found = read("1;-\n2;3\n", schema)
    assert found.table.to_columns() == {"x": [1, 2], "y": [None, 3]}
    # Where the first line holds the names it is the header, whatever order they stand in.
    assert read("y;x\n1;-\n", schema).table.names == ("y", "x")
    with pytest.raises(InvalidInput, match="line 1: this line has 3 cells, the schema 2 columns"):
        read("7;8;9\n", schema)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (["1", "?", "2"], [1, None, 2]),
        (["1", "", "2"], [1, None, 2]),
        (["1", "NA", "2"], [1, None, 2]),
        (["1", "-", "2"], [1, None, 2]),
        (["2024-01-31", "NA"], ["2024-01-31", None]),
        (["x", "?", "y"], ["x", None, "y"]),
        (["x", "NULL"], ["x", None]),
        # Namibia, and a dash among words, are values.
        (["NA", "ZA", "DE"], ["NA", "ZA", "DE"]),
        (["-", "x"], ["-", "x"]),
        (["None", "x"], ["None", "x"]),
        # One text a column, the most frequent, so that it can be written back.
        (["", "", "?", "x"], [None, None, "?", "x"]),
        (["?", "NA"], ["?", "NA"]),
        (["", ""], [None, None]),
        (["?", "?"], ["?", "?"]),
    ],
)
def test_what_stands_for_no_value_is_found_by_what_else_the_column_holds(read, column, values):
    text = "other,a\n" + "".join(f"{place},{cell}\n" for place, cell in enumerate(column))
    assert read(text).table.values("a") == values


def test_a_column_of_nothing_else_goes_by_the_other_columns(read):
    assert read("a,b\n1,?\n?,?\n").table.to_columns() == {"a": [1, None], "b": [None, None]}


@pytest.mark.parametrize(
    ("column", "kind", "form"),
    [
        (["1", "2"], "ordinal", "whole numbers"),
        (["1.0", "2.0"], "ordinal", "whole numbers"),
        (["1.5", "2"], "continuous", "numbers"),
        (["007", "123"], "nominal", "number codes"),
        (["1234567890123456789", "2"], "nominal", "number codes"),
        (["2024-01-31", "1999-12-01"], "ordinal", "dates"),
        (["2024-13-31", "1999-12-01"], "nominal", "text"),
        (["1", "x"], "nominal", "text"),
        (["", ""], "nominal", "nothing"),
        (["true", "false"], "nominal", "text"),
    ],
)
def test_the_kind_of_a_column_is_found_by_what_it_holds(read, column, kind, form):
    found = read("a,b\n" + "".join(f"{cell},x\n" for cell in column))
    assert (found.table.attribute("a").kind, found.forms["a"]) == (kind, form)
    assert [None if text == "" else text for text in column] == [
        None if value is None else str(value) for value in found.table.values("a")
    ]


def test_a_domain_is_in_order_and_missing_is_last(read):
    assert [str(value) for value in read("a\n10\n9\n\n9.50\n?\n9.5\n").table.attribute("a").domain] == [
        "9",
        "9.5",
        "9.50",
        "10",
        "None",
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "x.csv: the file is empty."),
        (b" \n \n", "x.csv: the file is empty."),
        (b"a,b\n1,2\n\n3\n", "x.csv, line 4: this line has 1 cells, the header 2."),
        (b"a,b\n1,2\n  \n1,2,3\n", "x.csv, line 4: this line has 3 cells, the header 2."),
        (b"1,2\n1,2\n3,4,5\n", "x.csv, line 3: this line has 3 cells, the first line 2."),
        (b'a,b\n1,"2\n3,4\n', "x.csv, line 2: this is no row of a table: a quote opens here and is never closed."),
        (b'a,b\n1,2\n"x"y,4\n', "x.csv, line 3: this is no row of a table: something stands between a closing quote"),
        (b'a b\n1 2\n"x"y 4\n', "x.csv, line 3: this is no row of a table: something stands between a closing quote"),
        (b'a b\n1 2\n"x y 4\n\n', "x.csv, line 3: this is no row of a table: a quote opens here and is never closed."),
        (b'a,b\n"1\n\n",2\n3\n', "x.csv, line 5: this line has 1 cells, the header 2."),
        (
            b"a,b,a\n1,2,3\n",
            "x.csv, line 1: column 3 has the name of another one; if it holds no names, set header to false.",
        ),
        (b"age,age\n31,40\n32,41\n", "x.csv, line 1: column 2 has the name of another one; if it holds no names"),
        (b"a,b\n\xc3\xa9,1\n\xff,2\n", "x.csv, line 3: this is not UTF-8 text; encoding says what it is."),
        (b"a,b\n1,\x002\n", "x.csv, line 2: there is a NUL character; this is no table as text."),
        (b"PK\x03\x04", "x.csv: this is a zip file or a spreadsheet; give the table in it as CSV or Parquet."),
        (b"\x1f\x8b", "x.csv: this is a gzip file"),
        (b"PAR1", "x.csv: this Parquet file cannot be read"),
        (b"a,b\n1," + b"2" * 200_000 + b'"\n"",3\n', "x.csv, line 2: a cell has more than 131,072 characters"),
    ],
)
def test_a_broken_file_is_named_with_the_line(read, data, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        read(data)


def test_a_file_that_is_no_file_is_named(tmp_path):
    with pytest.raises(InvalidInput, match="No such file"):
        read_file(tmp_path / "nothing.csv")
    with pytest.raises(InvalidInput, match="Is a directory"):
        read_file(tmp_path)
    path = tmp_path / "x.parquet"
    path.write_text("a,b\n")
    with pytest.raises(InvalidInput, match=r"x\.parquet: this is no Parquet file"):
        read_file(path)


def test_a_cell_a_schema_does_not_allow_is_named_by_its_line_and_not_shown(read):
    order = Schema(attributes={"a": Description(kind="ordinal", domain=("low", "high"))})
    with pytest.raises(InvalidInput, match=r"x\.csv, line 4: the cell of column 'a' is not in the domain\.$"):
        read('a,b\nlow,"x\ny"\nAnn,1\n', order)
    number = Schema(attributes={"a": Description(kind="continuous")})
    with pytest.raises(InvalidInput, match=r"x\.csv, line 3: the cell of column 'a' is no number\.$"):
        read("a,b\n1,x\nAnn,1\n", number)
    with pytest.raises(InvalidInput, match=r"line 2: .* has zeros in front, or too many digits for a number"):
        read("a,b\n1722024950424147265,x\n9223372036854775809,1\n", number)
    with pytest.raises(InvalidInput, match="'a' is ordinal and holds text: give its order"):
        read("a,b\nx,1\n", Schema(attributes={"a": Description(kind="ordinal")}))
    with pytest.raises(UnknownName, match="did you mean 'income1'"):
        read("income1,b\nx,1\n", Schema(attributes={"income2": Description(), "b": Description()}))


def test_a_schema_gives_the_domain_and_labels_are_read_as_sets(read):
    schema = Schema(attributes={"a": Description(kind="ordinal", domain=(1, 2, 3)), "b": Description(role="sensitive")})
    table = read('a,b\n2,x\n1.0,y\n*,\n?,z\n"[2,3]",z\n', schema).table
    assert table.attribute("a").domain == (1, 2, 3, None)
    assert table.values("a")[:2] == [2, 1]
    assert table.sets["a"] == ((0, 1, 2), (1, 2))
    assert table.attribute("b").role == "sensitive"
    # The spelling of the file is kept.
    assert str(table.attribute("a").domain[0]) == "1.0"


def test_a_masked_file_is_read_in_the_domains_of_the_original(tmp_path):
    original = Table.from_columns({"age": [30, 40, None], "w": [1.5, 2.5, 3.5], "sex": ["f", "m", "f"]})
    path = tmp_path / "m.csv"
    path.write_text('sex;age;w\n*;"[30,40]";2\nm;40,0;2,75\n{f|m};;3,5\n')
    masked = read_masked(path, original)
    assert masked.values("sex") == ["*", "m", "*"]
    assert masked.values("age") == ["[30,40]", 40, None]
    assert masked.values("w") == [2, 2.75, 3.5]
    # Without a header, the columns are those of the original, whatever a schema calls them.
    path.write_text("30;1,5;f\n40;2,5;m\n;3,5;f\n")
    other = Schema(columns=("a", "b"))
    assert read_masked(path, original, schema=other).to_columns() == original.to_columns()
    path.write_text("sex\nx\nm\nf\n")
    with pytest.raises(InvalidInput, match=r"m\.csv: Column 'sex', row 1"):
        read_masked(path, original)
    path.write_text("sx\nf\nm\nf\n")
    with pytest.raises(UnknownName, match="did you mean 'sex'"):
        read_masked(path, original, options=DialectOptions(header=True))
    path.write_text("age,w\n31,1\n40,1\n,1\n")
    with pytest.raises(InvalidInput, match="row 1"):
        read_masked(path, original)


def test_a_small_file_is_read_without_loading_arrow(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,x\n")
    code = (
        "import sys; from tabular.files.table_files import *; read_file(sys.argv[1]); print('pyarrow' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code, tmp_path / "x.csv"], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"


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


def test_a_long_table_of_distinct_numbers_comes_back(tmp_path):
    """Cells of such columns are written by the block, and their texts stay with Arrow while it is read."""
    cells = [f"{number / 100:.2f}" for number in range(-40_000, 40_000)]
    rows = [f"{cell},{place % 7},{cell}e0" if place % 5 else f"{cell},,-{place}" for place, cell in enumerate(cells)]
    data = "\n".join(["a,b,c", *rows, ""]).encode()
    (tmp_path / "long.csv").write_bytes(data)
    found = read_file(tmp_path / "long.csv")
    assert found.table.values("a")[:2] == [-400, -399.99]
    write_table(found.table, tmp_path / "again.csv", like=found)
    assert (tmp_path / "again.csv").read_bytes() == data


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
    assert found_dialect(text, "utf-8", DialectOptions())[0] == Dialect()


@pytest.mark.parametrize("name", ["t.xlsx", "T.JSON", "t.csv.gz"])
def test_a_name_of_another_format_is_refused(tmp_path, name):
    with pytest.raises(InvalidParameter, match="as CSV or Parquet"):
        write_table(Table.from_columns({"a": [1, 2]}), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("bounds", "told"), [((0, 120), "above its bound 120"), ((18, 200), "below its bound 18"), ((17, 121), None)]
)
def test_a_number_outside_its_declared_bounds_is_told_with_file_row_column_and_bound(tmp_path, bounds, told):
    (tmp_path / "t.csv").write_text("name,age\na,30\nb,\nc,17\nd,121\n")
    with (tmp_path / "t.parquet").open("wb") as file:
        write_parquet(file, read_file(tmp_path / "t.csv").table)
    for kind in ("continuous", None):
        schema = Schema(attributes={"age": Description(kind=kind, bounds=bounds)})
        for name, where in (("t.csv", "line {}"), ("t.parquet", "row {}")):
            if told is None:
                assert read_file(tmp_path / name, schema=schema).table.attribute("age").bounds == bounds
                continue
            row = (5 if "above" in told else 4) - (name == "t.parquet")
            with pytest.raises(InvalidInput) as caught:
                read_file(tmp_path / name, schema=schema)
            at = f"{tmp_path / name}, {where.format(row)}"
            assert str(caught.value) == f"{at}: the cell of column 'age' lies {told}."
