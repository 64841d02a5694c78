"""The pages of accounts, their tokens and the audit log."""

from __future__ import annotations

from flask import Response, request
from werkzeug.wrappers import Response as Answered

from api.http.gate import account, needs, service
from api.http.routes import accounts as routes
from api.http.routes.verbs import performed
from api.pages.blueprint import bp, go, shown, told
from api.pages.commands import ways_of
from api.service.accounts import ROLES
from api.verbs import verbs


@bp.get("/accounts")
@needs("administer")
def people() -> Response:
    """List accounts and their tokens."""
    return _people()


@bp.post("/accounts")
@needs("administer")
def new_account() -> Response:
    """Add an account, and show its token once."""
    form = request.form
    return _people(made=_done("account add", name=form.get("name", ""), role=form.get("role", "")))


@bp.post("/accounts/<name>/tokens")
@needs("administer")
def new_token(name: str) -> Response:
    """Make a token, and show it once."""
    return _people(made={**_done("token new", name=name), "account": name})


@bp.post("/accounts/<name>/tokens/<id>/revoke")
@needs("administer")
def revoke_token(name: str, id: str) -> Answered:
    """Revoke a token."""
    told(routes.revoke, name=name, id=id)
    return go("pages.people")


@bp.get("/audit-log")
@needs("administer")
def log() -> Response:
    """Show who had access to which original."""
    page = told(routes.audit_log)
    ways = ways_of("store check", {}, request="GET /v1/audit-log")
    return shown("log.html", entries=page["entries"], following=page["next"], ways=ways)


def _people(made: dict[str, str] | None = None) -> Response:
    accounts = [each.document for each in service().accounts.all()]
    tokens = [each.document for each in service().accounts.tokens()]
    ways = ways_of("token new", {"name": "NAME"}, request="POST /v1/accounts/NAME/tokens\n{}")
    return shown("accounts.html", accounts=accounts, tokens=tokens, made=made, roles=ROLES, ways=ways)


def _done(verb: str, **options: str) -> dict[str, str]:
    asked = service().requests.read(verb, verbs[verb].method, options, account())
    return performed(asked).document
