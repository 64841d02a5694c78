"""Reading a table file, CSV in any dialect or Parquet, as a Table, together with what was detected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabular.attributes import CONTINUOUS, Value
from tabular.errors import InvalidInput, InvalidRecord, UnknownName, named
from tabular.files.columns import BadCell, Column, Words, found_markers, interpreted
from tabular.files.csv_texts import Texts, read_texts
from tabular.files.dialect import Dialect, DialectOptions
from tabular.files.disk import STREAM, read_bytes
from tabular.files.schema import Schema
from tabular.files.written_numbers import numbers_in
from tabular.labels import text_of
from tabular.table import Table


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
    for column, words, description, gone in zip(texts.names, texts.columns, described, missing, strict=True):
        try:
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
