"""JSON text as values: without numbers that are none, and without two values under one key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tabular.errors import InvalidInput, InvalidRecord

#: Strings too, so that what stands inside one is not taken for a constant.
_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|NaN|-?Infinity')
_KINDS = {type(None): "null", bool: "true or false", int: "a number", float: "a number", str: "text", dict: "an object"}

#: Keys of graph documents: only these are shown in errors, since any other may be what somebody wrote of a person.
_SHOWN = frozenset(
    (
        *("directed", "multigraph", "graph", "nodes", "edges", "links", "locations", "id", "source", "target"),
        *("location", "topics", "topic1", "topic2", "topic3", "handle", "name", "location_text"),
    )
)


def kind_of(value: object) -> str:
    """The sort of a JSON value, as errors call it."""
    return _KINDS.get(type(value), "a list" if isinstance(value, list | tuple) else "another thing")


def parsed_json(written: str, where: str) -> Any:
    """The value of JSON text; an error names its line, or the record that has a key twice."""
    repeated: list[_Repeated] = []

    def refuse(name: str) -> Any:
        tokens = _CONSTANT.finditer(written)
        line = next(written.count("\n", 0, each.start()) + 1 for each in tokens if each.group() == name)
        raise InvalidInput(f"{where}, line {line}: {name} is not a JSON number.")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            found = _Repeated(pairs)
            repeated.append(found)
        return found

    try:
        value = json.loads(written, parse_constant=refuse, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{where}, line {error.lineno}, column {error.colno}: this is not JSON: {error.msg}."
        ) from None
    except RecursionError:
        raise InvalidInput(f"{where}: this is nested too deeply.") from None
    except ValueError:
        # Whole numbers of thousands of digits, which Python does not read.
        raise InvalidInput(f"{where}: a number in it has too many digits.") from None
    if repeated:
        path, key = next(_repetitions(value, ""))
        raise InvalidRecord(f"{where}{path}: {key} occurs twice in this object.")
    return value


class _Repeated(dict[str, Any]):
    """An object that has a key twice; `key` says which, if it can be shown."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        number = next(number for number, key in enumerate(keys) if key in keys[:number])
        self.key = keys[number] if keys[number] in _SHOWN else f"key {number + 1}"


def _repetitions(value: object, path: str) -> Iterator[tuple[str, str]]:
    """The paths below *value* to objects that have a key twice, and that key; the outermost first."""
    if isinstance(value, _Repeated):
        yield path, value.key
    if isinstance(value, dict):
        for number, (key, inner) in enumerate(value.items()):
            step = key if key in _SHOWN else f"value {number + 1}"
            yield from _repetitions(inner, f"{path}, {step}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _repetitions(inner, f"{path}[{number}]")
