"""The columns of a CSV file as distinct texts and codes.

The dialect is detected. Arrow reads large files, if it reads them the same way.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import ANY
from tabular.errors import InvalidInput, InvalidRecord, named
from tabular.files.columns import Words, is_number_text
from tabular.files.csv_tables import (
    BLANKS,
    Dialect,
    DialectOptions,
    Rows,
    is_blank,
    outside_quotes,
    plain,
    repeated,
    rows_of,
)
from tabular.files.disk import decode
from tabular.files.limits import Limits
from tabular.files.schema import Schema

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

_BLOCK = 1 << 16
_CHUNK = 1 << 24

#: Without a limit a cell has at most so many characters, as in Python.
_LONGEST = 131_072

#: From so many bytes on, Arrow reads a file sooner than it takes to load it.
QUICK_FROM = 1 << 16

#: And only where each column has so many bytes: what Arrow holds of one takes more than that, however short it is.
_OF_A_COLUMN = 1 << 10


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


def found_dialect(
    text: str, encoding: str, options: DialectOptions, names: Sequence[str] = ()
) -> tuple[Dialect, tuple[str, ...]]:
    """How *text* is written, and which parts of that are guesses, unless *options* say so.

    *names* are the columns that a schema describes.
    """
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
    return dialect, tuple(unsure)


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
    has_numbers, repeats = any(map(is_number_text, first)), len(set(first)) < len(first)
    if "" in first[1:] or {"?", ANY} & set(first) or has_numbers:
        return False, has_numbers or not repeats
    columns = list(zip(*body, strict=True))
    if any(all(is_number_text(cell) for cell in column if cell) and any(column) for column in columns):
        # Where a name stands twice, whoever reads the file refuses it: it would be lost as data.
        return True, True
    if repeats:
        return False, False
    if any(name in column for name, column in zip(first, columns, strict=False)):
        # A name stands in its column once more, as only a value would.
        return False, False
    return True, False


@dataclass(frozen=True, kw_only=True, eq=False)
class Texts:
    """The columns of a CSV file as texts; *headings* are those of the file, *names* those of the table."""

    rows: Rows
    unsure: tuple[str, ...]
    headings: tuple[str, ...]
    names: tuple[str, ...]
    columns: list[Words]

    @property
    def dialect(self) -> Dialect:
        return self.rows.dialect

    def line(self, row: int) -> int:
        """The line that a row begins on."""
        return self.rows.begins(row + self.dialect.header, len(self.names))


def read_texts(data: bytes, name: str, schema: Schema, options: DialectOptions) -> Texts:
    """Detect how a file is written, and read its cells; errors call it *name*."""
    text, encoding = decoded(data, name, options.encoding)
    if not text.strip(" \r\n"):
        raise InvalidInput(f"{name}: the file is empty.")
    limits = Limits.of_environment()
    # It holds for the whole process, so that of another reading would stay.
    csv.field_size_limit(_LONGEST if limits.field is None else limits.field)
    _check_first_line(text, name, limits)
    dialect, unsure = found_dialect(text, encoding, options, schema.columns or tuple(schema.attributes))
    rows = Rows(data, name, dialect)
    body = iter(rows)
    first = next(islice(body, 0 if dialect.delimiter == BLANKS else lines_of_spaces(text), None), None)
    if first is None:
        raise InvalidInput(f"{name}: the file is empty.")
    limits.check(name, columns=len(first), rows=text.count("\n"))
    headings, names = _named(first, name, dialect, schema)
    is_quick = len(data) >= max(QUICK_FROM, _OF_A_COLUMN * len(names)) and reads_quickly(text, dialect)
    quoted = bool(dialect.quote) and dialect.quote in text
    plain_data = data if not is_quick or dialect.encoding == "utf-8" else text.encode()
    # A large file is not kept in memory twice.
    del text
    quick = quick_columns(plain_data, dialect, len(names), quoted=quoted) if is_quick else None
    if quick is None:
        columns = _by_rows(body if dialect.header else chain([first], body), rows, len(names))
    else:
        # Each is let go of when it has been taken over.
        columns = [_of_chunks(quick.pop(0)) for _ in names]
    if limits.field is not None:
        limits.check_field(name, max((each.longest for each in columns), default=0))
    return Texts(rows=rows, unsure=unsure, headings=headings, names=names, columns=columns)


def _check_first_line(text: str, name: str, limits: Limits) -> None:
    """Refuse too many columns before anything is parsed, whatever separates them."""
    line = outside_quotes(text.lstrip("\ufeff").partition("\n")[0]) if limits.columns is not None else ""
    limits.check(name, columns=1 + max(line.count(mark) for mark in ",;\t|"))


def _named(first: list[str], name: str, dialect: Dialect, schema: Schema) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The headings in the file, and the names of the columns."""
    if not dialect.header:
        if schema.columns and len(schema.columns) != len(first):
            raise InvalidRecord(
                f"{name}, line 1: this line has {len(first)} cells, {schema.source} {len(schema.columns)} columns. "
                f"If the first line names the columns, set {named('header')} to true."
            )
        names = schema.columns or tuple(f"column{place}" for place in range(1, len(first) + 1))
        return names, names
    headings = tuple(plain(cell) for cell in first)
    names = tuple(cell.strip() or f"column{place}" for place, cell in enumerate(headings, start=1))
    if twice := repeated(names):
        raise InvalidRecord(
            f"{name}, line 1: column {twice} has the name of another one; if it holds no names, set "
            f"{named('header')} to false."
        )
    return headings, names


