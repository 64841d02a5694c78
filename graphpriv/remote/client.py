"""A service of graphpriv from Python: its verbs, graphs, tables and jobs, with nothing but the standard library.

service = connect("http://127.0.0.1:8000", token)
service.put("graphs/people", "people.json")
service.run("protect", name="people", k=5, into="people-v1")
for user in service.rows("graphs/people-v1/users", topic="Sports"):
    ...
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from tabular.errors import InvalidParameter, ReportedError, SourceUnavailable

#: So much of a file goes up at once, in bytes, and so long an answer may take, in seconds.
_PIECE, _PATIENCE = 4 * 1024 * 1024, 120.0

#: How often a job is looked at, in seconds.
_LOOKING = 0.5


class Refused(ReportedError):
    """The service refused a request: the status, and what is wrong with which field."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(str(problem.get("detail") or problem.get("title") or f"The service answered {status}."))
        self.status = status
        self.fields = {each["pointer"]: each["detail"] for each in problem.get("errors", [])}


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirect: the token is for one service alone."""

    def redirect_request(self, *_: Any) -> None:
        """There is no request to make."""


@dataclass(frozen=True)
class Client:
    """One account of one service."""

    url: str
    token: str = field(repr=False)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The document that a request is answered with; a body that is no bytes goes as JSON."""
        with self._opened(method, path, body, headers) as answer:
            return json.load(answer)

    def run(self, verb: str, **options: Any) -> dict[str, Any]:
        """Perform a verb, such as `table search`, and wait for its document; `start` does not wait."""
        return self.result(self.start(verb, **options))

    def start(self, verb: str, **options: Any) -> str:
        """Queue a verb; gives the id of the job."""
        return str(self.ask("POST", _path(*verb.split()), options)["id"])

    def job(self, id: str) -> dict[str, Any]:
        """How a job stands: its state, progress and best so far."""
        return dict(self.ask("GET", _path("jobs", id)))

    def result(self, id: str) -> dict[str, Any]:
        """The document of a job, once it has ended; why it failed is raised."""
        while self.job(id)["state"] in ("queued", "running"):
            time.sleep(_LOOKING)
        return dict(self.ask("GET", _path("jobs", id, "result")))

    def cancel(self, id: str) -> dict[str, Any]:
        """Cancel a job."""
        return dict(self.ask("POST", _path("jobs", id, "cancel")))

    def upload(self, file: str | Path) -> dict[str, str]:
        """Send a file of any size; what this gives stands for the file in the options of a verb."""
        path = Path(file)
        upload = self.ask("POST", "uploads", {"size": path.stat().st_size})
        with path.open("rb") as opened:
            offset = 0
            while piece := opened.read(_PIECE):
                self.ask("PUT", f"{_path('uploads', upload['id'])}?offset={offset}", piece)
                offset += len(piece)
        return {"upload": upload["id"]}

    def put(self, path: str, file: str | Path, **query: Any) -> dict[str, Any]:
        """Keep a file as `graphs/NAME` or `tables/NAME`, as an original."""
        answer = self.ask("PUT", _with(path, query), self.upload(file))
        return self.result(answer["id"]) if "state" in answer else answer

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """A document, such as that of `graphs/NAME`."""
        return dict(self.ask("GET", _with(path, query)))

    def delete(self, path: str) -> dict[str, Any]:
        """Delete `graphs/NAME` or `tables/NAME`."""
        return dict(self.ask("DELETE", path))

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
        """Write what `graphs/NAME/file` or `jobs/ID/files/NAME` gives to a new file."""
        to = Path(file)
        with self._opened("GET", _with(path, query), None, {}) as answer, to.open("xb") as into:
            shutil.copyfileobj(answer, into, 1 << 20)
        return to

    def _opened(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> IO[bytes]:
        sent = {"Authorization": f"Bearer {self.token}", **headers}
        if body is not None and not isinstance(body, bytes):
            body, sent["Content-Type"] = json.dumps(body).encode(), "application/json"
        request = Request(f"{self.url}/v1/{path}", body, sent, method=method)  # noqa: S310 (its scheme was checked)
        try:
            opened: IO[bytes] = build_opener(_NoRedirects).open(request, timeout=_PATIENCE)
        except HTTPError as error:
            with error:
                raise Refused(error.code, _problem(error.read())) from None
        except (OSError, HTTPException):
            raise SourceUnavailable(f"{self.url}: the service does not answer.") from None
        return opened


def connect(url: str, token: str) -> Client:
    """The service at a *url*, for the account of a *token*."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise InvalidParameter.wrong("url", must="begin with http:// or https:// and hold no name or password", was="")
    return Client(url.rstrip("/"), token)


def _path(*words: str) -> str:
    return "/".join(quote(word, safe="") for word in words)


def _with(path: str, query: Mapping[str, Any]) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path


def _problem(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
