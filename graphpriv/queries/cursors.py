"""Cursors: where a page ends, as a text that means something only with the graph and the question it came from.

A cursor names a place in the order and no count of rows, so that a page begins where the one before ended also after
users were added or taken out. It outlives the process, and a graph that took the name of another refuses it.
"""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from hashlib import blake2s
from typing import Any

from tabular.errors import InvalidParameter

#: A place in an order: the numbers that the rows are ordered by.
Place = tuple[int, ...]
#: A short digest of a graph and a question.
Question = bytes

_TAG, _NUMBER = 6, 8


def question(created: str, query: str, options: Mapping[str, Any]) -> Question:
    """The digest of a question about a graph that was created at that moment.

    Its name is left out: where a graph lies in the store is not for everybody who asks.
    """
    text = json.dumps([created, query, options], sort_keys=True, ensure_ascii=True)
    return blake2s(text.encode(), digest_size=_TAG).digest()


def written(place: Place, asked: Question) -> str:
    """The cursor of a *place*."""
    numbers = b"".join(number.to_bytes(_NUMBER, "big", signed=True) for number in place)
    return urlsafe_b64encode(asked + numbers).decode().rstrip("=")


def read(cursor: str, asked: Question) -> Place:
    """The place of a *cursor*, if this question gave it."""
    must = "be the next of an earlier page, of the same graph and with the same options"
    try:
        data = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
    except (ValueError, binascii.Error):
        data = b""
    numbers = data[_TAG:]
    parts = range(0, len(numbers), _NUMBER)
    place = tuple(int.from_bytes(numbers[at : at + _NUMBER], "big", signed=True) for at in parts)
    # Written again it must be the same: the decoder leaves out what it does not know.
    if data[:_TAG] != asked or not place or written(place, asked) != cursor:
        raise InvalidParameter.wrong("cursor", must=must, was=cursor[:80])
    return place
