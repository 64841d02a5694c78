"""Schemas: what the columns of a table are, and how its file is written, as TOML or as the same in JSON.

columns = ["AGE", "SAVINGS"]      # the names of the columns of a file without a header
missing = ["?"]                   # and so on: header, delimiter, quote, encoding, decimal, spaced

[attributes.SAVINGS]
kind = "ordinal"
role = "quasi-identifier"
order = ["A61", "A62", "A63"]

[attributes.INCOME]
kind = "continuous"
bounds = [0, 1000000]             # the outer ends of its ranges in a release; without them these are open
"""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from importlib import resources
from math import inf
from pathlib import Path
from typing import Any

from tabular.attributes import KINDS, NOMINAL, ORDINAL, ROLES, Value, is_number
from tabular.errors import InvalidInput, UnknownName, named
from tabular.files.csv_tables import DialectOptions, repeated
from tabular.files.disk import read_text

_FOLDER = resources.files("tabular") / "schemas"

#: The keys of a file and of an attribute, each with what it must be.
_FILE_KEYS: dict[str, tuple[type, str]] = {
    **dict.fromkeys(("title", "delimiter", "quote", "encoding", "decimal"), (str, "a text")),
    **dict.fromkeys(("header", "spaced"), (bool, "true or false")),
    "columns": (list, "a list of names"),
    "missing": (list, "a list of texts"),
    "attributes": (dict, "a table [attributes.NAME]"),
}
_ATTRIBUTE_KEYS: dict[str, tuple[type, str]] = {
    **dict.fromkeys(("kind", "role", "title"), (str, "a text")),
    **dict.fromkeys(("order", "values"), (list, "a list of values")),
    "bounds": (list, "a list of two numbers, the lower one first"),
}
_OPTIONS = {each.name for each in fields(DialectOptions)}


@dataclass(frozen=True, kw_only=True)
class Description:
    """What a schema says of one attribute; what is None or empty is inferred from the data."""

    kind: str | None = None
    role: str | None = None
    domain: tuple[Value, ...] = ()
    title: str = ""
    bounds: tuple[float, float] | None = None

    def document(self) -> dict[str, Any]:
        """What it says, with the keys of a schema file."""
        texts = [value.isoformat() if isinstance(value, datetime.date) else value for value in self.domain]
        listed = {"order" if self.kind == ORDINAL else "values": texts} if texts else {}
        bounds = {} if self.bounds is None else {"bounds": list(self.bounds)}
        said = {"kind": self.kind, "role": self.role, "title": self.title or None}
        return {key: value for key, value in said.items() if value is not None} | listed | bounds


