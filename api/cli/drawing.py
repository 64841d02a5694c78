"""What the command line shows: lines, tables, and one JSON document."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import click


def note(text: str) -> None:
    """A line for the person at the terminal, on standard error."""
    click.echo(text, err=True)


def show_json(document: Any) -> None:
    """One JSON document on standard output; the same numbers give the same bytes."""
    click.echo(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False))


def show_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]], *, err: bool = False) -> None:
    """A table on standard output, or on standard error: text to the left, numbers to the right."""
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for position, name in enumerate(header):
        numeric = all(isinstance(row[position], int | float | None) for row in rows)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(shown(cell) for cell in row))
    # Without a terminal, lines are never broken: what reads them sees one line a row.
    width = None if os.isatty(2 if err else 1) else 200
    console = Console(width=width, highlight=False, markup=False, stderr=err)
    # Not as the table's own title, which a narrow table would break.
    console.print(title, style="bold")
    console.print(table)


def shown(cell: object) -> str:
    """A cell as text: four decimals for a number, a dash for what cannot be known."""
    if cell is None:
        return "-"
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell)
