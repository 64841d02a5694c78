"""The values of a verb's options: from JSON, from the texts that people type, and as a plan that can be run again."""

from __future__ import annotations

import csv
import json
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from math import isfinite
from typing import Any

from api.verbs.contract import Verb, Work, verbs
from tabular.errors import InvalidInput, InvalidParameter, UnknownName, named
from tabular.files.disk import Planned, check_outputs, put_right, read_text, write_text

#: The kinds of options, by the annotation of their field; `| None` may follow.
_MUST = {
    "str": "be a text",
    "int": "be a whole number",
    "float": "be a number",
    "bool": "be true or false",
    "tuple[str, ...]": "be a list of texts",
}


def kind_of(option: Field[Any]) -> str:
    """The annotation of an option without its `| None`.

    >>> from api.verbs import verbs
    >>> [kind_of(each) for each in fields(verbs["protect"].method) if each.name in ("name", "k")]
    ['str', 'int']
    """
    kind = str(option.type).removesuffix(" | None")
    if kind not in _MUST:
        raise TypeError(f"No option can be a {kind}.")
    return kind


def options_of(verb: type[Verb]) -> dict[str, Field[Any]]:
    """The options of a verb by name: its own before those it shares with others."""
    shared = {each.name for parent in verb.__mro__[1:] if issubclass(parent, Verb) for each in fields(parent)}
    return {each.name: each for each in sorted(fields(verb), key=lambda each: each.name in shared)}


def is_required(option: Field[Any]) -> bool:
    """Whether an option has no default."""
    return option.default is MISSING


def made(verb: type[Verb], values: Mapping[str, Any]) -> Verb:
    """The verb with options from JSON *values*; what the verb does not take or lacks is an error."""
    known = options_of(verb)
    for name in values:
        if name not in known:
            raise UnknownName.among("option", name, known)
    missing = [name for name, option in known.items() if is_required(option) and values.get(name) is None]
    if missing:
        raise InvalidParameter(f"{named(missing[0])} is missing.", must="be given")
    return verb(**{name: value_of(known[name], value) for name, value in values.items()})


