"""What all commands share: where the store is, how results are shown, where the random numbers come from."""

from __future__ import annotations

import functools
import json
import os
import secrets
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from graphpriv.store import Store, open_store
from tabular.errors import InvalidInput, InvalidParameter
from tabular.files.disk import STREAM, place_of, refuse_existing

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_STORE = "file:./graphpriv.db"

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace what is there under that name.")
param_option = click.option(
    "--param", "params", multiple=True, metavar="KEY=VALUE", help="A parameter of the method; may be given again."
)


def store_option(command: F) -> F:
    """Add `--store`; the command gets the URL as `store`."""
    option = click.option(
        "--store",
        envvar="GRAPHPRIV_STORE",
        default=DEFAULT_STORE,
        show_default=True,
        metavar="URL",
        help="file:PATH or neo4j://user:password@host:7687.",
    )
    return option(command)


def seed_option(command: F) -> F:
    """Add `--seed`; the command gets the number as `seed`, drawn from the operating system unless it is fixed."""

    @functools.wraps(command)
    def with_seed(*args: Any, seed: int | None, **options: Any) -> Any:
        if seed is None:
            seed = secrets.randbits(128)
        else:
            note("warning: a fixed seed can undo a release (who knows it can draw again); use it for tests only.")
        return command(*args, seed=seed, **options)

    option = click.option("--seed", type=click.IntRange(min=0), help="Fix what is drawn at random: for tests.")
    return option(with_seed)  # type: ignore[return-value]


def opened(url: str, *, create: bool = False) -> Store:
    """The store at *url*."""
    return open_store(url, create=create)


def generator(seed: int) -> np.random.Generator:
    """The random numbers of a seed."""
    return np.random.default_rng(seed)


def dictionary_text(document: Any) -> str:
    """A data dictionary as the text of its file."""
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def note(text: str) -> None:
    """A line for the person at the terminal, on standard error."""
    click.echo(text, err=True)


def show_json(document: Any) -> None:
    """One JSON document on standard output; the same numbers give the same bytes."""
    click.echo(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False))


def show_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]], *, err: bool = False) -> None:
    """A table on standard output, or on standard error: text to the left, numbers to the right."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for position, name in enumerate(header):
        numeric = all(isinstance(row[position], int | float | None) for row in rows)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(shown(cell) for cell in row))
    # Without a terminal, lines are never broken: what reads them sees one line a row.
    width = None if os.isatty(2 if err else 1) else 200
    Console(width=width, highlight=False, markup=False, stderr=err).print(table)


def shown(cell: object) -> str:
    """A cell as text: four decimals for a number, a dash for what cannot be known."""
    if cell is None:
        return "-"
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell)


def parameters_of(entry: Any, params: Sequence[str]) -> dict[str, Any]:
    """The `--param` texts as values, by the kinds of the parameters of a registered method."""
    known = {each.name: each for each in entry.parameters}
    values: dict[str, Any] = {}
    for text in params:
        key, equals, value = text.partition("=")
        name = key.strip().replace("-", "_")
        if not equals or name not in known:
            offered = ", ".join(known) or "none"
            near = get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near and equals else ""
            raise InvalidParameter(f"--param {text!r}: {entry.name} takes KEY=VALUE with KEY one of: {offered}.{hint}")
        values[name] = known[name].read(value.strip())
    return values


def may_write(path: str | Path, store: str, *, overwrite: bool) -> None:
    """Refuse, before the work begins, an output that exists, that has no folder, or that is the store itself."""
    refuse_existing(path, overwrite=overwrite)
    if str(path) == STREAM:
        return
    target = place_of(path)
    if not target.parent.is_dir():
        raise InvalidInput(f"{path}: there is no folder {Path(path).parent} to write it to.")
    if not os.access(target.parent, os.W_OK):
        raise InvalidInput(f"{path}: nothing may be written to the folder {Path(path).parent}.")
    kept = place_of(store.removeprefix("file:"))
    if store.startswith("file:") and target in (kept, Path(f"{kept}-wal"), Path(f"{kept}-shm")):
        raise InvalidInput(f"{path}: this is the store; give the output a name of its own.")


def refuse_two_documents(as_json: bool, **outputs: str | None) -> None:
    """Refuse `--json` beside an output that goes to standard output, too."""
    for name, path in outputs.items():
        if as_json and path == STREAM:
            option = "FILE" if name == "file" else f"--{name}"
            raise InvalidParameter(f"--json and {option} - both want standard output; give {option} a file.")


def out_path(path: str) -> str | Path:
    """A path to write to; `-` stays standard output."""
    return path if path == "-" else Path(path)
