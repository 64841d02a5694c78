"""Browsers that are signed in: a cookie instead of a token, and a mark on everything that changes something."""

from __future__ import annotations

from flask import g, request
from werkzeug.wrappers import Response

from api.http.problems import HttpProblem
from api.service.accounts import HOURS, Session, is_mark
from api.service.service import Service

#: The cookie of a session, and the one of a browser that is about to sign in.
COOKIE, BEFORE = "graphpriv-session", "graphpriv-form"

#: Where a script sends the mark, and what a form calls it.
HEADER, FIELD = "X-Graphpriv-Form", "form"

#: Methods that change nothing.
_SAFE = ("GET", "HEAD")


def session_of(service: Service) -> Session | None:
    """The session of the browser that asks; whatever would change something must come from a page of that session."""
    secret = request.cookies.get(COOKIE)
    found = service.sessions.find(secret) if secret else None
    if found is not None and request.method not in _SAFE:
        check_mark(found.secret)
    g.session = found
    return found


def check_mark(secret: str) -> None:
    """Refuse a request that no page made which was shown to the holder of a *secret*."""
    text = request.headers.get(HEADER) or request.form.get(FIELD, "")
    if not is_mark(text, secret):
        raise HttpProblem(403, "Forbidden", "This form is too old, or not from here; reload its page.")


def keep(response: Response, name: str, secret: str) -> None:
    """Have the browser keep a *secret*, which no script can read and no other site can have sent."""
    response.set_cookie(
        name, secret, max_age=HOURS * 3600, httponly=True, samesite="Strict", secure=request.is_secure, path="/"
    )


def drop(response: Response, name: str) -> None:
    """Have the browser forget a secret."""
    response.delete_cookie(name, httponly=True, samesite="Strict", secure=request.is_secure, path="/")
