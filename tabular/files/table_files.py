"""Table files, CSV in any dialect or Parquet: read as a Table with what was detected, and written as they were."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from tabular.attributes import CONTINUOUS, Attribute, Value, text_of, words_of
from tabular.errors import InvalidInput, InvalidParameter, InvalidRecord, UnknownName, named
from tabular.files.columns import (
    DOUBTFUL_KINDS,
    BadCell,
    Column,
    Words,
    WrittenNumber,
    are_number_texts,
    found_markers,
    interpreted,
    is_number_text,
    numbers_in,
)
from tabular.files.csv_tables import BLANKS, Dialect, DialectOptions, harmless
from tabular.files.csv_texts import Texts, read_texts
from tabular.files.disk import STREAM, read_bytes, replacing
from tabular.files.schema import Schema
from tabular.table import Table

_BLOCK = 1 << 16
#: A space at either end, and what would be taken for the mark of an encoding.
_EDGE = re.compile(r"^[ \ufeff]| $")
#: What may stand for no value where the empty text is a value.
_MARKERS = ("", "?", "NULL", "N/A", "<NA>", "NA")
#: What the texts of numbers are made of.
_OF_NUMBERS = frozenset("+-.0123456789eE")
#: Endings of other formats that hold tables.
_OTHER_FORMATS = re.compile(r"\.(xlsx?|ods|jsonl?|html|xml|sav|dta|rds|feather|arrow|zip|gz|db|sqlite)")


@dataclass(frozen=True, kw_only=True, eq=False)
class TableFile:
    """A table with what was detected about its file, so that it can be written back the same way.

    *dialect* is None for Parquet, *types* are the column types of a Parquet file. *markers* are the texts that marked
    missing values; *headings* are those that differ from the names of their columns; *absent* are the attributes of the
    schema that the file lacks.
    """

    name: str
    table: Table
    dialect: Dialect | None = None
    types: Any = None
    markers: Mapping[str, str] = field(default_factory=dict)
    headings: Mapping[str, str] = field(default_factory=dict)
    forms: Mapping[str, str] = field(default_factory=dict)
    doubts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unsure: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    schema: Schema = field(default_factory=Schema)

    def guessed_kinds(self, names: Iterable[str]) -> dict[str, str]:
        """The kinds of those columns among *names* that may as well have another one."""
        doubtful = [name for name in names if any(doubt in DOUBTFUL_KINDS for doubt in self.doubts.get(name, ()))]
        return {name: self.table.attribute(name).kind for name in doubtful}


def read_file(path: str | Path, *, schema: Schema | None = None, options: DialectOptions | None = None) -> TableFile:
    """Read a table from a file, or from standard input for `-`; what *options* and *schema* leave open is detected."""
    known = schema or Schema()
    said = (options or DialectOptions()).over(known.options)
    name = "standard input" if str(path) == STREAM else str(path)
    data = read_bytes(path)
    if _is_parquet(data, path):
        return _parquet_file(data, name, known)
    texts = read_texts(data, name, known, said)
    absent = known.fitting(texts.names, name)
    described = [known.attributes.get(column) for column in texts.names]
    missing = _missing(texts, [each.domain if each else () for each in described], said)
    columns: list[Column] = []
    for column, description, gone in zip(texts.names, described, missing, strict=True):
        try:
            # The texts of a column are let go of when its codes are made.
            words = texts.columns.pop(0)
            columns.append(
                interpreted(column, words, missing=gone, decimal=texts.dialect.decimal, described=description)
            )
        except BadCell as bad:
            where = f"{name}, line {texts.line(bad.row)}"
            raise InvalidRecord(f"{where}: the cell of column {column!r} {bad.what}.") from None
        except InvalidInput as error:
            raise InvalidInput(f"{name}: {error.worded(named)}") from None
    headings = zip(texts.names, texts.headings, strict=True)
    return _file(
        columns,
        name=name,
        dialect=texts.dialect,
        markers={each.attribute.name: each.marker for each in columns if each.marker is not None},
        headings={column: heading for column, heading in headings if column != heading},
        unsure=texts.unsure,
        absent=absent,
        schema=known,
    )


def read_masked(
    path: str | Path,
    original: Table,
    *,
    names: Sequence[str] | None = None,
    schema: Schema | None = None,
    options: DialectOptions | None = None,
) -> Table:
    """Read a masked version of *original*: some or all of its columns, in the domains of the original.

    A text that is not a value of the domain is read as a label for a set of values. If *names* are given, only those
    columns are read: others may hold what the original lacks, such as fresh identifiers.
    """
    name = "standard input" if str(path) == STREAM else str(path)
    data = read_bytes(path)
    if _is_parquet(data, path):
        held = _parquet_file(data, name, Schema()).table
        columns: dict[str, Any] = {each: held.values(each) for each in _wanted(name, held.names, names)}
    else:
        known = schema or Schema()
        said = (options or DialectOptions()).over(known.options)
        hints = Schema(source=known.source, columns=original.names, options=known.options)
        texts = read_texts(data, name, hints, said)
        wanted = _wanted(name, texts.names, names)
        kept = [original.attribute(each).domain if each in wanted else () for each in texts.names]
        missing = _missing(texts, kept, said)
        columns = {
            column: _masked_values(original, column, words, gone, texts.dialect.decimal)
            for column, words, gone in zip(texts.names, texts.columns, missing, strict=True)
            if column in wanted
        }
    try:
        return original.masked(columns)
    except InvalidInput as error:
        raise type(error)(f"{name}: {error.worded(named)}") from None


def _wanted(file: str, present: Sequence[str], names: Sequence[str] | None) -> Sequence[str]:
    """The columns to read of those *present*."""
    for name in names or ():
        if name not in present:
            raise UnknownName(f"{file}: {UnknownName.among('column', name, present)}")
    return present if names is None else names


def _masked_values(original: Table, name: str, words: Words, gone: Sequence[str], decimal: str) -> list[Value]:
    """The cells of a masked column: values of the original's domain, or else numbers or labels."""
    attribute = original.attribute(name)
    by_text = {text_of(value): value for value in attribute.domain if value is not None}
    values: list[Value] = []
    for text in words.texts:
        value: Value = by_text.get(text, text)
        if text not in by_text and text in gone and None in attribute.codes:
            value = None
        elif text not in by_text and (numbers := numbers_in([text], decimal)):
            # Another spelling of a number of the domain is that number; a new one only a continuous attribute takes.
            number = numbers[0]
            code = attribute.codes.get(number)
            value = number if code is None and attribute.kind == CONTINUOUS else text
            value = attribute.domain[code] if code is not None else value
        values.append(value)
    return [values[code] for code in words.codes.tolist()]


