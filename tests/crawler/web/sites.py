"""Sites on loopback for the tests: real connections that lead to them from addresses that look public."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import httpcore

from crawler.web.addresses import Guard
from crawler.web.client import Client, Limits, connect, trusted
from crawler.web.extraction import Extraction
from crawler.web.pages import Reader

PUBLIC = "93.184.216.34"
PUBLIC_6 = "2606:2800:220:1:248:1893:25c8:1946"

#: What a site does with a connection once it has read a request.
Behaviour = Callable[[socket.socket], None]


def answer(body: bytes = b"", status: str = "200 OK", kind: str = "text/plain", **headers: str) -> bytes:
    """A whole answer as bytes."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    return answer(status=status, Location=location)


@dataclass
class Sites:
    """All sites of a test on one port; what they answer by host and path, else 404."""

    answers: dict[str, bytes | Behaviour] = field(default_factory=dict)
    #: The requests as they came, and the addresses that were to be connected to.
    requests: list[bytes] = field(default_factory=list)
    connected: list[tuple[str, int]] = field(default_factory=list)
    names: dict[str, Sequence[str]] = field(default_factory=dict)
    resolved: list[str] = field(default_factory=list)
    certificate: ssl.SSLContext | None = None
    sni: list[str | None] = field(default_factory=list)
    port: int = 0

    def resolve(self, host: str, port: int, seconds: float) -> Sequence[str]:
        """The addresses of a host: public ones, unless the test says otherwise."""
        self.resolved.append(host)
        return self.names.get(host, [PUBLIC])

    def connect(self, address: str, port: int, timeout: float) -> httpcore.NetworkStream:
        """A connection to the test's port in place of one to the address."""
        self.connected.append((address, port))
        return connect("127.0.0.1", self.port, timeout)

    def reader(self, trust: Callable[[], ssl.SSLContext] = trusted, **limits: float) -> Reader:
        """A reader that reaches these sites and no others."""
        client = Client(Guard(resolve=self.resolve), "graphpriv-test", connect=self.connect, trust=trust)
        return Reader(client, Limits(**{"seconds": 5.0, **limits}), extraction=EXTRACTION)

    def serve(self, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=self._handle, args=(connection,), daemon=True).start()

    def _handle(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            if self.certificate is not None:
                connection = self.certificate.wrap_socket(connection, server_side=True)
            with connection:
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        request = b""
        while b"\r\n\r\n" not in request:
            piece = connection.recv(65536)
            if not piece:
                return
            request += piece
        self.requests.append(request)
        lines = request.decode("latin-1").split("\r\n")
        path = lines[0].split(" ")[1]
        host = next(line[6:] for line in lines if line.lower().startswith("host: "))
        what = self.answers.get(host + path, answer(status="404 Not Found"))
        if callable(what):
            what(connection)
        else:
            connection.sendall(what)


#: One process that reads pages for all tests.
EXTRACTION = Extraction()


@contextlib.contextmanager
def sites() -> Iterator[Sites]:
    """Sites that answer while the test runs."""
    found = Sites()
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        found.port = listening.getsockname()[1]
        threading.Thread(target=found.serve, args=(listening,), daemon=True).start()
        yield found
        listening.shutdown(socket.SHUT_RDWR)
