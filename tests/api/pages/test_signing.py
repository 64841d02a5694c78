"""Signing in, sessions, and forms that are not ours."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from api.http.sessions import BEFORE, COOKIE, FIELD, HEADER
from api.service.home import written
from api.service.signing.sessions import FRESH, SOON, mark_of
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


def replaced(client):
    """The answer to the form that replaces one's token, and the form."""
    page = client.get("/sessions")
    (key,) = re.findall(r'name="key" value="([^"]+)"', page.text)
    form = {FIELD: mark(page), "key": key}
    return client.post("/sessions/token", data=form), form


def test_somebody_replaces_the_token_that_others_have_seen(app, client, session, token, service):  # noqa: F811
    other = app.test_client()
    form = {FIELD: mark(other.get("/sign-in")), "token": token}
    assert other.post("/sign-in", data=form).status_code == 303
    (old,) = service.accounts.tokens("ann")
    answer, form = replaced(client)
    (new,) = re.findall(r"gp_[\w-]+", answer.text)
    (kept,) = service.accounts.tokens("ann")
    assert answer.status_code == 200 and f"valid until {kept.expires[:10]}" in answer.text
    # The browser goes on; the old token, and what began with it elsewhere, are of no use.
    assert client.get("/sessions").status_code == 200
    assert other.get("/sessions").status_code == 303
    told = [client.get("/v1/graphs", headers={"Authorization": f"Bearer {each}"}) for each in (token, new)]
    assert [each.status_code for each in told] == [401, 200]
    entry = next(each for each in service.log.entries() if each.action == "replace")
    assert (entry.kind, entry.object) == ("token", kept.id)
    assert {"account": "ann", "was": old.id}.items() <= entry.details.items()
    # The same form again, as a reload sends it, shows and changes nothing.
    again = client.post("/sessions/token", data=form)
    assert (again.status_code, again.headers["Location"]) == (303, "/sessions")
    assert [each.id for each in service.accounts.tokens("ann")] == [kept.id]


def test_a_token_is_replaced_by_who_signed_in_a_moment_ago_alone(client, session, token, service):  # noqa: F811
    with service.records.home.writing() as db:
        db.execute("UPDATE sessions SET began = ?", (written(datetime.now(UTC) - FRESH),))
    answer, _ = replaced(client)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in?next=/sessions&again=yes")
    client.delete_cookie(COOKIE)
    assert client.post("/sessions/token", headers={"Authorization": f"Bearer {token}"}).status_code == 403
    assert len(service.accounts.tokens("ann")) == 1


def test_every_page_says_that_a_token_ends_soon(client, session, service):  # noqa: F811
    assert "Your token ends on" not in client.get("/").text
    ends = written(datetime.now(UTC) + SOON - timedelta(minutes=1))
    with service.records.home.writing() as db:
        db.execute("UPDATE tokens SET expires = ?", (ends,))
    assert f"Your token ends on {ends[:10]}. <a" in client.get("/").text
    # On the page with another one nobody is asked to replace that.
    answer, _ = replaced(client)
    assert "gp_" in answer.text and "Your token ends on" not in answer.text
    with service.records.home.writing() as db:
        db.execute("UPDATE tokens SET expires = ?", (ends,))
    assert f'Your token ends on {ends[:10]}. <a href="/accounts">Make another one' in client.get("/").text


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


def test_a_form_of_another_site_signs_nobody_in(client, token):
    # A browser sends it without our cookies, and the mark of no secret can be worked out.
    form = {FIELD: mark_of(""), "token": token}
    assert client.post("/sign-in", data=form).status_code == 403
    client.set_cookie(BEFORE, "")
    assert client.post("/sign-in", data=form).status_code == 403
    assert client.get_cookie(COOKIE) is None


