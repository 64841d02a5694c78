"""Private records of releases: who is who, and what each release said of each person, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidInput
from tabular.lattice.chain.history import STARRED, History, Publication

#: The place of a history in a private record.
HISTORY = "history"


def document_of(history: History) -> dict[str, Any]:
    """A *history* as plain values."""
    return {
        "columns": list(history.names),
        "key": history.key,
        "persons": list(history.persons),
        "releases": [
            {"levels": list(each.node), "tuples": [list(labels) for labels in each.tuples], "said": each.said.tolist()}
            for each in history.publications
        ],
    }


def history_in(data: bytes, where: str) -> History:
    """The history that a private record holds; *where* names the file."""
    try:
        document = json.loads(data)
    except (ValueError, UnicodeDecodeError, RecursionError):
        raise _strange(where) from None
    held = document.get(HISTORY) if isinstance(document, Mapping) else None
    if not isinstance(held, Mapping):
        raise _strange(where)
    try:
        return history_of(held)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"{where}: the record is damaged; take the one that the last release was written with."
        ) from None


def history_of(held: Mapping[str, Any]) -> History:
    """The history that `document_of` gave as plain values; a ValueError or the like where it is damaged."""
    names, key, persons = _texts(held["columns"]), held["key"], tuple(held["persons"])
    known = [each for each in persons if each is not None]
    if not all(isinstance(each, str) for each in known) or len(set(known)) < len(known):
        raise ValueError
    if not (key is None or isinstance(key, str)) or not names or len(set(names)) < len(names):
        raise ValueError
    publications = tuple(_publication(each, len(names), len(persons)) for each in held["releases"])
    return History(names, key, persons, publications)


def _publication(held: Mapping[str, Any], attributes: int, persons: int) -> Publication:
    node = tuple(_whole(level) for level in held["levels"])
    tuples = tuple(_texts(labels) for labels in held["tuples"])
    said: NDArray[np.int64] = np.array([_whole(each) for each in held["said"]], dtype=np.int64)
    if len(node) != attributes or any(len(labels) != attributes for labels in tuples) or len(said) > persons:
        raise ValueError
    if len(said) and (said.min() < STARRED or said.max() >= len(tuples)):
        raise ValueError
    return Publication(node, tuples, said)


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise TypeError
    return tuple(values)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def _strange(where: str) -> InvalidInput:
    return InvalidInput(
        f"{where}: this is neither the private record of a search nor a released table, CSV or Parquet."
    )
