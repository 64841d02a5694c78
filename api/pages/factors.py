"""The page of one's own second factor: set up, confirmed, recovered and turned off by who is signed in."""

from __future__ import annotations

from typing import Any

from flask import Response, g, request
from werkzeug.wrappers import Response as Answered

from api.http.gate import account, needs, service
from api.http.problems import HttpProblem
from api.http.sessions import check_fresh
from api.pages.blueprint import bp, go, shown
from api.pages.qr_codes import SIDE, svg_of
from api.pages.signing import WRONG_CODE
from api.service.signing.one_time_codes import address_of, spelled
from api.service.signing.second_factors import RECOVERY_CODES
from api.service.signing.sessions import Session


@bp.get("/second-factor")
@needs("look up")
def factor() -> Response:
    """Show whether whoever asks has a second factor."""
    return _shown()


@bp.post("/second-factor")
@needs("look up")
def begin_factor() -> Response:
    """Show a new secret, once."""
    _session()
    return _secret(service().factors.begin(account()))


@bp.post("/second-factor/confirm")
@needs("look up")
def confirm_factor() -> Response:
    """Turn the factor on with a first code, end all other sessions, and show the recovery codes once."""
    session, factors = _session(), service().factors
    secret = factors.begun(account())
    codes = factors.confirm(account(), _code())
    if codes is None:
        return _secret(secret, wrong=WRONG_CODE)
    service().sessions.end_others(account(), session.id)
    _note("turn on")
    return _shown(codes=codes)


@bp.post("/second-factor/codes")
@needs("look up")
def renew_codes() -> Response:
    """Show new recovery codes, once."""
    if not _is_confirmed():
        return _shown(wrong=WRONG_CODE, tried="pages.renew_codes")
    codes = service().factors.renew(account())
    _note("new recovery codes")
    return _shown(codes=codes)


@bp.post("/second-factor/off")
@needs("look up")
def end_factor() -> Response | Answered:
    """Turn the factor off."""
    if not _is_confirmed():
        return _shown(wrong=WRONG_CODE, tried="pages.end_factor")
    service().factors.remove(account())
    _note("turn off")
    return go("pages.factor")


def _session() -> Session:
    """The session of whoever asks, who signed in a moment ago: a token alone must change nothing here."""
    session: Session | None = g.get("session")
    if session is None:
        raise HttpProblem(403, "Forbidden", "A second factor is changed on its page alone.")
    check_fresh()
    return session


def _is_confirmed() -> bool:
    """Whether whoever asks sent a code of the factor that they want to change."""
    _session()
    if service().factors.takes(account(), _code()) is not None:
        return True
    _note("wrong code")
    return False


def _code() -> str:
    return request.form.get("code", "")[:100]


def _note(action: str) -> None:
    service().log.add(action, "second factor", account().name, account=account().name, role=account().role)


def _secret(secret: bytes, wrong: str | None = None) -> Response:
    address = address_of(secret, account().name)
    text = spelled(secret)
    grouped = " ".join(text[at : at + 4] for at in range(0, len(text), 4))
    return _shown(
        secret=grouped, address=address, picture=svg_of(address), side=SIDE, wrong=wrong, tried="pages.confirm_factor"
    )


def _shown(**more: Any) -> Response:
    context = {"secret": None, "codes": None, "wrong": None, "tried": None, **more}
    return shown(
        "second-factor.html",
        status=400 if context["wrong"] else 200,
        factor=service().factors.of(account()),
        demanded=account().role in service().settings.demanded,
        most=RECOVERY_CODES,
        **context,
    )
