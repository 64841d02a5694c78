"""Tables as CSV: read row by row, and written so that a spreadsheet runs nothing.

A text cell that a spreadsheet could take for a formula gets an apostrophe in front, and loses it again on reading. A
cell that begins with apostrophes before such a character gets one more, so that every text comes back as it was.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from tabular.errors import InvalidInput, InvalidRecord

#: What a spreadsheet takes for the beginning of a formula, and what it skips before one.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_HARMLESS = re.compile(r"'+[=+\-@\t\r]")
#: A cell with one of these in it, or with a space at either end, stands in quotes; so does a comment that is none.
_QUOTED = re.compile(r'[",;|\t\r\n]|^[ #\ufeff]| $')

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
    block: list[str] = [delimiter.join(map(_cell, header))] if header else []
    for row in rows:
        line = delimiter.join(map(_cell, row))
        # A single empty cell would be a blank line, which readers skip.
        block.append(line or '""')
        if len(block) == _BLOCK:
            file.write("\n".join(block).encode() + b"\n")
            block = []
    if block:
        file.write("\n".join(block).encode() + b"\n")


def _cell(cell: str | float | None) -> str:
    if cell is None:
        return ""
    text = harmless(cell) if isinstance(cell, str) else str(cell)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def read_rows(data: bytes, name: str, delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
    """The rows of CSV text with the line each ends on; blank lines and lines that begin with `#` are left out.

    *name* is the file to name in errors; a *delimiter* of None is any run of spaces and tabs.
    """
    check_encoding(data, name)
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    if delimiter is None and b'"' not in data:
        for number, line in enumerate(text, start=1):
            # Other kinds of space than these belong to the cells.
            row = line.split() if line.isascii() else re.split("[ \t\r\n]+", line.strip(" \t\r\n"))
            if row and row[0] and not line.startswith("#"):
                yield number, row
        return
    skipped = _Uncommented(text)
    reader = csv.reader(skipped, delimiter=delimiter or " ", skipinitialspace=True, strict=True)
    try:
        for row in reader:
            if row:
                yield skipped.line, row
    except csv.Error as error:
        raise InvalidRecord(f"{name}, line {skipped.line}: this is no row of a table ({error}).") from None


def read_table(data: bytes, name: str) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header of CSV text and its rows, with the line each ends on; the delimiter is found out.

    Cells are as they were before they were made harmless; every row has as many as the header.
    """
    rows = read_rows(data, name, found_delimiter(first_line(data)) or ",")
    number, header = next(rows, (1, []))
    header = [plain(cell).strip() for cell in header]
    twice = [column for column in header if header.count(column) > 1]
    if twice:
        raise InvalidRecord(f"{name}, line {number}: two columns are called {twice[0]!r}.")
    if not header:
        raise InvalidInput(f"{name}: there is no line with the names of the columns.")
    return header, _even_rows(rows, name, len(header))


def _even_rows(rows: Iterator[tuple[int, list[str]]], name: str, width: int) -> Iterator[tuple[int, list[str]]]:
    for number, row in rows:
        if len(row) != width:
            raise InvalidRecord(f"{name}, line {number}: this line has {len(row)} cells, the header {width}.")
        yield number, [plain(cell) for cell in row]


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
        if not found.group().isspace() and not found.group().startswith(b"#"):
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


class _Uncommented:
    """The lines that are neither blank nor comments; `line` counts all. Inside a quoted cell every line matters."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.line = 0
        self._open = False

    def __iter__(self) -> _Uncommented:
        return self

    def __next__(self) -> str:
        for text in self._lines:
            self.line += 1
            if self._open or not (text.startswith("#") or text.isspace()):
                if '"' in text and text.count('"') % 2:
                    self._open = not self._open
                return text
        raise StopIteration