def test_signing_in_again_takes_a_new_secret_and_ends_the_old_session(app, client, session, token):  # noqa: F811
    old = client.get_cookie(COOKIE).value
    # A page that was open before somebody signed in elsewhere in the browser.
    client.set_cookie(BEFORE, "secret")
    assert client.post("/sign-in", data={FIELD: mark_of("secret"), "token": token}).status_code == 303
    assert client.get_cookie(COOKIE).value != old
    copy = app.test_client()
    copy.set_cookie(COOKIE, old)
    assert copy.get("/accounts").status_code == 303
    assert client.get("/accounts").status_code == 200


def test_a_secret_that_somebody_else_has_set_is_no_session(client, token):
    client.set_cookie(COOKIE, "chosen")
    client.post("/sign-in", data={FIELD: mark(client.get("/sign-in")), "token": token})
    assert client.get_cookie(COOKIE).value != "chosen"


def test_a_wrong_token_is_told_without_repeating_it(client):
    answer = client.post("/sign-in", data={FIELD: mark(client.get("/sign-in")), "token": "gp_wrong"})
    assert answer.status_code == 401 and "not valid" in answer.text and "gp_wrong" not in answer.text


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


@pytest.mark.parametrize(("hours", "idle", "status"), [(11.9, 0, 200), (12.1, 0, 303), (2, 0.9, 200), (2, 1.1, 303)])
def test_a_session_ends_in_time(client, session, service, hours, idle, status):  # noqa: F811
    moment = datetime.now(UTC)
    began, used = (written(moment - timedelta(hours=each)) for each in (hours, idle))
    with service.records.home.writing() as db:
        db.execute("UPDATE sessions SET began = ?, used = ?", (began, used))
    assert client.get("/accounts").status_code == status


def test_a_request_keeps_a_session_going(client, session, service):  # noqa: F811
    before = written(datetime.now(UTC) - timedelta(minutes=59))
    with service.records.home.writing() as db:
        db.execute("UPDATE sessions SET used = ?", (before,))
    client.get("/jobs")
    (held,) = service.sessions.of(service.accounts.named("ann"))
    assert held.used > before


def signed_in(app, token):  # noqa: F811
    client = app.test_client()
    client.post("/sign-in", data={FIELD: mark(client.get("/sign-in")), "token": token})
    return client


def test_sessions_are_listed_and_ended_everywhere_else(app, client, session, service, token):  # noqa: F811
    others = [signed_in(app, each) for each in (token, service.accounts.add("bob", "analyst")[1].secret)]
    page = client.get("/sessions").text
    assert page.count("this browser") == 1 and "bob" not in page
    assert len(service.sessions.of(service.accounts.named("ann"))) == 2
    assert client.post("/sessions/end").status_code == 403
    assert client.post("/sessions/end", data={FIELD: mark(client.get("/sessions"))}).status_code == 303
    assert [each.get("/sessions").status_code for each in (client, *others)] == [200, 303, 200]


def test_signing_in_and_out_is_in_the_log(client, session, service, token):  # noqa: F811
    client.post("/sign-out", data={FIELD: mark(client.get("/accounts"))})
    said = [(each.account, each.action, each.kind) for each in reversed(service.log.entries())]
    assert said == [("ann", "sign in", "session"), ("ann", "sign out", "session")]


def test_after_so_many_wrong_tokens_an_address_waits_and_others_do_not(client, service, token):  # noqa: F811
    def tried(token, address="10.0.0.1"):
        where = {"REMOTE_ADDR": address}
        form = {FIELD: mark(client.get("/sign-in")), "token": token}
        return client.post("/sign-in", data=form, environ_overrides=where)

    assert [tried("gp_wrong").status_code for _ in range(20)] == [401] * 20
    refused = tried(token)
    assert refused.status_code == 429 and int(refused.headers["Retry-After"]) >= 1
    assert tried("gp_wrong", "10.0.0.2").status_code == 401
    assert tried(token, "10.0.0.2").status_code == 303


def test_the_field_of_a_token_hides_it_and_takes_it_from_a_keeper(client):
    (field,) = re.findall(r"<input id=\"token\"[^>]*>", client.get("/sign-in").text)
    assert 'type="password"' in field and 'autocomplete="current-password"' in field and "maxlength" not in field


