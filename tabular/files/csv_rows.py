"""The rows of CSV text in a known dialect, and the line on which each of them begins."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

from tabular.errors import InvalidRecord
from tabular.files.dialect import BLANKS, Dialect

_BLANK = "[ \\t\\r\\n]"
_SPACE = re.compile(f"{_BLANK}+")


def rows_of(lines: Iterable[str], dialect: Dialect, *, strict: bool = True) -> Iterator[list[str]]:
    """The rows that *lines* hold; empty lines are none."""
    return filter(None, _rows_and_empty(lines, dialect, strict=strict))


def _rows_and_empty(lines: Iterable[str], dialect: Dialect, *, strict: bool) -> Iterator[list[str]]:
    if dialect.delimiter == BLANKS:
        return _parted_by_blanks(lines, dialect.quote)
    return csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quotechar=dialect.quote or None,
        quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
        skipinitialspace=dialect.spaced,
        strict=strict,
    )


def _parted_by_blanks(lines: Iterable[str], quote: str) -> Iterator[list[str]]:
    cell = re.compile(
        rf"{_BLANK}*(?:{quote}((?:[^{quote}]|{quote}{quote})*){quote}(?={_BLANK}|$)|([^{quote} \t\r\n][^ \t\r\n]*))"
        if quote
        else ""
    )
    waiting = ""
    for line in lines:
        if waiting:
            waiting += line
            if quote not in line:
                continue
        elif quote and quote in line:
            waiting = line
        else:
            # Other kinds of space than these belong to the cells.
            row = line.split() if line.isascii() and line.isprintable() else _SPACE.split(line.strip(" \t\r\n"))
            yield row if row and row[0] else []
            continue
        cells: list[str] = []
        rest = waiting.rstrip(" \t\r\n")
        place = 0
        while place < len(rest) and (found := cell.match(rest, place)):
            inside, bare = found.groups()
            cells.append(bare if inside is None else inside.replace(quote * 2, quote))
            place = found.end()
        if place == len(rest):
            yield cells
            waiting = ""
        elif not re.match(rf"{_BLANK}*{quote}(?:[^{quote}]|{quote}{quote})*$", waiting[place:]):
            raise csv.Error("delimiter expected after quote")
    if waiting:
        raise csv.Error("unexpected end of data")


def lines_of(data: bytes, encoding: str) -> io.TextIOWrapper:
    """The lines of a file, each with its end as it stands there."""
    return io.TextIOWrapper(io.BytesIO(data), encoding=encoding, newline="")


class Lines:
    """Lines that are counted as they are read."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.read = 0

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.read += 1
        return line


def line_of(data: bytes, dialect: Dialect, row: int, width: int) -> int:
    """The line that a row of *width* cells begins on; the header is a row like the others."""
    lines = Lines(lines_of(data, dialect.encoding))
    begins = 1
    for cells in _rows_and_empty(lines, dialect, strict=True):
        if cells and not is_blank(cells, width):
            row -= 1
        if row < 0:
            break
        begins = lines.read + 1
    return begins


def is_blank(row: Sequence[str], width: int) -> bool:
    """Whether a row of a table of *width* columns is a line of spaces."""
    return width > 1 and len(row) == 1 and not row[0].strip()


def broken(data: bytes, name: str, dialect: Dialect) -> InvalidRecord:
    """What to say of a file whose rows cannot all be read: the line that the first such row begins on."""
    lines = Lines(lines_of(data, dialect.encoding))
    begins = 1
    try:
        for _ in _rows_and_empty(lines, dialect, strict=True):
            begins = lines.read + 1
    except csv.Error as error:
        what = str(error)
        if "unexpected end" in what:
            what = "a quote opens here and is never closed"
        elif "expected after" in what:
            what = "something stands between a closing quote and the delimiter"
        return InvalidRecord(f"{name}, line {begins}: this is no row of a table: {what}.")
    raise AssertionError("The rows of this file can be read.")
