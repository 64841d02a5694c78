"""Errors as RFC 9457 problem documents, which point at the fields that are wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Flask, Response, current_app, g, jsonify
from werkzeug.exceptions import HTTPException

from api.errors import bug_of, outcome_of, worded
from api.service.requests import WrongOptions
from api.service.service import Service
from tabular.errors import ReportedError

#: Where in an application the service is.
EXTENSION = "graphpriv"

#: The type of a problem document.
PROBLEM = "application/problem+json"

#: What has no field in a request, and what does the same here.
_ELSEWHERE = {"overwrite": "DELETE and this request again", "store": "the settings of the service"}

_TOO_LARGE = "This takes more memory than there is; ask for fewer rows or columns."

#: A text may repeat what it refuses; beyond so many characters it is cut.
_LONGEST = 1000

#: What is said of refusals that the framework words at length.
SAID = {
    404: "There is nothing here.",
    405: "This address does not take this method; the header Allow lists those it takes.",
    413: "The body is too large: at most 8 MiB at once. Larger files go up in pieces, by POST /v1/uploads.",
}


class HttpProblem(Exception):
    """A refusal that only HTTP knows: its status, its text and its headers."""

    def __init__(self, status: int, title: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.title, self.detail, self.headers = status, title, detail, headers or {}


def register(app: Flask) -> None:
    """Have every error of *app* answered by a problem document."""
    app.register_error_handler(HttpProblem, _of_http)
    app.register_error_handler(ReportedError, _of_product)
    app.register_error_handler(HTTPException, _of_framework)
    app.register_error_handler(MemoryError, lambda _: problem(413, "Too large", _TOO_LARGE))
    app.register_error_handler(Exception, _of_bug)


def problem(
    status: int,
    title: str,
    detail: str,
    *,
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A problem document; *errors* point at fields."""
    document: dict[str, Any] = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    if errors:
        document["errors"] = list(errors)
    response = jsonify(document)
    response.status_code, response.content_type = status, PROBLEM
    response.headers.update(headers or {})
    return response


def pointer(parameter: str) -> str:
    """What a parameter is called here: a JSON pointer into the body.

    >>> pointer("at_risk")
    '/at_risk'
    """
    return "/" + parameter.replace("~", "~0").replace("/", "~1")


def name_here(parameter: str) -> str:
    """What a parameter is called in the text of a problem."""
    return _ELSEWHERE.get(parameter) or pointer(parameter)


def fields_of(error: ReportedError) -> list[dict[str, str]]:
    """The fields that an error is about, each with what is wrong with it."""
    if isinstance(error, WrongOptions):
        told = ((name, outside(worded(text, name_here))) for name, text in error.errors.items())
        return [{"pointer": pointer(name), "detail": text} for name, text in told]
    named = [name for name in error.named if name not in _ELSEWHERE][:1]
    return [{"pointer": pointer(name), "detail": outside(error.worded(name_here))} for name in named]


def outside(text: str) -> str:
    """A *text* that may leave the house."""
    for stored, name in g.get("names", {}).items():
        text = text.replace(stored, name)
    text = service_of(current_app).without_places(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def call_by(name: str, stored: str) -> None:
    """Call a graph in the texts of this answer by its *name*, not by the one it has in the store.

    That one tells whether the other space of names has the name, too.
    """
    if name != stored:
        g.setdefault("names", {})[stored] = name


def service_of(app: Flask) -> Service:
    """The service that *app* answers from."""
    found: Service = app.extensions[EXTENSION]
    return found


def _of_product(error: ReportedError) -> Response:
    outcome = outcome_of(error)
    is_theirs = outcome.status < 500
    headers = {} if outcome.status != 503 else {"Retry-After": "5"}
    return problem(
        outcome.status,
        outcome.title,
        outside(error.worded(name_here)),
        errors=fields_of(error) if is_theirs else (),
        headers=headers,
    )


def _of_http(error: HttpProblem) -> Response:
    return problem(error.status, error.title, error.detail, headers=error.headers)


def _of_framework(error: HTTPException) -> Response:
    status = error.code or 500
    if error.response is not None:
        status = error.response.status_code
    kept = {name: value for name, value in error.get_headers() if name in ("Allow", "Retry-After")}
    return problem(status, error.name, SAID.get(status) or error.description or error.name, headers=kept)


def _of_bug(error: Exception) -> Response:
    gone = service_of(current_app).tables.gone(error)
    if gone is not None:
        return _of_product(gone)
    reference, place = bug_of(error)
    current_app.logger.error("internal error %s: %s", reference, place)
    return problem(500, "Internal error", f"Internal error, reference {reference}.")
