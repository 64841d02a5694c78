"""What geocoders on the web share: one exchange at a time, at their pace, with one outcome for each failure.

| what comes | outcome |
|---|---|
| an answer | it is read and kept |
| no result, a text that cannot be asked (400, `INVALID_REQUEST`) | the place is unknown |
| 5xx, `UNKNOWN_ERROR`, a timeout, a cut connection, no JSON | ask again after a pause that doubles; then stop |
| 429, `OVER_QUERY_LIMIT` | the same, after what `Retry-After` says if it is there |
| 401, 403, `REQUEST_DENIED`, `OVER_DAILY_LIMIT`, any other status | stop at once |

To stop is to raise `SourceUnavailable`. Its text names neither a key nor a text that was asked.
"""

from __future__ import annotations

import json
import os
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from crawler.places.answers import Answers
from crawler.places.contract import UNKNOWN_PLACE, Gazetteer, Located
from tabular.errors import SourceUnavailable
from tabular.registry import option

if TYPE_CHECKING:
    import httpx

#: The variable of the environment that names the file of kept answers.
CACHE = "GRAPHPRIV_PLACES_CACHE"
_ATTEMPTS, _FIRST_PAUSE, _LONGEST_PAUSE = 5, 1.0, 120.0
_SECONDS, _LARGEST = 20.0, 2 << 20
_LONGEST_TEXT = 200


class Again(Exception):
    """One exchange without an answer, after which it may be asked again; *wait* is what the geocoder asks for."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.why, self.wait = why, wait


class Stop(Exception):
    """One exchange after which nothing more is asked."""


@dataclass
class Pace:
    """When the next request may be sent."""

    gap: float
    next: float = 0.0

    def wait(self, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        """Wait until it may, and count the request."""
        late = self.next - clock()
        if late > 0:
            sleep(late)
        self.next = max(self.next, clock()) + self.gap


@dataclass(frozen=True, kw_only=True)
class Asking(Gazetteer):
    """A geocoder on the web."""

    #: What it is called in errors, the seconds between two requests, and how many days an answer may be kept.
    called: ClassVar[str]
    gap: ClassVar[float]
    days: ClassVar[float]

    cache: str | None = option(
        None, help=f"a file that keeps the answers, readable by its owner alone; else {CACHE} names it"
    )
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    now: Callable[[], float] = field(default=time.time, repr=False)
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    @property
    def version(self) -> str:
        # What the service knows changes without a version.
        return "1"

    @property
    @abstractmethod
    def base(self) -> str:
        """The address of the service."""

    @abstractmethod
    def request(self, text: str) -> tuple[str, Mapping[str, str], Mapping[str, str]]:
        """The path, the parameters and the headers that ask for a *text*."""

    @abstractmethod
    def read(self, answer: Any) -> Located:
        """The place of an *answer*; raises `Again` or `Stop` where it is none."""

    def locate(self, text: str) -> Located:
        asked = " ".join(text.split())[:_LONGEST_TEXT]
        if not any(each.isalnum() for each in asked):
            return UNKNOWN_PLACE
        found = self._answers.get(asked, self.now())
        if found is None:
            found = self._asked(asked)
            self._answers.add(asked, found, self.now())
        return found

    @cached_property
    def _answers(self) -> Answers:
        return Answers(f"{self.called} {self.base}", self.cache or os.environ.get(CACHE) or None, self.days)

    @cached_property
    def _pace(self) -> Pace:
        return Pace(self.gap)

    @cached_property
    def _transport(self) -> httpx.HTTPTransport:
        import httpx

        # Not a client: that would follow the environment's proxies and write addresses, with the key, into logs.
        return httpx.HTTPTransport()

    def _asked(self, text: str) -> Located:
        pause = _FIRST_PAUSE
        for attempt in range(_ATTEMPTS):
            self._pace.wait(self.clock, self.sleep)
            try:
                return self._exchange(text)
            except Again as again:
                why = again.why
                if attempt < _ATTEMPTS - 1:
                    self.sleep(min(pause if again.wait is None else again.wait, _LONGEST_PAUSE))
                pause *= 2
            except Stop as stop:
                why = str(stop)
                break
        raise SourceUnavailable(f"{self.called}: {why}.") from None

    def _exchange(self, text: str) -> Located:
        import httpx

        path, parameters, headers = self.request(text)
        timeout = dict.fromkeys(("connect", "read", "write", "pool"), _SECONDS)
        request = httpx.Request(
            "GET",
            f"{self.base.rstrip('/')}{path}",
            params=parameters,
            headers={"Accept": "application/json", **headers},
            extensions={"timeout": timeout},
        )
        try:
            response = self._transport.handle_request(request)
            response.request = request
            try:
                status, body = response.status_code, self._body(response)
            finally:
                response.close()
        except httpx.TimeoutException:
            raise Again("the answers took too long") from None
        except httpx.HTTPError:
            raise Again("it cannot be reached, or cut the connection") from None
        return self._judged(status, response.headers, body)

    def _body(self, response: httpx.Response) -> bytes:
        until, pieces, size = self.clock() + _SECONDS, [], 0
        for piece in response.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if size > _LARGEST:
                raise Again(f"an answer had more than {_LARGEST:,} bytes")
            if self.clock() > until:
                raise Again("the answers took too long")
        return b"".join(pieces)

    def _judged(self, status: int, headers: Mapping[str, str], body: bytes) -> Located:
        if status == 429:
            raise Again("it was asked too often, and did not answer after waiting", _seconds(headers))
        if status >= 500:
            raise Again(f"the server failed again and again (status {status})", _seconds(headers))
        if status in (401, 403):
            raise Stop(f"it refuses to answer (status {status}){self.hint}")
        if status == 400:
            return UNKNOWN_PLACE
        if status != 200:
            raise Stop(f"it gave an answer that is none (status {status})")
        try:
            return self.read(json.loads(body))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise Again("the answers were cut short or no such JSON as is documented") from None

    @property
    def hint(self) -> str:
        """What to look at when it refuses."""
        return ""


def _seconds(headers: Mapping[str, str]) -> float | None:
    """How long `Retry-After` asks to wait, where it gives seconds."""
    text = headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdecimal() else None
