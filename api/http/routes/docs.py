"""A page to browse the description of the service, which needs nothing from outside."""

from __future__ import annotations

from pathlib import Path

from flask import Blueprint, Response, send_from_directory

from api.http.describing import CSS, HTML, JAVASCRIPT, answers

bp = Blueprint("docs", __name__)

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>graphpriv: the service</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="page"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>
"""

#: Nothing is asked of anybody else, and the token that somebody types is kept nowhere.
_START = """SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#page",
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
});
"""

#: The page's program sets styles of its own and draws its signs from data.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@bp.get("/docs")
@answers((HTML,))
def page() -> Response:
    """Show a page to browse this description and try it."""
    response = Response(_PAGE, mimetype=HTML)
    response.headers["Content-Security-Policy"] = _POLICY
    return response


@bp.get("/docs/start.js")
@answers((JAVASCRIPT,))
def start() -> Response:
    """Give the script that begins the page."""
    return Response(_START, mimetype=JAVASCRIPT)


@bp.get("/docs/swagger-ui-bundle.js")
@answers((JAVASCRIPT,))
def program() -> Response:
    """Give the program of the page."""
    return send_from_directory(_shipped(), "swagger-ui-bundle.js", mimetype=JAVASCRIPT)


@bp.get("/docs/swagger-ui.css")
@answers((CSS,))
def style() -> Response:
    """Give the style sheet of the page."""
    return send_from_directory(_shipped(), "swagger-ui.css", mimetype=CSS)


def _shipped() -> Path:
    """The folder of the package that ships the page's program; only what the page asks for is given out of it."""
    import flask_swagger_ui

    return Path(flask_swagger_ui.__file__).parent / "dist"
