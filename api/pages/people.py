"""The pages of accounts, their tokens and the audit log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Response, request
from werkzeug.wrappers import Response as Answered

from api.errors import outcome_of
from api.http.gate import account, needs, service
from api.http.problems import outside
from api.http.routes import accounts as routes
from api.http.routes.verbs import performed
from api.pages.blueprint import bp, go, named_here, new_key, once, shown, told
from api.pages.commands import ways_of
from api.service.accounts import ROLES
from api.verbs import verbs
from tabular.errors import ReportedError


@bp.get("/accounts")
@needs("administer")
def people() -> Response:
    """List accounts and their tokens."""
    return _people()


@bp.post("/accounts")
@needs("administer")
def new_account() -> Answered:
    """Add an account, and show its token once."""
    name, role = request.form.get("name", ""), request.form.get("role", "")
    return _once(f"account add\n{name}\n{role}", lambda: _done("account add", name=name, role=role))


@bp.post("/accounts/<name>/tokens")
@needs("administer")
def new_token(name: str) -> Answered:
    """Make a token, and show it once."""
    programs = request.form.get("programs") == "yes"
    return _once(
        f"token new\n{name}\n{programs}",
        lambda: {**_done("token new", name=name, programs=programs), "account": name},
    )


@bp.post("/accounts/<name>/tokens/<id>/revoke")
@needs("administer")
def revoke_token(name: str, id: str) -> Answered:
    """Revoke a token."""
    told(routes.revoke, name=name, id=id)
    return go("pages.people")


@bp.post("/accounts/<name>/second-factor/reset")
@needs("administer")
def reset_factor(name: str) -> Answered:
    """Turn off the second factor of an account."""
    told(routes.reset_factor, name=name)
    return go("pages.people")


@bp.get("/audit-log")
@needs("administer")
def log() -> Response:
    """Show who had access to which original."""
    page = told(routes.audit_log)
    ways = ways_of("store check", {}, request="GET /v1/audit-log")
    return shown("log.html", entries=page["entries"], following=page["next"], ways=ways)


def _once(deed: str, make: Callable[[], dict[str, str]]) -> Answered:
    """Show what a form *makes*, or what is wrong."""
    try:
        return once(deed, make, lambda made: _people(made=made), "pages.people")
    except ReportedError as error:
        return _people(wrong=outside(error.worded(named_here)), status=outcome_of(error).status)


def _people(made: dict[str, str] | None = None, wrong: str | None = None, status: int = 200) -> Response:
    accounts = [each.document for each in service().accounts.all()]
    tokens = [each.document for each in service().accounts.tokens()]
    ways = ways_of("token new", {"name": "NAME"}, request="POST /v1/accounts/NAME/tokens\n{}")
    # What was typed stays where it was wrong.
    typed = request.form if wrong else {}
    return shown(
        "accounts.html", status=status, accounts=accounts, tokens=tokens, made=made, wrong=wrong, typed=typed,
        roles=ROLES, key=new_key(), ways=ways,
    )  # fmt: skip


def _done(verb: str, **options: Any) -> dict[str, str]:
    asked = service().requests.read(verb, verbs[verb].method, options, account())
    return performed(asked).document
