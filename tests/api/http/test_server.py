"""The server on a socket: what it refuses before the application sees it."""

from __future__ import annotations

import socket
import threading

import pytest

from api.http.server import server_of


@pytest.fixture
def address(app):
    server = server_of(app, "127.0.0.1", 0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield server.effective_host, server.effective_port
    server.close()


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
