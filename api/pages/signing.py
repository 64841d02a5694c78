"""Signing in with a token, and out; and where somebody is signed in."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import timedelta
from math import ceil
from typing import Any

from flask import g, redirect, request
from werkzeug.wrappers import Response

from api.http.gate import account, needs, service
from api.http.problems import HttpProblem
from api.http.sessions import BEFORE, COOKIE, check_fresh, check_mark, drop, held, keep, session_of
from api.pages.blueprint import bp, go, local, new_key, once, shown
from api.service.accounts import DAYS, Account
from api.service.signing.second_factors import TooManyCodes
from api.service.signing.sessions import IDLE, LONGEST, HalfWay, Session, mark_of

#: A token is shorter than this.
_LONGEST = 200

#: What is said of a code that was not taken.
WRONG_CODE = "This code is not valid, has expired, or was used before. Type the next one while the app shows it."


@bp.get("/sign-in")
def sign_in() -> Response:
    """Ask for a token; who is signed in may do so *again*."""
    if session_of(service()) is not None and "again" not in request.args:
        return redirect(local(request.args.get("next")), 303)
    return _asked(local(request.args.get("next")), again="again" in request.args)


@bp.post("/sign-in")
def signed_in() -> Response:
    """Begin a session for who has a good token, or ask for a code."""
    check_mark(held(BEFORE))
    address, wanted = request.remote_addr or "", local(request.form.get("next"))
    _refuse_many(service().tries.seconds(address))
    token = request.form.get("token", "")[:_LONGEST].strip()
    session = service().sessions.begin(token, before=held(COOKIE))
    if session is None:
        service().tries.wait(address)
        return _asked(wanted, wrong=True)
    if isinstance(session, HalfWay):
        return _asked_for_code(session, wanted)
    return _begun(session, wanted)


@bp.post("/sign-in/code")
def code_sent() -> Response:
    """Begin a session for who sent a good token a moment ago, and now a good code."""
    secret, address = held(BEFORE), request.remote_addr or ""
    check_mark(secret)
    wanted = local(request.form.get("next"))
    _refuse_many(service().tries.seconds(address))
    half_way = service().sessions.half_way(secret)
    if half_way is None:
        return go("pages.sign_in", next=wanted)
    try:
        taken = service().factors.takes(half_way.account, request.form.get("code", "")[:_LONGEST])
    except TooManyCodes as error:
        return _asked_for_code(half_way, wanted, wrong=str(error), seconds=error.seconds)
    if taken is None:
        service().tries.wait(address)
        _note("wrong code", None, half_way.account)
        return _asked_for_code(half_way, wanted, wrong=WRONG_CODE)
    session = service().sessions.finish(half_way, before=held(COOKIE))
    return go("pages.sign_in", next=wanted) if session is None else _begun(session, wanted, factor=taken)


def _begun(session: Session, wanted: str, **details: str) -> Response:
    _note("sign in", session.id, session.account, **details)
    response = redirect(wanted, 303)
    keep(response, COOKIE, session.secret)
    drop(response, BEFORE)
    return response


def _asked_for_code(half_way: HalfWay, wanted: str, *, wrong: str | None = None, seconds: float = 0) -> Response:
    """Ask for a code; the browser keeps what it is known by until then."""
    status = 429 if seconds else 401 if wrong else 200
    mark = mark_of(half_way.secret)
    response = shown("sign-in-code.html", status=status, wanted=wanted, wrong=wrong, before=mark)
    keep(response, BEFORE, half_way.secret)
    response.headers["Cache-Control"] = "no-store"
    if seconds:
        response.headers["Retry-After"] = str(ceil(seconds))
    return response


@bp.post("/sign-out")
@needs("look up")
def sign_out() -> Response:
    """End the session."""
    session = g.get("session")
    if session is not None:
        service().sessions.end(session.secret)
        _note("sign out", session.id, account())
    response = go("pages.sign_in")
    drop(response, COOKIE)
    # Pages of the session that the browser holds go with it.
    response.headers["Clear-Site-Data"] = '"cache", "storage"'
    return response


@bp.get("/sessions")
@needs("look up")
def sessions() -> Response:
    """Show where whoever asks is signed in."""
    return _sessions()


@bp.post("/sessions/token")
@needs("look up")
def own_token() -> Response:
    """Show whoever is signed in another token in the place of theirs, once: nobody else has seen it."""
    check_fresh()
    session: Session | None = g.get("session")
    if session is None:
        raise HttpProblem(403, "Forbidden", "One's own token is replaced on its page alone.")

    def make() -> dict[str, Any]:
        with service().records.together():
            made = service().accounts.replace(session.token, session=session.id)
            service().log.add(
                "replace", "token", made.token.id, account=account().name, role=account().role,
                details={"account": account().name, "was": session.token},
            )  # fmt: skip
        return {"token": made.secret, "expires": made.token.expires}

    return once("own token", make, lambda made: _sessions(made=made), "pages.sessions")


def _sessions(made: dict[str, Any] | None = None) -> Response:
    session = g.get("session")
    found, factor = service().sessions.of(account()), service().factors.of(account())
    here, ends = (None, None) if session is None else (session.id, session.token_ends[:10])
    if made:
        # Nobody is asked to replace the one that was just made.
        g.session = None if session is None else replace(session, token_ends=made["expires"], token_is_first=False)
    return shown(
        "sessions.html", sessions=found, factor=factor, here=here, longest=_hours(LONGEST), idle=_hours(IDLE),
        token_ends=ends, first=session is not None and session.token_is_first, days=DAYS, made=made, key=new_key(),
    )  # fmt: skip


@bp.post("/sessions/end")
@needs("look up")
def end_sessions() -> Response:
    """End all sessions of whoever asks but this one."""
    check_fresh()
    session = g.get("session")
    service().sessions.end_others(account(), None if session is None else session.id)
    _note("end sessions", None, account())
    return go("pages.sessions")


def _hours(time: timedelta) -> int:
    return round(time / timedelta(hours=1))


def _note(action: str, session: str | None, who: Account, **details: str) -> None:
    service().log.add(action, "session", session, account=who.name, role=who.role, details=details)


def _refuse_many(seconds: float) -> None:
    """Refuse an address from which too many tokens and codes came that were not good."""
    if seconds:
        text = "Too many invalid tokens or codes came from your address. Wait a moment."
        raise HttpProblem(429, "Too many requests", text, {"Retry-After": str(ceil(seconds))})


def _asked(wanted: str, *, wrong: bool = False, again: bool = False) -> Response:
    secret = held(BEFORE) or secrets.token_urlsafe(32)
    response = shown(
        "sign-in.html", status=401 if wrong else 200, wanted=wanted, wrong=wrong, again=again, before=mark_of(secret)
    )
    keep(response, BEFORE, secret)
    response.headers["Cache-Control"] = "no-store"
    return response