def _is_parquet(data: bytes, path: str | Path) -> bool:
    if data.startswith(b"PAR1"):
        return True
    if Path(path).suffix.lower() in (".parquet", ".pq"):
        raise InvalidInput(f"{path}: this is no Parquet file.")
    return False


def read_kept(path: Path, names: Sequence[str], schema: Schema) -> TableFile:
    """Some columns of a Parquet file, of which a *schema* may describe more."""
    from tabular.files.parquet import read_parquet

    columns = read_parquet(read_bytes(path), str(path), schema, only=names)[1] if names else []
    return _file(columns, name=str(path), schema=schema)


def _parquet_file(data: bytes, name: str, schema: Schema) -> TableFile:
    from tabular.files.parquet import read_parquet

    types, columns = read_parquet(data, name, schema)
    absent = schema.fitting([column.attribute.name for column in columns], name)
    return _file(columns, name=name, types=types, absent=absent, schema=schema)


def _file(columns: Sequence[Column], **found: Any) -> TableFile:
    """The file with these *columns*; *found* is what else is known of it."""
    by_name = {column.attribute.name: column for column in columns}
    table = Table(
        tuple(column.attribute for column in columns),
        {name: column.codes for name, column in by_name.items()},
        {name: column.sets for name, column in by_name.items()},
    )
    return TableFile(
        table=table,
        forms={name: column.form for name, column in by_name.items()},
        doubts={name: column.doubts for name, column in by_name.items() if column.doubts},
        **found,
    )


