"""The JSON Schema of a verb: what the service takes for each of its options.

The schema is made from the dataclass, which is the only one to check: what the schema allows is taken, and the reverse.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Set
from dataclasses import Field
from typing import Any

from api.service.requests import (
    ID,
    LARGEST,
    LARGEST_SEED,
    LONG_WORK,
    LONGEST_LIST,
    LONGEST_TEXT,
    NAME_IN,
    NAME_OUT,
    RESOURCES,
    choices_here,
    form_of,
    is_needed,
    offered,
    takes_upload,
)
from api.verbs import Verb, verbs
from api.verbs.values import is_required, kind_of
from tabular.registry import choices_of

Schema = dict[str, Any]

#: What every text is: it holds no zero character.
TEXT: Schema = {"type": "string", "pattern": "^[^\\u0000]*$", "maxLength": LONGEST_TEXT}

_UPLOAD: Schema = {
    "type": "object",
    "properties": {"upload": {"type": "string", "pattern": ID}},
    "required": ["upload"],
    "additionalProperties": False,
    "description": "A finished upload.",
}

_UPLOADS: Schema = {
    "type": "object",
    "properties": {
        "uploads": {
            "type": "object",
            "propertyNames": {"pattern": NAME_IN},
            "additionalProperties": {"type": "string", "pattern": ID},
            "minProperties": 1,
            "maxProperties": 1000,
        }
    },
    "required": ["uploads"],
    "additionalProperties": False,
    "description": "Finished uploads by the names they have in the folder.",
}


def verb_schemas(providers: Set[str] | None = None) -> list[dict[str, Any]]:
    """Every verb: its name, its sentence, its path where it has a route of its own, and its schema.

    Of the *providers* that there are, a service offers those that its operator allows.
    """
    return [
        {
            "name": entry.name,
            "summary": entry.summary,
            "path": None if is_resource(entry.name) else path_of(entry.name),
            "quick": entry.method.quick,
            "schema": schema_of(entry.name, entry.method, providers),
        }
        for entry in verbs.entries()
    ]


def path_of(name: str) -> str:
    """The path of a verb: its words."""
    return f"/v1/{name.replace(' ', '/')}"


def is_resource(name: str) -> bool:
    """Whether a verb is one on a resource, and has no route but those of the resource."""
    return name.split()[0] in RESOURCES and name not in LONG_WORK


def schema_of(name: str, verb: type[Verb], providers: Set[str] | None = None) -> Schema:
    """The schema of the JSON object with the options of a verb."""
    options = offered(verb)
    properties = {each: schema_of_option(option, providers) for each, option in options.items()}
    if verb.draws:
        properties["seed"] = {
            "type": ["integer", "null"], "minimum": 0, "maximum": LARGEST_SEED, "default": None,
            "description": "Fix the random draws; for tests only.",
        }  # fmt: skip
    schema = {
        "type": "object",
        "title": name,
        "description": inspect.cleandoc(verb.__doc__ or ""),
        "properties": properties,
        "required": [each for each, option in options.items() if is_needed(option)],
        "additionalProperties": False,
    }
    together = [*_owned(options), *_files_or_names(options)]
    return {**schema, "allOf": together} if together else schema


def _owned(options: Mapping[str, Field[Any]]) -> Iterator[Schema]:
    """A table brings what is its own; an upload has nothing of its own."""
    for name, option in options.items():
        if option.metadata.get("own") and is_required(option):
            is_given = {"required": [name], "properties": {name: {"not": {"type": "null"}}}}
            yield {"if": _holds("file", {"type": "object"}), "then": is_given}


def _files_or_names(options: Mapping[str, Field[Any]]) -> Iterator[Schema]:
    """A flag says whether some options are files or names."""
    for name, option in options.items():
        if flag := option.metadata.get("or_file"):
            file, text = ({"properties": {name: {"type": kind}}} for kind in ("object", "string"))
            yield {"if": _holds(flag, {"const": True}), "then": file, "else": text}


def _holds(name: str, schema: Schema) -> Schema:
    return {"required": [name], "properties": {name: schema}}


def schema_of_option(option: Field[Any], providers: Set[str] | None = None) -> Schema:
    """The schema of one option."""
    forms: list[Schema] = [plain_schema(option, providers), *_references(option)]
    if option.default is None or option.metadata.get("own"):
        forms.append({"type": "null"})
    # One form needs no choice among forms.
    schema = dict(forms[0]) if len(forms) == 1 else {"anyOf": forms}
    schema["description"] = option.metadata["help"]
    if not is_required(option):
        default: Any = option.default
        schema["default"] = list(default) if isinstance(default, tuple) else default
    return schema


def _references(option: Field[Any]) -> list[Schema]:
    """What an option may hold beside a plain value."""
    if form_of(option) == "folder":
        return [_UPLOADS]
    return [_UPLOAD] if takes_upload(option) else []


def plain_schema(option: Field[Any], providers: Set[str] | None = None) -> Schema:
    """The schema of the plain values of an option."""
    traits, kind = option.metadata, kind_of(option)
    choices = choices_here(option, providers) or choices_of(traits.get("shipped"))
    if choices is not None:
        return {"type": "string", "enum": list(choices)}
    if form_of(option) in ("out", "table"):
        return {"type": "string", "pattern": NAME_OUT}
    if kind in ("int", "float"):
        return {"type": "integer" if kind == "int" else "number", **_bounds(traits["low"], traits["high"])}
    if kind == "tuple[str, ...]":
        return {"type": "array", "items": TEXT, "maxItems": LONGEST_LIST}
    if traits.get("pattern"):
        return {"type": "string", "pattern": f"^({traits['pattern']})$"}
    return {"type": "boolean"} if kind == "bool" else TEXT


def _bounds(low: float | None, high: float | None) -> Schema:
    return {
        "minimum": -LARGEST if low is None else max(low, -LARGEST),
        "maximum": LARGEST if high is None else min(high, LARGEST),
    }