@dataclass(frozen=True, kw_only=True)
class Schema:
    """What is known of a table before it is read, from *source*.

    The table must have the columns *named*; it may lack others that are described.
    """

    source: str = "the schema"
    title: str = ""
    attributes: Mapping[str, Description] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    options: DialectOptions = field(default_factory=DialectOptions)
    named: tuple[str, ...] = ()

    def with_roles(self, roles: Mapping[str, str]) -> Schema:
        """This schema with new roles for some attributes, which the table must then have."""
        return self._with("role", {name: _role(f"The role of {name!r}", role) for name, role in roles.items()})

    def with_kinds(self, kinds: Mapping[str, str]) -> Schema:
        """This schema with other kinds for some attributes, which the table must then have."""
        return self._with("kind", kinds)

    def with_options(self, options: DialectOptions) -> Schema:
        """This schema with what *options* say of how the file is written."""
        return replace(self, options=options.over(self.options))

    def document(self) -> dict[str, Any]:
        """What this schema says, with the keys of a schema file; values are plain."""
        options = {each.name: getattr(self.options, each.name) for each in fields(self.options)}
        said = {"title": self.title, "columns": list(self.columns), **options}
        attributes = {name: each.document() for name, each in self.attributes.items()}
        if options["missing"] is not None:
            said["missing"] = list(options["missing"])
        plain = {key: value for key, value in said.items() if value not in (None, "", [])}
        return {**plain, "attributes": attributes} if attributes else plain

    def _with(self, key: str, given: Mapping[str, Any]) -> Schema:
        new = {name: replace(self.attributes.get(name, Description()), **{key: said}) for name, said in given.items()}
        return replace(self, attributes={**self.attributes, **new}, named=(*self.named, *given))

    def fitting(self, names: Iterable[str], where: str) -> tuple[str, ...]:
        """The described attributes that a table with columns *names* lacks, or an error if they look misspelt.

        A table may lack columns: identifiers are dropped from a release. A name that nearly matches a column without a
        description is taken for a typing error.
        """
        present = list(names)
        for name in self.named:
            if name not in present:
                raise UnknownName(f"{where}: {UnknownName.among('column', name, present)}")
        absent = tuple(name for name in self.attributes if name not in present)
        if absent and len(absent) == len(self.attributes):
            few = ", ".join(present[:8]) + (", …" if len(present) > 8 else "")
            raise InvalidInput(f"{self.source}: none of its attributes is a column of {where}, which has {few}.")
        free = {name.casefold(): name for name in present if name not in self.attributes}
        for name in absent:
            near = get_close_matches(name.casefold(), free, n=1, cutoff=0.8)
            if near:
                raise UnknownName(
                    f"{self.source}, attributes.{name}: {where} has no such column; did you mean {free[near[0]]!r}?"
                )
        return absent


def shipped_schemas() -> tuple[str, ...]:
    """The names of the schemas that come with the project."""
    return tuple(sorted(each.name[:-5] for each in _FOLDER.iterdir() if each.name.endswith(".toml")))


