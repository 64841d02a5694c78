"""Signing in, sessions, and forms that are not ours."""

from __future__ import annotations

import re

import pytest

from api.http.sessions import BEFORE, COOKIE, FIELD, HEADER
from tests.api.http.conftest import app, config, make, service  # noqa: F401 (fixtures)


@pytest.fixture
def token(service):  # noqa: F811
    return service.accounts.add("ann", "custodian")[1].secret


@pytest.fixture
def client(app):  # noqa: F811
    return app.test_client()


def mark(answer):
    return re.search(rf'name="{FIELD}" value="([0-9a-f]+)"', answer.text)[1]


@pytest.fixture
def session(client, token):
    answer = client.post("/sign-in", data={FIELD: mark(client.get("/sign-in")), "token": token, "next": "/jobs"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/jobs")
    return answer


def test_the_cookie_is_no_token_and_out_of_reach(session, token):
    (cookie,) = (each for each in session.headers.getlist("Set-Cookie") if each.startswith(COOKIE))
    assert token not in cookie and "HttpOnly" in cookie and "SameSite=Strict" in cookie


def test_the_service_keeps_no_secret_of_a_session(client, session, service):  # noqa: F811
    secret = client.get_cookie(COOKIE).value.encode()
    assert all(secret not in path.read_bytes() for path in service.folder.glob("service.db*"))


def test_a_session_ends_with_its_token(client, session, service):  # noqa: F811
    assert client.get("/accounts").status_code == 200
    (token,) = service.accounts.tokens("ann")
    service.accounts.revoke(token.id)
    assert client.get("/accounts").headers["Location"].startswith("/sign-in?next=")
    assert client.get("/v1/graphs").status_code == 401


def test_a_form_without_the_mark_changes_nothing(client, session, service):  # noqa: F811
    form = {"name": "eve", "role": "custodian"}
    assert client.post("/accounts", data=form).status_code == 403
    assert client.post("/accounts", data={**form, FIELD: "0" * 64}).status_code == 403
    assert client.post("/v1/accounts", json=form).status_code == 403
    assert [each.name for each in service.accounts.all()] == ["ann"]
    assert client.post("/v1/accounts", json=form, headers={HEADER: mark(client.get("/accounts"))}).status_code == 201


def test_nobody_signs_somebody_else_in(client, token):
    assert client.post("/sign-in", data={"token": token}).status_code == 403
    client.get("/sign-in")
    assert client.post("/sign-in", data={"token": token, FIELD: "0" * 64}).status_code == 403
    assert client.get_cookie(BEFORE) is not None and client.get_cookie(COOKIE) is None


def test_a_wrong_token_is_told_without_repeating_it(client):
    answer = client.post("/sign-in", data={FIELD: mark(client.get("/sign-in")), "token": "gp_wrong"})
    assert answer.status_code == 401 and "not good" in answer.text and "gp_wrong" not in answer.text


@pytest.mark.parametrize("path", ["//evil.example", "https://evil.example", "/\\evil.example", "", "jobs"])
def test_signing_in_leads_nowhere_else(client, token, path):
    answer = client.post("/sign-in", data={FIELD: mark(client.get("/sign-in")), "token": token, "next": path})
    assert answer.headers["Location"] == "/"


def test_a_page_may_use_our_files_alone(client, session):
    for path in ("/", "/sign-in", "/nothing", "/graphs/nothing"):
        answer = client.get(path, headers={"Accept": "text/html"})
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=|https?://", answer.text), path


def test_what_was_shown_stays_on_no_disk(client, session):
    for path in ("/accounts", "/audit-log", "/upload"):
        assert client.get(path).headers["Cache-Control"] == "no-store"


def test_an_address_that_is_not_there_is_a_page_for_a_browser_alone(client, session):
    page = client.get("/nothing", headers={"Accept": "text/html"})
    assert (page.status_code, page.mimetype) == (404, "text/html") and "Sign out" in page.text
    assert client.get("/nothing").mimetype == "application/problem+json"


def test_signing_out_ends_the_session_for_every_copy_of_the_cookie(app, client, session):  # noqa: F811
    copy = app.test_client()
    copy.set_cookie(COOKIE, client.get_cookie(COOKIE).value)
    assert copy.get("/accounts").status_code == 200
    client.post("/sign-out", data={FIELD: mark(client.get("/accounts"))})
    assert copy.get("/accounts").status_code == 303
