"""The page that shows the description of the service."""

from __future__ import annotations

import pytest

from api.http.openapi import described_rules
from tests.api.http.conftest import running

pytest.importorskip("flask_swagger_ui")


@pytest.mark.browser
@pytest.mark.xdist_group("browser")
def test_it_shows_every_route_and_asks_nobody_else(app, chromium):
    with running(app) as (host, port):
        look(f"http://{host}:{port}", [*routes(app)], chromium)


def look(address, shown, chromium):
    asked, said = [], []
    page = chromium.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    try:
        page.goto(f"{address}/docs")
        page.wait_for_selector("[data-path='/v1/table/search']")
        assert page.locator(".opblock").count() == len(shown)
        page.click("[data-path='/v1/table/search']")
        page.wait_for_selector("text=Finds the generalisation")
    finally:
        page.close()
    assert all(url.startswith((address, "data:")) for url in asked), asked
    assert said == []


def routes(app):
    for rule in described_rules(app):
        yield from (rule.methods or set()) - {"HEAD", "OPTIONS"}


def test_its_policy_lets_nothing_in_from_outside(nobody):
    page = nobody.get("/docs")
    assert "connect-src 'self'" in page.headers["Content-Security-Policy"]
    assert "http" not in page.text
    for asset in ("start.js", "swagger-ui.css", "swagger-ui-bundle.js"):
        assert nobody.get(f"/docs/{asset}").status_code == 200
    for missing in ("index.html", "../setup.py", "swagger-ui.js"):
        assert nobody.get(f"/docs/{missing}").status_code == 404
