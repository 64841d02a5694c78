"""What the commands on tables share: how a file is read and what its columns are, and how a release is written."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import click

from api.cli.common import may_write, note
from tabular.attributes import ROLES
from tabular.errors import InvalidParameter, UnknownName
from tabular.files.dialect import DELIMITERS, QUOTES, DialectOptions
from tabular.files.reading import TableFile, read_file, read_masked
from tabular.files.schema import Schema, read_schema, shipped_schemas
from tabular.files.writing import write_table
from tabular.release.identifiers import release_table
from tabular.table import Table

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What the options say of a table file: its schema with roles, and its dialect."""

    schema: Schema = field(default_factory=Schema)
    dialect: DialectOptions = field(default_factory=DialectOptions)

    def read(self, path: str) -> TableFile:
        """The table of a file, with what was found out about it."""
        found = read_file(path, schema=self.schema, options=self.dialect)
        for guess in found.unsure:
            option = "--header or --no-header" if guess == "header" else f"--{guess}"
            note(f"{path}: unsure: the {guess} is a guess; {option} says what it is.")
        return found

    def read_masked(self, path: str, original: Table) -> Table:
        """The masked version of *original* that a file holds; how the file is written is found out anew."""
        return read_masked(path, original, schema=self.schema)


def _either(names: Mapping[str, str]) -> str:
    return ", ".join(name for name in names if name.isalpha()) + " or a character"


def table_options(command: F) -> F:
    """Add `--schema`, `--role` and what overrides the dialect found; the command gets them as `reading`."""

    @functools.wraps(command)
    def with_reading(
        *args: Any,
        schema: str | None,
        roles: Sequence[str],
        delimiter: str | None,
        quote: str | None,
        encoding: str | None,
        decimal: str | None,
        header: bool | None,
        missing: Sequence[str],
        **options: Any,
    ) -> Any:
        known = Schema() if schema is None else read_schema(schema)
        dialect = DialectOptions(
            delimiter=delimiter,
            quote=quote,
            encoding=encoding,
            decimal=decimal,
            header=header,
            missing=tuple(missing) or None,
        )
        reading = TableOptions(schema=known.with_roles(_roles(roles)), dialect=dialect)
        return command(*args, reading=reading, **options)

    for option in reversed(_OPTIONS):
        with_reading = option(with_reading)
    return with_reading  # type: ignore[return-value]


_OPTIONS = (
    click.option(
        "--schema",
        metavar="FILE",
        help=f"What the columns are: a TOML file, or one that ships: {', '.join(shipped_schemas())}.",
    ),
    click.option(
        "--role",
        "roles",
        multiple=True,
        metavar="NAME=ROLE",
        help=f"The role of a column: {', '.join(ROLES)}; may be given again.",
    ),
    click.option("--delimiter", metavar="MARK", help=f"What parts the cells: {_either(DELIMITERS)}; else found out."),
    click.option("--quote", metavar="MARK", help=f"What stands around cells: {_either(QUOTES)}; else found out."),
    click.option("--encoding", metavar="NAME", help="How characters are written, such as utf-8; else found out."),
    click.option("--decimal", type=click.Choice([".", ","]), help="The decimal mark of numbers; else found out."),
    click.option("--header/--no-header", default=None, help="Whether the first line names columns; else found out."),
    click.option(
        "--missing",
        multiple=True,
        metavar="TEXT",
        help="A text that stands for no value, in any column; may be given again; else found out by column.",
    ),
)

identifiers_option = click.option(
    "--identifiers",
    type=click.Choice(["drop", "star"]),
    default="drop",
    show_default=True,
    help="What becomes of the columns whose role is identifier.",
)


def write_release(
    table: Table, path: str, *, like: TableFile, identifiers: str = "drop", overwrite: bool = False
) -> Table:
    """Write *table* as it may be released, in the way of the file *like*; what was written is given back."""
    released = release_table(table, identifiers=identifiers)
    may_write(path, "", overwrite=overwrite)
    write_table(released, path, like=like, overwrite=overwrite)
    return released


def _roles(texts: Sequence[str]) -> dict[str, str]:
    roles = {}
    for text in texts:
        name, equals, role = text.rpartition("=")
        if not equals or not name:
            raise InvalidParameter(f"--role {text!r}: it takes NAME=ROLE, with ROLE one of {', '.join(ROLES)}.")
        if role not in ROLES:
            raise UnknownName(f"--role {text!r}: {UnknownName.among('role', role, ROLES)}")
        roles[name] = role
    return roles
