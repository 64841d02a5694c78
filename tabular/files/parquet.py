"""Parquet files, read and written through Arrow; each column keeps its type."""

from __future__ import annotations

import datetime
import io
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tabular.attributes import Attribute, Value, is_number, text_of, words_of
from tabular.errors import InvalidInput, InvalidRecord
from tabular.files.columns import (
    NOTHING,
    NUMBERS,
    TEXT,
    WHOLE,
    BadCell,
    Column,
    Words,
    interpreted,
    kind_of,
    numbers_in,
    ordered_numbers,
    ordered_texts,
)
from tabular.files.csv_tables import repeated
from tabular.files.disk import free_memory
from tabular.files.limits import Limits, TooMuch
from tabular.files.schema import Description, Schema
from tabular.table import Table

#: The memory that a cell takes while a column is read, in bytes, where all its values are the same.
_LEAST_BYTES = 16


def read_parquet(
    data: bytes, name: str, schema: Schema, *, only: Sequence[str] | None = None
) -> tuple[Any, list[Column]]:
    """The types of the columns of a Parquet file, and the columns, all or *only* some; *schema* describes some."""
    try:
        # As for CSV: a thread of Arrow that lets go of an object of Python may outlive the interpreter.
        opened = pq.ParquetFile(io.BytesIO(data))
        # The footer tells it before anything is unpacked.
        limits = Limits.of_environment()
        columns, rows = opened.metadata.num_columns, opened.metadata.num_rows
        limits.check(name, columns=columns, rows=rows)
        _refuse_without_room(name, cells=rows * (columns if only is None else len(only)))
        _refuse_nested(name, opened.schema_arrow)
        if limits != Limits():
            _check_texts(name, data, opened, limits)
        found = opened.read(None if only is None else list(only), use_threads=False)
        # A name may be no text.
        names = found.column_names
    except (pa.ArrowException, OSError, ValueError) as error:
        what = str(error).splitlines()[0].rstrip(".") if str(error) else "it is cut off"
        raise InvalidInput(f"{name}: this Parquet file cannot be read: {what}.") from None
    if not names:
        raise InvalidInput(f"{name}: the file has no columns.")
    if twice := repeated(names):
        raise InvalidInput(f"{name}: two columns are called {names[twice - 1]!r}.")
    columns = []
    for column in names:
        try:
            columns.append(_column(column, found[column], schema.attributes.get(column)))
        except BadCell as bad:
            raise InvalidRecord(f"{name}, row {bad.row + 1}: the cell of column {column!r} {bad.what}.") from None
        except (pa.ArrowException, InvalidInput, UnicodeDecodeError) as error:
            raise InvalidInput(f"{name}, column {column!r}: {str(error).splitlines()[0]}") from None
    return found.schema, columns


def write_first_rows(path: Path, name: str, to: Path, rows: int) -> None:
    """Write the first *rows* of a Parquet file, or fewer where it has many columns, to another one."""
    try:
        opened = pq.ParquetFile(path)
        Limits.of_environment().check(name, columns=opened.metadata.num_columns)
        _refuse_nested(name, opened.schema_arrow)
        # A text that is repeated is not unpacked as often as it stands there.
        texts = [each.name for each in opened.schema_arrow if _holds_text(each.type)]
        batches = pq.ParquetFile(path, read_dictionary=texts).iter_batches(rows, use_threads=False)
        pq.write_table(pa.Table.from_batches([next(batches)]), to)
    except (pa.ArrowException, OSError, ValueError, StopIteration) as error:
        what = str(error).splitlines()[0].rstrip(".") if str(error) else "it has no rows"
        raise InvalidInput(f"{name}: this Parquet file cannot be read: {what}.") from None


def _refuse_nested(name: str, schema: Any) -> None:
    """Refuse cells that hold several values, before any is unpacked."""
    for field in schema:
        if pa.types.is_nested(field.type):
            raise InvalidInput(f"{name}, column {field.name!r}: a cell holds one plain value, not {field.type}.")


