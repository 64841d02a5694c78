"""From a link to the text of the page behind it; whatever goes wrong is an outcome and no error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from crawler.web.addresses import Guard
from crawler.web.charsets import text_of
from crawler.web.client import Answer, Client, Limits, Meter
from crawler.web.extraction import LONGEST_TEXT, Extraction
from crawler.web.outcomes import Failed, Outcome
from crawler.web.robots import NAME, Robots, redirected
from crawler.web.targets import Target

#: How often a page may redirect.
REDIRECTS = 5

_HTML = ("text/html", "application/xhtml+xml")
_READ = (*_HTML, "text/plain")


@dataclass(frozen=True)
class Page:
    """What came of a link: the outcome, the status where there was one, and the main text."""

    outcome: Outcome
    status: int | None = None
    text: str = field(default="", repr=False)


def agent() -> str:
    """Who asks, for the logs of those who are asked."""
    try:
        number = version("graphpriv")
    except PackageNotFoundError:
        number = "0"
    return f"{NAME}/{number} (reads pages that posts link to; obeys robots.txt)"


@dataclass
class Reader:
    """Reads pages behind links: each hop is checked anew, and what the site asks of programs is kept."""

    client: Client
    limits: Limits = field(default_factory=Limits)
    extraction: Extraction = field(default_factory=Extraction)
    robots: Robots = field(init=False)

    def __post_init__(self) -> None:
        self.robots = Robots(self.client)

    @classmethod
    def over(cls, guard: Guard) -> Reader:
        """A reader that asks whom the *guard* lets pass."""
        return cls(Client(guard, agent()))

    def read(self, url: str) -> Page:
        """The page behind a link."""
        try:
            return self._page(*self._answer(url))
        except Failed as failed:
            return Page(failed.outcome, failed.status)

    def close(self) -> None:
        """Let go of the process that takes texts out of pages."""
        self.extraction.close()

    def _answer(self, url: str) -> tuple[Answer, str]:
        """The last answer behind a link, and its type."""
        meter = Meter(self.limits, self.client.clock)
        target = Target.of(url, self.client.guard)
        for _ in range(REDIRECTS + 1):
            self.robots.refuse_closed(target)
            answer = self.client.get(target, meter, accept=", ".join(_READ), wanted=_is_wanted)
            location = redirected(answer.status, answer.headers)
            if location is None:
                return answer, _type(answer.headers)
            target = self._next(target, location)
        raise Failed(Outcome.REDIRECTS)

    def _next(self, target: Target, location: str) -> Target:
        """Where a redirect leads; what was asked in secret is not asked in the open."""
        after = target.joined(location, self.client.guard)
        if target.scheme == "https" and after.scheme == "http":
            raise Failed(Outcome.DOWNGRADE)
        return after

    def _page(self, answer: Answer, kind: str) -> Page:
        if answer.status != 200:
            raise Failed(Outcome.STATUS, answer.status)
        if kind not in _READ:
            raise Failed(Outcome.NOT_TEXT, answer.status)
        text = text_of(answer.body, answer.headers.get("content-type", ""))
        main = self.extraction.main_text(text) if kind in _HTML else text[:LONGEST_TEXT].strip()
        return Page(Outcome.READ if main else Outcome.EMPTY, answer.status, main)


def _type(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _is_wanted(status: int, headers: Mapping[str, str]) -> bool:
    """Whether the body of an answer is read; that of any other is not even taken from the connection."""
    return status == 200 and _type(headers) in _READ