def _by_rows(body: Iterator[list[str]], rows: Rows, width: int) -> list[Words]:
    """The columns of a *body* of rows."""
    places: list[dict[str, int]] = [{} for _ in range(width)]
    parts: list[list[NDArray[np.int32]]] = [[np.zeros(0, dtype=np.int32)] for _ in range(width)]
    while block := list(islice(body, _BLOCK)):
        if any(len(row) != width for row in block):
            block = [row for row in block if not is_blank(row, width)]
            if any(len(row) != width for row in block):
                raise _uneven(rows, width)
        for place, part, cells in zip(places, parts, zip(*block, strict=True), strict=False):
            for cell in dict.fromkeys(cells):
                place.setdefault(cell, len(place))
            part.append(np.fromiter(map(place.__getitem__, cells), dtype=np.int32, count=len(cells)))
    return [_words(list(place), np.concatenate(part)) for place, part in zip(places, parts, strict=True)]


def _of_chunks(cells: Any) -> Words:
    """A column of Arrow, in chunks of one dictionary."""
    if not len(cells):
        return Words((), np.zeros(0, dtype=np.int32))
    return _words(ArrowTexts(cells.chunk(0).dictionary), np.concatenate(list(map(_indices, cells.chunks))))


class ArrowTexts(Sequence[str]):
    """Texts that Arrow holds in a fraction of the memory; Python's are made only while somebody goes through them."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[str]:
        return iter(self._array.to_pylist())

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        return ArrowTexts(self._array[place]) if isinstance(place, slice) else str(self._array[place].as_py())


def _indices(chunk: Any) -> NDArray[np.int32]:
    """The codes of a chunk, which has no missing ones; Arrow's own conversion would import pandas."""
    whole = np.frombuffer(chunk.indices.buffers()[1], dtype=np.int32)
    return whole[chunk.indices.offset : chunk.indices.offset + len(chunk)]


def _words(texts: Sequence[str], codes: NDArray[np.int32]) -> Words:
    """A column without the apostrophes that made its *texts* harmless; two of them may become one."""
    if any(map(str.startswith, texts, repeat("'"))):
        place: dict[str, int] = {}
        renamed = [place.setdefault(plain(text), len(place)) for text in texts]
        return Words(tuple(place), np.array(renamed, dtype=np.int32)[codes])
    return Words(texts, codes)


def _uneven(rows: Rows, width: int) -> InvalidRecord:
    """The error about the first row with more or fewer cells than there are columns."""
    kept = (row for row in rows if not is_blank(row, width))
    place, cells = next((place, len(row)) for place, row in enumerate(kept) if len(row) != width)
    of = "the header" if rows.dialect.header else "the first line"
    line = rows.begins(place, width)
    return InvalidRecord(f"{rows.name}, line {line}: this line has {cells} cells, {of} {width}.")


def reads_quickly(text: str, dialect: Dialect) -> bool:
    """Whether Arrow reads a file as reading it row by row does."""
    if dialect.delimiter == BLANKS or dialect.spaced or not dialect.delimiter.isascii() or text[:1].isspace():
        return False
    return not dialect.quote or dialect.quote not in text or _is_sound(text, dialect)


def quick_columns(data: bytes, dialect: Dialect, width: int, *, quoted: bool) -> list[Any] | None:
    """The columns of *data* in UTF-8 as Arrow reads them.

    None if a row has more or fewer cells than there are columns: reading row by row names its line.
    """
    import pyarrow as pa
    import pyarrow.csv as pc

    names = [str(place) for place in range(width)]
    try:
        found = pc.read_csv(
            io.BytesIO(data),
            read_options=pc.ReadOptions(
                column_names=names,
                skip_rows_after_names=int(dialect.header),
                block_size=_CHUNK,
                encoding="utf8",
                # Its threads would need the interpreter to read from an object of Python, even while that ends.
                use_threads=False,
            ),
            parse_options=pc.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char=dialect.quote if quoted else False,
                double_quote=quoted,
                newlines_in_values=quoted,
            ),
            convert_options=pc.ConvertOptions(
                column_types=dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string())), strings_can_be_null=False
            ),
        )
    except pa.ArrowException:
        return None
    columns = [found[name].unify_dictionaries() for name in names]
    del found
    return columns


def _is_sound(text: str, dialect: Dialect) -> bool:
    """Whether quotes only ever enclose whole cells."""
    quote, end = re.escape(dialect.quote), rf"[^{re.escape(dialect.delimiter)}\r\n]"
    # Without a way back, for which a quote that is never closed would take a hundred bytes a character.
    cell = rf"(?<!{end}){quote}(?:[^{quote}]++|{quote}{quote})*+{quote}(?!{end})"
    return dialect.quote not in re.sub(cell, "", text)
