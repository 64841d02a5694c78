"""Lists in pages: a limit, a cursor, and a Link header that leads on."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from flask import Response, jsonify, request

from api.http.options import OPTIONS
from api.http.problems import HttpProblem

T = TypeVar("T")

#: How many entries a page holds, and may hold.
USUAL, MOST = 100, 1000


def limit() -> int:
    """How many entries the request wants on a page."""
    text = request.args.get("limit", str(USUAL))
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= MOST):
        raise HttpProblem(400, "Invalid input", f"limit must be a whole number from 1 to {MOST}.")
    return int(text)


def cursor() -> str | None:
    """The key of the last entry of the page before."""
    text = request.args.get("cursor")
    if text is None:
        return None
    try:
        return base64.b64decode(text.encode() + b"=" * (-len(text) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise HttpProblem(400, "Invalid input", "cursor must be one that an earlier page gave.") from None


def page(
    name: str, entries: Sequence[T], key: Callable[[T], str], shown: Callable[[T], Any], *, more: bool | None = None
) -> Response:
    """One page of sorted *entries* under *name*: those after the cursor, as they are already where *more* is given."""
    size, after = limit(), cursor()
    if more is None:
        entries = [each for each in entries if after is None or key(each) > after]
        more = len(entries) > size
    entries = entries[:size]
    following = coded(key(entries[-1])) if more and entries else None
    response = jsonify({name: [shown(each) for each in entries], "next": following})
    if following is not None:
        lead_on(response, following)
    return response


def lead_on(response: Response, following: str) -> None:
    """Have the header Link of a page lead on to the one that begins at a cursor.

    A cursor may name a person: where options stand in a header, no address is made of them.
    """
    if OPTIONS in request.headers:
        return
    others = [(name, text) for name, text in request.args.items(multi=True) if name != "cursor"]
    query = urlencode([*others, ("cursor", following)])
    # An address may name a person in any letters; a header holds those of an address alone.
    response.headers["Link"] = f'<{quote(request.path)}?{query}>; rel="next"'


def coded(key: str) -> str:
    """The cursor that stands for a *key*."""
    return base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")
