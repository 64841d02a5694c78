"""The client of services that answer as OpenCalais did: OpenCalais itself, and Intelligent Tagging after it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, ClassVar
from urllib.parse import urlsplit

from crawler.topics.contract import OTHER, Categoriser, Topic, categorisers
from graphpriv.topics import TOPICS
from tabular.errors import InvalidInput, SourceUnavailable

URL, TOKEN = "GRAPHPRIV_TAGGING_URL", "GRAPHPRIV_TAGGING_TOKEN"

#: The service takes texts of 100 kB.
LONGEST = 100_000

#: The largest answer that is read, in bytes.
LARGEST = 8 << 20

#: So often a text is asked about, with pauses that double from the first on and are never longer than the longest.
TRIES, PAUSE, LONGEST_PAUSE = 5, 2.0, 120.0

#: The eighteen by letters alone: the service has written blanks, underscores and nothing between words.
_BY_LETTERS = {re.sub(r"[^a-z]", "", name.lower()): name for name in TOPICS}

#: How the service words a limit that waiting does not lift soon, and one that it does.
_USED_UP = re.compile(r"quota|per day|daily|over rate|developer inactive", re.IGNORECASE)
_TOO_FAST = re.compile(r"over qps|concurrent|rate limit|too many|per second", re.IGNORECASE)


@dataclass(frozen=True)
class Reply:
    """One answer of the service."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class _Again(Exception):
    """An exchange that can be tried again; *wait* is what the service asks for, None where it does not say."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.why, self.wait = why, wait


@categorisers.add(
    "tagging",
    cites="OpenCalais (topics of a document); Refinitiv Intelligent Tagging, API user guide",
    limits=f"sends every text to the service of {URL}, one at a time; the first 100,000 bytes count; English, French "
    "and Spanish",
)
@dataclass(frozen=True, kw_only=True)
class Tagging(Categoriser):
    """Asks a service that is compatible with OpenCalais or Intelligent Tagging."""

    version: ClassVar[str] = "1"

    #: Both as the environment has them, unless somebody says otherwise.
    url: str = field(default_factory=lambda: os.environ.get(URL, "").strip())
    token: str = field(default_factory=lambda: os.environ.get(TOKEN, "").strip(), repr=False)
    #: Seconds that one exchange may take.
    timeout: float = 30.0
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False, compare=False)
    #: Seconds that only grow, and seconds since 1970.
    clock: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)
    now: Callable[[], float] = field(default=time.time, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, value, what in ((URL, self.url, "its address"), (TOKEN, self.token, "your token")):
            if not value:
                raise InvalidInput(f"tagging: set {name} to {what}.")
        if not _is_address(self.url):
            raise InvalidInput(f"tagging: {URL} must be an address that begins with http:// or https://.")
        if not (self.token.isascii() and self.token.isprintable()):
            raise InvalidInput(f"tagging: {TOKEN} has characters that no token has.")

    def categorise(self, texts: Sequence[str]) -> list[list[Topic]]:
        answers: dict[str, list[Topic]] = {}
        for text in texts:
            if text not in answers:
                answers[text] = self._asked(text) if text.strip() else [(OTHER, 1.0)]
        return [answers[text] for text in texts]

    def _asked(self, text: str) -> list[Topic]:
        """The topics of one text; tried again where that can help, and then given up."""
        pause = PAUSE
        for left in range(TRIES - 1, -1, -1):
            try:
                return topics_of(self._document(self._exchange(text)))
            except _Again as again:
                wait = pause if again.wait is None else again.wait
                if not left or wait > LONGEST_PAUSE:
                    later = f" It asks to wait {wait:,.0f} seconds." if wait > LONGEST_PAUSE else ""
                    raise self._failed(f"{again.why}.{later}") from None
                self.sleep(wait)
                pause = min(2 * pause, LONGEST_PAUSE)
        raise AssertionError("the last try answers or raises")

    def _exchange(self, text: str) -> Reply:
        """One question and its answer, whatever that is."""
        import httpx

        headers = {
            "Content-Type": "text/raw; charset=UTF-8",
            "Accept": "application/json",
            "outputFormat": "application/json",
            "omitOutputtingOriginalText": "true",
            "x-calais-selectiveTags": "topic",
            "x-ag-access-token": self.token,
            # What OpenCalais called it.
            "x-calais-licenseID": self.token,
        }
        body = text.encode("utf-8", "replace")[:LONGEST].decode("utf-8", "ignore").encode()
        limits = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), self.timeout)}
        until = self.clock() + self.timeout
        try:
            # Not a client, which would write the address into the log, and follow redirects and proxies.
            with httpx.HTTPTransport(trust_env=False) as transport:
                request = httpx.Request("POST", self.url, content=body, headers=headers, extensions=limits)
                with contextlib.closing(transport.handle_request(request)) as response:
                    whole = b"".join(self._pieces(response.iter_bytes(), until))
            return Reply(response.status_code, dict(response.headers), whole)
        except httpx.TimeoutException:
            raise _Again("it did not answer in time") from None
        except httpx.ConnectError:
            raise _Again("it cannot be reached") from None
        except (httpx.TransportError, httpx.DecodingError):
            raise _Again("it cut the connection") from None

    def _pieces(self, pieces: Iterator[bytes], until: float) -> Iterator[bytes]:
        size = 0
        for piece in pieces:
            size += len(piece)
            if self.clock() > until:
                raise _Again("it did not answer in time")
            if size > LARGEST:
                raise self._failed("its answer is too large.")
            yield piece

    def _document(self, reply: Reply) -> Mapping[str, Any]:
        """The JSON object of an answer, or a failure: each status and each wording of a limit has one."""
        # Limits are told in plain text, with whatever status.
        said = "" if reply.body.lstrip()[:1] == b"{" else reply.body[:2000].decode("utf-8", "replace")
        if reply.status != 200 or said:
            self._refuse(reply, said)
        try:
            document = json.loads(reply.body)
        except (ValueError, RecursionError):
            raise _Again("its answer is no JSON") from None
        if not isinstance(document, dict):
            raise _Again("its answer is no JSON object")
        return document

    def _refuse(self, reply: Reply, said: str) -> None:
        """Raise what there is to say of an answer that is none; nothing where it may be one after all."""
        status = reply.status
        if status in (200, 403, 429) and _USED_UP.search(said):
            raise self._failed("the quota of the token is used up; try again tomorrow.")
        if status == 429 or (status in (200, 403) and _TOO_FAST.search(said)):
            raise _Again("it was asked too fast", self._wait(reply))
        if status == 408 or status >= 500:
            raise _Again("it has no capacity now" if status == 503 else f"it failed ({status})", self._wait(reply))
        if status in (401, 403):
            raise self._failed(f"the token in {TOKEN} is refused.")
        if status != 200:
            raise self._failed(f"it refuses the request ({status}); look at {URL}.")

    def _wait(self, reply: Reply) -> float | None:
        """The seconds that an answer asks to wait: a number, or a date by the service's own clock."""
        headers = {name.lower(): value for name, value in reply.headers.items()}
        after = headers.get("retry-after", "").strip()
        if re.fullmatch(r"\d{1,9}", after):
            return float(after)
        until = _moment(after)
        if until is None:
            return None
        here = _moment(headers.get("date", ""))
        return max(0.0, until - (self.now() if here is None else here))

    def _failed(self, text: str) -> SourceUnavailable:
        return SourceUnavailable(f"tagging: {urlsplit(self.url).hostname}: {text}")


