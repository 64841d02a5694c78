"""A second factor: set up, asked for, recovered, reset and demanded."""

from __future__ import annotations

import base64
import html
import json
import re
import time

import pytest
from axe_playwright_python.sync_playwright import Axe

from api.app import create_app
from api.http.sessions import BEFORE, COOKIE, FIELD, HEADER
from api.service.home import now
from api.service.signing.one_time_codes import SECONDS, code_of, step_at
from graphpriv import connect
from graphpriv.remote import Refused
from graphpriv.store import open_store
from tests.api.http.conftest import app, config, service  # noqa: F401 (fixtures)
from tests.api.pages.serving import Reader
from tests.api.pages.test_signing import client, mark, token  # noqa: F401 (fixtures)


class App:
    """What shows codes: each is another one, since each is taken once."""

    def __init__(self, service):  # noqa: F811
        self.secret, self.moment = b"", time.time()
        service.factors.clock = lambda: self.moment

    def reads(self, page):
        """Take over the secret that a page shows."""
        (shown,) = re.findall(r"secret=([A-Z2-7]+)&", html.unescape(page))
        self.secret = base64.b32decode(shown)

    @property
    def code(self):
        self.moment += SECONDS
        return code_of(self.secret, step_at(self.moment))


@pytest.fixture
def phone(service):  # noqa: F811
    return App(service)


def sent(client, path, form, page=None):  # noqa: F811
    """The answer to a form of a page, by default the one that it belongs to."""
    return client.post(path, data={FIELD: mark(client.get(page or "/second-factor")), **form})


def begun(client, token):  # noqa: F811
    """The answer to a good token."""
    return client.post(
        "/sign-in", data={FIELD: mark(client.get("/sign-in?again=yes")), "token": token, "next": "/sessions"}
    )


def coded(client, asked, code):  # noqa: F811
    """The answer to a code on the page that was *asked* with."""
    return client.post("/sign-in/code", data={FIELD: mark(asked), "code": code, "next": "/sessions"})


@pytest.fixture
def codes(client, token, phone):  # noqa: F811
    """The recovery codes of ann, who is signed in and has a second factor."""
    begun(client, token)
    phone.reads(sent(client, "/second-factor", {}).text)
    answer = sent(client, "/second-factor/confirm", {"code": phone.code})
    assert answer.status_code == 200 and answer.headers["Cache-Control"] == "no-store"
    (shown,) = re.findall(r'<code class="secret">([a-z2-7\n-]+)</code>', answer.text)
    return shown.split("\n")


def noted(service):  # noqa: F811
    return [(each.action, each.kind) for each in service.log.entries()]


def test_signing_in_takes_a_code_too(app, client, codes, token, phone, service):  # noqa: F811
    browser = app.test_client()
    asked = begun(browser, token)
    assert asked.status_code == 200 and "authenticator" in asked.text
    assert browser.get_cookie(COOKIE) is None and browser.get("/sessions").status_code == 303
    secret = browser.get_cookie(BEFORE).value
    answer = coded(browser, asked, phone.code)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sessions")
    assert browser.get("/sessions").status_code == 200
    assert browser.get_cookie(COOKIE).value != secret
    assert service.log.entries()[0].details["factor"] == "code"


def test_a_wrong_or_used_code_is_told_and_the_next_try_may_be_good(app, codes, token, phone, service):  # noqa: F811
    browser = app.test_client()
    used = phone.code
    assert coded(browser, begun(browser, token), used).status_code == 303
    asked = begun(browser, token)
    for wrong in (used, "", "x" * 500, codes[0][:-1]):
        answer = coded(browser, asked, wrong)
        assert answer.status_code == 401 and "not valid" in answer.text, wrong
    assert noted(service)[:1] == [("wrong code", "session")]
    assert coded(browser, asked, phone.code).status_code == 303
    assert coded(browser, asked, phone.code).status_code in (303, 403)


def test_a_recovery_code_signs_in_once(app, codes, token, service):  # noqa: F811
    browser = app.test_client()
    assert coded(browser, begun(browser, token), codes[0]).status_code == 303
    assert service.log.entries()[0].details["factor"] == "recovery code"
    assert coded(browser, begun(browser, token), codes[0]).status_code == 401
    assert "7 of 8" in browser.get("/second-factor").text


def test_codes_are_asked_of_the_browser_alone_that_sent_the_token(app, codes, token, phone):  # noqa: F811
    first, other = app.test_client(), app.test_client()
    asked = begun(first, token)
    assert coded(other, asked, phone.code).status_code == 403
    other.get("/sign-in")
    assert coded(other, asked, phone.code).status_code == 403
    # A form of its own, but no token was sent with it.
    form = {FIELD: mark(other.get("/sign-in")), "code": phone.code}
    assert other.post("/sign-in/code", data=form).headers["Location"].startswith("/sign-in")
    assert other.get_cookie(COOKIE) is None


