"""A service on loopback that answers as OpenCalais and Intelligent Tagging do, with their failures."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "s3cret-token-of-mine"


def old(*topics: tuple[str, float | None]) -> bytes:
    """An answer of OpenCalais: objects by address, topics by category and score."""
    document: dict[str, Any] = {"doc": {"info": {"calaisRequestID": "1"}, "meta": {"language": "English"}}}
    for at, (name, score) in enumerate(topics, 1):
        address = f"http://d.opencalais.com/dochash-1/7b203398/cat/{at}"
        document[address] = {
            "_typeGroup": "topics",
            "category": f"http://d.opencalais.com/cat/Calais/{name.replace('_', '')}",
            "classifierName": "Calais",
            "categoryName": name,
            **({} if score is None else {"score": score}),
        }
    document["http://d.opencalais.com/genericHasher-1/398f"] = {
        "_type": "Country", "_typeGroup": "entities", "name": "Sports", "relevance": 0.3,
    }  # fmt: skip
    return json.dumps(document).encode()


def new(*topics: tuple[str, float | str]) -> bytes:
    """An answer of Intelligent Tagging: topics by name and score, with what else it says."""
    document: dict[str, Any] = {
        "doc": {"info": {"docId": "http://id.opencalais.com/x"}, "meta": {"language": "English"}}
    }
    for at, (name, score) in enumerate(topics, 1):
        document[f"http://d.opencalais.com/dochash-1/c1dbb7d5/cat/{at}"] = {
            "_typeGroup": "topics", "forenduserdisplay": "false", "score": score, "name": name,
        }  # fmt: skip
    document["http://d.opencalais.com/dochash-1/c1dbb7d5/SocialTag/1"] = {
        "_typeGroup": "socialTag", "forenduserdisplay": "true", "name": "Weather", "importance": "1",
    }  # fmt: skip
    document["http://d.opencalais.com/dochash-1/c1dbb7d5/lid/DefaultLangId"] = {
        "_typeGroup": "language", "forenduserdisplay": "false", "permid": "505062",
    }  # fmt: skip
    return json.dumps(document).encode()


@dataclass
class Say:
    """One answer."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    #: Seconds before it begins; so many bytes of the body and then the connection is cut; seconds between bytes.
    late: float = 0.0
    cut: int | None = None
    drip: float = 0.0


@dataclass
class Service:
    """What it is to say, in this order, the last again and again; and what it was asked."""

    says: list[Say]
    asked: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length", 0))
        say = self.says[min(len(self.asked), len(self.says) - 1)]
        self.asked.append(
            ({name.lower(): value for name, value in handler.headers.items()}, handler.rfile.read(length))
        )
        time.sleep(say.late)
        handler.send_response_only(say.status)
        for name, value in say.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(say.body)))
        handler.end_headers()
        body = say.body if say.cut is None else say.body[: say.cut]
        for at in range(0, len(body), 1 if say.drip else max(len(body), 1)):
            time.sleep(say.drip)
            handler.wfile.write(body[at : at + 1] if say.drip else body)
            handler.wfile.flush()
        handler.close_connection = True


@contextmanager
def serving(*says: Say) -> Iterator[Service]:
    """A service that runs for as long as the block."""
    service = Service(list(says))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            try:
                service.answer(self)
            except OSError:
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_port}/permid/calais"
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
