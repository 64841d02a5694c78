"""Plans: a verb with its options as a document, to be written to a file and run again."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from api.verbs.contract import Verb, verbs
from api.verbs.values import made, options_of, value_in
from tabular.errors import InvalidInput, InvalidParameter, named

#: The version of the layout.
LAYOUT = 1


def plan_of(name: str, verb: Verb) -> dict[str, Any]:
    """The plan of a verb: the options that differ from their defaults."""
    chosen = {
        option: list(value) if isinstance(value, tuple) else value
        for option, each in options_of(type(verb)).items()
        if (value := getattr(verb, option)) != each.default
    }
    return {"plan": LAYOUT, "verb": name, "options": chosen}


def write_plan(plan: Mapping[str, Any], path: str, *, overwrite: bool = False) -> None:
    """Write a plan to a file."""
    from tabular.files.disk import write_text

    write_text(path, text_of(plan, path), overwrite=overwrite)


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
    if document.get("plan", LAYOUT) != LAYOUT:
        raise InvalidInput(f"{path}: this plan has layout {document['plan']!r}, and this version reads {LAYOUT}.")
    method = verbs[document["verb"]].method
    known = options_of(method)
    options = dict(document.get("options", {}))
    for name, text in (changes or {}).items():
        if name not in known:
            raise InvalidParameter(f"{named('set')} {name!r}: {document['verb']} takes {', '.join(known)}.")
        options[name] = value_in(known[name], text)
    try:
        return document["verb"], made(method, options)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error.worded(named)}") from None


def _document(path: str) -> dict[str, Any]:
    from tabular.files.disk import read_text

    text = read_text(path)
    try:
        document = json.loads(text) if path.lower().endswith(".json") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path}: this is no plan: {error}.") from None
    if not isinstance(document, dict):
        raise InvalidInput(f"{path}: this is no plan; a plan has the keys plan, verb and options.")
    return document
