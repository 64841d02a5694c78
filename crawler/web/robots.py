"""What sites ask of programs (RFC 9309): a page that `robots.txt` closes for us is not read.

A site without the file allows everything, one that answers with a server error nothing. The rules of a site are kept
for a day. The longest rule that fits counts; of two equally long ones the one that allows.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock

from crawler.web.client import Answer, Client, Limits, Meter
from crawler.web.outcomes import Failed, Outcome
from crawler.web.targets import Target, quoted

#: The name by which sites may address us.
NAME = "graphpriv"

#: A file may be this large, as the standard asks; a site with a larger one is not read.
_LARGEST = 512 * 1024
_LIMITS = Limits(wire=_LARGEST + 128 * 1024, unpacked=_LARGEST, seconds=5.0)

_DAY = 24 * 3600.0
_SITES = 10_000
_MOST_RULES = 5_000
_REDIRECTS = 5
_LINE = re.compile(r"\s*([A-Za-z-]+)\s*:\s*([^#]*)")


@dataclass(frozen=True)
class Rules:
    """The rules of one site for us: paths with wildcards, and whether each allows."""

    rules: tuple[tuple[str, bool], ...] = ()

    @classmethod
    def read(cls, text: str) -> Rules:
        """The rules that a file has for us: those under our name, else those for all."""
        groups: dict[str, list[tuple[str, bool]]] = {}
        names: list[str] = []
        listing = False
        for key, value in _lines(text):
            if key == "user-agent":
                names = [*names, value.lower()] if listing else [value.lower()]
                groups.setdefault(value.lower(), [])
            elif key in ("allow", "disallow") and value:
                for name in names:
                    groups[name].append((quoted(value), key == "allow"))
            listing = key == "user-agent"
        return cls(tuple(groups.get(NAME, groups.get("*", ()))[:_MOST_RULES]))

    def allows(self, path: str) -> bool:
        """Whether a path may be read."""
        fitting = [(len(pattern), allow) for pattern, allow in self.rules if fits(pattern, path)]
        return max(fitting)[1] if fitting else True


def _lines(text: str) -> Iterable[tuple[str, str]]:
    found = (_LINE.match(line) for line in text.removeprefix("\ufeff").splitlines())
    return ((each[1].lower(), each[2].strip()) for each in found if each)


def fits(pattern: str, path: str) -> bool:
    """Whether a path begins with a pattern, in which `*` is anything and `$` at the end is the end of the path.

    >>> fits("/a*/c", "/abc/cd"), fits("/a*c$", "/abcd")
    (True, False)
    """
    whole = pattern.endswith("$")
    first, *others = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    # The leftmost place for each piece leaves most room for the others, so nothing is ever tried twice.
    for number, piece in enumerate(others, start=1):
        if whole and number == len(others):
            return len(path) - len(piece) >= at and path.endswith(piece)
        at = path.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return at == len(path) if whole else True


@dataclass
class Robots:
    """The rules of all sites that were asked so far."""

    client: Client
    _known: OrderedDict[str, tuple[float, Rules | Failed]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def refuse_closed(self, target: Target) -> None:
        """A failure where the site does not want a page to be read, or could not be asked."""
        rules = self._rules(target)
        if isinstance(rules, Failed):
            raise Failed(rules.outcome, rules.status)
        if not rules.allows(target.path):
            raise Failed(Outcome.ROBOTS)

    def _rules(self, target: Target) -> Rules | Failed:
        now = self.client.clock()
        with self._lock:
            asked, rules = self._known.get(target.origin, (-_DAY, None))
        if rules is None or now - asked >= _DAY:
            rules = self._ask(target)
            with self._lock:
                self._known[target.origin] = now, rules
                while len(self._known) > _SITES:
                    self._known.popitem(last=False)
        return rules

    def _ask(self, target: Target) -> Rules | Failed:
        try:
            answer = self._file(replace(target, path="/robots.txt"))
        except Failed as failed:
            # A file that cannot be made sense of is none; a site that cannot be reached closes itself.
            return Rules() if failed.outcome in (Outcome.BAD_ENCODING, Outcome.REDIRECTS) else failed
        if answer.status >= 500:
            # A site whose rules cannot be had closes itself, for the time being.
            return Failed(Outcome.ROBOTS, answer.status)
        return Rules.read(answer.body.decode("utf-8", errors="replace")) if answer.status == 200 else Rules()

    def _file(self, target: Target) -> Answer:
        meter = Meter(_LIMITS, self.client.clock)
        for _ in range(_REDIRECTS + 1):
            answer = self.client.get(target, meter, accept="text/plain", wanted=lambda status, headers: status == 200)
            location = redirected(answer.status, answer.headers)
            if location is None:
                return answer
            target = target.joined(location, self.client.guard)
        raise Failed(Outcome.REDIRECTS)


def redirected(status: int, headers: Mapping[str, str]) -> str | None:
    """Where an answer redirects to, if it does."""
    if status not in (301, 302, 303, 307, 308):
        return None
    location = headers.get("location")
    if not location:
        raise Failed(Outcome.BAD_REDIRECT)
    try:
        # Headers come as Latin 1; sites that write other letters there mean UTF-8.
        return location.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return location