def test_over_tls_a_cookie_is_bound_to_this_host(app, token):  # noqa: F811
    client, tls = app.test_client(), {"base_url": "https://localhost"}
    asked = client.get("/sign-in", **tls)
    answer = client.post("/sign-in", data={FIELD: mark(asked), "token": token}, **tls)
    (cookie,) = (each for each in answer.headers.getlist("Set-Cookie") if COOKIE in each)
    assert cookie.startswith(f"__Host-{COOKIE}=") and "Secure" in cookie and "Domain" not in cookie
    assert client.get("/accounts", **tls).status_code == 200
    # A cookie that came without TLS may be anybody's.
    value = client.get_cookie(f"__Host-{COOKIE}").value
    other = app.test_client()
    other.set_cookie(COOKIE, value)
    assert other.get("/accounts", **tls).status_code == 303


def test_what_somebody_who_is_signed_in_was_told_stays_on_no_disk(client, session, service):  # noqa: F811
    for path in ("/v1/verbs", "/v1/graphs", "/v1/nothing", "/sign-in"):
        assert client.get(path).headers["Cache-Control"] == "no-store", path
    assert client.get("/pages/pages.css").headers["Cache-Control"] != "no-store"
    answer = client.post("/sign-out", data={FIELD: mark(client.get("/accounts"))})
    assert answer.headers["Clear-Site-Data"] == '"cache", "storage"'


def test_no_form_is_taken_without_its_mark(app, client, session):  # noqa: F811
    rules = [each for each in app.url_map.iter_rules() if each.methods & {"POST", "PUT", "DELETE"}]
    assert len(rules) > 40
    for rule in rules:
        path = re.sub(r"<[^>]+>", "x", rule.rule)
        for method in rule.methods - {"GET", "HEAD", "OPTIONS"}:
            for form in ({}, {FIELD: mark_of("")}):
                assert client.open(path, method=method, data=form).status_code == 403, (method, path)


@pytest.mark.parametrize(("minutes", "may"), [(9, True), (11, False)])
def test_accounts_are_changed_by_who_signed_in_a_moment_ago(app, client, session, service, token, minutes, may):  # noqa: F811
    began = written(datetime.now(UTC) - timedelta(minutes=minutes))
    with service.records.home.writing() as db:
        db.execute("UPDATE sessions SET began = ?", (began,))
    form = mark(client.get("/accounts"))
    (own,) = service.accounts.tokens("ann")
    answers = [
        client.post("/accounts", data={FIELD: form, "name": "eve", "role": "analyst"}),
        client.post(f"/accounts/ann/tokens/{own.id[:-1]}x/revoke", data={FIELD: form}),
        client.post("/sessions/end", data={FIELD: form}),
        client.post("/v1/accounts", json={"name": "dan", "role": "analyst"}, headers={HEADER: form}),
    ]
    if may:
        assert [each.status_code for each in answers] == [200, 404, 303, 201]
        return
    assert [each.status_code for each in answers] == [303, 303, 303, 403]
    assert [each.headers["Location"] for each in answers[:3]] == [
        "/sign-in?next=/accounts&again=yes", "/sign-in?next=/accounts&again=yes", "/sign-in?next=/sessions&again=yes",
    ]  # fmt: skip
    assert [each.name for each in service.accounts.all()] == ["ann"]
    asked = client.get(answers[0].headers["Location"])
    assert asked.status_code == 200 and "nothing was changed yet" in asked.text
    data = {FIELD: mark(asked), "token": token, "next": "/accounts"}
    assert client.post("/sign-in", data=data).headers["Location"] == "/accounts"
    form = mark(client.get("/accounts"))
    assert client.post("/accounts", data={FIELD: form, "name": "eve", "role": "analyst"}).status_code == 200


def test_a_token_of_its_own_needs_no_signing_in(client, service, token):  # noqa: F811
    asked = client.post(
        "/v1/accounts", json={"name": "eve", "role": "analyst"}, headers={"Authorization": f"Bearer {token}"}
    )
    assert asked.status_code == 201
