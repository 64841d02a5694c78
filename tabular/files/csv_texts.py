"""The columns of a CSV file as distinct texts and codes; Arrow reads large files, if it reads them the same way."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidInput, InvalidRecord, named
from tabular.files.columns import Words
from tabular.files.csv_tables import Rows, is_blank, plain, repeated
from tabular.files.dialect import BLANKS, Dialect, DialectOptions
from tabular.files.schema import Schema
from tabular.files.sniffing import decoded, found_dialect, lines_of_spaces

_BLOCK = 1 << 16
_CHUNK = 1 << 24
#: From so many bytes on, Arrow reads a file sooner than it takes to load it.
QUICK_FROM = 1 << 16


@dataclass(frozen=True, kw_only=True, eq=False)
class Texts:
    """The columns of a CSV file as texts; *headings* are those of the file, *names* those of the table."""

    rows: Rows
    unsure: tuple[str, ...]
    headings: tuple[str, ...]
    names: tuple[str, ...]
    columns: tuple[Words, ...]

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
    found = found_dialect(text, encoding, options, schema.columns or tuple(schema.attributes))
    rows = Rows(data, name, found.dialect)
    body = iter(rows)
    first = next(islice(body, 0 if found.dialect.delimiter == BLANKS else lines_of_spaces(text), None), None)
    if first is None:
        raise InvalidInput(f"{name}: the file is empty.")
    headings, names = _named(first, name, found.dialect, schema)
    quick = quick_columns(text, data, found.dialect, len(names)) if len(data) >= QUICK_FROM else None
    del text
    if quick is None:
        columns = _by_rows(body if found.dialect.header else chain([first], body), rows, len(names))
    else:
        columns = tuple(map(_of_chunks, quick))
    return Texts(rows=rows, unsure=found.unsure, headings=headings, names=names, columns=columns)


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


def _by_rows(body: Iterator[list[str]], rows: Rows, width: int) -> tuple[Words, ...]:
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
    return tuple(_words(list(place), np.concatenate(part)) for place, part in zip(places, parts, strict=True))


def _of_chunks(cells: Any) -> Words:
    """A column of Arrow, in chunks of one dictionary."""
    if not len(cells):
        return Words((), np.zeros(0, dtype=np.int32))
    codes = np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in cells.chunks])
    return _words(cells.chunk(0).dictionary.to_pylist(), codes.astype(np.int32, copy=False))


def _words(texts: Sequence[str], codes: NDArray[np.int32]) -> Words:
    """A column without the apostrophes that made its *texts* harmless; two of them may become one."""
    if any(text[:1] == "'" for text in texts):
        place: dict[str, int] = {}
        renamed = [place.setdefault(plain(text), len(place)) for text in texts]
        return Words(tuple(place), np.array(renamed, dtype=np.int32)[codes])
    return Words(tuple(texts), codes)


def _uneven(rows: Rows, width: int) -> InvalidRecord:
    """The error about the first row with more or fewer cells than there are columns."""
    kept = (row for row in rows if not is_blank(row, width))
    place, cells = next((place, len(row)) for place, row in enumerate(kept) if len(row) != width)
    of = "the header" if rows.dialect.header else "the first line"
    line = rows.begins(place, width)
    return InvalidRecord(f"{rows.name}, line {line}: this line has {cells} cells, {of} {width}.")


def quick_columns(text: str, data: bytes, dialect: Dialect, width: int) -> list[Any] | None:
    """The columns as Arrow reads them, or None if reading row by row could give something else.

    None, too, if a row has more or fewer cells than there are columns: reading row by row names its line.
    """
    if dialect.delimiter == BLANKS or dialect.spaced or not dialect.delimiter.isascii() or text[:1].isspace():
        return None
    quoted = bool(dialect.quote) and dialect.quote in text
    if quoted and not _is_sound(text, dialect):
        return None
    import pyarrow as pa
    import pyarrow.csv as pc

    names = [str(place) for place in range(width)]
    try:
        found = pc.read_csv(
            io.BytesIO(data if dialect.encoding == "utf-8" else text.encode()),
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
    return [found[name].unify_dictionaries() for name in names]


def _is_sound(text: str, dialect: Dialect) -> bool:
    """Whether quotes only ever enclose whole cells."""
    quote, end = re.escape(dialect.quote), rf"[^{re.escape(dialect.delimiter)}\r\n]"
    return dialect.quote not in re.sub(rf"(?<!{end}){quote}(?:[^{quote}]|{quote}{quote})*{quote}(?!{end})", "", text)
