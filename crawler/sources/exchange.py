"""One exchange over `requests` for the libraries that use it: host, token, deadline and size are ours.

A library keeps its way of making a request, and its session gets the `Exchange` as its adapter. That replaces the
host, adds the token, makes exactly one attempt, reads the whole answer before the deadline, and raises a `Failure` for
every answer but 200. So no library retries, follows a redirect or sees the token.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as UrllibTimeout

from crawler.sources.contract import Answer, Quota
from crawler.sources.failures import Failure
from crawler.sources.values import json_of, number_of

#: The largest answer that is read, in bytes.
LARGEST = 32 << 20

_PIECE = 64 << 10

#: Makes a failure of an answer that is not 200: its status, its headers and its JSON (None where it has none).
Classify = Callable[[int, Mapping[str, str], Any], Failure]


class Exchange(HTTPAdapter):
    """Sends a request to the address *url* with a *token*, once."""

    def __init__(self, url: str, *, token: str | None, timeout: float, classify: Classify) -> None:
        super().__init__(max_retries=0)
        self._base, self._token, self._timeout, self._classify = urlsplit(url), token, timeout, classify

    def send(  # type: ignore[override]
        self, request: requests.PreparedRequest, **options: Any
    ) -> requests.Response:
        """One attempt, read to its end."""
        asked = urlsplit(request.url or "")
        path = self._base.path.rstrip("/") + asked.path
        request.url = urlunsplit((self._base.scheme, self._base.netloc, path, asked.query, ""))
        if self._token is not None:
            request.headers["Authorization"] = f"Bearer {self._token}"
        options.update(stream=True, timeout=self._timeout)
        try:
            response = super().send(request, **options)
            response._content = self._whole(response)
        except (requests.RequestException, HTTPError) as error:
            raise _failed(error) from None
        if response.status_code != 200:
            raise self._classify(response.status_code, response.headers, json_of(response.content))
        return response

    def _whole(self, response: requests.Response) -> bytes:
        until, pieces, size = time.monotonic() + self._timeout, [], 0
        with response:
            # What has arrived, and not a whole piece: an answer may come a byte at a time.
            while piece := response.raw.read1(_PIECE, decode_content=True):
                pieces.append(piece)
                size += len(piece)
                if time.monotonic() > until:
                    raise Failure("too-slow")
                if size > LARGEST:
                    raise Failure("garbled")
        return b"".join(pieces)


def _failed(error: Exception) -> Failure:
    causes = _causes(error)
    # A name that does not resolve and a port that refuses are both of this sort.
    if any(isinstance(each, NewConnectionError) for each in causes):
        return Failure("unreachable")
    slow = any(isinstance(each, requests.Timeout | TimeoutError | UrllibTimeout) for each in causes)
    return Failure("too-slow" if slow else "connection-cut")


def _causes(error: BaseException) -> list[BaseException]:
    """An error and all that it was made of."""
    found: list[BaseException] = []
    waiting: list[Any] = [error]
    while waiting:
        each = waiting.pop()
        if isinstance(each, BaseException) and each not in found:
            found.append(each)
            waiting += [each.__cause__, each.__context__, getattr(each, "reason", None), *each.args]
    return found


def parsed(body: bytes) -> dict[str, Any]:
    """The JSON object of an answer; a failure where it was cut short, or is something else."""
    found = json_of(body)
    if not isinstance(found, dict):
        raise Failure("garbled")
    return found


def sent_at(headers: Mapping[str, str]) -> float | None:
    """The moment of an answer by the clock of its server.

    >>> sent_at({"Date": "Tue, 13 Apr 2021 03:53:58 GMT"})
    1618286038.0
    """
    try:
        return parsedate_to_datetime(headers["Date"]).timestamp()
    except (KeyError, TypeError, ValueError):
        return None


def wait_until(reset: str | None, headers: Mapping[str, str]) -> float | None:
    """How long it is until a moment in seconds since 1970, by the clock of the server that names it.

    >>> wait_until("1618286938", {"Date": "Tue, 13 Apr 2021 03:53:58 GMT"})
    900.0
    """
    moment = sent_at(headers)
    try:
        wait = float(reset or "") - (time.time() if moment is None else moment)
    except ValueError:
        return None
    return max(wait, 0.0) if isfinite(wait) else None


def quota_of(headers: Mapping[str, str], remaining: str, reset: str) -> Quota | None:
    """What the headers called *remaining* and *reset* say."""
    wait = wait_until(headers.get(reset), headers)
    left = number_of(headers.get(remaining, ""))
    return None if wait is None or left is None else Quota(left, wait)


def answer_of(response: requests.Response, remaining: str, reset: str) -> Answer:
    """The answer that a response is."""
    return Answer(response.content, sent_at(response.headers), quota_of(response.headers, remaining, reset))
