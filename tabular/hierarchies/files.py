"""Hierarchy files as in ARX: one row per value, one column per level, no header; and folders of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO

import numpy as np

from tabular.attributes import Attribute, Value
from tabular.errors import InvalidHierarchy, InvalidInput, InvalidRecord
from tabular.files.csv_tables import Rows, outside_quotes
from tabular.files.dialect import Dialect
from tabular.files.disk import read_bytes, write_text
from tabular.files.sniffing import decoded
from tabular.hierarchies.hierarchy import Hierarchy, LackingValues
from tabular.labels import text_of
from tabular.table import Table

#: First cells that stand for a missing value, where the column has any.
_MISSING = ("", "?", "NULL", "null", "NA", "N/A", "NaN", "nan", "*missing*")


def read_hierarchy(path: str | Path, attribute: Attribute, *, whole: bool = False) -> Hierarchy:
    """Read a hierarchy over the domain of *attribute*; rows for other values are left out unless it is *whole*."""
    data = read_bytes(path)
    text, encoding = decoded(data, str(path), None)
    if not text.strip():
        raise InvalidInput(f"{path}: the file is empty.")
    dialect = Dialect(delimiter=_delimiter(text), header=False, encoding=encoding, spaced=True)
    found = Rows(data, str(path), dialect)
    rows = [[cell.strip() for cell in row] for row in found]

    def where(row: int) -> str:
        return f"{path}, line {found.begins(row, 1)}: "

    for place, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise InvalidRecord(f"{where(place)}this line has {len(row)} cells, the first {len(rows[0])}.")
    return hierarchy_of_rows(rows, attribute, source=f"{path}: ", where=where, whole=whole)


def hierarchy_of_rows(
    rows: Sequence[Sequence[str]],
    attribute: Attribute,
    *,
    source: str = "",
    where: Callable[[int], str] = lambda row: f"Row {row + 1}: ",
    whole: bool = False,
) -> Hierarchy:
    """The hierarchy that *rows* spell out, over the domain of *attribute*, or *whole*, over all their values.

    For errors, *source* says where the rows come from, and *where* the place of one of them.
    """
    first: dict[Value, int] = {}
    for place, row in enumerate(rows):
        if len(row) != len(rows[0]) or not row:
            raise InvalidRecord(f"{where(place)}a row has a value and its label on each level, as the first one has.")
        before = first.setdefault(row[0], place)
        if list(row) != list(rows[before]):
            raise InvalidHierarchy(f"{where(place)}Hierarchy of {attribute.name}: {row[0]!r} has another row above.")
    values: list[Value] = list(first)
    if None in attribute.codes and "" not in attribute.codes:
        # The first of these stands for the missing value, unless the column has it as a value.
        marker = next((text for text in _MISSING if text in first and text not in attribute.codes), None)
        values = [None if marker is not None and value == marker else value for value in values]
    kept = list(first.values())
    labels = [[rows[place][level] for place in kept] for level in range(1, len(rows[0]) if rows else 1)]
    written = Hierarchy.of(attribute.name, values, labels, where=lambda place: where(kept[place]))
    fitting = written.over(attribute.domain, source=source)
    return written if whole else fitting


def write_hierarchy(
    path: str | Path | IO[bytes], hierarchy: Hierarchy, *, delimiter: str = ";", overwrite: bool = False
) -> None:
    """Write a hierarchy file as ARX does."""
    lines = [delimiter.join(_cell(cell, delimiter) for cell in row) for row in hierarchy.rows()]
    write_text(path, "".join(f"{line}\n" for line in lines), overwrite=overwrite)


def hierarchy_files(folder: str | Path, columns: Iterable[str]) -> dict[str, Path]:
    """The hierarchy file of each column that has one: `NAME.csv`, or else one that ends in `_NAME.csv`."""
    if not Path(folder).is_dir():
        raise InvalidInput(f"{folder}: there is no such folder of hierarchies.")
    names = sorted(columns, key=len, reverse=True)
    found: dict[str, list[Path]] = {}
    for path in sorted(Path(folder).iterdir()):
        if path.suffix.lower() == ".csv":
            # `salary_class.csv` is of `salary_class` where there is such a column, else of `class`.
            owner = next((name for name in names if path.stem == name or path.stem.endswith(f"_{name}")), None)
            if owner is not None:
                found.setdefault(owner, []).append(path)
    files = {}
    for name, paths in found.items():
        exact = [path for path in paths if path.stem == name]
        if not exact and len(paths) > 1:
            both = " and ".join(path.name for path in paths[:2])
            raise InvalidInput(f"{folder}: {both} could both be the hierarchy of {name!r}; call one {name}.csv.")
        files[name] = (exact or paths)[0]
    return files


def read_hierarchies(
    folder: str | Path, table: Table, names: Sequence[str], *, whole: bool = False
) -> dict[str, Hierarchy]:
    """Read the hierarchies of the columns *names* of *table* from the files of a folder.

    *Whole* ones keep all values of their files; otherwise values that the table lacks are left out.
    """
    attributes = [table.attribute(name) for name in names]
    files = hierarchy_files(folder, table.names)
    for name in names:
        if name not in files:
            there = ", ".join(sorted(path.name for path in Path(folder).glob("*.csv"))[:8]) or "no CSV file"
            wanted = f"{name}.csv or *_{name}.csv"
            raise InvalidInput(f"{folder}: there is no hierarchy of {name!r}, {wanted}; there is {there}.")
    return {each.name: _with_row(files[each.name], each, table, whole=whole) for each in attributes}


def _with_row(path: Path, attribute: Attribute, table: Table, *, whole: bool) -> Hierarchy:
    """Read a hierarchy, or name a row of *table* with a value that the file lacks."""
    try:
        return read_hierarchy(path, attribute, whole=whole)
    except LackingValues as error:
        value = next((each for each in error.values if each is not None), None)
        row = int(np.argmax(table.columns[attribute.name] == attribute.codes[value]))
        way_out = "" if value is None else f"; add a line for {text_of(value)!r} to {path}"
        raise InvalidHierarchy(f"{error} Data row {row + 1} is the first that has it{way_out}.") from None


def _delimiter(text: str) -> str:
    """A semicolon, as in ARX, if each line has one; or else a tab or a comma."""
    lines = [outside_quotes(line) for line in text.splitlines() if line.strip()]
    return next((mark for mark in ";\t," if all(mark in line for line in lines)), max(";,\t", key=text.count))


def _cell(text: str, delimiter: str) -> str:
    needs = any(mark in text for mark in (delimiter, '"', "\n", "\r")) or text != text.strip()
    return '"' + text.replace('"', '""') + '"' if needs else text
