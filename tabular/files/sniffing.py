"""Detecting how a CSV file is written: its encoding, delimiter, quotes, header."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tabular.errors import InvalidInput, named
from tabular.files.csv_tables import rows_of
from tabular.files.dialect import BLANKS, Dialect, DialectOptions
from tabular.files.disk import decode
from tabular.files.written_numbers import is_number_text

#: How much of a file is looked at, and how many rows of that.
_SAMPLE, _ROWS = 1 << 18, 500

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OTHER_FILES = ((b"PK\x03\x04", "a zip file or a spreadsheet"), (b"\x1f\x8b", "a gzip file"), (b"%PDF", "a PDF"))


@dataclass(frozen=True)
class Found:
    """A detected dialect, and which parts of it are guesses."""

    dialect: Dialect
    unsure: tuple[str, ...]


def decoded(data: bytes, name: str, encoding: str | None) -> tuple[str, str]:
    """The text of a file and its encoding: by its byte order mark, or else UTF-8, or else that of old Western files."""
    for mark, what in _OTHER_FILES:
        if data.startswith(mark):
            raise InvalidInput(f"{name}: this is {what}; give the table in it as CSV or Parquet.")
    wanted = encoding or next((known for mark, known in _MARKS if data.startswith(mark)), "utf-8")
    if wanted in ("utf-16", "utf-32") and not any(data.startswith(mark) for mark, known in _MARKS if known == wanted):
        # Without its mark it is as most machines write it.
        wanted += "-le"
    try:
        text = data.decode(wanted)
    except UnicodeDecodeError as error:
        if encoding is None and wanted == "utf-8" and data[: error.start].isascii():
            wanted = "latin-1" if re.search(rb"[\x81\x8d\x8f\x90\x9d]", data) else "cp1252"
        text = decode(data, name, wanted, f"; {named('encoding')} says what it is")
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise InvalidInput(f"{name}, line {line}: there is a NUL character; this is no table as text.")
    return text, wanted


def lines_of_spaces(text: str) -> int:
    """How many lines of spaces stand before a table; empty lines do not count.

    >>> lines_of_spaces("  \\n\\n \\na,b\\n")
    2
    """
    return sum(map(bool, text[: _begin(text)].splitlines()))


def _begin(text: str) -> int:
    before = re.match(r"(?: *[\r\n])*", text)
    return before.end() if before else 0


def found_dialect(text: str, encoding: str, options: DialectOptions, names: Sequence[str] = ()) -> Found:
    """How *text* is written, unless *options* say so; *names* are the columns that a schema describes."""
    unsure: list[str] = []
    begin = _begin(text)
    lines = _sample(text[begin : begin + _SAMPLE + 1])
    quote = options.quote if options.quote is not None else _quote(lines, options.delimiter)
    delimiter = options.delimiter
    if delimiter is None:
        delimiter, sure = _delimiter(lines, quote)
        if not sure:
            unsure.append("delimiter")
    rows = _parsed(lines, delimiter, quote)
    spaced = options.spaced
    if spaced is None:
        inner = [cell for row in rows for cell in row[1:]]
        spaced = delimiter != BLANKS and bool(inner) and all(cell.startswith(" ") for cell in inner)
    if spaced:
        rows = [[cell.strip(" ") for cell in row] for row in rows]
    header = options.header
    if header is None:
        header, sure = _header(rows, names)
        if not sure:
            unsure.append("header")
    if encoding in ("cp1252", "latin-1") and options.encoding is None:
        unsure.append("encoding")
    decimal = options.decimal or _decimal(rows[1:] if header else rows, delimiter)
    dialect = Dialect(
        delimiter=delimiter,
        quote=quote,
        encoding=encoding,
        line_end=max(("\n", "\r\n", "\r"), key=Counter(re.findall("\r\n|\r|\n", text[:_SAMPLE])).__getitem__),
        header=header,
        spaced=spaced,
        decimal=decimal,
    )
    return Found(dialect, tuple(unsure))


def _sample(text: str) -> list[str]:
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text[:_SAMPLE])
    # The last line may have been cut.
    return lines[:-1] if len(text) > _SAMPLE and len(lines) > 1 else lines


def _parsed(lines: Sequence[str], delimiter: str, quote: str) -> list[list[str]]:
    """The rows of a sample, as far as they can be read."""
    rows: list[list[str]] = []
    try:
        for row in rows_of(lines, Dialect(delimiter=delimiter, quote=quote), strict=False):
            rows.append(row)
            if len(rows) == _ROWS:
                break
    except csv.Error:
        pass
    return rows


def _quote(lines: Sequence[str], delimiter: str | None) -> str:
    text = "".join(lines)
    ends = re.escape(delimiter) if delimiter is not None else r",;\t| "
    single = len(re.findall(rf"(?:^|[{ends}])'[^'\r\n]*'(?=[{ends}\r\n]|$)", text, flags=re.MULTILINE))
    # Apostrophes are frequent in texts: they count as quotes only where they are as frequent as the lines.
    return "'" if '"' not in text and single >= max(len(lines), 1) else '"'


def _delimiter(lines: Sequence[str], quote: str) -> tuple[str, bool]:
    """The delimiter that gives every row the same number of cells, and whether that is certain."""
    found: list[tuple[float, int, str]] = []
    for delimiter in "\t;|,":
        rows = _parsed(lines, delimiter, quote)
        widths = Counter(map(len, rows))
        width, count = max(widths.items(), key=lambda each: (each[1], each[0]), default=(1, 0))
        if width > 1:
            found.append((count / len(rows), width, delimiter))
    even = [each for each in found if each[0] == 1.0]
    if even:
        # `1,5;2,3`: a comma in each cell that makes a number of it is a decimal mark.
        if any(each[2] == ";" for each in even) and _decimal(_parsed(lines, ";", quote), ";") == ",":
            return ";", len(even) == 1
        widest = max(even, key=lambda each: each[1])
        return widest[2], len(even) == 1 or widest[1] > max(each[1] for each in even if each is not widest)
    blanks = Counter(map(len, _parsed(lines, BLANKS, quote)))
    if len(blanks) == 1 and next(iter(blanks)) > 1:
        # Two words a line are as well a column of names.
        return BLANKS, next(iter(blanks)) > 2
    # Rows differ: most of them decide, and reading names the first that differs.
    likely = max(found, default=(0.0, 1, ","))
    return (likely[2], False) if likely[0] > 0.5 else (",", True)


def _decimal(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    """The decimal mark: a comma if some column holds numbers only that way."""
    if delimiter == ",":
        return "."
    for column in zip(*(row for row in rows if len(row) == len(rows[0])), strict=True):
        cells = [cell for cell in column[1:] if cell] or [cell for cell in column if cell]
        with_comma = [cell for cell in cells if "," in cell]
        if with_comma and all(is_number_text(cell.replace(",", ".", 1)) and "." not in cell for cell in cells):
            return ","
    return "."


def _header(rows: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[bool, bool]:
    """Whether the first row names the columns, and whether that is certain."""
    if not rows:
        return True, True
    first = [cell.strip() for cell in rows[0]]
    body = [row for row in rows[1:] if len(row) == len(first)]
    if names and set(filter(None, first)) & set(names):
        return True, True
    if len(first) > 2 and first in ([str(place + start) for place in range(len(first))] for start in (0, 1)):
        return True, False
    if len(set(first)) < len(first) or "" in first[1:] or "?" in first or any(map(is_number_text, first)):
        return False, not (len(set(first)) < len(first)) or any(map(is_number_text, first))
    columns = list(zip(*body, strict=True))
    if any(all(is_number_text(cell) for cell in column if cell) and any(column) for column in columns):
        return True, True
    if any(name in column for name, column in zip(first, columns, strict=False)):
        # A name stands in its column once more, as only a value would.
        return False, False
    return True, False
