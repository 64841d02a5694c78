"""The choices of a guided release as a plan: written for the command line, and read again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from api.http.gate import service
from api.http.problems import call_by
from api.pages.releases.drafts import choice_of
from api.service.graphs import split
from api.verbs.table.compare import LEVELS
from api.verbs.values import read_plan
from graphpriv import DEFAULT_PROTECTION
from tabular.errors import InvalidInput

#: A plan is shorter than this.
LARGEST = 64 * 1024


def chosen_in(data: bytes, name: str) -> dict[str, Any]:
    """What the plan in a file called *name* has chosen: kind, name, k, columns and the protection."""
    with service().scratch() as folder:
        path = folder / ("plan.json" if name.lower().endswith(".json") else "plan.toml")
        path.write_text(data.decode("utf-8", "replace"), encoding="utf-8")
        call_by("the plan", str(path))
        verb, found = read_plan(str(path))
    if verb not in _READERS:
        raise InvalidInput(f"This plan runs {verb}, which makes no release.")
    chosen = _READERS[verb](vars(found))
    if chosen["k"] is None:
        raise InvalidInput("This plan sets no k, and the guide needs one.")
    return chosen


def _of_graph(options: Mapping[str, Any]) -> dict[str, Any]:
    given = _parameters(options["param"])
    return {
        "kind": "graph",
        "name": split(str(options["name"]))[1],
        "k": options["k"],
        "columns": (),
        "chosen": choice_of(options["method"] or DEFAULT_PROTECTION, {"k": options["k"], **given}),
    }


def _of_table(options: Mapping[str, Any]) -> dict[str, Any]:
    if options["grid"]:
        raise InvalidInput("This plan compares protections and releases nothing.")
    given = _parameters(options["param"])
    k = given.get("k", "")
    return {
        "kind": "table",
        "name": _table_name(options["file"]),
        "k": int(k) if k.isascii() and k.isdigit() else None,
        "columns": options["columns"],
        "chosen": choice_of(options["method"], given),
    }


def _of_levels(options: Mapping[str, Any]) -> dict[str, Any]:
    from tabular.lattice.search_outcome import levels_in_text

    columns, choose = options["quasi_identifiers"], options["choose"] or ""
    levels = levels_in_text(choose) if "=" in choose else {}
    parameters = {"k": options["k"], "suppression": options["suppression"]}
    has_all = all(name in levels for name in columns)
    given = {**parameters, "levels": ",".join(levels[name] for name in columns)} if has_all else None
    return {
        "kind": "table",
        "name": _table_name(options["file"]),
        "k": options["k"],
        "columns": columns,
        "chosen": None if given is None else choice_of(LEVELS, given),
    }


_READERS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "protect": _of_graph,
    "table protect": _of_table,
    "table search": _of_levels,
}


def _parameters(texts: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name, _, value in (each.partition("=") for each in texts)}


def _table_name(file: str) -> str:
    """The table of the service that a file of a plan is likely to be."""
    return PurePath(split(file)[1]).name.removesuffix(".csv").removesuffix(".parquet")
