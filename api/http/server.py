"""The server: waitress, with as many threads as listeners may hold, and strict about what a request is."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from flask import Flask
from waitress import create_server, wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import BaseWSGIServer
from waitress.task import ErrorTask

from api.errors import bug_of
from api.http.gate import LARGEST_BODY, SECURITY
from api.http.problems import PROBLEM, SAID, service_of

#: A stream of events holds a thread; with four of them, fifty listeners made a plain GET wait for 16 seconds.
THREADS = 64

#: A connection that says nothing for so many seconds is closed; one that is being answered is not.
SILENCE = 15

#: How long answers that were begun may take after the server was told to stop, in seconds.
PATIENCE = 8.0


def _without_data(record: logging.LogRecord) -> bool:
    """Have a failure told by its kind and place alone: its text, and the path of the request, may hold data."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, Exception):
        reference, place = bug_of(error)
        record.msg, record.args, record.exc_info = "internal error %s: %s", (reference, place), None
    return True


logging.getLogger("waitress").addFilter(_without_data)


class StrictParser(HTTPRequestParser):  # type: ignore[misc]
    """Refuses a request that says in two ways how long it is: two servers in a row might read it in two ways."""

    def parse_header(self, header_plus: bytes) -> None:
        """Read the header, or refuse it."""
        super().parse_header(header_plus)
        is_chunked_twice = "TRANSFER_ENCODING" in self.headers or (self.chunked and "CONTENT_LENGTH" in self.headers)
        if is_chunked_twice:
            raise ParsingError("A request is chunked or has a length, not both")


class ProblemTask(ErrorTask):  # type: ignore[misc]
    """Answers what the application never sees, in the form and with the headers of all other refusals."""

    def execute(self) -> None:
        """Send the problem, and close the connection: nobody knows where the next request would begin."""
        error = self.request.error
        document = {"type": "about:blank", "title": error.reason, "status": error.code,
                    "detail": SAID.get(error.code, f"{error.body}.")}  # fmt: skip
        body = json.dumps(document).encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers += [("Content-Type", PROBLEM), ("Cache-Control", "no-store"), *SECURITY.items()]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class StrictChannel(HTTPChannel):  # type: ignore[misc]
    """A connection whose requests are read strictly."""

    parser_class = StrictParser
    error_task_class = ProblemTask

    def check_client_disconnected(self) -> bool:
        """Whether the client has closed its end: nobody reads from a connection while it is being answered."""
        return not self.connected or _is_closed(self.socket)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is read, answered or sent."""
        return not (self.requests or self.request or self.total_outbufs_len)


def _is_closed(connection: socket.socket | None) -> bool:
    """Whether the other end is closed; what it has sent stays where it is."""
    try:
        return connection is None or not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


class Server:
    """Answers requests until it is told to stop."""

    def __init__(self, app: Flask, **where: Any) -> None:
        self._app = app
        self._map: dict[int, Any] = {}
        self._made = create_server(
            app,
            map=self._map,
            threads=THREADS,
            # What is as long as this is refused.
            max_request_body_size=LARGEST_BODY + 1,
            channel_timeout=SILENCE,
            cleanup_interval=5,
            connection_limit=1000,
            # What a proxy says is for the application to believe or not.
            clear_untrusted_proxy_headers=False,
            ident=None,
            **where,
        )
        for each in self.listening:
            each.channel_class = StrictChannel
        self._stopping = threading.Event()

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Where it listens: a name can stand for several addresses."""
        return [(each.effective_host, int(each.effective_port)) for each in self.listening]

    def run(self, beat: Callable[[], object] = lambda: None) -> None:
        """Answer until told to stop, then finish what was begun; *beat* is called every second or more often."""
        while not self._stopping.is_set():
            beat()
            self._turn(1.0)
        for each in self.listening:
            wasyncore.dispatcher.close(each)
        # Streams end, and who waits for a job waits no longer.
        service_of(self._app).stop()
        until = time.monotonic() + PATIENCE
        while self._open() and time.monotonic() < until:
            beat()
            self._turn(0.05)
        # Threads first: they would write to what stands where their sockets were.
        self._made.task_dispatcher.shutdown(timeout=1)
        wasyncore.close_all(self._map, ignore_all=True)

    def stop(self) -> None:
        """Have it stop; may be called by another thread, and when a signal comes."""
        self._stopping.set()
        # It may have stopped already.
        with suppress(OSError, IndexError):
            self._wake()

    def _wake(self) -> None:
        for each in self.listening:
            each.pull_trigger()

    def _turn(self, seconds: float) -> None:
        wasyncore.loop(timeout=seconds, use_poll=True, map=self._map, count=1)

    def _open(self) -> bool:
        """Whether a connection is still busy; the others are closed."""
        channels = [each for each in list(self._map.values()) if isinstance(each, HTTPChannel)]
        for each in channels:
            if each.is_idle:
                each.handle_close()
        return any(not each.is_idle for each in channels)

    @property
    def listening(self) -> list[Any]:
        """The sockets that connections come in by."""
        return [each for each in list(self._map.values()) if isinstance(each, BaseWSGIServer)]


def server_at(app: Flask, host: str, port: int) -> Server:
    """A server of *app* that listens at an address and waits to be run."""
    return Server(app, host=host, port=port)


def server_on(app: Flask, sockets: Sequence[socket.socket]) -> Server:
    """A server of *app* that answers on *sockets* which somebody else has opened."""
    return Server(app, sockets=list(sockets))
