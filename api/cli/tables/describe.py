"""`graphpriv table describe`: what a table file holds and how it is written."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from api.cli.common import json_option, note, show_json, show_table
from api.cli.tables.common import TableOptions, table_options
from tabular.files.description import ColumnDescription, described_columns
from tabular.files.reading import TableFile


@click.command()
@click.argument("file")
@table_options
@json_option
def describe(file: str, reading: TableOptions, as_json: bool) -> None:
    """Say how a table is written and what each column holds, and what of that is a guess.

    Values of a column that could say who somebody is are not shown. FILE is CSV or Parquet, - is standard input.
    """
    found = reading.read(file)
    columns = described_columns(found)
    if as_json:
        show_json(_document(found, columns))
        return
    _show(found, columns)


def _document(found: TableFile, columns: list[ColumnDescription]) -> dict[str, Any]:
    return {
        "file": found.name,
        "format": "parquet" if found.dialect is None else "csv",
        "rows": len(found.table),
        "dialect": None if found.dialect is None else found.dialect.shown(),
        "unsure": list(found.unsure),
        "absent": list(found.absent),
        "columns": [{**asdict(column), "doubts": list(column.doubts)} for column in columns],
    }


def _show(found: TableFile, columns: list[ColumnDescription]) -> None:
    if found.dialect is None:
        click.echo(f"{found.name}: Parquet, {len(found.table)} rows, {len(columns)} columns.")
    else:
        said = found.dialect.shown()
        header = "a header" if found.dialect.header else "no header"
        spaced = " and a space" if found.dialect.spaced else ""
        decimal = ", decimal comma" if found.dialect.decimal == "," else ""
        click.echo(
            f"{found.name}: CSV, {len(found.table)} rows, {len(columns)} columns; cells parted by {said['delimiter']}"
            f"{spaced}, quotes {said['quote']}, {said['encoding']}, lines end in {said['line_end']}, {header}{decimal}."
        )
    rows = [
        [
            column.name,
            column.kind,
            column.role or (f"{column.proposed}?" if column.proposed else "-"),
            column.holds,
            column.values,
            f"{column.missing} ({column.missing_marker or 'empty'})" if column.missing else "0",
            "-" if column.most_frequent is None else f"{column.most_frequent} ({column.most_frequent_rows})",
            "-" if column.lowest is None else f"{column.lowest} to {column.highest}",
        ]
        for column in columns
    ]
    show_table(
        "Columns", ["name", "kind", "role", "holds", "values", "missing", "most frequent", "range (3+ rows)"], rows
    )
    doubts: dict[str, list[str]] = {}
    for column in columns:
        for doubt in column.doubts:
            doubts.setdefault(doubt, []).append(column.name)
    for doubt, names in doubts.items():
        click.echo(f"{', '.join(names)}: {doubt}.")
    if found.absent:
        click.echo(f"Described in {found.schema.source}, but not in the file: {', '.join(found.absent)}.")
    if any(column.proposed for column in columns):
        note("A role with ? is a proposal; give it by --role NAME=ROLE or in a schema.")
