"""A made network over HTTP on this machine alone, with faults if somebody wants them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit

from crawler.made.x import Reply


class Interface(Protocol):
    """Whatever answers requests."""

    def reply(self, path: str, query: Mapping[str, str], token: str) -> Reply:
        """The answer to one request."""


#: Sees a reply before it goes out: gives another one, and how many of its bytes arrive (None: all).
Spoil = Callable[[Reply], tuple[Reply, int | None]]


def unspoiled(reply: Reply) -> tuple[Reply, int | None]:
    """Leave it as it is."""
    return reply, None


@contextlib.contextmanager
def served(interface: Interface, *, spoil: Spoil = unspoiled) -> Iterator[str]:
    """The address under which an interface answers, for the time of the block."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # One packet for an answer: two of them would wait for each other.
        wbufsize = 1 << 16

        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            with lock:
                reply = interface.reply(asked.path, dict(parse_qsl(asked.query)), self.headers.get("Authorization", ""))
                reply, arriving = spoil(reply)
            self.send_response_only(reply.status)
            headers = {"Content-Type": "application/json; charset=utf-8", "Content-Length": str(len(reply.body))}
            for name, value in {**headers, **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body[:arriving])
            if arriving is not None:
                self.close_connection = True

        def log_message(self, format: str, *arguments: Any) -> None:
            """Nothing: nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
