"""Whether the service lives and is ready; neither asks for a token."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify

from api.http.describing import answers, record
from api.http.gate import service
from tabular.errors import StoreUnavailable

bp = Blueprint("health", __name__)

STATUS = record(status={"const": "ok"})


@bp.get("/healthz")
@answers(STATUS)
def healthz() -> Response:
    """Say that the process answers."""
    return jsonify(status="ok")


@bp.get("/readyz")
@answers(STATUS, refusals=(503,))
def readyz() -> Response:
    """Say that the store and the database of jobs answer, too, within two seconds."""
    if not service().probe.is_ready():
        # Where the store is, is nobody's business out there.
        raise StoreUnavailable("The store does not answer.", can_retry=True)
    return jsonify(status="ok")
