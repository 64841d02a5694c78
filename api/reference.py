"""All registries in one place: what the command line and the service list, and the generated docs.

`python -m api.reference` writes docs/reference.md, docs/methods.md and the list of methods in README.md.
"""

from __future__ import annotations

import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from crawler.archives import archives
from crawler.places import gazetteers
from crawler.sources import sources
from crawler.topics import categorisers
from graphpriv.formats import formats
from graphpriv.measures import measures
from graphpriv.protections import protections
from graphpriv.risk import attackers
from tabular.clusterings import clusterings
from tabular.criteria import criteria
from tabular.evolution import evolutions
from tabular.hierarchies import hierarchies
from tabular.lattice.metrics import METRICS, MetricTable
from tabular.lattice.searches import searches
from tabular.measures import measures as table_measures
from tabular.protections import protections as table_protections
from tabular.registry import Registry

REGISTRIES: dict[str, Registry[Any] | MetricTable] = {
    "Graph protections": protections,
    "Graph measures": measures,
    "Attackers": attackers,
    "Graph formats": formats,
    "Archives": archives,
    "Networks": sources,
    "Table protections": table_protections,
    "Clusterings": clusterings,
    "Table measures": table_measures,
    "Hierarchies": hierarchies,
    "Table criteria": criteria,
    "Searches": searches,
    "Lattice metrics": METRICS,
    "Evolution": evolutions,
    "Categorisers": categorisers,
    "Gazetteers": gazetteers,
}


def method_lists() -> dict[str, list[dict[str, Any]]]:
    """Each registry as a list of its methods, ready for JSON."""
    return {
        sort: [
            {
                "name": entry.name,
                "summary": entry.summary,
                "parameters": [asdict(each) for each in entry.parameters],
                "cites": entry.cites,
                "limits": entry.limits,
            }
            for entry in registry.entries()
        ]
        for sort, registry in REGISTRIES.items()
    }


TOP = Path(__file__).parent.parent
MARKS = ("<!-- methods: begin -->", "<!-- methods: end -->")
_MADE = "Made by `python -m api.reference`; a test fails when it is stale."


def readme(text: str) -> str:
    """The README with its list of methods made anew: a line a family."""
    begin, end = (re.escape(mark) for mark in MARKS)
    lines = "\n".join(
        f"- {sort}: {', '.join(f'`{name}`' for name in registry)}" for sort, registry in REGISTRIES.items()
    )
    return re.sub(f"{begin}.*{end}", lambda _: f"{MARKS[0]}\n{lines}\n{MARKS[1]}", text, flags=re.DOTALL)


def methods() -> str:
    """Every method: what it does, where it comes from, what it cannot do, and its parameters."""
    parts = ["# Methods", _MADE]
    for sort, registry in REGISTRIES.items():
        parts += [f"## {sort}", _table(registry)]
        for entry in registry.entries():
            if entry.parameters:
                lines = [f"- `{each.name}` ({each.default}): {each.help}" for each in entry.parameters]
                parts.append("\n".join([f"Parameters of `{entry.name}`:", "", *lines]))
    return "\n\n".join(parts) + "\n"


def reference() -> str:
    """Every command with its options."""
    from api.cli import command_line

    top = command_line()
    return "\n\n".join(["# Commands", _MADE, _help(top, "graphpriv"), *_commands(top, "graphpriv")]) + "\n"


def _table(registry: Any) -> str:
    lines = ["| name | what it does | from | limits |", "|---|---|---|---|"]
    for entry in registry.entries():
        cells = [f"`{entry.name}`", entry.summary, entry.cites, entry.limits]
        lines.append("| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |")
    return "\n".join(lines)


def _commands(command: click.Command, name: str) -> list[str]:
    if isinstance(command, click.Group):
        inner = sorted(command.commands.items())
        return [part for each, sub in inner for part in _commands(sub, f"{name} {each}")]
    return [_help(command, name)]


def _help(command: click.Command, name: str) -> str:
    # As under the whole command line: click keeps the names of the first context that asks.
    context = click.Context(
        command, info_name=name, terminal_width=100, max_content_width=100, help_option_names=["-h", "--help"]
    )
    return f"## `{name}`\n\n```\n{command.get_help(context)}\n```"


def stale() -> list[Path]:
    """The files that are not as they would be made now."""
    return [path for path, text in _files().items() if path.read_text() != text]


def _files() -> dict[Path, str]:
    path = TOP / "README.md"
    return {
        path: readme(path.read_text()),
        TOP / "docs" / "methods.md": methods(),
        TOP / "docs" / "reference.md": reference(),
    }


def main() -> None:
    """Write the three files; with `--check` only say whether they are fresh."""
    if "--check" in sys.argv[1:]:
        names = [path.name for path in stale()]
        sys.exit(f"Stale: {', '.join(names)}; run: python -m api.reference" if names else 0)
    for path, text in _files().items():
        path.write_text(text)
    sys.stdout.write("Wrote README.md, docs/methods.md and docs/reference.md\n")


if __name__ == "__main__":
    main()
