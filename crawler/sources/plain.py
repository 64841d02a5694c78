"""One exchange with a network that needs no account: plain JSON over the guarded client of `crawler.web`.

The address that was configured is exempt from the guard, every other host passes it. No redirect is followed, and the
whole answer must be there before the deadline, however slowly it comes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import urlencode, urlsplit

from crawler.sources.contract import Answer, Quota, Source
from crawler.sources.failures import Failure
from crawler.sources.values import number_of
from tabular.errors import InvalidInput

if TYPE_CHECKING:
    from crawler.web.client import Client

#: The failure that each outcome of the guarded client is.
_FAILURES = {
    "timeout": "too-slow",
    "unreachable": "unreachable",
    "unresolved": "unreachable",
    "untrusted-certificate": "unreachable",
    "malformed": "connection-cut",
    "too-large": "garbled",
    "decompression-bomb": "garbled",
    "bad-encoding": "garbled",
    "headers-too-large": "garbled",
}

#: The longest wait that is believed, in seconds: the open networks count by five minutes, and anybody can run a server.
LONGEST_WAIT = 900.0

_USUAL_PORTS = {"http": 80, "https": 443}


def address_of(environ: Mapping[str, str], variable: str, usual: str) -> str:
    """The address that a *variable* configures, or the *usual* one.

    >>> address_of({}, "GRAPHPRIV_BLUESKY_URL", "https://public.api.bsky.app")
    'https://public.api.bsky.app'
    """
    text = environ.get(variable, "").strip().rstrip("/") or usual
    try:
        parts = urlsplit(text)
        sound = parts.scheme in _USUAL_PORTS and bool(parts.hostname) and "@" not in parts.netloc
        sound = sound and parts.port != 0 and not parts.query and not parts.fragment
    except ValueError:
        sound = False
    if not sound:
        raise InvalidInput(f"The variable {variable} must be an address such as {usual}, without a password in it.")
    return text


@dataclass(frozen=True)
class Reply:
    """What a host answered, its headers by their names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    def answer(self, body: bytes, wait: Callable[[str | None, Mapping[str, str]], float | None], name: str) -> Answer:
        """The answer for the journal; *name* is how the headers of the limit begin, *wait* reads their time."""
        seconds = wait(self.headers.get(f"{name}reset"), self.headers)
        left = number_of(self.headers.get(f"{name}remaining", ""))
        quota = None if seconds is None or left is None else Quota(left, seconds)
        return Answer(body, sent(self.headers), quota)


@dataclass(frozen=True)
class Plain:
    """Asks the *base* address, and other hosts if the guard lets them pass."""

    base: str
    timeout: float = 30.0
    #: Tests put one in that leads to loopback.
    client: Client | None = None

    @cached_property
    def _client(self) -> Client:
        from crawler.web.addresses import Endpoint, Guard
        from crawler.web.client import Client
        from crawler.web.pages import agent

        parts = urlsplit(self.base)
        exempt = Endpoint(parts.hostname or "", parts.port or _USUAL_PORTS[parts.scheme])
        return self.client or Client(Guard(exempt=exempt), agent().partition(" ")[0])

    def get(self, url: str, parameters: Mapping[str, Any]) -> Reply:
        """What a host answers to one request; *parameters* that are None are left out."""
        from crawler.web.client import Limits, Meter
        from crawler.web.outcomes import Failed
        from crawler.web.targets import Target

        given = {name: value for name, value in parameters.items() if value is not None}
        client = self._client
        limits = Limits(wire=8 << 20, unpacked=32 << 20, seconds=self.timeout)
        try:
            target = Target.of(f"{url}?{urlencode(given, doseq=True)}", client.guard)
            meter = Meter(limits, client.clock)
            found = client.get(target, meter, accept="application/json", wanted=lambda status, headers: True)
        except Failed as failed:
            raise Failure(_FAILURES.get(failed.outcome.value, "refused-host")) from None
        return Reply(found.status, found.headers, found.body)


@dataclass(frozen=True, kw_only=True)
class OpenSource(Source):
    """A network that is asked without an account; nothing but its address is configured."""

    #: The public service, and the variable that names another one.
    public: ClassVar[str]
    variable: ClassVar[str]

    url: str = ""
    timeout: float = 30.0
    #: What the exchanges go through; tests put their own in.
    client: Any = field(default=None, repr=False)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        return cls(url=address_of(environ, cls.variable, cls.public))

    @property
    def where(self) -> str:
        return self.url or self.public

    @cached_property
    def _plain(self) -> Plain:
        return Plain(self.where, self.timeout, self.client)


def sent(headers: Mapping[str, str]) -> float | None:
    """The moment of an answer by the clock of its server."""
    from crawler.sources.exchange import sent_at

    return sent_at({"Date": headers.get("date", "")})


def seconds_until(reset: str | None, headers: Mapping[str, str]) -> float | None:
    """How long it is until a moment in seconds since 1970, by the clock of the server.

    >>> seconds_until("1618286938", {"date": "Tue, 13 Apr 2021 03:53:58 GMT"})
    900.0
    """
    moment = sent(headers)
    try:
        wait = float(reset or "") - (time.time() if moment is None else moment)
    except ValueError:
        return None
    return min(max(wait, 0.0), LONGEST_WAIT) if isfinite(wait) else None


def seconds_until_date(reset: str | None, headers: Mapping[str, str]) -> float | None:
    """How long it is until a moment that is written as a date and a time.

    >>> seconds_until_date("2021-04-13T04:08:58.000Z", {"date": "Tue, 13 Apr 2021 03:53:58 GMT"})
    900.0
    """
    try:
        return seconds_until(str(datetime.fromisoformat(reset or "").timestamp()), headers)
    except ValueError:
        return None