def test_wrong_codes_count_against_the_address_and_the_account(app, codes, token, phone):  # noqa: F811
    browser = app.test_client()
    asked = begun(browser, token)
    right = phone.code
    wrong = "000000" if right != "000000" else "111111"
    assert [coded(browser, asked, wrong).status_code for _ in range(5)] == [401] * 5
    answer = coded(browser, asked, right)
    assert answer.status_code == 429 and 0 < int(answer.headers["Retry-After"]) <= 60
    assert [coded(browser, asked, "no-code").status_code for _ in range(15)] == [401] * 15
    assert coded(browser, asked, codes[0]).status_code == 429


def test_turning_it_on_ends_the_other_sessions(app, client, token, phone):  # noqa: F811
    other = app.test_client()
    begun(client, token), begun(other, token)
    phone.reads(sent(client, "/second-factor", {}).text)
    assert sent(client, "/second-factor/confirm", {"code": phone.code}).status_code == 200
    assert (client.get("/sessions").status_code, other.get("/sessions").status_code) == (200, 303)


def test_a_wrong_first_code_shows_the_same_secret_again(client, token, phone, service):  # noqa: F811
    begun(client, token)
    phone.reads(sent(client, "/second-factor", {}).text)
    answer = sent(client, "/second-factor/confirm", {"code": "no"})
    assert answer.status_code == 400 and "not valid" in answer.text
    assert base64.b32encode(phone.secret).decode() in answer.text
    assert service.factors.of(service.accounts.named("ann")) is None
    assert "Set it up" in client.get("/sessions").text


def test_changing_it_takes_a_code(client, codes, phone, service):  # noqa: F811
    for path in ("/second-factor/codes", "/second-factor/off"):
        assert sent(client, path, {"code": "no"}).status_code == 400
    renewed = sent(client, "/second-factor/codes", {"code": phone.code}).text
    assert codes[0] not in renewed and "8 of 8" in renewed
    answer = sent(client, "/second-factor/off", {"code": phone.code})
    assert answer.status_code == 303 and "Set up" in client.get("/second-factor").text
    assert [action for action, kind in noted(service) if kind == "second factor"] == [
        "turn off", "new recovery codes", "wrong code", "wrong code", "turn on",
    ]  # fmt: skip


def test_only_who_signed_in_a_moment_ago_changes_it(client, codes, service):  # noqa: F811
    with service.records.home.writing() as db:
        db.execute("UPDATE sessions SET began = '2026-01-01T00:00:00.000Z', used = ?", (now(),))
        db.execute("UPDATE sessions SET began = strftime('%Y-%m-%dT%H:%M:%f', 'now', '-11 minutes') || 'Z'")
    for path in ("", "/confirm", "/codes", "/off"):
        answer = sent(client, f"/second-factor{path}", {"code": codes[0]})
        assert answer.headers["Location"] == "/sign-in?next=/second-factor&again=yes", path
    assert service.factors.of(service.accounts.named("ann")).codes == len(codes)


def test_a_token_alone_changes_nothing(app, client, token, codes, service):  # noqa: F811
    programs = service.accounts.new_token("ann", programs=True).secret
    for secret in (token, programs):
        for path in ("", "/confirm", "/codes", "/off"):
            answer = app.test_client().post(
                f"/second-factor{path}", data={"code": codes[0]}, headers={"Authorization": f"Bearer {secret}"}
            )
            assert answer.status_code == 403, path
    assert service.factors.of(service.accounts.named("ann")).codes == len(codes)


def test_routes_take_a_token_for_programs_alone(app, codes, token, service):  # noqa: F811
    def asked(secret):
        return app.test_client().get("/v1/graphs", headers={"Authorization": f"Bearer {secret}"})

    refused = asked(token)
    assert refused.status_code == 403 and "for them" in refused.json["detail"]
    assert asked("gp_wrong").status_code == 401
    programs = service.accounts.new_token("ann", programs=True).secret
    assert asked(programs).status_code == 200
    assert begun(app.test_client(), programs).status_code == 401


def test_another_custodian_resets_it_and_the_log_says_so(app, client, codes, token, service):  # noqa: F811
    other = app.test_client()
    begun(other, service.accounts.add("eve", "custodian")[1].secret)
    assert "Reset" in other.get("/accounts").text
    assert sent(other, "/accounts/ann/second-factor/reset", {}, "/accounts").status_code == 303
    entry = service.log.entries()[0]
    assert (entry.account, entry.action, entry.kind, entry.object) == ("eve", "reset", "second factor", "ann")
    assert client.get("/sessions").status_code == 303
    assert begun(app.test_client(), token).status_code == 303
    assert sent(other, "/accounts/ann/second-factor/reset", {}, "/accounts").status_code == 400


