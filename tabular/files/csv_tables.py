"""Tables as CSV: read row by row, and written so that a spreadsheet runs nothing.

A text cell that a spreadsheet could take for a formula gets an apostrophe in front, and loses it again on reading. A
cell that begins with apostrophes before such a character gets one more, so that every text comes back as it was.
"""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO

from tabular.errors import InvalidInput, InvalidRecord

#: What a spreadsheet takes for the beginning of a formula, and what it skips before one.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_HARMLESS = re.compile(r"'+[=+\-@\t\r]")
#: A cell with one of these in it, or with a space at either end, stands in quotes; so does a comment that is none.
_QUOTED = re.compile(r'[",;|\t\r\n]|^[ #\ufeff]| $')

#: Where a comment or a line of spaces could begin.
_LEFT_OUT = (b"\n#", b"\r#", b"\n ", b"\r ")
_SPACE = re.compile("[ \t\r\n]+")

_BLOCK = 1 << 16


def harmless(cell: str) -> str:
    """The *cell* as text that no spreadsheet runs.

    >>> harmless("=1+1"), harmless("@someone"), harmless("'s-Gravenhage")
    ("'=1+1", "'@someone", "'s-Gravenhage")
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def plain(cell: str) -> str:
    """The text that `harmless` was given.

    >>> plain("'=1+1"), plain(harmless("'=1+1")), plain("'s-Gravenhage")
    ('=1+1', "'=1+1", "'s-Gravenhage")
    """
    return cell[1:] if cell.startswith("'") and _HARMLESS.match(cell) else cell


def write_csv(
    file: IO[bytes], header: Sequence[str], rows: Iterable[Sequence[str | float | None]], *, delimiter: str = ","
) -> None:
    """Write *rows* under *header*; texts are made harmless, numbers stay numbers, None is an empty cell."""
    block: list[str] = [delimiter.join(map(written_cell, header))] if header else []
    for row in rows:
        line = delimiter.join(map(written_cell, row))
        # A single empty cell would be a blank line, which readers skip.
        block.append(line or '""')
        if len(block) == _BLOCK:
            file.write("\n".join(block).encode() + b"\n")
            block = []
    if block:
        file.write("\n".join(block).encode() + b"\n")


def written_cell(cell: str | float | None) -> str:
    """A cell as it stands in a file: harmless, and in quotes where it must be.

    >>> written_cell("a,b"), written_cell("-1"), written_cell(-1), written_cell(None)
    ('"a,b"', "'-1", '-1', '')
    """
    if cell is None:
        return ""
    text = harmless(cell) if isinstance(cell, str) else str(cell)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


class Rows:
    """The rows of CSV text; blank lines and lines that begin with `#` are left out.

    *name* is the file to name in errors; a *delimiter* of None is any run of spaces and tabs.
    """

    def __init__(self, data: bytes, name: str, delimiter: str | None) -> None:
        check_encoding(data, name)
        self._data, self._name, self._delimiter = data, name, delimiter

    def __iter__(self) -> Iterator[list[str]]:
        first = self._data[:4].removeprefix(b"\xef\xbb\xbf")[:1]
        # Looking for these is far quicker than looking at each line.
        if first in (b"#", b" ") or any(mark in self._data for mark in _LEFT_OUT):
            return self._split(_Kept(self._lines()))
        return self._split(self._lines())

    def line(self, row: int) -> int:
        """The line that a row ends on; errors ask for it, so that reading need not count."""
        kept = _Kept(self._lines())
        for number, _ in enumerate(self._split(kept)):
            if number == row:
                break
        return kept.line

    def _lines(self) -> Iterable[str]:
        return io.TextIOWrapper(io.BytesIO(self._data), encoding="utf-8-sig", newline="")

    def _split(self, lines: Iterable[str]) -> Iterator[list[str]]:
        if self._delimiter is None and b'"' not in self._data:
            for line in lines:
                # Other kinds of space than these belong to the cells.
                row = line.split() if line.isascii() else _SPACE.split(line.strip(" \t\r\n"))
                if row and row[0]:
                    yield row
            return
        delimiter = self._delimiter or " "
        try:
            for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True):
                if row:
                    yield row
        except csv.Error as error:
            if not isinstance(lines, _Kept):
                # Once more, counting the lines.
                lines = _Kept(self._lines())
                deque(self._split(lines), maxlen=0)
            raise InvalidRecord(f"{self._name}, line {lines.line}: this is no row of a table ({error}).") from None


def read_table(data: bytes, name: str) -> tuple[list[str], Iterator[list[str]], Callable[[int], int]]:
    """The header of CSV text, its rows, and the line that the row of a number ends on; the delimiter is found out.

    Cells are as they were before they were made harmless; every row has as many as the header.
    """
    rows = Rows(data, name, found_delimiter(first_line(data)) or ",")
    body = iter(rows)
    header = [plain(cell).strip() for cell in next(body, [])]
    if not header:
        raise InvalidInput(f"{name}: there is no line with the names of the columns.")
    if len(set(header)) < len(header):
        # Without a header the first line is a record, perhaps of a person: its cells are not shown.
        twice = next(number for number, column in enumerate(header, start=1) if header.index(column) + 1 < number)
        raise InvalidRecord(f"{name}, line {rows.line(0)}: column {twice} has the name of another one.")

    def line(row: int) -> int:
        return rows.line(row + 1)

    return header, _even(body, name, len(header), line), line


def _even(rows: Iterator[list[str]], name: str, width: int, line: Callable[[int], int]) -> Iterator[list[str]]:
    for number, row in enumerate(rows):
        if len(row) != width:
            raise InvalidRecord(f"{name}, line {line(number)}: this line has {len(row)} cells, the header {width}.")
        yield [plain(cell) if cell[:1] == "'" else cell for cell in row]


def check_encoding(data: bytes, name: str) -> None:
    """Refuse what is not UTF-8 text, naming the line."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InvalidInput(f"{name}, line {line}: this is not UTF-8 text.") from None


def first_line(data: bytes) -> str:
    """The first line of a table that is neither blank nor a comment."""
    for found in re.finditer(rb"[^\r\n]+", data.removeprefix(b"\xef\xbb\xbf")):
        if found.group().strip(b" ") and not found.group().startswith(b"#"):
            return found.group().decode("utf-8", "replace")
    return ""


def found_delimiter(line: str) -> str | None:
    """The delimiter that a *line* of a table uses: the one seen most outside quotes; None for spaces.

    >>> found_delimiter('1;"a,b,c"'), found_delimiter("12 34")
    (';', None)
    """
    outside = re.sub(r'"(?:[^"]|"")*"', "", line)
    most = max("\t;,|", key=outside.count)
    return most if outside.count(most) else None


class _Kept:
    """The lines that are neither blank nor comments; `line` counts all. Inside a quoted cell every line matters."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.line = 0
        self._open = False

    def __iter__(self) -> _Kept:
        return self

    def __next__(self) -> str:
        for text in self._lines:
            self.line += 1
            if self._open or not (text.startswith("#") or not text.strip(" \r\n")):
                if '"' in text and text.count('"') % 2:
                    self._open = not self._open
                return text
        raise StopIteration
