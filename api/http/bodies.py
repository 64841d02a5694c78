"""Bodies of requests: a JSON object, read strictly."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from flask import request

from api.http.problems import HttpProblem


def json_object() -> dict[str, Any]:
    """The JSON object that the request carries; none at all is an empty one."""
    data = request.get_data(cache=True)
    if not data:
        return {}
    if request.mimetype != "application/json":
        raise HttpProblem(415, "Unsupported media type", "Send JSON, with Content-Type: application/json.")
    try:
        document = json.loads(data, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique)
        # A half of a pair of surrogates is no text, and cannot be kept or answered.
        json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise HttpProblem(400, "Invalid input", "The body is not JSON in UTF-8, or names a key twice.") from None
    if not isinstance(document, dict):
        raise HttpProblem(400, "Invalid input", "The body must be a JSON object.")
    return document


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(text)
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("a key twice")
    return document