def _refuse_without_room(name: str, *, cells: int) -> None:
    """Refuse what cannot be held: half a megabyte of equal rows can stand for any number of them."""
    takes, free = cells * _LEAST_BYTES, free_memory()
    if takes > free:
        raise TooMuch(
            f"{name}: its {cells:,} cells take at least {takes / 1e9:,.1f} GB of memory, and {free / 1e9:,.1f} GB are "
            "free; read fewer columns, split it, or take a machine with more memory."
        )


def _check_texts(name: str, data: bytes, opened: Any, limits: Limits) -> None:
    """Refuse texts that would take too much memory: a file of 500 bytes can hold one of 10^6 characters 10^8 times.

    They are read as each distinct text with the rows that have it, so that counting takes little.
    """
    texts = [place for place, field in enumerate(opened.schema_arrow) if _holds_text(field.type)]
    groups = [opened.metadata.row_group(each) for each in range(opened.num_row_groups)]
    # What is no longer than this unpacked is not repeated. Of a group, not of its columns: Arrow ends the process where
    # the footer is wrong about a column.
    limits.check_text(name, sum(group.total_byte_size for group in groups) if texts else 0)
    names = [opened.schema_arrow.names[each] for each in texts]
    distinct = pq.ParquetFile(io.BytesIO(data), read_dictionary=names)
    total = 0
    for batch in distinct.iter_batches(_COUNTED, columns=names, use_threads=False) if names else ():
        for column in batch.columns:
            lengths = _lengths(column)
            limits.check_field(name, pc.max(lengths).as_py() or 0)
            total += pc.sum(lengths).as_py() or 0
            limits.check_text(name, total)


def _holds_text(kind: Any) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(holds(kind) for holds in _TEXTS)


def _lengths(texts: Any) -> Any:
    """The length of each text in bytes."""
    if pa.types.is_dictionary(texts.type):
        return _lengths(texts.dictionary).take(texts.indices)
    return pc.binary_length(texts).cast(pa.int64())


#: What is measured as text: bytes are refused, but only once they are unpacked.
_TEXTS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
)

#: So many rows are measured at a time.
_COUNTED = 50_000


def _column(name: str, cells: Any, described: Description | None) -> Column:
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if not any(known(kind) for known in _TAKEN):
        raise InvalidInput(f"a cell holds one plain value, not {kind}.")
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(kind)
    if pa.types.is_temporal(kind) or pa.types.is_decimal(kind):
        cells = cells.cast(pa.string())
    values, codes = _distinct(cells)
    known = described or Description()
    words = Words(tuple(map(text_of, values)), codes)
    if known.domain or known.kind is not None or known.bounds is not None:
        # What a schema says is said of texts, whatever the type of the column.
        gone = [text_of(None)] if None in values else []
        return interpreted(name, words, missing=gone, described=known)
    present = [value for value in values if value is not None]
    places, domain, form, doubts = _ordered(present, kind)
    if None in values:
        domain.append(None)
    code = iter(places)
    renamed = np.array([len(domain) - 1 if value is None else next(code) for value in values], dtype=np.int32)
    attribute = Attribute(name=name, role=known.role, kind=kind_of(form, len(present)), domain=tuple(domain))
    return Column(attribute, renamed[codes] if len(renamed) else codes, form=form, doubts=doubts)


_TAKEN = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_date,
    pa.types.is_time,
    pa.types.is_timestamp,
    pa.types.is_decimal,
    pa.types.is_null,
)


