"""What the command line says of each verb's outcome; a verb without words of its own shows its document as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import click

from api.cli.drawing import note, show_table
from api.verbs.contract import Outcome, Verb


@dataclass(frozen=True)
class Said:
    """Where words go: to standard output, or beside it where a file of the outcome is written there."""

    err: bool = False

    def line(self, text: str) -> None:
        """Say a line."""
        click.echo(text, err=self.err)

    def note(self, text: str) -> None:
        """Say a line beside the result."""
        note(text)

    def table(self, title: str, header: list[str], rows: list[Any]) -> None:
        """Show a table."""
        show_table(title, header, rows, err=self.err)


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