def value_of(option: Field[Any], value: Any) -> Any:
    """A JSON *value* as the option holds it: a list becomes a tuple, 5.0 a whole number where one is due."""
    if value is None and option.default is None:
        return None
    kind = kind_of(option)
    is_number = not isinstance(value, bool) and (
        isinstance(value, int) or (isinstance(value, float) and isfinite(value))
    )
    fits = {
        "str": _is_text(value),
        "int": is_number and value == int(value),
        "float": is_number and abs(value) <= sys.float_info.max,
        "bool": isinstance(value, bool),
        "tuple[str, ...]": isinstance(value, list | tuple) and all(map(_is_text, value)),
    }
    if not fits[kind]:
        raise InvalidParameter.wrong(option.name, must=_MUST[kind], was=value)
    return {"int": int, "float": float, "tuple[str, ...]": tuple}.get(kind, lambda same: same)(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def value_in(option: Field[Any], text: str) -> Any:
    """The value that a *text* stands for."""
    kind = kind_of(option)
    if kind == "tuple[str, ...]":
        return names_in(option.name, text) if option.metadata.get("listed") else (text,)
    if kind == "bool":
        if text.lower() not in ("true", "false"):
            raise InvalidParameter.wrong(option.name, must=_MUST[kind], was=text)
        return text.lower() == "true"
    try:
        return {"str": str, "int": int, "float": float}[kind](text)
    except ValueError:
        raise InvalidParameter.wrong(option.name, must=_MUST[kind], was=text) from None


def names_in(parameter: str, text: str) -> tuple[str, ...]:
    """The names that *text* lists, commas between them; a name that holds a comma stands in quotes.

    >>> names_in("columns", 'age, "income, net",sex')
    ('age', 'income, net', 'sex')
    """
    try:
        listed = next(csv.reader([text], skipinitialspace=True, strict=True), [])
    except csv.Error:
        raise InvalidParameter(f"{named(parameter)} {text!r}: the quotes do not match.") from None
    names = tuple(name.strip() for name in listed)
    if not names or "" in names:
        raise InvalidParameter(f"{named(parameter)} {text!r}: name one or more columns, with commas between them.")
    return names


def parameters_of(entry: Any, texts: tuple[str, ...]) -> dict[str, Any]:
    """The parameters of a registered method from texts `KEY=VALUE`, each of its parameter's kind."""
    known = {each.name: each for each in entry.parameters}
    values: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        name = key.strip().replace("-", "_")
        if not equals or name not in known:
            offered = ", ".join(known) or "none"
            near = get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near and equals else ""
            raise InvalidParameter(
                f"{named('param')} {text!r}: {entry.name} takes KEY=VALUE with KEY one of: {offered}.{hint}"
            )
        values[name] = known[name].read(value.strip())
    return values


#: The version of the layout. Plans leave out what is the default, and in layout 1 some defaults were others.
LAYOUT = 2


def plan_of(name: str, verb: Verb) -> dict[str, Any]:
    """The plan of a verb: the options that differ from their defaults."""
    chosen = {
        option: list(value) if isinstance(value, tuple) else value
        for option, each in options_of(type(verb)).items()
        if (value := getattr(verb, option)) != each.default
    }
    return {"plan": LAYOUT, "verb": name, "options": chosen}


def write_plan(name: str, verb: Verb, work: Work, path: str) -> None:
    """Write a sound verb to a file as a plan, but not where a file of the verb or the store stands."""
    verb.check()
    files = [*verb.reads(), *(each.path for each in verb.planned())]
    for text in put_right([path]):
        work.note(text)
    check_outputs([Planned("plan", path)], overwrite=work.overwrite, reads=files, store=work.store)
    write_text(path, text_of(plan_of(name, verb), path), overwrite=work.overwrite)


def text_of(plan: Mapping[str, Any], path: str) -> str:
    """The text of a plan: TOML, or JSON where the *path* ends in `.json`."""
    if path.lower().endswith(".json"):
        return json.dumps(plan, ensure_ascii=False, indent=2) + "\n"
    # A JSON text, number, truth value or list of texts is one of TOML, too.
    # Only the character DEL needs an escape that JSON does without.
    options = {name: json.dumps(value, ensure_ascii=False) for name, value in plan["options"].items()}
    lines = [f"{name} = {text.replace(chr(127), chr(92) + 'u007f')}" for name, text in options.items()]
    head = f"plan = {plan['plan']}\nverb = {json.dumps(plan['verb'])}\n\n[options]\n"
    return head + "".join(f"{line}\n" for line in lines)


def read_plan(path: str, changes: Mapping[str, str] | None = None) -> tuple[str, Verb]:
    """The verb that a file plans, by name and with its options; *changes* replace options by what texts stand for."""
    document = _document(path)
    unknown = [key for key in document if key not in ("plan", "verb", "options")]
    if unknown or not isinstance(document.get("verb"), str) or not isinstance(document.get("options", {}), dict):
        raise InvalidInput(f"{path}: a plan has the keys plan, verb and options; `--plan` writes one.")
    layout = document.get("plan", LAYOUT)
    if layout not in (1, LAYOUT):
        raise InvalidInput(f"{path}: this plan has layout {layout!r}, and this version reads 1 and {LAYOUT}.")
    method = verbs[document["verb"]].method
    known = options_of(method)
    options = {**(meant_at_first(document["verb"]) if layout == 1 else {}), **document.get("options", {})}
    for name, text in (changes or {}).items():
        if name not in known:
            raise InvalidParameter(f"{named('set')} {name!r}: {document['verb']} takes {', '.join(known)}.")
        options[name] = value_in(known[name], text)
    try:
        return document["verb"], made(method, options)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error.worded(named)}") from None


def meant_at_first(name: str) -> Mapping[str, Any]:
    """What options of a verb that were left out meant when plans had layout 1, where that is no longer the default."""
    return verbs[name].method.meant_at_first if name in verbs else {}


def _document(path: str) -> dict[str, Any]:
    text = read_text(path)
    try:
        document = json.loads(text) if path.lower().endswith(".json") else tomllib.loads(text)
    except (json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"{path}: this is not a plan: {error}.") from None
    except RecursionError:
        raise InvalidInput(f"{path}: this is not a plan: it is nested too deeply.") from None
    except ValueError:
        raise InvalidInput(f"{path}: this is not a plan: a number in it has too many digits.") from None
    if not isinstance(document, dict):
        raise InvalidInput(f"{path}: this is not a plan; a plan has the keys plan, verb and options.")
    return document
