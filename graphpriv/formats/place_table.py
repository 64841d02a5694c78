"""Places as a table: a key, a name, a type and the key of the place above."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from graphpriv.formats.draft import DEEPEST_PATH, Where
from graphpriv.formats.sources import content
from graphpriv.places import KNOWN_TYPES, LEVELS, WORLD, PlaceTree, Step
from tabular.errors import InvalidInput, InvalidRecord
from tabular.files.csv_tables import read_table

COLUMNS = ("key", "name", "type", "parent")


def place_rows(tree: PlaceTree) -> Iterator[tuple[str, str, str, str | None]]:
    """The rows of all places of *tree*, each after the one above it."""
    for node, key in enumerate(tree.keys):
        parent = tree.parents[node]
        yield key, tree.names[node], tree.types[node], tree.keys[parent] if parent >= 0 else None


def read_places(path: Path) -> tuple[dict[str, tuple[Step, ...]], Where]:
    """The path of each key in a table of places, and where each stands, by its position.

    A place without a parent lies right below `world`.
    """
    header, rows, line = read_table(content(path), str(path))
    missing = [column for column in COLUMNS if column not in header]
    if missing:
        raise InvalidInput(f"{path}, line 1: there is no column {missing[0]}; places have {', '.join(COLUMNS)}.")
    columns = [header.index(column) for column in COLUMNS]

    def at(number: int) -> str:
        return f"{path}, line {line(number)}"

    steps: dict[str, Step] = {}
    parents: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for number, row in enumerate(rows):
        key, name, kind, parent = (row[column] for column in columns)
        fault = None
        if not key or not name:
            fault = "a place has a key and a name"
        elif key in steps:
            fault = f"this key occurs before, at line {line(numbers[key])}"
        elif kind not in LEVELS:
            fault = f"unknown type of place; {KNOWN_TYPES}"
        elif kind == WORLD[1] and (name != WORLD[0] or parent):
            fault = "there is one world; it is called 'world' and has no parent"
        if fault:
            raise InvalidRecord(f"{at(number)}: {fault}.")
        steps[key], parents[key], numbers[key] = (name, kind), parent, number
    try:
        return {key: _path(key, steps, parents) for key in steps}, at
    except _BrokenWay as broken:
        key, fault = broken.args
        raise InvalidRecord(f"{at(numbers[key])}: {fault}.") from None


class _BrokenWay(Exception):
    """The way from a place to the world does not arrive; says at which key, and why."""


def _path(key: str, steps: dict[str, Step], parents: dict[str, str]) -> tuple[Step, ...]:
    """The path from *key* upwards."""
    path: list[Step] = []
    climbed = key
    seen: set[str] = set()
    while climbed not in seen:
        if len(path) == DEEPEST_PATH:
            raise _BrokenWay(key, f"more than {DEEPEST_PATH} places lie above this one")
        seen.add(climbed)
        path.append(steps[climbed])
        above = parents[climbed]
        if not above:
            return tuple(path) if path[-1] == WORLD else (*path, WORLD)
        if above not in steps:
            raise _BrokenWay(climbed, "this place's parent is not a key of the table")
        climbed = above
    raise _BrokenWay(climbed, "this place lies above itself; places must not form a cycle")
