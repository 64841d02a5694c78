"""Browsers that are signed in: a cookie instead of a token, and a mark on everything that changes something."""

from __future__ import annotations

from typing import Any

from flask import g, request
from werkzeug.wrappers import Response

from api.http.problems import HttpProblem
from api.service.service import Service
from api.service.signing.sessions import FRESH, LONGEST, Session, is_mark

#: The cookie of a session, and the one of a browser that is about to sign in. Over TLS their names begin with
#: `__Host-`: a browser then takes them from this host alone, over TLS alone.
COOKIE, BEFORE = "graphpriv-session", "graphpriv-form"

#: Where a script sends the mark, and what a form calls it.
HEADER, FIELD = "X-Graphpriv-Form", "form"

#: Methods that change nothing.
_SAFE = ("GET", "HEAD")


class Stale(HttpProblem):
    """A change that only somebody who signed in a moment ago may make."""

    def __init__(self) -> None:
        minutes = round(FRESH.total_seconds() / 60)
        super().__init__(403, "Sign in again", f"You signed in more than {minutes} minutes ago; sign in again first.")


class Unfinished(HttpProblem):
    """Somebody who must have a second factor, and has none yet."""

    def __init__(self) -> None:
        super().__init__(403, "Second factor needed", "Set up a second factor on the pages first.")


def session_of(service: Service) -> Session | None:
    """The session of the browser that asks; whatever would change something must come from a page of that session."""
    secret = held(COOKIE)
    found = service.sessions.find(secret) if secret else None
    if found is not None and request.method not in _SAFE:
        check_mark(found.secret)
    g.session = found
    return found


def check_mark(secret: str) -> None:
    """Refuse a request that no page made which was shown to the holder of a *secret*."""
    text = request.headers.get(HEADER) or request.form.get(FIELD, "")
    # Anybody can work out the mark of no secret.
    if not secret or not is_mark(text, secret):
        raise HttpProblem(403, "Forbidden", "This form has expired, or comes from another site; reload its page.")


def check_fresh() -> None:
    """Refuse a change by a browser in which somebody signed in a while ago: another person may sit there now."""
    session = g.get("session")
    if session is not None and not session.is_fresh and request.method not in _SAFE:
        raise Stale


def held(name: str) -> str:
    """The secret that the browser keeps under a name; empty if there is none."""
    return request.cookies.get(_named(name), "")


def keep(response: Response, name: str, secret: str) -> None:
    """Have the browser keep a *secret*, which no script can read and no other site can have sent."""
    seconds = int(LONGEST.total_seconds())
    response.set_cookie(_named(name), secret, max_age=seconds, **_traits())


def drop(response: Response, name: str) -> None:
    """Have the browser forget a secret."""
    response.delete_cookie(_named(name), **_traits())


def keep_off_disk(response: Response) -> Response:
    """Have the browser of somebody who is signed in keep no answer on its disk."""
    if g.get("session") is not None and not request.path.startswith("/pages/"):
        response.headers["Cache-Control"] = "no-store"
    return response


def _named(name: str) -> str:
    return f"__Host-{name}" if request.is_secure else name


def _traits() -> dict[str, Any]:
    return {"httponly": True, "samesite": "Strict", "secure": request.is_secure, "path": "/"}
