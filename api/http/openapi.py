"""The OpenAPI 3.1 document of the service, made from its routes and verbs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flask import Flask
from werkzeug.routing import Rule

from api.http.describing import PROBLEM_SCHEMA, Description, Schema
from api.http.gate import KEY, action_of
from api.http.options import HELP, OPTIONS
from api.http.problems import PROBLEM
from tabular.release import version

#: What a refusal with a status means.
_REFUSALS = {
    400: "The request is not what it must be.",
    401: "There is no good token.",
    403: "The role does not allow it, or the token is not for programs.",
    404: "It is not there, or not for this role to know.",
    409: "It is there already, or not in the state for this.",
    412: "It is in another state than the one that If-Match names.",
    413: "It is too large.",
    415: "The body is not JSON.",
    422: "Nothing satisfies what was asked, the scanner found malware, or the key was used for another request.",
    429: "This account asks too often.",
    502: "A social network does not answer.",
    500: "A bug, or a failure of the service.",
    503: "The store or the scanner does not answer, no jobs run, or too much is being asked at once.",
    507: "The disk is full.",
}

_KEY = "Makes the request one that can be sent again: the answer is that of the first time."


def openapi(app: Flask) -> dict[str, Any]:
    """The document that describes every route of *app*."""
    paths: dict[str, dict[str, Any]] = {}
    for rule in sorted(described_rules(app), key=lambda each: each.rule):
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            paths.setdefault(template_of(rule), {})[method.lower()] = _operation(app, rule, method)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "graphpriv",
            "version": version(),
            "description": "Protect, audit and release social graphs and tables. A path is the command's words.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": {"Problem": PROBLEM_SCHEMA},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def described_rules(app: Flask) -> Iterator[Rule]:
    """The routes of *app* but for its pages, which are for people."""
    return (each for each in app.url_map.iter_rules() if not each.endpoint.startswith("pages."))


def template_of(rule: Rule) -> str:
    """The path of a route with its variables in braces."""
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)


def _operation(app: Flask, rule: Rule, method: str) -> dict[str, Any]:
    view = app.view_functions[rule.endpoint]
    described: Description = vars(view)["description"]
    text = inspect.cleandoc(view.__doc__ or "")
    action = action_of(app, rule.endpoint)
    operation: dict[str, Any] = {
        "operationId": f"{method.lower()} {rule.rule}".replace("/", " ").replace("<", "").replace(">", ""),
        "summary": text.splitlines()[0],
        "description": text,
        "parameters": list(_parameters(rule, method, described, needs_token=action is not None)),
        "responses": {str(status): each for status, each in _responses(rule, method, described, action)},
        "security": [{"token": []}] if action is not None else [{}, {"token": []}],
    }
    if described.body is not None:
        operation["requestBody"] = {"content": _content(described.body), "required": _is_body_needed(described.body)}
    return operation


def _parameters(rule: Rule, method: str, described: Description, *, needs_token: bool) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"<(?:\w+:)?(\w+)>", rule.rule):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
    for name, schema in described.query.items():
        plain = {key: value for key, value in schema.items() if key not in ("description", "required")}
        told = {"required": True} if schema.get("required") else {}
        yield {"name": name, "in": "query", "schema": plain, "description": schema.get("description", ""), **told}
    if described.query and method == "GET" and OPTIONS not in described.headers:
        yield {"name": OPTIONS, "in": "header", "schema": {"type": "string"}, "description": HELP}
    for name, help in described.headers.items():
        told = {"required": True} if name == OPTIONS else {}
        yield {"name": name, "in": "header", "schema": {"type": "string"}, "description": help, **told}
    if method in ("POST", "PUT") and needs_token:
        schema = {"type": "string", "pattern": f"^{KEY.pattern}$"}
        yield {"name": "Idempotency-Key", "in": "header", "schema": schema, "description": _KEY}


def _responses(
    rule: Rule, method: str, described: Description, action: str | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    content = {**_content(described.answer), **_content(described.also)}
    yield described.status, {"description": "Done.", "content": content}
    for status, schema in described.others.items():
        yield status, {"description": "Also well.", **({"content": _content(schema)} if schema else {})}
    if method == "GET":
        yield 304, {"description": "The caller has it already."}
    for status in sorted(_refusals(rule, method, described, action) - {described.status, *described.others}):
        content = {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        yield status, {"description": _REFUSALS[status], "content": content}


def _refusals(rule: Rule, method: str, described: Description, action: str | None) -> set[int]:
    """The statuses of the refusals that a route can give."""
    refusals = {400, 500, *described.refusals}
    if action is not None:
        # Whoever asks is written down, for which the disk may be too full. A token may be for the pages alone.
        refusals |= {401, 403, 429, 503, 507}
    if rule.arguments:
        refusals.add(404)
    if method in ("POST", "PUT"):
        refusals |= {409, 413, 415, 422}
    return refusals


def _content(body: Schema | Sequence[str]) -> dict[str, Any]:
    if isinstance(body, Mapping):
        return {"application/json": {"schema": body}}
    return {kind: {} for kind in body}


def _is_body_needed(body: Schema | Sequence[str]) -> bool:
    return not isinstance(body, Mapping) or bool(body.get("required"))
