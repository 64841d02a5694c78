"""What the command line shows: lines, tables, one JSON document, and what it says of each verb's outcome.

A verb without words of its own shows its document as a table.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from api.cli.terminal import say, say_json, visible, visible_json
from api.verbs.contract import Outcome, Verb


def note(text: str) -> None:
    """A line for the person at the terminal, on standard error."""
    say(text, err=True)


def show_json(document: Any) -> None:
    """One JSON document on standard output; the same numbers give the same bytes."""
    say_json(document)


def write_line(document: Mapping[str, Any]) -> None:
    """A line of an answer in lines: one JSON object."""
    sys.stdout.write(visible_json(document) + "\n")


@dataclass(frozen=True)
class Said:
    """Where words go: to standard output, or beside it where a file of the outcome is written there."""

    err: bool = False

    def line(self, text: str) -> None:
        """Say a line."""
        say(text, err=self.err)

    def table(self, title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Show a table: text to the left, numbers to the right."""
        from rich.console import Console
        from rich.table import Table

        table = Table()
        for position, name in enumerate(header):
            numeric = all(isinstance(row[position], int | float | None) for row in rows)
            table.add_column(visible(name), justify="right" if numeric else "left", overflow="fold")
        for row in rows:
            table.add_row(*(visible(shown(cell)) for cell in row))
        # Without a terminal, lines are never broken: what reads them sees one line a row.
        width = None if os.isatty(2 if self.err else 1) else 200
        console = Console(width=width, highlight=False, markup=False, stderr=self.err)
        # Not as the table's own title, which a narrow table would break.
        console.print(visible(title), style="bold")
        console.print(table)


def shown(cell: object) -> str:
    """A cell as text: four decimals for a number, a dash for what cannot be known."""
    if cell is None:
        return "-"
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell)


#: Says what came of a verb.
Words = Callable[[Any, Outcome, Said], None]

_WORDS: dict[str, Words] = {}


def tells(name: str) -> Callable[[Words], Words]:
    """Decorator: these are the words for the outcome of the verb called *name*."""

    def enter(words: Words) -> Words:
        _WORDS[name] = words
        return words

    return enter


def tell(name: str, verb: Verb, outcome: Outcome, said: Said) -> None:
    """Say what came of a verb."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    _WORDS.get(name, _plainly)(verb, outcome, said)


def _plainly(verb: Verb, outcome: Outcome, said: Said) -> None:
    said.table(type(verb).__name__, ["what", "value"], flat(outcome.document))


def flat(document: dict[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    """Nested values as lines of a table."""
    lines: list[tuple[str, object]] = []
    for key, value in document.items():
        if isinstance(value, dict):
            lines += flat(value, f"{prefix}{key} ")
        else:
            lines.append((f"{prefix}{key}", value))
    return lines


def counted_k(document: Mapping[str, Any], what: str, method: str) -> str:
    """*What* k was counted in a masked table, and whether its method promises one."""
    aside = f", with {document['suppressed']} suppressed rows set aside" if document["suppressed"] else ""
    counted = f"{what}{aside}, counted in the masked table."
    return f"The {counted}" if document["promises_k"] else f"{method} promises no k over all columns; the {counted}"


def scores_of(document: Mapping[str, Any], beginning: str = "Information") -> str:
    """What masking a table lost, and what it still discloses."""
    return (
        f"{beginning} loss {document['information_loss']:.2f} %, disclosure risk {document['disclosure_risk']:.2f} % "
        f"(greater of the two {document['score_max']:.2f}, mean {document['score_mean']:.2f})."
    )
