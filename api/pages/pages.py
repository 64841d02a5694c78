"""The pages put together, with the files they need."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from flask import Flask, Response, g, request
from jinja2 import StrictUndefined
from werkzeug.exceptions import NotFound

from api.http.gate import service
from api.http.problems import problem
from api.http.sessions import keep_off_disk, session_of
from api.pages import audits, collecting, factors, graphs, home, jobs, people, signing, uploads
from api.pages.blueprint import bp, failed
from api.pages.releases import comparisons, fronts, guide, masked
from api.pages.tables import editor, tables, uploading
from tabular.report.kit.figures import cell
from tabular.report.kit.page import stylesheet

__all__ = [
    "audits",
    "collecting",
    "comparisons",
    "editor",
    "factors",
    "fronts",
    "graphs",
    "guide",
    "home",
    "jobs",
    "masked",
    "people",
    "register",
    "signing",
    "tables",
    "uploading",
    "uploads",
]

_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def register(app: Flask) -> None:
    """Add the pages to *app*."""
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.filters["cell"] = cell
    app.register_blueprint(bp)
    app.register_error_handler(404, _missing)
    # Before the gate says how long an answer may be kept.
    app.after_request(keep_off_disk)


@bp.get("/pages/<file>")
def static(file: str) -> Response:
    """A file of the pages."""
    kind = _TYPES.get(f".{file.rpartition('.')[2]}")
    if kind is None or file not in _names():
        raise NotFound
    return Response(_text(file), mimetype=kind)


@cache
def _names() -> frozenset[str]:
    return frozenset(each.name for each in files(__package__).joinpath("static").iterdir())


@cache
def _text(file: str) -> str:
    text = files(__package__).joinpath("static", file).read_text(encoding="utf-8")
    # Pages have the letters, colours and charts of the reports.
    return stylesheet() + text if file == "pages.css" else text


def _missing(error: NotFound) -> Response:
    """An address that is not there: a page for a browser, else a problem as for every route."""
    wants_page = request.accept_mimetypes.best_match(["application/problem+json", "text/html"]) == "text/html"
    if wants_page and "text/html" in request.headers.get("Accept", "") and not request.path.startswith("/v1/"):
        session = session_of(service()) if request.method == "GET" else None
        if session is not None:
            g.account = session.account
        return failed(404, "Not found", "There is nothing here.")
    return problem(404, "Not Found", "There is nothing here.")
