"""Signing in with a token, and out."""

from __future__ import annotations

import secrets

from flask import redirect, request
from werkzeug.wrappers import Response

from api.http.gate import needs, service
from api.http.sessions import BEFORE, COOKIE, check_mark, drop, keep, session_of
from api.pages.blueprint import bp, go, local, shown
from api.service.accounts import mark_of

#: A token is shorter than this.
_LONGEST = 200


@bp.get("/sign-in")
def sign_in() -> Response:
    """Ask for a token."""
    if session_of(service()) is not None:
        return redirect(local(request.args.get("next")), 303)
    return _asked(local(request.args.get("next")))


@bp.post("/sign-in")
def signed_in() -> Response:
    """Begin a session for who has a good token."""
    check_mark(request.cookies.get(BEFORE, ""))
    wanted = local(request.form.get("next"))
    secret = service().sessions.begin(request.form.get("token", "")[:_LONGEST].strip())
    if secret is None:
        return _asked(wanted, wrong=True)
    response = redirect(wanted, 303)
    keep(response, COOKIE, secret)
    drop(response, BEFORE)
    return response


@bp.post("/sign-out")
@needs("look up")
def sign_out() -> Response:
    """End the session."""
    service().sessions.end(request.cookies.get(COOKIE, ""))
    response = go("pages.sign_in")
    drop(response, COOKIE)
    return response


def _asked(wanted: str, *, wrong: bool = False) -> Response:
    secret = request.cookies.get(BEFORE) or secrets.token_urlsafe(32)
    response = shown("sign-in.html", status=401 if wrong else 200, wanted=wanted, wrong=wrong, before=mark_of(secret))
    keep(response, BEFORE, secret)
    response.headers["Cache-Control"] = "no-store"
    return response
