"""Routes of accounts, their tokens and the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, jsonify, url_for

from api.http import paging
from api.http.bodies import json_object
from api.http.describing import ANY_OBJECT, COUNT, MAYBE, PAGES, STRING, Schema, answers, paged, record
from api.http.gate import account, needs, service, tell_again
from api.http.problems import HttpProblem
from api.http.routes.verbs import performed
from api.http.schema import schema_of
from api.service.accounts import ROLES
from api.verbs import verbs
from tabular.errors import UnknownName

bp = Blueprint("accounts", __name__)

_YES_NO: Schema = {"type": "boolean"}
ACCOUNT = record(account=STRING, role={"enum": list(ROLES)}, created=STRING, second_factor=_YES_NO, log_id=STRING)
TOKEN = record(
    id=STRING, account=STRING, created=STRING, expires=STRING, last_used=MAYBE, programs=_YES_NO, expired=_YES_NO
)  # fmt: skip
#: A request that is sent again is not shown the token again.
NEW_ACCOUNT = record(account=STRING, role={"enum": list(ROLES)}, token=MAYBE, id=STRING, expires=STRING)
NEW_TOKEN = record(id=STRING, account=STRING, created=STRING, expires=STRING, programs=_YES_NO, token=MAYBE)
ENTRY = record(
    number=COUNT, time=STRING, account=MAYBE, role=MAYBE, action=STRING, kind=STRING, object=MAYBE, details=ANY_OBJECT,
    hash=STRING,
)  # fmt: skip

_OF_TOKEN = schema_of("token new", verbs["token new"].method)["properties"]
_TOKEN_OPTIONS: Schema = {
    "type": "object",
    "properties": {name: _OF_TOKEN[name] for name in ("days", "programs")},
    "additionalProperties": False,
}


@bp.get("/v1/accounts")
@needs("administer")
@answers(paged("accounts", ACCOUNT), query=PAGES)
def listed() -> Response:
    """List the accounts with their roles."""
    return paging.page("accounts", _ask("account list", {})["accounts"], lambda each: each["account"], dict)


@bp.post("/v1/accounts")
@needs("administer")
@answers(NEW_ACCOUNT, status=201, body=schema_of("account add", verbs["account add"].method))
def add() -> Response:
    """Add an account; the answer is the one place that shows its first token."""
    return _secret(_ask("account add", json_object()), url_for("accounts.listed"))


@bp.delete("/v1/accounts/<name>")
@needs("administer")
@answers(record(removed=STRING))
def remove(name: str) -> Response:
    """Remove an account; its tokens stop at once."""
    return jsonify(_ask("account remove", {"name": name}))


@bp.get("/v1/accounts/<name>/tokens")
@needs("administer")
@answers(paged("tokens", TOKEN), query=PAGES)
def tokens(name: str) -> Response:
    """List the tokens of an account, never the tokens themselves."""
    found = sorted(service().accounts.tokens(name), key=lambda each: each.id)
    return paging.page("tokens", found, lambda each: each.id, lambda each: each.document)


@bp.post("/v1/accounts/<name>/tokens")
@needs("administer")
@answers(NEW_TOKEN, status=201, body=_TOKEN_OPTIONS)
def new_token(name: str) -> Response:
    """Make a further token of an account; the answer is the one place that shows it."""
    return _secret(_ask("token new", {**json_object(), "name": name}), url_for("accounts.tokens", name=name))


@bp.delete("/v1/accounts/<name>/tokens/<id>")
@needs("administer")
@answers(record(revoked=STRING))
def revoke(name: str, id: str) -> Response:
    """Revoke a token; it stops at once."""
    if id not in [each.id for each in service().accounts.tokens(name)]:
        raise UnknownName(f"No token of this account has the id {id!r}.")
    return jsonify(_ask("token revoke", {"id": id}))


@bp.delete("/v1/accounts/<name>/second-factor")
@needs("administer")
@answers(record(reset=STRING))
def reset_factor(name: str) -> Response:
    """Turn off the second factor of an account that has lost it; all its sessions end."""
    return jsonify(_ask("account reset-factor", {"name": name}))


@bp.get("/v1/audit-log")
@needs("administer")
@answers(paged("entries", ENTRY), query=PAGES)
def audit_log() -> Response:
    """List who had access to which original or mapping, newest first."""
    size = paging.limit()
    found = service().log.entries(before=_before(), limit=size + 1)
    return paging.page(
        "entries", found, lambda each: str(each.number), lambda each: each.document, more=len(found) > size
    )


def _before() -> int | None:
    """The number of the last entry of the page before."""
    text = paging.cursor()
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise HttpProblem(400, "Invalid input", "cursor must be one that an earlier page gave.")
    return int(text)


def _ask(name: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a verb."""
    asked = service().requests.read(name, verbs[name].method, body, account())
    return performed(asked).document


def _secret(document: Mapping[str, Any], location: str) -> Response:
    """The answer with a new token; a repeated request does not get the token again."""
    response = jsonify(dict(document))
    response.status_code, response.headers["Location"] = 201, location
    response.headers["Cache-Control"] = "no-store"
    tell_again({**document, "token": None}, 201)
    return response