def _missing(texts: Texts, domains: Sequence[Sequence[Value]], options: DialectOptions) -> list[tuple[str, ...]]:
    """For each column, the texts that mark a missing value: those that were given, or else the detected one."""
    kept = [frozenset(text_of(value) for value in domain if value is not None) for domain in domains]
    if options.missing is not None:
        return [tuple(text for text in options.missing if text not in known) for known in kept]
    return [() if marker is None else (marker,) for marker in found_markers(texts.columns, kept)]


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
    alone = len(table.names) == 1
    delimiter = dialect.delimiter + " " * dialect.spaced
    columns = [_written(table, name, like, dialect, alone) for name in table.names]
    # The mark that says how a file is encoded stands at its beginning only: one encoder writes it all.
    encoder = codecs.getincrementalencoder(dialect.encoding)()
    try:
        if dialect.header:
            headings = [like.headings.get(name, name) if like else name for name in table.names]
            cells = (_cell(heading, dialect=dialect, alone=alone) for heading in headings)
            file.write(encoder.encode(delimiter.join(cells) + dialect.line_end))
        for begin in range(0, len(table), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            lines = map(delimiter.join, zip(*(cells(block) for cells in columns), strict=True))
            file.write(encoder.encode(dialect.line_end.join(lines) + dialect.line_end))
    except UnicodeEncodeError as error:
        bad = error.object[error.start]
        raise InvalidInput(
            f"{bad!r} cannot be written as {dialect.encoding}; write UTF-8 ({named('encoding')} utf-8)."
        ) from None


def _written(
    table: Table, name: str, like: TableFile | None, dialect: Dialect, alone: bool
) -> Callable[[slice], list[str]]:
    """What gives the cells of a column in some rows as written."""
    attribute, codes = table.attribute(name), table.columns[name]
    words = words_of(attribute, table.sets[name])
    missing = (
        "" if attribute.missing is None else _marker(attribute, dialect, like.markers.get(name, "") if like else "")
    )
    cells = partial(_cells, dialect=dialect, alone=alone, missing=missing)
    used, places = np.unique(codes, return_inverse=True)
    if len(codes) > _BLOCK and len(used) > len(codes) // 2:
        # Nearly all are distinct: to keep them would take more memory than the rest of the table.
        return lambda rows: cells([words[code] for code in codes[rows].tolist()])
    written = np.array(cells([words[code] for code in used.tolist()]), dtype=object)
    places = places.astype(np.int32)
    return lambda rows: written[places[rows]].tolist()


def _marker(attribute: Attribute, dialect: Dialect, wanted: str) -> str:
    """The text that stands for no value, if it can be the one *wanted*; it must not be a value, occurring or not."""
    markers = (wanted, *_MARKERS)
    taken = {
        text for value in attribute.domain if (text := _text(value, dialect.decimal)) in markers and value is not None
    }
    return next((each for each in markers if each not in taken), "")


def _cells(values: Sequence[Value], *, dialect: Dialect, alone: bool, missing: str) -> list[str]:
    """The cells of *values* as written, a missing value as *missing*."""
    is_plain = dialect.decimal == "." and None not in values
    texts = list(map(str, values)) if is_plain else [_text(value, dialect.decimal) for value in values]
    if _need_nothing(texts, dialect):
        return texts
    return [
        _cell(missing if value is None else text, dialect=dialect, alone=alone, bare=value is None)
        for value, text in zip(values, texts, strict=True)
    ]


def _need_nothing(texts: Sequence[str], dialect: Dialect) -> bool:
    """Whether *texts* are numbers, of which no character is a mark of the *dialect*: looked at all at once."""
    signs = set("".join(texts))
    marks = {*dialect.delimiter, *dialect.quote}
    return dialect.decimal == "." and signs <= _OF_NUMBERS - marks and are_number_texts(texts)


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
