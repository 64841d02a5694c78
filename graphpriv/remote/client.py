"""A service of graphpriv from Python: its verbs, graphs, tables and jobs, with nothing but the standard library.

service = connect("http://127.0.0.1:8000", token)
service.put("graphs/people", "people.json")
service.run("protect", name="people", k=5, into="people-v1")
for user in service.rows("graphs/people-v1/users", topic="Sports"):
    ...
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from graphpriv.remote import transport
from graphpriv.remote.transport import Refused, Transport, asked, asking, path
from tabular.errors import InvalidInput, InvalidParameter, SourceUnavailable

#: So much of a file goes up at once, in bytes.
_PIECE = 8 * 1024 * 1024

_ENDED = ("done", "failed", "cancelled")


@dataclass(frozen=True)
class Client:
    """One account of one service."""

    url: str
    token: str = field(repr=False)

    @property
    def _at(self) -> Transport:
        return Transport(self.url, self.token)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The document that a request is answered with; a body that is no bytes goes as JSON."""
        return self._at.ask(method, path, body, **headers)

    def run(self, verb: str, **options: Any) -> dict[str, Any]:
        """Perform a verb, such as `table search`, and wait for its document; `start` does not wait."""
        return self.result(self.start(verb, **options))

    def start(self, verb: str, **options: Any) -> str:
        """Queue a verb; gives the id of the job."""
        return str(self._at.once("POST", path(*verb.split()), options)["id"])

    def job(self, id: str) -> dict[str, Any]:
        """How a job stands: its state, progress and best so far."""
        return self.get(path("jobs", id))

    def events(self, id: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """What happens to a job until it ends, at once: `state`, `progress` or `best`, each with its data."""
        heard, failed = "0", 0
        while True:
            try:
                for number, kind, data in self._at.heard(path("jobs", id, "events"), heard):
                    heard, failed = number, 0
                    yield kind, data
                    if kind == "state" and data["state"] in _ENDED:
                        return
            except (Refused, SourceUnavailable) as error:
                # Where too many listen already, the job itself is looked at now and then.
                if isinstance(error, Refused) and error.status != 503:
                    raise
                time.sleep(transport.PAUSES[min(failed, len(transport.PAUSES) - 1)])
                failed += 1
            if self.job(id)["state"] in _ENDED:
                return

    def result(self, id: str) -> dict[str, Any]:
        """The document of a job, once it has ended; why it failed is raised."""
        for _ in self.events(id):
            pass
        return dict(self.ask("GET", path("jobs", id, "result")))

    def cancel(self, id: str) -> dict[str, Any]:
        """Cancel a job."""
        return dict(self.ask("POST", path("jobs", id, "cancel")))

    def upload(self, file: str | Path) -> dict[str, str]:
        """Send a file of any size; what this gives stands for the file in the options of a verb."""
        file, sent = Path(file), 0
        size = file.stat().st_size
        id = self._at.once("POST", "uploads", {"size": size, "name": file.name})["id"]
        with file.open("rb") as opened:
            while sent < size:
                opened.seek(sent)
                piece = opened.read(_PIECE)
                if not piece:
                    raise InvalidInput(f"{file}: the file has become shorter while it was sent.")
                sent = self._at.piece(path("uploads", id), sent, piece)
        return {"upload": id}

    def put(self, path: str, file: str | Path, **query: Any) -> dict[str, Any]:
        """Keep a file as `graphs/NAME` or `tables/NAME`, as an original."""
        answer = self._at.once("PUT", asking(path, query), self.upload(file))
        return self.result(answer["id"]) if "state" in answer else dict(answer)

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """A document, such as that of `graphs/NAME`."""
        return dict(self._at.get(path, query))

    def delete(self, path: str, **query: Any) -> dict[str, Any]:
        """Delete `graphs/NAME` or `tables/NAME`, or the *user* of `graphs/NAME/users`."""
        return dict(self.ask("DELETE", path, **asked(query)))

    def rows(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """All rows of an answer or list in pages, such as `graphs/NAME/users`, page by page."""
        cursor: dict[str, Any] = {}
        while True:
            page = self.get(path, **{"limit": 1000, **query, **cursor})
            yield from next(value for name, value in page.items() if isinstance(value, list))
            if page["next"] is None:
                return
            cursor = {"cursor": page["next"]}

    def download(self, path: str, file: str | Path, **query: Any) -> Path:
        """Write what `graphs/NAME/file` or `jobs/ID/files/NAME` gives to a new file, or into a folder."""
        return self._at.download(path, query, Path(file))


def connect(url: str, token: str) -> Client:
    """The service at a *url*, for the account of a *token*."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise InvalidParameter.wrong("url", must="begin with http:// or https:// and hold no name or password", was="")
    return Client(url.rstrip("/"), token)
