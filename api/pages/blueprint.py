"""What all pages share: who sees which, how one is shown, and errors as pages."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, current_app, g, redirect, render_template, request, url_for
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as Answered

from api.errors import bug_of, outcome_of
from api.http.gate import KEY, account, action_of, service
from api.http.problems import HttpProblem, outside
from api.http.sessions import FIELD, HEADER, Stale, Unfinished
from api.service import access
from api.service.answers import Answer
from tabular.errors import InvalidInput, ReportedError, StoreUnavailable

bp = Blueprint("pages", __name__, template_folder="templates")

#: A page runs our scripts and applies our style sheets, all of them files of ours, and asks nobody else for anything.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)

#: What stands in the head of each page: its endpoint and its name.
_MENU = (
    ("pages.home", "Home"),
    ("pages.upload", "Upload"),
    ("pages.collect", "Collect"),
    ("pages.guide", "Release"),
    ("pages.jobs", "Jobs"),
    ("pages.people", "Accounts"),
    ("pages.log", "Audit log"),
)


#: Pages whose address stays the same when a form asks something of them.
_ASKED_ASIDE = ("pages.graph", "pages.table")

#: On which page somebody goes on who has to sign in again; accounts are changed on that of all people.
_CHANGED_ON = dict.fromkeys(("pages.end_sessions", "pages.own_token"), "pages.sessions") | dict.fromkeys(
    ("pages.begin_factor", "pages.confirm_factor", "pages.renew_codes", "pages.end_factor"), "pages.factor"
)


def shown(template: str, *, status: int = 200, **context: Any) -> Response:
    """A page from a template."""
    mark = g.session.mark if g.get("session") else ""
    who = g.get("account")
    menu = [(url_for(endpoint), name) for endpoint, name in _MENU if who is not None and opens(endpoint)]
    session = g.get("session")
    ends = session if session and session.token_ends_soon else None
    gone = g.get("question_is_gone", False)
    everywhere = {"who": who, "mark": mark, "menu": menu, "header": HEADER, "may": may, "ends": ends, "gone": gone}
    text = render_template(template, **{**everywhere, **context})
    response = Response(text, status=status, mimetype="text/html")
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Vary"] = "Cookie"
    if who is not None:
        # What somebody was shown does not stay on the disk of their machine.
        response.headers["Cache-Control"] = "no-store"
    return response


def may(action: str, kind: access.Kind) -> bool:
    """Whether whoever asks may do *action* with things of a *kind*."""
    return access.may(account().role, action, kind)


def opens(endpoint: str) -> bool:
    """Whether there is anything for whoever asks behind an endpoint."""
    action = action_of(current_app, endpoint)
    kinds = (kind for each, kind in access.TABLE if each == action)
    return any(access.may(account().role, str(action), kind) for kind in kinds)


def told(view: Callable[..., Response], **path: str) -> Any:
    """What a route of the service tells whoever asks: a page knows no more than they would get by HTTP."""
    access.refuse_role(account().role, view.action)  # type: ignore[attr-defined]
    return view(**path).get_json()


def go(endpoint: str, **values: Any) -> Answered:
    """Send the browser on to another page after a form."""
    return redirect(url_for(endpoint, **values), 303)


def new_key() -> str:
    """What a form is told by whose deed is done once; it carries it as `key`."""
    return secrets.token_urlsafe(16)


def once(
    deed: str, make: Callable[[], dict[str, Any]], show: Callable[[dict[str, Any]], Answered], after: str
) -> Answered:
    """*Show* what a form *makes*; the same form again, as a reload sends it, leads to the endpoint *after*.

    A token cannot be told after a redirect, since the service does not keep it.
    """
    key = request.form.get("key") or new_key()
    if not KEY.fullmatch(key):
        raise InvalidInput("This form is incomplete. Load the page again.")
    digest = hashlib.sha256(deed.encode()).hexdigest()
    answers, own = service().answers, account().id
    if answers.begin(own, f"form {key}", digest) is not None:
        return go(after)
    try:
        made = make()
    except BaseException:
        answers.end(own, f"form {key}", None)
        raise
    answers.end(own, f"form {key}", Answer(303, {}, b""))
    return show(made)


def local(path: str | None) -> str:
    """A *path* of this service that somebody wanted to see, else the home page."""
    is_ours = path is not None and path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if path is not None and is_ours else url_for("pages.home")


def asked_aside(endpoint: str, **values: Any) -> Answered:
    """Send the browser on to what a form asks for, by an address that does not say what that is."""
    options = [(name, text) for name, text in request.form.items(multi=True) if name != FIELD]
    return go(endpoint, asked=service().questions.keep(account().id, options), **values)


def given() -> MultiDict[str, str]:
    """The options of a page: of an original they were sent by a form, since addresses are written down."""
    id = request.args.get("asked")
    if id is None:
        return request.args
    # A page is made from one state of it.
    if "given" not in g:
        found = service().questions.find(account().id, id)
        g.given, g.question_is_gone = MultiDict(found or ()), found is None
    options: MultiDict[str, str] = g.given
    return options


def named_here(parameter: str) -> str:
    """What a parameter is called on a page."""
    return parameter.replace("_", " ")


def failed(status: int, title: str, detail: str, *, again: bool = False) -> Response:
    """An error as a page, which asks *again* by itself where that may help."""
    return shown("error.html", status=status, title=title, detail=detail, again=again)


@bp.errorhandler(HttpProblem)
def _of_http(error: HttpProblem) -> Response | Answered:
    if error.status == 401:
        can_be_seen = request.method == "GET" or request.endpoint in _ASKED_ASIDE
        wanted = request.full_path.rstrip("?") if can_be_seen else url_for("pages.home")
        return go("pages.sign_in", next=wanted)
    if isinstance(error, Stale):
        # What was sent is not done later: whoever signs in looks at the page again first.
        page = _CHANGED_ON.get(str(request.endpoint), "pages.people")
        return go("pages.sign_in", next=url_for(page), again="yes")
    if isinstance(error, Unfinished) and request.method == "GET":
        return go("pages.factor")
    response = failed(error.status, error.title, error.detail)
    response.headers.update(error.headers)
    return response


@bp.errorhandler(ReportedError)
def _of_product(error: ReportedError) -> Response:
    outcome = outcome_of(error)
    passes = isinstance(error, StoreUnavailable) and error.can_retry and request.method == "GET"
    return failed(outcome.status, outcome.title, outside(error.worded(named_here)), again=passes)


@bp.errorhandler(HTTPException)
def _of_framework(error: HTTPException) -> Response:
    return failed(error.code or 500, error.name, error.description or error.name)


@bp.errorhandler(Exception)
def _of_bug(error: Exception) -> Response:
    gone = service().tables.gone(error)
    if gone is not None:
        return _of_product(gone)
    reference, place = bug_of(error)
    current_app.logger.error("internal error %s: %s", reference, place)
    return failed(500, "Internal error", f"Internal error, reference {reference}.")
