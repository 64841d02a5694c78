"""One exchange over real sockets: cut, slow, endless and elsewhere; and where the token goes."""

from __future__ import annotations

import logging
import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from crawler.sources import Question
from crawler.sources import exchange as module
from crawler.sources.exchange import parsed, quota_of, wait_until
from crawler.sources.failures import Failure
from crawler.sources.plain import Reply, seconds_until
from crawler.sources.x import X
from graphpriv.store.crawls import PAGE, erased, packed
from graphpriv.store.records import Record

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


@contextmanager
def answering(write):
    """A server that gives each connection to *write*; what it was asked is in the list."""
    asked: list[bytes] = []
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                asked.append(connection.recv(65536))
                with suppress(OSError):
                    write(connection)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/base", asked
    finally:
        server.close()


def ask(url: str, **traits) -> str:
    with pytest.raises(Failure) as raised:
        X(token="sesame", url=url, **{"timeout": 0.3, **traits}).ask(Question(kind="profile", user="7"))
    return raised.value.kind


def drip(connection) -> None:
    """A byte from time to time: each comes in time, and the whole never does."""
    connection.sendall(HEAD % 1000)
    for _ in range(20):
        connection.sendall(b" ")
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("write", "kind"),
    [
        (lambda connection: None, "connection-cut"),
        (lambda connection: connection.sendall(HEAD % 100 + b'{"data"'), "connection-cut"),
        (lambda connection: connection.sendall(b"nonsense\r\n\r\n"), "connection-cut"),
        (lambda connection: time.sleep(0.6), "too-slow"),
        (drip, "too-slow"),
        (
            lambda connection: connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n"),
            "refused",
        ),
    ],
)
def test_an_exchange_that_fails_has_one_name(write, kind) -> None:
    with answering(write) as (url, asked):
        assert ask(url) == kind
    assert len(asked) == 1


def test_an_answer_without_end_is_not_read_to_it(monkeypatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 200_000)
    with answering(lambda connection: connection.sendall(HEAD % 9_000_000 + b" " * 1_000_000)) as (url, _):
        assert ask(url, timeout=5.0) == "garbled"


def test_nobody_at_the_address_is_another_matter() -> None:
    assert ask("http://127.0.0.1:9") == "unreachable"
    assert ask("http://nobody.invalid") == "unreachable"


def test_the_token_goes_to_the_network_and_nowhere_else(caplog) -> None:
    caplog.set_level(logging.DEBUG)
    body = b'{"data": {"id": "7", "name": "Ann", "username": "ann_of_the_test"}}'
    with answering(lambda connection: connection.sendall(HEAD % len(body) + body)) as (url, asked):
        source = X(token="sesame", url=url)
        assert source.ask(Question(kind="start", user="@ann")).body == body
    assert asked[0].startswith(b"GET /base/2/users/by/username/ann?user.fields=")
    assert b"Authorization: Bearer sesame" in asked[0]
    assert "sesame" not in caplog.text + repr(source) + repr(vars(source._client))
    assert "ann_of_the_test" not in caplog.text


def test_headers_that_are_no_numbers_are_no_limit():
    date = {"Date": "Tue, 13 Apr 2021 03:53:58 GMT", "reset": "1618286938"}
    for left in ("\u00b2", "9" * 5000, "-1", "", "many"):
        assert quota_of({**date, "left": left}, "left", "reset") is None
        assert Reply(200, {"date": date["Date"], "x-reset": "1618286938", "x-remaining": left}, b"").answer(
            b"", seconds_until, "x-"
        ).quota is None  # fmt: skip
    for reset in ("nan", "inf", "-inf", "soon"):
        assert wait_until(reset, date) is None


def test_an_answer_that_nobody_could_search_for_a_person_is_garbled():
    deep = b'{"data": ' + b"[" * 600 + b'"7"' + b"]" * 600 + b"}"
    with pytest.raises(Failure, match="garbled"):
        parsed(deep)
    # One that was kept before goes as a whole when somebody is forgotten who stands in it.
    page = Record(PAGE, "1", packed({"kind": "posts", "user": "9"}, deep), 0)
    assert erased(page, frozenset("7"), frozenset("7"), b"secret") is None
