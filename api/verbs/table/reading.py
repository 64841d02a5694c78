"""What the verbs on tables share: how a table file is read, and what its columns are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from api.verbs.contract import Verb, Work
from tabular.errors import InvalidParameter, UnknownName, named
from tabular.registry import option

if TYPE_CHECKING:
    from tabular.files.schema import Schema
    from tabular.files.table_files import TableFile
    from tabular.table import Table

_READING = "How the file is read (detected if not given)"


def shipped_schemas() -> tuple[str, ...]:
    """The schemas that ship."""
    from tabular.files.schema import shipped_schemas

    return tuple(shipped_schemas())


@dataclass(frozen=True, kw_only=True)
class TableVerb(Verb):
    """A verb that reads a table file."""

    schema: str | None = option(
        None,
        metavar="FILE",
        group=_READING,
        help="What the columns are: a TOML file, or one of the schemas that ship: adult, census, german-credit, "
        "solar-flare, tarragona.",
    )
    role: tuple[str, ...] = option(
        (),
        metavar="NAME=ROLE",
        group=_READING,
        help="The role of a column: identifier, quasi-identifier, sensitive, class-label or insensitive; repeatable.",
    )
    kind: tuple[str, ...] = option(
        (),
        metavar="NAME=KIND",
        group=_READING,
        help="The kind of a column: nominal, ordinal or continuous; repeatable.",
    )
    delimiter: str | None = option(
        None,
        metavar="MARK",
        group=_READING,
        help="What separates cells: comma, semicolon, tab, pipe, blanks or a character.",
    )
    quote: str | None = option(
        None, metavar="MARK", group=_READING, help="What encloses cells: double, single, none or a character."
    )
    encoding: str | None = option(None, metavar="NAME", group=_READING, help="The encoding, such as utf-8.")
    decimal: str | None = option(None, choices=(".", ","), group=_READING, help="The decimal mark of numbers.")
    header: bool | None = option(None, group=_READING, help="Whether the first line names the columns.")
    missing: tuple[str, ...] = option(
        (), metavar="TEXT", group=_READING, help="A text that stands for a missing value, in any column; repeatable."
    )

    def check(self) -> None:
        # What the file must look like is wrong or right whatever it holds.
        _ = self.columns_described, self.dialect

    def reads(self) -> Sequence[str]:
        described = self.columns_described.source
        return [*super().reads(), *([described] if described is not None else [])]

    @cached_property
    def columns_described(self) -> Schema:
        """What is known of the columns before the file is read."""
        from tabular.attributes import KINDS, ROLES
        from tabular.files.schema import Schema, read_schema

        known = Schema() if self.schema is None else read_schema(self.schema)
        if self.role or self.kind:
            known = known.with_roles(_pairs("role", self.role, ROLES)).with_kinds(_pairs("kind", self.kind, KINDS))
        return known

    @cached_property
    def dialect(self) -> Any:
        """What is known of how the file is written."""
        from tabular.files.csv_tables import DialectOptions

        return DialectOptions(
            delimiter=self.delimiter,
            quote=self.quote,
            encoding=self.encoding,
            decimal=self.decimal,
            header=self.header,
            missing=self.missing or None,
        )

    def read(self, path: str, work: Work) -> TableFile:
        """The table of a file, with what was found out about it; what is a guess is noted."""
        from tabular.files.table_files import read_file

        work.report("Reading", 0, 0)
        found = read_file(path, schema=self.columns_described, options=self.dialect)
        for guess in found.unsure:
            work.note(f"{path}: the {guess} is a guess; {named(guess)} says what it is.")
        return found


def require_columns(table: Table, names: Iterable[str], file: str) -> None:
    """Refuse names that are no columns of the table of a *file*."""
    for name in names:
        if name not in table.names:
            raise UnknownName(f"{file}: {UnknownName.among('column', name, table.names)}")


def refuse_repeated(parameter: str, names: Sequence[str]) -> None:
    """Refuse a list of columns that is empty or names one twice."""
    if not names:
        raise InvalidParameter.wrong(parameter, must="name one or more columns", was="")
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise InvalidParameter(f"{named(parameter)}: {twice!r} stands there twice.", must="name each column once")


def _pairs(parameter: str, texts: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """The texts NAME=WORD of an option, each word a *known* one."""
    pairs = {}
    for text in texts:
        name, equals, word = text.rpartition("=")
        if not equals or not name:
            raise InvalidParameter(
                f"{named(parameter)} {text!r}: write NAME={parameter.upper()}, one of {', '.join(known)}."
            )
        if word not in known:
            raise UnknownName(f"{named(parameter)} {text!r}: {UnknownName.among(parameter, word, known)}")
        pairs[name] = word
    return pairs
