"""Requests to a service: what breaks off is tried again where that does nothing twice, and a 429 is waited for."""

from __future__ import annotations

import json
import secrets
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse, IncompleteRead
from pathlib import Path
from typing import Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from tabular.errors import InvalidInput, ReportedError, SourceUnavailable
from tabular.files.disk import put_right, replacing

T = TypeVar("T")

#: So long an answer may be silent, in seconds.
_PATIENCE = 120.0

#: The header that holds the options of a question.
OPTIONS = "Graphpriv-Options"

#: The pauses before what broke off is tried again, and between two looks at a job, in seconds.
PAUSES = (0.1, 0.3, 1.0, 3.0, 10.0)


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
class Transport:
    """Requests of one account to one service; an address is what stands behind `/v1/`."""

    url: str
    token: str = field(repr=False)

    def ask(self, method: str, address: str, body: Any = None, **headers: str) -> Any:
        """The document that a request is answered with; a body that is no bytes goes as JSON."""
        with self._opened(method, address, body, headers) as answer:
            return json.load(answer)

    def get(self, address: str, query: Mapping[str, Any] | None = None) -> Any:
        """A document; a *query* stands in no address, which others write down."""
        return _again(lambda: self.ask("GET", address, **asked(query or {})))

    def once(self, method: str, address: str, body: Any) -> Any:
        """Ask for something that is done once, however often the connection breaks off."""
        key = secrets.token_hex(16)
        return _again(lambda: self.ask(method, address, body, **{"Idempotency-Key": key}))

    def piece(self, address: str, offset: int, piece: bytes) -> int:
        """Send a piece of an upload; gives where the next one begins."""
        try:
            return int(self.ask("PUT", f"{address}?offset={offset}", piece)["offset"])
        except SourceUnavailable:
            # The service knows how much has come of it.
            return int(self.get(address)["offset"])

    def heard(self, address: str, after: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """One stream of events, which the service ends after a minute: numbers, kinds and data."""
        sent = {"Accept": "text/event-stream", "Last-Event-ID": after}
        with self._opened("GET", address, None, sent) as answer:
            told: dict[str, str] = {}
            for line in answer:
                name, _, value = line.decode().rstrip("\r\n").partition(":")
                if name:
                    told[name] = value.strip()
                elif "data" in told:
                    yield told["id"], told["event"], json.loads(told["data"])
                    told = {}

    def download(self, address: str, query: Mapping[str, Any], to: Path) -> Path:
        """Write an answer to a new file, or into a folder; one that was cut leaves nothing."""
        with self._opened("GET", address, None, asked(query)) as answer:
            if to.is_dir():
                to /= _name(answer, address)
            put_right([str(to)])
            with replacing(to, overwrite=False) as into:
                _copy(answer, into.write)
        return to

    @contextmanager
    def _opened(self, method: str, address: str, body: Any, headers: Mapping[str, str]) -> Iterator[HTTPResponse]:
        """An answer; a connection that cannot be made, or breaks off, is an error of ours."""
        sent = {"Authorization": f"Bearer {self.token}", **headers}
        if body is not None and not isinstance(body, bytes):
            body, sent["Content-Type"] = json.dumps(body).encode(), "application/json"
        request = Request(f"{self.url}/v1/{address}", body, sent, method=method)  # noqa: S310 (its scheme was checked)
        try:
            with _answered(request) as answer:
                if OPTIONS in headers and OPTIONS not in answer.headers:
                    raise InvalidInput(f"{self.url}: the service is older than this client; update it first.")
                yield answer
        except FileExistsError as error:
            raise InvalidInput(f"{error.filename}: the file already exists.") from None
        except (ConnectionError, TimeoutError, URLError, ssl.SSLError, HTTPException):
            raise SourceUnavailable(f"{self.url}: the service does not answer.") from None


def path(*words: str) -> str:
    """The address of words."""
    return "/".join(quote(word, safe="") for word in words)


def asking(address: str, query: Mapping[str, Any]) -> str:
    """An address with a query."""
    written = _written(query)
    return f"{address}?{written}" if written else address


def asked(query: Mapping[str, Any]) -> dict[str, str]:
    """The header with a query."""
    written = _written(query)
    return {OPTIONS: written} if written else {}


def _written(query: Mapping[str, Any]) -> str:
    return urlencode({name: value for name, value in query.items() if value is not None}, doseq=True)


def _answered(request: Request) -> HTTPResponse:
    """The answer to a request, for which who asks too often waits."""
    while True:
        try:
            opened: HTTPResponse = build_opener(_NoRedirects).open(request, timeout=_PATIENCE)
            return opened
        except HTTPError as error:
            with error:
                if error.code != 429:
                    raise Refused(error.code, _problem(error.read())) from None
                time.sleep(float(error.headers.get("Retry-After", 1)))


def _again(do: Callable[[], T]) -> T:
    """The result of *do*, which is tried again after a pause where the connection broke off."""
    for pause in PAUSES:
        try:
            return do()
        except SourceUnavailable:
            time.sleep(pause)
    return do()


def _copy(answer: HTTPResponse, write: Callable[[bytes], object]) -> None:
    """Copy all of an *answer*; one that was cut is no whole one."""
    while piece := answer.read(1 << 20):
        write(piece)
    if answer.length:
        raise IncompleteRead(b"", answer.length)


def _name(answer: HTTPResponse, address: str) -> str:
    """What a download is called, as the service says or else its address."""
    told = answer.headers.get_filename() or unquote(urlsplit(address).path.rpartition("/")[2])
    return Path(told.replace("\\", "/")).name.lstrip(".") or "download"


def _problem(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