def test_neither_the_log_nor_the_database_tells_a_code_and_pages_no_secret_again(client, codes, phone, service):  # noqa: F811
    said = json.dumps([each.document for each in service.log.entries()])
    shown = base64.b32encode(phone.secret).decode()
    pages = [client.get(path).text for path in ("/second-factor", "/sessions", "/accounts", "/audit-log")]
    for secret in (shown, phone.secret.hex(), *codes):
        assert all(secret not in each for each in (said, *pages))


@pytest.fixture(params=["custodians", "all"])
def strict(request, config):  # noqa: F811
    """A service that demands a second factor."""
    open_store(config["STORE"], create=True).close()
    made = create_app({**config, "SECOND_FACTOR": request.param})
    yield made
    made.extensions["graphpriv"].close()


def test_who_must_have_one_does_nothing_else_before(strict):
    service = strict.extensions["graphpriv"]  # noqa: F811
    secret, phone = service.accounts.add("ann", "custodian")[1].secret, App(service)
    client = strict.test_client()  # noqa: F811
    assert begun(client, secret).status_code == 303
    for path in ("/", "/accounts", "/sessions"):
        assert client.get(path).headers["Location"] == "/second-factor", path
    form = mark(client.get("/second-factor"))
    refused = client.get("/v1/graphs")
    assert refused.status_code == 403 and refused.json["title"] == "Second factor needed"
    assert client.post("/accounts", data={FIELD: form, "name": "x", "role": "analyst"}).status_code == 403
    assert client.post("/v1/accounts", json={}, headers={HEADER: form}).status_code == 403
    alone = client.get("/v1/graphs", headers={"Authorization": f"Bearer {secret}"})
    assert alone.status_code == 403
    phone.reads(sent(client, "/second-factor", {}).text)
    assert sent(client, "/second-factor/confirm", {"code": phone.code}).status_code == 200
    assert client.get("/accounts").status_code == 200
    analyst = strict.test_client()
    begun(analyst, service.accounts.add("bob", "analyst")[1].secret)
    assert analyst.get("/sessions").status_code == (303 if service.settings.second_factor == "all" else 200)


@pytest.mark.browser
@pytest.mark.xdist_group("browser")
def test_somebody_sets_it_up_signs_out_and_in_again(served, chromium, monkeypatch):
    clock = [time.time()]
    monkeypatch.setattr(served.service.factors, "clock", lambda: clock[0])
    custodian = connect(served.address, served.tokens["custodian"])
    token = custodian.ask("POST", "accounts", {"name": "fay", "role": "analyst"})["token"]  # noqa: F811
    with chromium.new_context(viewport={"width": 390, "height": 844}) as context:
        reader = Reader(context.new_page(), served.address)
        reader.keep_ears_open()
        page = reader.page

        def sound():
            assert not Axe().run(page).response["violations"], Axe().run(page).generate_report()
            assert reader.width_over <= 0

        def press(name):
            page.get_by_role("button", name=name, exact=True).click()

        def give(code, name="Sign in", label="Code"):
            if name == "Sign in":
                reader.type_in(label, code)
            else:
                page.get_by_label(label, exact=True).fill(code)
            press(name)

        reader.sign_in(token)
        page.get_by_role("link", name="fay").click()
        page.get_by_role("link", name="Set it up").click()
        sound()
        press("Set up")
        page.get_by_role("img", name="QR code").wait_for()
        sound()
        secret = base64.b32decode(re.search(r"secret=(\w+)", page.locator("dd").last.inner_text())[1])
        first = step_at(clock[0])
        give(code_of(secret, first), "Turn on")
        codes = page.locator(".secret").inner_text().split()
        assert len(codes) == 8
        sound()
        press("Sign out")
        for code, is_good in ((code_of(secret, first), False), (code_of(secret, first + 1), True)):
            if not is_good:
                reader.type_in("Your token", token)
                press("Sign in")
            else:
                clock[0] += SECONDS
            give(code)
            page.locator("nav" if is_good else "#wrong").wait_for()
            sound()
        press("Sign out")
        reader.type_in("Your token", token)
        press("Sign in")
        give(codes[3])
        page.locator("nav").wait_for()
        # A browser speaks by itself of a wrong code, which is a 401, and of what it clears when somebody signs out.
        reader.said = [each for each in reader.said if not re.search("401|Clear-Site-Data", each)]
        assert reader.has_kept_still(), (reader.asked, reader.said)
    with pytest.raises(Refused) as caught:
        connect(served.address, token).get("graphs")
    assert caught.value.status == 403
    custodian.ask("DELETE", "accounts/fay/second-factor")
    assert connect(served.address, token).get("graphs") is not None
