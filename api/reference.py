"""Write the tables of README.md and all of docs/reference.md from the registries and the commands."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import click

from api.methods import REGISTRIES

TOP = Path(__file__).parent.parent
HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
MARKS = ("<!-- methods: begin -->", "<!-- methods: end -->")


def readme(text: str) -> str:
    """The README with its tables made anew."""
    begin, end = (re.escape(mark) for mark in MARKS)
    tables = "\n\n".join(_table(sort, registry) for sort, registry in REGISTRIES.items())
    return re.sub(f"{begin}.*{end}", lambda _: f"{MARKS[0]}\n{tables}\n{MARKS[1]}", text, flags=re.DOTALL)


def reference() -> str:
    """Every command with its options, every method with its parameters."""
    from api.cli import cli

    parts = [
        "# Reference",
        "Made by `python -m api.reference`; a test fails when it is stale.",
        "## Commands",
        *_commands(cli, "graphpriv"),
        "## Methods",
    ]
    for sort, registry in REGISTRIES.items():
        parts.append(f"### {sort}")
        for entry in registry.entries():
            parts.append(f"#### `{entry.name}`\n\n{entry.summary}\n\nFrom: {entry.cites}\n\nLimits: {entry.limits}")
            if entry.parameters:
                parts.append("\n".join(f"- `{each.name}` ({each.default}): {each.help}" for each in entry.parameters))
    return "\n\n".join(parts) + "\n"


def _table(sort: str, registry: Any) -> str:
    lines = [f"**{sort}**", "", "| name | what it does | from | limits |", "|---|---|---|---|"]
    for entry in registry.entries():
        cells = [f"`{entry.name}`", entry.summary, entry.cites, entry.limits]
        lines.append("| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |")
    return "\n".join(lines)


def _commands(command: click.Command, name: str) -> list[str]:
    if isinstance(command, click.Group):
        inner = command.commands.items()
        return [part for each, sub in inner for part in _commands(sub, f"{name} {each}")]
    # As under the whole command line: click keeps the names of the first context that asks.
    context = click.Context(command, info_name=name, terminal_width=100, max_content_width=100, **HELP)
    return [f"### `{name}`", f"```\n{command.get_help(context)}\n```"]


def main() -> None:
    """Write both files."""
    path = TOP / "README.md"
    path.write_text(readme(path.read_text()))
    (TOP / "docs" / "reference.md").write_text(reference())
    sys.stdout.write("Wrote README.md and docs/reference.md\n")


if __name__ == "__main__":
    main()
