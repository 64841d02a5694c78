"""What has been chosen so far in a guided release: it stands in the address, so that going back loses nothing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tabular.errors import InvalidParameter

#: Who gets a release: how many users or rows shall be alike, and why.
AUDIENCES = {
    "colleagues": (5, "Colleagues under contract", "They have signed not to look for anybody, and you know them."),
    "partners": (10, "Named partners", "You know who they are, but not what else they know."),
    "everybody": (20, "Everybody", "Somebody will try to identify people, with everything they can find."),
}

#: So many jobs with candidates stand side by side.
_JOBS = 4

#: The kinds of things that are released.
KINDS = ("graph", "table")

_LISTS = ("columns", "useful", "job")


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What has been chosen so far."""

    kind: str | None
    name: str | None
    who: str
    k: int
    #: Of a table: what an attacker may know.
    columns: tuple[str, ...]
    useful: tuple[str, ...]
    #: The jobs that computed candidates, the newest last.
    job: tuple[str, ...]
    #: The candidate that was taken, as `choice_in` reads it.
    chosen: str | None
    into: str
    previous: str | None

    @classmethod
    def asked(cls, given: Any) -> Draft:
        """The draft that an address or a form holds."""
        who = given.get("who") if given.get("who") in AUDIENCES else "partners"
        kind, _, name = given.get("what", "").partition(":")
        if kind not in KINDS or not name:
            kind = next((each for each in KINDS if given.get(each)), None)
            name = given.get(kind) if kind else None
        return cls(
            kind=kind,
            name=name,
            who=who,
            k=number("k", given.get("k") or str(AUDIENCES[who][0])),
            **{name: tuple(dict.fromkeys(given.getlist(name))) for name in _LISTS},
            chosen=given.get("chosen") or None,
            into=given.get("into") or "",
            previous=given.get("previous") or None,
        )

    @property
    def query(self) -> dict[str, Any]:
        """The draft as it stands in an address."""
        given = {name: value for name, value in vars(self).items() if value and name not in ("kind", "name")}
        return {self.kind: self.name, **given} if self.kind else given

    def hidden(self, *left_out: str) -> list[tuple[str, Any]]:
        """Name and value of each field that a form carries on, but for those that it asks for itself."""
        pairs = ((name, value) for name, value in self.query.items() if name not in left_out)
        return [(name, each) for name, value in pairs for each in (value if isinstance(value, tuple) else (value,))]

    def computing(self, jobs: tuple[str, ...]) -> Draft:
        """The draft with *jobs* that compute candidates, beside those of earlier choices."""
        before = tuple(each for each in self.job if each not in jobs)
        return replace(self, job=(*before, *jobs)[-max(_JOBS, len(jobs)) :], chosen=None)


def choice_of(method: str, parameters: Mapping[str, Any]) -> str:
    """A protection as a text that a form carries.

    >>> choice_of("full-domain", {"k": 5, "levels": "1,0"})
    'full-domain k=5 levels=1,0'
    """
    return shlex.join([method, *(f"{name}={text(value)}" for name, value in parameters.items())])


def choice_in(chosen: str) -> tuple[str, dict[str, str]]:
    """The method and the parameters, as texts, that *chosen* holds.

    >>> choice_in("full-domain k=5 levels=1,0")
    ('full-domain', {'k': '5', 'levels': '1,0'})
    """
    try:
        method, *words = shlex.split(chosen) or [""]
    except ValueError:
        raise InvalidParameter.wrong("chosen", must="be a method with its parameters", was=chosen[:80]) from None
    return method, {name: value for name, _, value in (word.partition("=") for word in words)}


def text(value: Any) -> str:
    """A parameter as it is typed."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def number(name: str, given: str) -> int:
    """The whole number that a text is."""
    if not (given.isascii() and given.isdigit() and len(given) < 10):
        raise InvalidParameter.wrong(name, must="be a whole number", was=given[:20])
    return int(given)


def decimal(name: str, given: str) -> float:
    """The share that a text is."""
    try:
        found = float(given)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise InvalidParameter.wrong(name, must="be a number from 0 to 1", was=given[:20])
    return found
