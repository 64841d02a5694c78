"""The command, the request and the Python that do what a page does."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from api.http.schema import is_resource, path_of
from api.verbs import verbs
from api.verbs.values import made, options_of, plan_of, text_of


@dataclass(frozen=True)
class Ways:
    """One deed in the words of each door."""

    command: str
    request: str
    python: str


def ways_of(name: str, options: Mapping[str, Any], *, request: str | None = None) -> Ways:
    """How the verb called *name* is asked for with these options."""
    given = {key: value for key, value in options.items() if value not in (None, False, (), [], "")}
    return Ways(
        command=" ".join(["graphpriv", name, *_words(name, given)]),
        request=request or _request(name, given),
        python=_python(name, given),
    )


def plan_text(name: str, options: Mapping[str, Any]) -> str:
    """The plan of a verb, which `graphpriv run` takes."""
    given = {key: value for key, value in options.items() if value is not None}
    return text_of(plan_of(name, made(verbs[name].method, given)), "plan.toml")


def _words(name: str, given: Mapping[str, Any]) -> Iterator[str]:
    known = options_of(verbs[name].method)
    named = {key: value for key, value in given.items() if not known[key].metadata.get("positional")}
    yield from (shlex.quote(str(value)) for key, value in given.items() if key not in named)
    for key, value in named.items():
        if known[key].metadata.get("served"):
            # What the service says of the state that is replaced, a command is simply told.
            yield "--overwrite"
            continue
        flag = f"--{key.replace('_', '-')}"
        if value is True:
            yield flag
        elif isinstance(value, list | tuple) and not known[key].metadata.get("listed"):
            yield from (f"{flag} {shlex.quote(str(each))}" for each in value)
        else:
            yield f"{flag} {shlex.quote(_text(value))}"


def _text(value: Any) -> str:
    """A value as it is typed: names that hold a comma stand in quotes."""
    return ",".join(map(_name, value)) if isinstance(value, list | tuple) else str(value)


def _name(value: Any) -> str:
    name = str(value)
    is_plain = not any(mark in name for mark in ',"') and name == name.strip()
    return name if is_plain else '"' + name.replace('"', '""') + '"'


def _request(name: str, given: Mapping[str, Any]) -> str:
    if is_resource(name):
        return f"GET /v1/graphs/{given.get('name', '')}"
    return f"POST {path_of(name)}\n{json.dumps(dict(given), ensure_ascii=False)}"


def _python(name: str, given: Mapping[str, Any]) -> str:
    arguments = "".join(f", {key}={value!r}" for key, value in given.items())
    return (
        "from api.verbs import verbs\nfrom api.verbs.contract import Work, perform\n\n"
        f'perform(verbs["{name}"].method({arguments[2:]}), Work(store="file:graphpriv.db")).document'
    )
