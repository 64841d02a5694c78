"""Candidates for a release, of whatever kind: what each risks and loses, and their map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from markupsafe import Markup

from api.pages.commands import Ways
from api.pages.releases.drafts import Draft
from tabular.report.kit.charts import Point, scatter
from tabular.report.kit.figures import isolated


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Some rows before and after a candidate."""

    columns: Sequence[str]
    #: For each row its number and its cells, before and after.
    rows: Sequence[tuple[int, Sequence[tuple[str, str]]]]


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One way to release a thing; shares go from 0 to 1."""

    #: As `choice_of` writes it.
    id: str
    title: str
    note: str = ""
    risk: float
    #: What another attacker finds.
    other_risk: float | None = None
    #: The loss of each thing that may have to stay useful; None where it is not known.
    losses: Mapping[str, float | None]
    sample: Sample | None = None

    def loss(self, useful: Sequence[str]) -> float:
        """The mean loss of what must stay useful; of everything, if nothing is said."""
        wanted = [value for name in useful if (value := self.losses.get(name)) is not None]
        known = wanted or [value for value in self.losses.values() if value is not None]
        return sum(known) / max(len(known), 1)


@dataclass(frozen=True, kw_only=True)
class Words:
    """What the guide says of a kind of thing."""

    #: What k counts, why it matters, and what else is asked with it.
    alike: str
    why: str
    #: The heads of the risks, what they say, and what the losses are.
    risk: str
    other_risk: str
    note: str


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What a release promises, and what it does not."""

    headline: str
    others: Sequence[str]


class Subject(Protocol):
    """Something that is to be released."""

    @property
    def kind(self) -> str:
        """One of `drafts.KINDS`."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def words(self) -> Words:
        """What the guide says of things of its kind."""

    @property
    def size(self) -> str:
        """How large it is."""

    @property
    def most(self) -> int:
        """The greatest k that it can have."""

    @property
    def columns(self) -> Sequence[tuple[str, bool]]:
        """The columns that an attacker may know, each with whether that is a guess of ours; none of a graph."""

    @property
    def releases(self) -> Sequence[str]:
        """Its live releases that a new one has to go with, the newest first."""

    def uses(self, draft: Draft) -> Mapping[str, tuple[str, str]]:
        """What may have to stay useful: title and reason of each."""

    def completed(self, draft: Draft) -> Draft:
        """The draft with what nobody has said yet."""

    def asks(self, draft: Draft) -> Sequence[tuple[str, dict[str, Any]]]:
        """The jobs that compute its candidates."""

    def candidates(self, draft: Draft, result: Mapping[str, Any]) -> Sequence[Candidate]:
        """The candidates that a job has computed."""

    def left_out(self, result: Mapping[str, Any]) -> Sequence[str]:
        """What is no candidate, and why."""

    def hindrance(self, draft: Draft) -> str | None:
        """Why a release with these choices would be refused, as far as that is known now."""

    def promise(self, draft: Draft) -> Promise:
        """What the chosen candidate promises."""

    def release(self, draft: Draft) -> tuple[str, dict[str, Any]]:
        """The verb that releases the chosen candidate, with its options by names of the service."""

    def plan(self, draft: Draft) -> tuple[str, dict[str, Any]]:
        """The same for the command line."""

    def ways(self, draft: Draft) -> Ways:
        """The same in the words of each door."""


def worst_first(found: Sequence[Candidate]) -> list[Candidate]:
    """Each candidate once, the newest figures of each, the one with the highest risk first."""
    return sorted({each.id: each for each in found}.values(), key=lambda each: -each.risk)


def preferred(found: Sequence[Candidate], draft: Draft) -> str | None:
    """The candidate to take unless somebody says otherwise: that with the lowest mean of risk and loss."""
    ids = [each.id for each in found]
    if draft.chosen in ids:
        return draft.chosen
    asked = [each.id for each in found if each.note]
    if asked:
        return asked[0]
    return min(found, key=lambda each: each.risk + each.loss(draft.useful)).id if found else None


def risk_loss(found: Sequence[Candidate], useful: Sequence[str], *, upwards: str = "loss of what you need") -> Markup:
    """The map of risk and loss, a point for each candidate."""
    points = [
        Point(
            x=each.risk,
            y=each.loss(useful),
            said=f"{isolated(each.title)}: risk {each.risk:.3f}, loss {each.loss(useful):.3f}",
            series=place,
        )
        for place, each in enumerate(found)
    ]
    return scatter(
        points,
        label="Points: risk and loss of each candidate; lower left is better. The table has all figures.",
        across="risk",
        upwards=upwards,
        names=[each.title for each in found],
        ceiling=1.0,
    )
