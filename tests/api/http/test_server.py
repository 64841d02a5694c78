"""The server on a socket: what it refuses before the application sees it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time

import pytest

from api.app import create_app
from api.http.server import server_at
from graphpriv.store import open_store
from tests.api.http.conftest import running
from tests.api.http.fakes import FakeJobs

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@pytest.fixture
def address(app):
    with running(app) as found:
        yield found


def said(address, text, more=b""):
    """The first line that is answered to a request as it stands, and how much of *more* was taken."""
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(text)
        sent = 0
        try:
            while sent < len(more):
                sent += connection.send(more[sent : sent + 65536])
        except OSError:
            pass
        try:
            return connection.recv(4096).split(b"\r\n")[0].decode(), sent
        except OSError:
            return "", sent


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET /healthz HTTP/1.1\r\nHost: localhost", "200"),
        ("GET /healthz HTTP/1.1", "400"),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b", "400"),
        ("POST /v1/protect HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4", "400"),
        ("POST /v1/protect HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4", "400"),
        ("POST /v1/protect HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5", "400"),
        ("POST /v1/protect HTTP/1.1\r\nHost: a\r\nContent-Length: 0", "401"),
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nBad Header: 1", "400"),
    ],
)
def test_a_request_says_in_one_way_where_it_goes_and_how_long_it_is(address, head, status):
    assert said(address, f"{head}\r\nConnection: close\r\n\r\n".encode())[0].split()[1] == status


def test_what_the_application_never_sees_is_refused_as_everything_else(address):
    large = b"PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000"
    for head, status in ((b"GET /healthz HTTP/1.1\r\nBad Header: 1", 400), (large, 413)):
        with socket.create_connection(address, timeout=20) as connection:
            connection.sendall(head + b"\r\n\r\n")
            told, _, body = b"".join(iter(lambda c=connection: c.recv(65536), b"")).partition(b"\r\n\r\n")
        assert json.loads(body)["status"] == status
        told = told.decode().lower()
        assert f" {status} " in told.splitlines()[0]
        for each in (
            "content-type: application/problem+json",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
        ):
            assert each in told


def test_a_body_of_just_the_most_is_taken(address):
    head = b"POST /v1/protect HTTP/1.1\r\nHost: a\r\nContent-Length: 8388608\r\nConnection: close\r\n\r\n"
    assert " 401 " in said(address, head, b"x" * 8388608)[0]


def test_a_connection_that_says_nothing_is_closed_soon(app):
    server = server_at(app, "127.0.0.1", 0)
    settings = server.listening[0].adj
    # The longest that one which sent half a request is kept: until it has been silent, and somebody looks.
    assert settings.channel_timeout + settings.cleanup_interval <= 20
    server.stop()
    server.run()


def read_to_the_end(connection):
    return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


def test_a_server_that_is_told_to_stop_finishes_what_it_has_begun(config):
    app = create_app(config, queue=FakeJobs())
    open_store(config["STORE"], create=True).close()
    asked, go = threading.Event(), threading.Event()

    @app.get("/slow")
    def slow():
        asked.set()
        assert go.wait(20)
        return "x" * 1_000_000

    service = app.extensions["graphpriv"]
    token = service.accounts.add_first().secret
    job = service.jobs.submit("protect", {}, account=service.accounts.named("custodian").id)
    server = server_at(app, "127.0.0.1", 0)
    running = threading.Thread(target=server.run)
    running.start()
    (address,) = server.addresses
    idle, begun, stream = (socket.create_connection(address, timeout=20) for _ in range(3))
    with idle, begun, stream:
        begun.sendall(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
        path = f"/v1/jobs/{job.id}/events"
        stream.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        heard = stream.recv(65536)
        while b"event: state" not in heard:
            heard += stream.recv(65536)
        assert b"retry: " in heard
        assert asked.wait(20)
        server.stop()
        # The stream ends and can be taken up again; what says nothing is closed; nobody new comes in.
        assert read_to_the_end(stream).endswith("0\r\n\r\n")
        assert read_to_the_end(idle) == ""
        with pytest.raises(OSError):
            socket.create_connection(address, timeout=20)
        go.set()
        assert read_to_the_end(begun).endswith("x" * 1_000_000)
    running.join(20)
    assert not running.is_alive()
    service.close()


def test_who_sends_half_a_request_keeps_nobody_waiting(address):
    half = [socket.create_connection(address) for _ in range(150)]
    try:
        for each in half:
            each.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n")
        begun = time.monotonic()
        assert "200" in said(address, HEALTH)[0]
        assert time.monotonic() - begun < 5
    finally:
        for each in half:
            each.close()


#: Serves until it is killed: its threads hang.
SERVES = """
import sys
from api.app import create_app
from api.http.server import server_at

app = create_app({"STORE": sys.argv[1], "HOME": sys.argv[2], "RATE_LIMIT": 1e6})
server = server_at(app, "127.0.0.1", 0)
print(server.addresses[0][1], app.extensions["graphpriv"].accounts.add_first().secret, flush=True)
server.run()
"""


@pytest.fixture
def hung(config):
    """A service whose store takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=200) as silent:
        store = f"neo4j://neo4j:x@127.0.0.1:{silent.getsockname()[1]}"
        command = [sys.executable, "-c", SERVES, store, config["HOME"]]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            port, token = process.stdout.readline().split()
            yield ("127.0.0.1", int(port)), token
            process.kill()


def test_a_store_that_hangs_does_not_keep_the_service_from_saying_that_it_lives(hung):
    address, token = hung
    waiting = [socket.create_connection(address) for _ in range(80)]
    try:
        for place, each in enumerate(waiting):
            asked = "/readyz" if place % 10 == 0 else "/v1/graphs"
            each.sendall(f"GET {asked} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        time.sleep(1)
        for _ in range(3):
            begun = time.monotonic()
            assert "200" in said(address, HEALTH)[0]
            assert time.monotonic() - begun < 5
        assert "503" in said(address, HEALTH.replace(b"healthz", b"readyz"))[0]
    finally:
        for each in waiting:
            each.close()


def test_a_body_of_500_mb_is_not_taken(address):
    block = b"x" * (16 * 1024 * 1024)
    head = b"POST /nowhere HTTP/1.1\r\nHost: a\r\n"
    line, sent = said(address, head + b"Content-Length: 500000000\r\n\r\n", block)
    assert "413" in line or line == ""
    assert sent < 12 * 1024 * 1024
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    line, sent = said(address, head + b"Transfer-Encoding: chunked\r\n\r\n", chunk * 16)
    assert "413" in line or line == ""
    assert sent < 12 * 1024 * 1024
