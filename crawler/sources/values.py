"""Values of JSON that somebody else wrote: what is of another sort is none, and no text breaks a store."""

from __future__ import annotations

import json
from typing import Any

from graphpriv.store.records import LONGEST_ID

#: How deep the objects and lists of an answer may lie in each other; no network needs half of that.
DEEPEST = 100


def json_of(body: bytes) -> Any:
    """The JSON of an answer; None where it has none, or is nested so deep that nobody could search it.

    >>> json_of(b'{"a": [7]}'), json_of(b"[" * 101 + b"]" * 101), json_of(b"half")
    ({'a': [7]}, None, None)
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return None if _is_deep(found) else found


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [each for some in inner for each in some if isinstance(each, dict | list)]
        if not level:
            return False
    return True


def number_of(header: str) -> int | None:
    """The whole number that a header holds.

    >>> number_of("12"), number_of("-1"), number_of("\u00b2"), number_of("9" * 5000)
    (12, None, None, None)
    """
    return int(header) if header.isascii() and header.isdigit() and len(header) < 20 else None


def dict_of(value: Any) -> dict[str, Any]:
    """The value if it is an object, or else an empty one."""
    return value if isinstance(value, dict) else {}


def dicts_of(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none where it is no list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def text_of(value: Any) -> str | None:
    """The value if it is a text with something in it, without what no store can hold.

    >>> text_of("a\\x00b\\ud800"), text_of(""), text_of(7)
    ('ab?', None, None)
    """
    if not isinstance(value, str):
        return None
    return value.replace("\x00", "").encode("utf-8", "replace").decode() or None


def id_of(value: Any) -> str | None:
    """The value if a store can take it for an id."""
    sound = isinstance(value, str) and value == text_of(value) and len(value) <= LONGEST_ID
    return value if sound else None


def count_of(value: Any) -> int | None:
    """The value if it is a whole number from 0 up."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
