"""What the verbs on tables share: how a table file is read, what its columns are, and the files of a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from api.verbs.contract import STREAM, Verb, Work, dictionary_beside, json_output, of_engine, refuse_without
from tabular.errors import InvalidParameter, UnknownName, named
from tabular.files.disk import Output, Planned
from tabular.registry import option

if TYPE_CHECKING:
    from tabular.files.schema import Schema
    from tabular.files.table_files import TableFile
    from tabular.release import Package, Released
    from tabular.table import Table


def shipped_schemas() -> tuple[str, ...]:
    """The names of the schemas that ship."""
    from tabular.files.schema import shipped_schemas as shipped

    return shipped()


_reading = partial(option, group="How the file is read (detected if not given)")


@dataclass(frozen=True, kw_only=True)
class TableVerb(Verb):
    """A verb that reads a table file."""

    schema: str | None = _reading(
        None,
        metavar="FILE",
        shipped=shipped_schemas,
        own="schema",
        help="What the columns are: a TOML or JSON file, or one of the schemas that ship: adult, census, "
        "german-credit, solar-flare, tarragona.",
    )
    role: tuple[str, ...] = _reading(
        (),
        metavar="NAME=ROLE",
        help="The role of a column: identifier, quasi-identifier, sensitive, class-label or insensitive; repeatable.",
    )
    kind: tuple[str, ...] = _reading(
        (), metavar="NAME=KIND", help="The kind of a column: nominal, ordinal or continuous; repeatable."
    )
    delimiter: str | None = _reading(
        None,
        metavar="MARK",
        help="What separates cells: comma, semicolon, tab, pipe, blanks or a character; not the mark of `quote`.",
    )
    quote: str | None = _reading(None, metavar="MARK", help="What encloses cells: double, single, none or a character.")
    encoding: str | None = _reading(None, metavar="NAME", help="The encoding, such as utf-8.")
    decimal: str | None = _reading(None, choices=(".", ","), help="The decimal mark of numbers.")
    header: bool | None = _reading(None, help="Whether the first line names the columns.")
    missing: tuple[str, ...] = _reading(
        (), metavar="TEXT", help="A text that stands for a missing value, in any column; repeatable."
    )

    def check(self) -> None:
        # What the file must look like is wrong or right whatever it holds.
        _ = self.columns_described, self.dialect

    def reads(self) -> Sequence[str]:
        if self.schema is None or self.schema in shipped_schemas():
            return super().reads()
        return [*super().reads(), self.schema]

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

        own = ("delimiter", "quote", "encoding", "decimal", "header")
        return DialectOptions(missing=self.missing or None, **{name: getattr(self, name) for name in own})

    def read(self, path: str, work: Work, *, measured: Iterable[str] = ()) -> TableFile:
        """The table of a file, with what was found out about it.

        What is a guess is noted; so are the kinds of the *measured* columns, since distances depend on them.
        """
        from tabular.files.table_files import read_file

        work.report("Reading", 0, 0)
        found = read_file(path, schema=self.columns_described, options=self.dialect)
        for guess in found.unsure:
            work.note(f"{path}: the {guess} is a guess; {named(guess)} sets it.")
        guessed = ", ".join(f"{name} is {kind}" for name, kind in found.guessed_kinds(measured).items())
        if guessed:
            work.note(f"{path}: guessed from whole numbers: {guessed}; {named('kind')} NAME=KIND sets their kinds.")
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
        raise InvalidParameter(f"{named(parameter)}: {twice!r} appears twice.", must="name each column once")


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


#: An option on what a verb writes.
writing = partial(option, group="What it writes")


def into_option() -> Any:
    """The option that makes a table of the service of what is written."""
    return writing(
        None,
        metavar="NAME",
        becomes="out",
        help="Also save `out` in the service under this name; analysts see it if it may be released.",
    )


def refuse_stream(out: str | None) -> None:
    """Refuse standard output where a file is needed."""
    if out == STREAM:
        raise InvalidParameter.wrong("out", must=f"be a file beside {named('into')}", was=STREAM)


table_protections = of_engine("tabular.protections", "protections")


@dataclass(frozen=True, kw_only=True)
class ReleasingVerb(TableVerb):
    """A verb that writes a table as it may be released."""

    home = "writes"

    out: str | None = writing(None, metavar="FILE", output=True, help="The released table, CSV or Parquet by its name.")
    into: str | None = into_option()
    identifiers: str | None = writing(
        None, choices=("drop", "star"), help="Drop identifiers from `out` (the default), or replace them by *."
    )
    shuffle: bool | None = writing(
        None,
        help="Put the rows of `out` in random order. Do so before you release: whoever has the original can link rows "
        "that stand in its order. Leave it out for `table measure`, which compares row by row. The default with "
        "`into`, which others see.",
    )
    private: str | None = writing(
        None,
        metavar="FILE",
        output=True,
        local=True,
        help="Keep what leads back from `out` to the original (seed, order, matrices) in a JSON file that only you can "
        "read.",
    )

    def check(self) -> None:
        from tabular.files.table_files import check_table_name

        super().check()
        refuse_without(self, "out", "into")
        if self.out is not None:
            check_table_name(self.out)
        if self.into is not None:
            refuse_stream(self.out)
        if self.private == STREAM:
            raise InvalidParameter(
                f"{named('private')} -: what leads back to the original must not mix with the release on standard "
                "output; give it a file."
            )

    def planned(self) -> Sequence[Planned]:
        return [*super().planned(), *self._beside]

    @property
    def shuffles(self) -> bool:
        """Whether the rows come out in random order: others see a table of the service, and may have the original."""
        return self.into is not None if self.shuffle is None else self.shuffle

    @cached_property
    def _beside(self) -> list[Planned]:
        return [] if self.out is None else dictionary_beside(self.out)

    def packaged(self, made: Released, source: TableFile, work: Work) -> Package:
        """The table of a release as it is given away, and the documents beside it."""
        from tabular.release import packaged

        titles = {name: each.title for name, each in source.schema.attributes.items()}
        return packaged(made, source.table, shuffled=self.shuffles, titles=titles, seed=work.seed)

    def release_outputs(
        self, made: Released, source: TableFile, work: Work, *, private: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[dict[str, Any], list[Output]]:
        """What is said of a release, and its files: the table, its dictionary, and apart what leads back.

        *private* joins what leads back.
        """
        from tabular.files.table_files import write_table_to

        out = self.out or STREAM
        package = self.packaged(made, source, work)
        document = {"table": out, **package.document}
        outputs = [
            Output(
                path=out,
                parameter="out",
                write=lambda file, _: write_table_to(file, package.table, out, like=source),
                released=True,
            )
        ]
        for beside in self._beside:
            document["dictionary"] = beside.path
            outputs.append(json_output(beside.path, "out", package.dictionary))
        if self.private is not None:
            document["private"] = self.private
            leads_back = {**package.private, **private}
            outputs.append(json_output(self.private, "private", leads_back, private=True, indent=None))
        return document, outputs
