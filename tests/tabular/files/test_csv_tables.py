from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.errors import InvalidInput, InvalidRecord
from tabular.files.csv_tables import (
    _parted_by_blanks,
    commented_rows,
    first_line,
    found_delimiter,
    harmless,
    plain,
    read_table,
    write_csv,
)

DANGEROUS = ("=", "+", "-", "@", "\t", "\r")
cells = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8),
    st.text(st.sampled_from("'=+-@\t\r\n\"#,; a"), max_size=6),
)


@given(cells)
def test_a_harmless_cell_does_not_begin_like_a_formula_and_comes_back(cell: str) -> None:
    assert not harmless(cell).startswith(DANGEROUS)
    assert plain(harmless(cell)) == cell


@pytest.mark.parametrize("cell", ("'s-Gravenhage", "O'Neill", "", "plain", "1-1", " =1"))
def test_a_cell_that_does_not_begin_like_a_formula_stays(cell: str) -> None:
    assert harmless(cell) == plain(cell) == cell


@given(
    st.integers(2, 4).flatmap(
        lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=6)
    ),
    st.sampled_from(",;\t"),
)
def test_a_table_that_is_written_is_read_again(rows: list[list[str]], delimiter: str) -> None:
    header = [f"column {number}" for number in range(len(rows[0]))]
    file = io.BytesIO()
    write_csv(file, header, rows, delimiter=delimiter)
    names, found, line = read_table(file.getvalue(), "x")
    assert names == header
    assert list(found) == rows
    # Python's reader agrees on where cells begin and end.
    theirs = list(csv.reader(io.StringIO(file.getvalue().decode(), newline=""), delimiter=delimiter))
    assert theirs == [header, *([harmless(cell) for cell in row] for row in rows)]
    assert line(0) >= 2


def test_numbers_stay_numbers_and_none_is_an_empty_cell() -> None:
    file = io.BytesIO()
    write_csv(file, ["a", "b", "c"], [[-5, "-5", None], [0.5, None, "x"]])
    assert file.getvalue() == b"a,b,c\n-5,'-5,\n0.5,,x\n"


def test_a_row_of_one_empty_cell_is_no_blank_line() -> None:
    file = io.BytesIO()
    write_csv(file, ["a"], [[None], ["x"]])
    assert file.getvalue() == b'a\n""\nx\n'
    assert list(read_table(file.getvalue(), "x")[1]) == [[""], ["x"]]


@pytest.mark.parametrize(
    ("line", "delimiter"),
    [("a,b", ","), ("a;b,c;d", ";"), ("a\tb c", "\t"), ('"a,b,c";d', ";"), ("a b", None), ("a|b", "|"), ("", None)],
)
def test_the_delimiter_is_the_one_seen_most(line: str, delimiter: str | None) -> None:
    assert found_delimiter(line) == delimiter


def test_blank_lines_and_comments_are_left_out_and_lines_counted() -> None:
    data = b'# one\n\na,b\n   \n"x\n# no comment",y\n#z\nq,"#r"\n'
    rows = commented_rows(data, "x", ",")
    assert list(rows) == [["a", "b"], ["x\n# no comment", "y"], ["q", "#r"]]
    assert [rows.ends(row) for row in range(3)] == [3, 6, 8]
    assert first_line(data) == "a,b"


@pytest.mark.parametrize("data", (b"a b\n c   d \n", b"a\tb\r\nc d\r\n", b"a b\nc d"))
def test_runs_of_spaces_part_cells(data: bytes) -> None:
    assert list(commented_rows(data, "x", None)) == [["a", "b"], ["c", "d"]]


def test_spaces_of_other_kinds_belong_to_the_cell() -> None:
    assert list(commented_rows("a\u00a0b \u3000c\n".encode(), "x", None)) == [["a\u00a0b", "\u3000c"]]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b\n1\n", "x, line 2: this line has 1 cells, the header 2"),
        (b"a,b\n\n1,2,3\n", "x, line 3: this line has 3 cells, the header 2"),
        (b'a,b\n"1"x,2\n', "x, line 2: this is no row of a table"),
        (b'# c\na,b\n1,2\n"1,2\n', "x, line 4: this is no row of a table"),
        (b"a,b,a\n", "x, line 1: column 3 has the name of another one"),
        (b"a,b\n1,\xff\n", "x, line 2: this is not UTF-8 text"),
        (b"# nothing\n", "x: there is no line with the names of the columns"),
        (b"a\n" + b"1" * 200_000, "x, line 2: a cell has more than 131,072 characters"),
    ],
)
def test_a_row_that_cannot_be_taken_is_named_by_its_line(data: bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        list(read_table(data, "x")[1])


def test_a_row_that_is_no_row_is_an_invalid_record() -> None:
    with pytest.raises(InvalidRecord):
        list(commented_rows(b'"a"b,c\n', "x", ","))


@pytest.mark.parametrize("quote", list("[]^*(\\.$-'\""))
def test_any_sign_may_quote_cells_that_spaces_part(quote: str) -> None:
    text = f"1  {quote}2 3{quote}\n{quote}x{quote}{quote}y\n\nz {quote} 4\t\n\n5 6\n".splitlines(keepends=True)
    rows = list(_parted_by_blanks(text, quote))
    assert rows == [["1", "2 3"], [f"x{quote}y\n\nz ", "4"], [], ["5", "6"]]


@pytest.mark.parametrize("line", ['"a"b c\n', 'a "b\n', '"\n'])
def test_a_quote_that_ends_within_a_cell_or_never_is_no_row(line: str) -> None:
    with pytest.raises(csv.Error):
        list(_parted_by_blanks([line], '"'))


def test_a_quote_that_is_never_closed_is_looked_at_once() -> None:
    class Counted(str):
        looked = 0

        def rstrip(self, *given: str) -> str:  # type: ignore[override]
            Counted.looked += len(self)
            return super().rstrip(*given)

    lines = [Counted('"x\n'), *[Counted('""\n')] * 20_000]
    with pytest.raises(csv.Error):
        list(_parted_by_blanks(lines, '"'))
    assert Counted.looked == sum(map(len, lines))
