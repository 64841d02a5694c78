"""The server: waitress, with as many threads as listeners may hold, and strict about what a request is."""

from __future__ import annotations

from typing import Any

from flask import Flask
from waitress import create_server
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import BaseWSGIServer

from api.http.gate import LARGEST_BODY

#: A stream of events holds a thread; with four of them, fifty listeners made a plain GET wait for 16 seconds.
THREADS = 64

#: A connection that says nothing for so many seconds is closed; one that is being answered is not.
SILENCE = 15


class StrictParser(HTTPRequestParser):  # type: ignore[misc]
    """Refuses a request that says in two ways how long it is: two servers in a row might read it in two ways."""

    def parse_header(self, header_plus: bytes) -> None:
        """Read the header, or refuse it."""
        super().parse_header(header_plus)
        is_chunked_twice = "TRANSFER_ENCODING" in self.headers or (self.chunked and "CONTENT_LENGTH" in self.headers)
        if is_chunked_twice:
            raise ParsingError("A request is chunked or has a length, not both")


class StrictChannel(HTTPChannel):  # type: ignore[misc]
    """A connection whose requests are read strictly."""

    parser_class = StrictParser


def server_of(app: Flask, host: str, port: int) -> Any:
    """A server of *app* that listens at an address and waits to be run."""
    sockets: dict[int, Any] = {}
    server = create_server(
        app,
        map=sockets,
        host=host,
        port=port,
        threads=THREADS,
        max_request_body_size=LARGEST_BODY,
        channel_timeout=SILENCE,
        cleanup_interval=5,
        connection_limit=1000,
        asyncore_use_poll=True,
        # Whether a proxy stands before us is for the application to see.
        clear_untrusted_proxy_headers=False,
        ident=None,
    )
    for each in sockets.values():
        if isinstance(each, BaseWSGIServer):
            each.channel_class = StrictChannel
    return server
