"""The cells of a CSV file by column, as texts, each distinct one once."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa

from tabular.errors import InvalidInput, InvalidRecord
from tabular.files.columns import Words
from tabular.files.csv_rows import broken, is_blank, line_of, lines_of, rows_of
from tabular.files.csv_tables import plain
from tabular.files.dialect import BLANKS, Dialect, DialectOptions
from tabular.files.quick_rows import quick_columns
from tabular.files.schema import Schema
from tabular.files.sniffing import decoded, found_dialect, lines_of_spaces

_BLOCK = 1 << 16
_ENCODED = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, kw_only=True, eq=False)
class Texts:
    """The columns of a CSV file as texts; *headings* stand in the file, *names* are what the columns are called."""

    data: bytes
    name: str
    dialect: Dialect
    unsure: tuple[str, ...]
    headings: tuple[str, ...]
    names: tuple[str, ...]
    columns: tuple[Words, ...]

    def line(self, row: int) -> int:
        return line_of(self.data, self.dialect, row + self.dialect.header, len(self.names))


def read_texts(data: bytes, name: str, schema: Schema, options: DialectOptions) -> Texts:
    """Find out how a file is written and read its cells; *name* is what errors call it."""
    text, encoding = decoded(data, name, options.encoding)
    if not text.strip(" \r\n"):
        raise InvalidInput(f"{name}: the file is empty.")
    known = schema.columns or tuple(schema.attributes)
    dialect, unsure = (found := found_dialect(text, encoding, options, known)).dialect, found.unsure
    rows = rows_of(lines_of(data, dialect.encoding), dialect)
    try:
        first = next(islice(rows, 0 if dialect.delimiter == BLANKS else lines_of_spaces(text), None), None)
        if first is None:
            raise InvalidInput(f"{name}: the file is empty.")
        headings, names = _named(first, name, dialect, schema)
        quick = quick_columns(text, data, dialect, len(names))
        del text
        columns = (
            tuple(map(_words, quick))
            if quick is not None
            else _encoded(rows if dialect.header else chain([first], rows), len(names), data, name, dialect)
        )
    except csv.Error:
        raise broken(data, name, dialect) from None
    return Texts(data=data, name=name, dialect=dialect, unsure=unsure, headings=headings, names=names, columns=columns)


def _named(first: list[str], name: str, dialect: Dialect, schema: Schema) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The headings as they stand in the file, and the names of the columns."""
    if not dialect.header:
        if schema.columns and len(schema.columns) != len(first):
            raise InvalidRecord(
                f"{name}, line 1: this line has {len(first)} cells, {schema.source} {len(schema.columns)} columns. "
                "If the first line names the columns, say --header."
            )
        names = schema.columns or tuple(f"column{place}" for place in range(1, len(first) + 1))
        return names, names
    headings = tuple(plain(cell) for cell in first)
    names = tuple(cell.strip() or f"column{place}" for place, cell in enumerate(headings, start=1))
    if len(set(names)) < len(names):
        # Without a header the first line is a record, perhaps of a person: its cells are not shown.
        twice = next(place for place, column in enumerate(names, start=1) if names.index(column) + 1 < place)
        raise InvalidRecord(
            f"{name}, line 1: column {twice} has the name of another one; --no-header says that there are no names."
        )
    return headings, names


def _encoded(rows: Iterator[list[str]], width: int, data: bytes, name: str, dialect: Dialect) -> tuple[Words, ...]:
    """The cells of *rows* by column, each distinct text once."""
    parts: list[list[Any]] = [[] for _ in range(width)]
    while block := list(islice(rows, _BLOCK)):
        if any(len(row) != width for row in block):
            block = [row for row in block if not is_blank(row, width)]
            if any(len(row) != width for row in block):
                raise _uneven(data, name, dialect, width)
        for place, cells in enumerate(zip(*block, strict=True)):
            parts[place].append(pa.array(cells, pa.string()).dictionary_encode())
    return tuple(_words(pa.chunked_array(part or [[]], _ENCODED).unify_dictionaries()) for part in parts)


def _words(cells: Any) -> Words:
    """The distinct texts of a column in chunks of one dictionary, and which of them stands in each row."""
    if not len(cells):
        return Words((), np.zeros(0, dtype=np.int32))
    texts = cells.chunk(0).dictionary.to_pylist()
    codes = np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in cells.chunks])
    if any(text[:1] == "'" for text in texts):
        # Without the apostrophes that make cells harmless, two texts may be one.
        place: dict[str, int] = {}
        renamed = [place.setdefault(plain(text), len(place)) for text in texts]
        return Words(tuple(place), np.array(renamed, dtype=np.int32)[codes])
    return Words(tuple(texts), codes.astype(np.int32, copy=False))


def _uneven(data: bytes, name: str, dialect: Dialect, width: int) -> InvalidRecord:
    """The error of the first row that has not as many cells as there are columns."""
    rows = rows_of(lines_of(data, dialect.encoding), dialect)
    place, cells = next(
        (place, len(row))
        for place, row in enumerate(row for row in rows if not is_blank(row, width))
        if len(row) != width
    )
    line = line_of(data, dialect, place, width)
    of = "the header" if dialect.header else "the first line"
    return InvalidRecord(f"{name}, line {line}: this line has {cells} cells, {of} {width}.")