def topics_of(document: Mapping[str, Any]) -> list[Topic]:
    """The topics of an answer among the eighteen, best first; `Other` where it has no other.

    >>> topics_of({"http://d.opencalais.com/x/cat/1": {"_typeGroup": "topics", "categoryName": "Sports", "score": 0.7}})
    [('Sports', 0.7)]
    >>> topics_of({"x": {"_typeGroup": "topics", "forenduserdisplay": "false", "name": "Human Interest", "score": 1}})
    [('Human Interest', 1.0)]
    """
    best: dict[str, float] = {}
    for each in _topic_objects(document, 3):
        # Intelligent Tagging calls it `name`, OpenCalais `categoryName`.
        told = each.get("name") or each.get("categoryName") or ""
        name = _BY_LETTERS.get(re.sub(r"[^a-z]", "", str(told).lower()))
        if name is not None:
            best[name] = max(best.get(name, 0.0), _score(each.get("score")))
    order = sorted(best, key=lambda name: (name == OTHER, -best[name], TOPICS.index(name)))
    return [(name, best[name]) for name in order if name != OTHER or len(best) == 1] or [(OTHER, 1.0)]


def _topic_objects(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    """The objects of an answer that tell a topic: by their address, or one level further down under `topics`."""
    if not isinstance(value, dict):
        return
    if value.get("_typeGroup") == "topics":
        yield value
    elif depth:
        for each in value.values():
            yield from _topic_objects(each, depth - 1)


def _score(value: Any) -> float:
    """A score from 0 to 1; 0 where the service gives none, as OpenCalais does where it is unsure."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return 0.0
    return round(min(1.0, max(0.0, number)), 4) if isfinite(number) else 0.0


def _moment(text: str) -> float | None:
    """The seconds since 1970 of a date of HTTP."""
    try:
        found: datetime = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