def read_schema(source: str | Path) -> Schema:
    """The schema of a TOML or JSON file, or the one that ships under that name."""
    name = str(source)
    if name in shipped_schemas():
        return parse_schema((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"), f"schema {name}")
    if not Path(name).exists() and not re.search(r"[/\\.]", name):
        raise UnknownName(f"{UnknownName.among('schema', name, shipped_schemas())} A file is given by its path.")
    return parse_schema(read_text(name), name)


def parse_schema(text: str, source: str) -> Schema:
    """The schema in a *text*, TOML or JSON; errors name *source*."""
    try:
        # No TOML begins with a brace.
        document = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (tomllib.TOMLDecodeError, json.JSONDecodeError) as error:
        form = "JSON" if isinstance(error, json.JSONDecodeError) else "TOML"
        raise InvalidInput(f"{source}: this is no {form}: {error}.") from None
    except RecursionError:
        raise InvalidInput(f"{source}: this is no schema; its values are nested too deeply.") from None
    except ValueError:
        raise InvalidInput(f"{source}: {TOO_LONG}") from None
    refuse_long_numbers(document, source)
    return schema_of(document, source)


#: The error for a number that Python does not take for one, or that no computer's number holds.
TOO_LONG = "a number has more than 300 digits; no table holds such numbers."


def refuse_long_numbers(value: Any, source: str) -> None:
    """Refuse whole numbers in a document that cannot be written down or computed with; errors name *source*."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, int) and each.bit_length() > _MOST_BITS:
            raise InvalidInput(f"{source}: {TOO_LONG}")
        waiting += each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()


#: A number of 300 digits has no more.
_MOST_BITS = 997


def schema_of(document: Mapping[str, Any], source: str) -> Schema:
    """The schema that a *document* is, with the keys of a schema file; errors name *source*."""
    _check_keys(source, document, _FILE_KEYS)
    given = {key: document[key] for key in document.keys() & _OPTIONS}
    if "missing" in given:
        given["missing"] = _texts(f"{source}, missing", given["missing"])
    try:
        options = DialectOptions(**given)
    except InvalidInput as error:
        raise InvalidInput(f"{source}: {error.worded(named)}") from None
    columns = _texts(f"{source}, columns", document.get("columns", []))
    if twice := repeated(columns):
        raise InvalidInput(f"{source}, columns: {columns[twice - 1]!r} appears twice.")
    attributes = {name: _description(source, name, entry) for name, entry in document.get("attributes", {}).items()}
    for name in attributes if columns else ():
        if name not in columns:
            raise UnknownName(f"{source}, attributes.{name}: {UnknownName.among('column', name, columns)}")
    return Schema(
        source=source, title=document.get("title", ""), attributes=attributes, columns=columns, options=options
    )


def _description(source: str, name: str, entry: Any) -> Description:
    where = f"{source}, attributes.{name}"
    if not isinstance(entry, dict):
        raise InvalidInput(f"{where}: it must be a table with kind, role, order.")
    _check_keys(where, entry, _ATTRIBUTE_KEYS)
    if "order" in entry and "values" in entry:
        raise InvalidInput(f"{where}: give order (ordinal) or values (nominal), not both.")
    kind = entry.get("kind", ORDINAL if "order" in entry else NOMINAL if "values" in entry else None)
    if kind is not None and kind not in KINDS:
        raise UnknownName(f"{where}.kind: {UnknownName.among('kind', kind, KINDS)}")
    if "order" in entry and kind != ORDINAL:
        raise InvalidInput(f"{where}.order: only an ordinal attribute has an order; this one is {kind}.")
    if "values" in entry and kind != NOMINAL:
        raise InvalidInput(f"{where}.values: these are for a nominal attribute; this one is {kind}, so give its order.")
    role = _role(f"{where}.role", entry["role"]) if "role" in entry else None
    key = "order" if "order" in entry else "values"
    return Description(
        kind=kind,
        role=role,
        domain=_domain(f"{where}.{key}", entry.get(key)),
        title=entry.get("title", ""),
        bounds=_bounds(f"{where}.bounds", entry["bounds"], key in entry) if "bounds" in entry else None,
    )


def _bounds(where: str, given: list[Any], is_listed: bool) -> tuple[float, float]:
    if is_listed:
        raise InvalidInput(f"{where}: the values are listed, so they need no bounds.")
    if len(given) != 2 or not all(is_number(value) for value in given) or not -inf < given[0] < given[1] < inf:
        raise InvalidInput(f"{where}: it must be a list of two numbers, the lower one first.")
    return float(given[0]), float(given[1])


def _domain(where: str, values: list[Any] | None) -> tuple[Value, ...]:
    if values is None:
        return ()
    if not values:
        raise InvalidInput(f"{where}: it must list at least one value.")
    for value in values:
        if not (isinstance(value, str | datetime.date) or is_number(value)) or value != value:
            raise InvalidInput(f"{where}: a value is a text, a number or a date.")
    # A file says what it holds as text, so two values that are written alike cannot be told apart.
    seen: set[Any] = set()
    for value in values:
        if value in seen or str(value) in seen:
            raise InvalidInput(f"{where}: {value!r} appears twice.")
        seen.update((value, str(value)))
    return tuple(values)


def _role(where: str, role: str) -> str:
    if role not in ROLES:
        raise UnknownName(f"{where}: {UnknownName.among('role', role, ROLES)}")
    return role


def _check_keys(where: str, entry: Mapping[str, Any], known: Mapping[str, tuple[Any, str]]) -> None:
    for key, value in entry.items():
        if key not in known:
            raise UnknownName(f"{where}: {UnknownName.among('key', key, known)}")
        kind, words = known[key]
        if not isinstance(value, kind):
            raise InvalidInput(f"{where}, {key}: it must be {words}.")


def _texts(where: str, values: list[Any]) -> tuple[str, ...]:
    if not all(isinstance(value, str) for value in values):
        raise InvalidInput(f"{where}: each entry must be a text.")
    return tuple(values)
