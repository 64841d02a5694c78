"""The service: a Flask application under /v1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Flask, Response, current_app, jsonify
from werkzeug.exceptions import HTTPException

from api.errors import bug_of, outcome_of
from api.reference import method_lists, verb_list
from api.verbs.contract import Work
from tabular.errors import ReportedError, StoreUnavailable


def create_app(config: Mapping[str, Any] | None = None) -> Flask:
    """Build the service; tests pass their own *config*, the environment fills in GRAPHPRIV_…."""
    app = Flask(__name__)
    app.config["STORE"] = "file:./graphpriv.db"
    app.config.from_prefixed_env("GRAPHPRIV")
    app.config.update(config or {})
    app.register_error_handler(ReportedError, _reported)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(Exception, _bug)

    @app.get("/healthz")
    def healthz() -> Response:
        """Say that the process answers."""
        return jsonify(status="ok")

    @app.get("/readyz")
    def readyz() -> Response:
        """Say that the store answers, too."""
        try:
            with Work(store=app.config["STORE"]).opened() as store:
                store.graphs()
        except ReportedError:
            # Where the store is, is nobody's business out there.
            raise StoreUnavailable("The store does not answer.", can_retry=True) from None
        return jsonify(status="ok")

    @app.get("/v1/methods")
    def methods() -> Response:
        """List every registered method."""
        return jsonify(method_lists())

    @app.get("/v1/verbs")
    def verbs() -> Response:
        """List everything that graphpriv can do, with its options."""
        return jsonify(verb_list())

    return app


def _problem(status: int, title: str, detail: str) -> Response:
    """An RFC 9457 problem document."""
    response = jsonify(type="about:blank", title=title, status=status, detail=detail)
    response.status_code = status
    response.content_type = "application/problem+json"
    return response


def _reported(error: ReportedError) -> Response:
    outcome = outcome_of(error)
    return _problem(outcome.status, outcome.title, str(error))


def _http(error: HTTPException) -> Response:
    return _problem(error.code or 500, error.name, error.description or error.name)


def _bug(error: Exception) -> Response:
    reference, place = bug_of(error)
    current_app.logger.error("internal error %s: %s", reference, place)
    return _problem(500, "Internal error", f"Internal error, reference {reference}.")
