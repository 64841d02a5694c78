"""Writing a table as Parquet, or as CSV in the dialect of the file it came from."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Value
from tabular.errors import InvalidInput, InvalidParameter, named
from tabular.files.csv_tables import harmless
from tabular.files.dialect import BLANKS, Dialect
from tabular.files.disk import STREAM, replacing
from tabular.files.reading import TableFile
from tabular.files.written_numbers import WrittenNumber, is_number_text
from tabular.labels import text_of, write_label
from tabular.table import Table

_BLOCK = 1 << 16
#: A space at either end, and what would be taken for the mark of an encoding.
_EDGE = re.compile(r"^[ \ufeff]| $")
#: What may stand for no value where the empty text is a value.
_MARKERS = ("", "?", "NULL", "N/A", "<NA>", "NA")
#: Endings of other formats that hold tables.
_OTHER_FORMATS = re.compile(r"\.(xlsx?|ods|jsonl?|html|xml|sav|dta|rds|feather|arrow|zip|gz|db|sqlite)")


def write_table(table: Table, path: str | Path, *, like: TableFile | None = None, overwrite: bool = False) -> None:
    """Write *table* as CSV, or as Parquet if the name ends so, in the style of the file *like*.

    Cells that a spreadsheet would run get an apostrophe in front, which reading removes again.
    """
    check_table_name(path)
    with replacing(path, overwrite=overwrite) as file:
        write_table_to(file, table, path, like=like)


def write_table_to(file: IO[bytes], table: Table, path: str | Path, *, like: TableFile | None = None) -> None:
    """Write *table* to an open file as it would be written to *path*."""
    is_named_so = Path(path).suffix.lower() in (".parquet", ".pq")
    if is_named_so or (str(path) == STREAM and like is not None and like.dialect is None):
        from tabular.files.parquet import write_parquet

        write_parquet(file, table, None if like is None else like.types)
    else:
        write_csv_table(file, table, like)


def check_table_name(path: str | Path) -> None:
    """Refuse, before the work begins, a name that ends like a format other than CSV or Parquet."""
    suffix = Path(path).suffix.lower()
    if _OTHER_FORMATS.fullmatch(suffix):
        raise InvalidParameter(f"{path}: tables are written as CSV or Parquet, not {suffix}; let the name end in .csv.")


def write_csv_table(file: IO[bytes], table: Table, like: TableFile | None = None) -> None:
    """Write *table* as CSV, with a header unless the file *like* had the same columns and none."""
    if not table.attributes:
        raise InvalidInput("A table without columns cannot be written.")
    dialect = (like.dialect if like else None) or Dialect()
    if like is not None and not dialect.header and table.names != like.table.names:
        dialect = replace(dialect, header=True)
    cell = partial(_cell, dialect=dialect, alone=len(table.names) == 1)
    delimiter = dialect.delimiter + " " * dialect.spaced
    columns = [_written(table, name, like, dialect, cell) for name in table.names]
    # The mark that says how a file is encoded stands at its beginning only: one encoder writes it all.
    encoder = codecs.getincrementalencoder(dialect.encoding)()
    try:
        if dialect.header:
            headings = [like.headings.get(name, name) if like else name for name in table.names]
            file.write(encoder.encode(delimiter.join(map(cell, headings)) + dialect.line_end))
        for begin in range(0, len(table), _BLOCK):
            block = [words[codes[begin : begin + _BLOCK]].tolist() for words, codes in columns]
            lines = map(delimiter.join, zip(*block, strict=True))
            file.write(encoder.encode(dialect.line_end.join(lines) + dialect.line_end))
    except UnicodeEncodeError as error:
        bad = error.object[error.start]
        raise InvalidInput(
            f"{bad!r} cannot be written as {dialect.encoding}; write UTF-8 ({named('encoding')} utf-8)."
        ) from None


def _written(
    table: Table, name: str, like: TableFile | None, dialect: Dialect, cell: Callable[[str], str]
) -> tuple[Any, NDArray[np.int32]]:
    """Each value and label of a column as written, and the code of each row among them."""
    attribute = table.attribute(name)
    texts = [None if value is None else _text(value, dialect.decimal) for value in attribute.domain]
    marker = like.markers.get(name, "") if like else ""
    # What stands for no value must not be a value.
    marker = next((each for each in (marker, *_MARKERS) if each not in texts), "")
    texts.extend(write_label(attribute, members) for members in table.sets[name])
    written = [cell(marker, bare=True) if text is None else cell(text) for text in texts]  # type: ignore[call-arg]
    return np.array(written, dtype=object), table.columns[name]


def _text(value: Value, decimal: str) -> str:
    if decimal == "," and isinstance(value, float) and not isinstance(value, WrittenNumber):
        return repr(value).replace(".", ",")
    return text_of(value)


def _cell(text: str, *, dialect: Dialect, alone: bool, bare: bool = False) -> str:
    """A cell as written; a *bare* one is not made harmless, one *alone* is the only cell of its row."""
    is_number = is_number_text(text if dialect.decimal == "." else text.replace(",", ".", 1))
    if not bare and not is_number:
        text = harmless(text)
    if not text:
        # A row of one empty cell would be a blank line, and between blanks nothing cannot be seen.
        needed = alone or dialect.delimiter == BLANKS
    else:
        # Other delimiters would make the file look as if it were parted by them.
        marks = dialect.delimiter if is_number else f",;|\t{dialect.delimiter}"
        needed = any(mark in text for mark in (*marks, *dialect.quote, "\r", "\n")) or _EDGE.search(text) is not None
    if not needed:
        return text
    if dialect.quote:
        return dialect.quote + text.replace(dialect.quote, dialect.quote * 2) + dialect.quote
    if text and not any(mark in text for mark in (dialect.delimiter, "\r", "\n")) and not _EDGE.search(text):
        return text
    raise InvalidParameter(f"A cell needs quotes around it, and the file has none; say {named('quote')} double.")
