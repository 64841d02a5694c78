"""What a proxy says of a request, and who is believed."""

from __future__ import annotations

import pytest

from api.app import create_app
from api.http.proxies import BehindProxies, networks_of
from tabular.errors import InvalidParameter


def seen(proxies, remote, **headers):
    """The address and the scheme that an application sees."""
    environ = {"REMOTE_ADDR": remote, "wsgi.url_scheme": "http", **headers}
    BehindProxies(lambda environ, _: [], networks_of(proxies))(environ, lambda *_: None)
    return environ["REMOTE_ADDR"], environ["wsgi.url_scheme"]


@pytest.mark.parametrize(
    ("proxies", "remote", "told", "address"),
    [
        ("10.0.0.1", "10.0.0.1", "1.2.3.4", "1.2.3.4"),
        # Whoever stands before the last one nobody trusts can have made up the rest.
        ("10.0.0.1", "10.0.0.1", "6.6.6.6, 1.2.3.4", "1.2.3.4"),
        ("10.0.0.0/8", "10.0.0.1", "6.6.6.6, 1.2.3.4, 10.9.9.9", "1.2.3.4"),
        ("10.0.0.0/8", "10.0.0.1", "10.1.1.1, 10.9.9.9", "10.0.0.1"),
        ("10.0.0.1", "10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "10.0.0.1", "nobody", "10.0.0.1"),
        ("10.0.0.1", "10.0.0.2", "1.2.3.4", "10.0.0.2"),
        ("", "127.0.0.1", "1.2.3.4", "127.0.0.1"),
        ("::1", "::1", "2001:db8::7", "2001:db8::7"),
    ],
)
def test_the_address_is_that_of_the_last_one_nobody_trusts(proxies, remote, told, address):
    assert seen(proxies, remote, HTTP_X_FORWARDED_FOR=told)[0] == address


def test_the_scheme_is_believed_of_trusted_proxies_alone():
    assert seen("10.0.0.1", "10.0.0.1", HTTP_X_FORWARDED_PROTO="https") == ("10.0.0.1", "https")
    assert seen("10.0.0.1", "10.0.0.1", HTTP_X_FORWARDED_PROTO="https, http")[1] == "http"
    assert seen("10.0.0.1", "10.0.0.1", HTTP_X_FORWARDED_PROTO="gopher")[1] == "http"
    assert seen("10.0.0.1", "10.0.0.2", HTTP_X_FORWARDED_PROTO="https")[1] == "http"


def test_what_is_no_address_is_refused():
    with pytest.raises(InvalidParameter) as caught:
        networks_of("10.0.0.1,proxy")
    assert caught.value.parameter == "proxies"


def test_behind_tls_cookies_are_for_tls_alone_and_the_browser_is_told_to_stay_there(config):
    client = create_app({**config, "PROXIES": "127.0.0.1"}).test_client()
    sent = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "1.2.3.4"}
    answer = client.get("/sign-in", headers=sent)
    (cookie,) = answer.headers.getlist("Set-Cookie")
    assert {"Secure", "HttpOnly", "SameSite=Strict"} <= set(cookie.split("; "))
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains"
    # Who is no trusted proxy cannot say so.
    answer = client.get("/sign-in", headers=sent, environ_overrides={"REMOTE_ADDR": "10.0.0.9"})
    (cookie,) = answer.headers.getlist("Set-Cookie")
    assert "Secure" not in cookie.split("; ")
    assert {"HttpOnly", "SameSite=Strict"} <= set(cookie.split("; "))
    assert "Strict-Transport-Security" not in answer.headers


def test_the_service_is_asked_by_the_names_that_the_settings_have(config):
    client = create_app({**config, "HOSTS": "graphs.example, other.example"}).test_client()
    status = {
        host: client.get("/healthz", environ_overrides={"HTTP_HOST": host}).status_code
        for host in ("graphs.example", "GRAPHS.example:443", "other.example", "evil.example", "x.graphs.example",
                     "localhost:8000", "127.0.0.1", "[::1]:8000")
    }  # fmt: skip
    assert [host for host, found in status.items() if found == 400] == ["evil.example", "x.graphs.example"]
    assert set(status.values()) == {200, 400}