def _distinct(cells: Any) -> tuple[list[Value], NDArray[np.int32]]:
    """The distinct values of a column, None last, and the code of each row among them."""
    if pa.types.is_null(cells.type) or not len(cells):
        return ([None] if len(cells) else []), np.zeros(len(cells), dtype=np.int32)
    if pa.types.is_floating(cells.type):
        # Not a number and null are the same missing value.
        cells = pc.if_else(pc.is_nan(cells), pa.scalar(None, cells.type), cells)
    whole = pa.concat_arrays(pa.chunked_array(cells.chunks, cells.type).dictionary_encode().unify_dictionaries().chunks)
    values = whole.dictionary.to_pylist()
    codes = whole.indices.fill_null(len(values)).to_numpy(zero_copy_only=False).astype(np.int32)
    return values + ([None] if whole.null_count else []), codes


def _ordered(present: Sequence[Value], kind: Any) -> tuple[list[int], list[Value], str, tuple[str, ...]]:
    """The place of each value in the domain, the domain, what it holds, and doubts about that."""
    if not present:
        return [], [], NOTHING, ()
    numbers = present if all(map(is_number, present)) else None
    if pa.types.is_decimal(kind):
        numbers = numbers_in([str(value) for value in present])
    if numbers is not None:
        places, domain = ordered_numbers(numbers)  # type: ignore[arg-type]
        has_fractions = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        return places, list(domain), NUMBERS if has_fractions else WHOLE, ()
    if all(isinstance(value, str) for value in present):
        return ordered_texts(present)  # type: ignore[arg-type]
    order = sorted(range(len(present)), key=lambda place: present[place])  # type: ignore[arg-type,return-value]
    return np.argsort(order).tolist(), [present[place] for place in order], TEXT, ()


def write_parquet(file: IO[bytes], table: Table, types: Any = None, *, group: int | None = None) -> None:
    """Write *table*, *group* rows together; a column keeps its type in *types* if its cells still fit."""
    if not table.attributes:
        raise InvalidInput("A table without columns cannot be written.")
    columns = [_arrow_column(table, attribute.name, types) for attribute in table.attributes]
    pq.write_table(pa.table(columns, names=list(table.names)), file, row_group_size=group)


def _arrow_column(table: Table, name: str, types: Any) -> Any:
    attribute = table.attribute(name)
    words = words_of(attribute, table.sets[name])
    used = np.unique(table.columns[name])
    place = np.zeros(len(words), dtype=np.int32)
    place[used] = np.arange(len(used))
    values = _arrow_values([words[code] for code in used.tolist()])
    wanted = types.field(name).type if types is not None and name in types.names else None
    plain = wanted.value_type if wanted is not None and pa.types.is_dictionary(wanted) else wanted
    try:
        values = _cast(values, plain)
    except (pa.ArrowException, ValueError):
        # Labels do not fit among numbers or dates.
        wanted = None
    codes = pa.array(place[table.columns[name]])
    if wanted is None or not pa.types.is_dictionary(wanted):
        return values.take(codes)
    encoded = values.take(codes).dictionary_encode()
    return pa.DictionaryArray.from_arrays(
        encoded.indices.cast(wanted.index_type), encoded.dictionary, ordered=wanted.ordered
    )


def _cast(values: Any, wanted: Any) -> Any:
    if wanted is None:
        return values
    if pa.types.is_null(wanted) and values.null_count == len(values):
        return pa.nulls(len(values))
    if pa.types.is_time(wanted):
        times = [None if text is None else datetime.time.fromisoformat(text) for text in values.to_pylist()]
        return pa.array(times, wanted)
    return values.cast(wanted)


def _arrow_values(values: Sequence[Value]) -> Any:
    """Values as an Arrow array: of their common type, or else as texts."""
    present = [value for value in values if value is not None]
    kinds = set(map(type, present))
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int}:
        try:
            return pa.array(values, pa.int64())
        except OverflowError:
            return pa.array(values, pa.uint64())
    if present and all(map(is_number, present)):
        # A number that is written in a way of its own keeps it only where the type of the column is of texts.
        return pa.array([None if value is None else float(value) for value in values], pa.float64())  # type: ignore[arg-type]
    return pa.array([None if value is None else text_of(value) for value in values], pa.string())
