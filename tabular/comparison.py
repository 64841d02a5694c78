"""Protections of one table side by side: each masks the same columns, and all are measured alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tabular.errors import InvalidInput, NoSolution, ReportedError
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.loop import ALONE, Parts, Report, Values, document_of, key_of, of_document, processors, silent
from tabular.measures import Summary, summary
from tabular.measures.contract import measures
from tabular.measures.scores import LOSSES, PLAIN
from tabular.protections import protect, protections
from tabular.protections.contract import method_in
from tabular.protections.full_domain import FullDomain
from tabular.release import Counted, counted_k
from tabular.table import Table

SCORES = ("max", "mean")

#: So many masked tables wait for their turn; others are masked again.
_AT_HAND = 8

#: The measures of loss, of categories and of numbers.
_OF_LOSS = (*LOSSES, "pil")


@dataclass(frozen=True, kw_only=True)
class Member:
    """One protection of several: a method and its parameters; a *count* can be a mapping from *columns*."""

    method: str
    parameters: Mapping[str, Any]
    columns: tuple[str, ...] = ()
    #: Those of the columns, for a method that takes hierarchies.
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The method with its parameters in short.

        >>> Member(method="rank-swapping", parameters={"percent": 4}).name
        'rank-swapping percent=4'
        """
        words = [self.method]
        for key, value in self.parameters.items():
            values = value.values() if isinstance(value, Mapping) else ["true" if value is True else value]
            words.append(f"{key}={','.join(map(str, values))}")
        return " ".join(words)

    def protect(self, table: Table, rng: np.random.Generator) -> Table:
        """*table* masked by this protection."""
        counts = self.parameters.get("count")
        if not isinstance(counts, Mapping):
            return protect(table, self.method, self.columns, rng=rng, **self.parameters, **self._read)
        for name in self.columns:
            table = protect(table, self.method, [name], rng=rng, **{**self.parameters, "count": counts[name]})
        return table

    @property
    def key(self) -> str:
        """A digest of all that it depends on."""
        hierarchies = [each.key for each in self.hierarchies.values()]
        return key_of(self.method, dict(self.parameters), self.columns, *hierarchies)

    @property
    def promises_k(self) -> bool:
        """Whether k holds over all its columns together."""
        return protections[self.method].make(self.parameters).k_holds_over(self.columns) == (self.columns,)

    @property
    def _read(self) -> dict[str, Any]:
        return {"hierarchies": self.hierarchies} if self.hierarchies else {}


@dataclass(frozen=True)
class LeftOut:
    """A protection that is left out for this table, and the reason."""

    method: str
    reason: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """The result of one protection: the k of the masked columns, and all measures."""

    member: Member
    counted: Counted
    summary: Summary
    #: The information loss of each column alone, in percent, where that was asked for.
    losses: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def k(self) -> int:
        """How many rows agree in the masked columns, at least; suppressed ones do not count."""
        return self.counted.k

    def score(self, name: str) -> float:
        """The score called *name*, max or mean of loss and risk; lower is better."""
        return self.summary.score_max if name == "max" else self.summary.score_mean

    def document(self) -> dict[str, Any]:
        """Method, parameters, k and the measures in percent."""
        measured = self.summary.document()
        bound = measured["bounds"]["disclosure_risk"]
        return {
            "method": self.member.method,
            "parameters": dict(self.member.parameters),
            "k": self.k,
            **({"suppressed": self.counted.suppressed} if self.counted.suppressed else {}),
            **({"losses": dict(self.losses)} if self.losses else {}),
            # In percent, ACTBIL is CTBIL.
            **{name: value for name, value in measured.items() if isinstance(value, float) and name != "actbil"},
            **({"disclosure_risk_bound": bound} if bound else {}),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcomes:
    """The results of all protections, in their order, and those left out."""

    outcomes: tuple[Outcome, ...]
    left_out: tuple[LeftOut, ...] = field(default=())

    def ranked(self, score: str) -> list[Outcome]:
        """The outcomes from the best *score* on; equal ones in their order."""
        return sorted(self.outcomes, key=lambda each: each.score(score))

    def document(self, score: str) -> dict[str, Any]:
        """The outcomes by *score* as plain values, each with whether it is on the front of loss and risk."""
        ranked = self.ranked(score)
        points = [(each.summary.information_loss, each.summary.disclosure_risk) for each in ranked]
        front = pareto_front(points)
        return {
            "score": score,
            "protections": [
                {**each.document(), "on_front": on_front} for each, on_front in zip(ranked, front, strict=True)
            ],
            "left_out": [dict(vars(each)) for each in self.left_out],
        }


def pareto_front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Whether no other point is as low in both and lower in one.

    >>> pareto_front([(1, 3), (2, 2), (2, 3), (3, 1)])
    [True, True, False, True]
    """
    return [not any(one <= x and two <= y and (one, two) != (x, y) for one, two in points) for x, y in points]


def compare(
    table: Table,
    attributes: Sequence[str],
    members: Sequence[Member],
    left_out: Sequence[LeftOut] = (),
    *,
    rng: np.random.Generator,
    by_column: bool = False,
    workers: int | None = None,
    report: Report = silent,
    keep: Callable[[Member, Table], object] | None = None,
    parts: Parts = ALONE,
) -> Outcomes:
    """Mask *table* by each of *members* and measure it; *keep* is given each masked table, one by one.

    Every protection draws from a stream of its own, so that neither the number of *workers* nor another protection
    changes what it gives; each is one of the *parts*. *by_column* says the loss of each column, too.
    """
    if not len(table):
        raise InvalidInput("The table has no records; there is nothing to compare.")
    outcomes, failed, at_hand = [], list(left_out), dict[int, Table]()
    streams = rng.spawn(len(members))

    def masked_by(number: int) -> Table:
        return members[number].protect(table, deepcopy(streams[number]))

    def tried(number: int) -> Values:
        try:
            masked = masked_by(number)
        except ReportedError as error:
            return of_document({"failed": str(error)})
        if keep is not None and len(at_hand) < _AT_HAND:
            at_hand[number] = masked
        losses = losses_by_column(table, masked, attributes) if by_column else {}
        counted = counted_k(masked, attributes)
        found = {"summary": summary(table, masked, attributes, without=(PLAIN,)).values, "losses": losses}
        return of_document({**found, "counted": [counted.k, counted.suppressed]})

    states = [each.bit_generator.state for each in streams]
    key = key_of(table.key, tuple(attributes), by_column, [each.key for each in members], states)
    for number, values in parts.each(
        key, tried, len(members), workers=workers or min(4, processors()),
        told=lambda done: report("Protections", done, len(members)),
    ):  # fmt: skip
        member, found = members[number], document_of(values)
        if "failed" in found:
            failed.append(LeftOut(member.name, found["failed"]))
            continue
        outcomes.append(
            Outcome(
                member=member,
                counted=Counted(*found["counted"]),
                summary=Summary.of(found["summary"]),
                losses=found["losses"],
            )
        )
        if keep is not None:
            keep(member, at_hand.pop(number) if number in at_hand else masked_by(number))
    if not outcomes:
        why = f" {failed[-1].method}: {failed[-1].reason}" if failed else ""
        raise NoSolution(f"None of the protections can be made.{why}")
    return Outcomes(outcomes=tuple(outcomes), left_out=tuple(failed))


def losses_by_column(table: Table, masked: Table, attributes: Sequence[str]) -> dict[str, float | None]:
    """The information loss of each column alone, in percent.

    >>> before = Table.from_columns({"a": ["x", "y"], "b": ["u", "v"]})
    >>> after = protect(before, "mondrian", ["a"], rng=np.random.default_rng(0), k=2)
    >>> losses_by_column(before, after, ["a", "b"])["b"]
    0.0
    """
    others = [name for name in measures if name not in _OF_LOSS]
    read = {name: summary(table, masked, [name], without=others) for name in attributes}
    return {name: each.scores()["information_loss"] for name, each in read.items()}


def read_members(texts: Sequence[str], columns: Sequence[str]) -> tuple[Member, ...]:
    """The protections that texts such as 'mondrian k=5' name, for these *columns*; each once."""
    members = []
    for text in dict.fromkeys(texts):
        name, parameters = method_in(text)
        protections[name].make(parameters)
        members.append(Member(method=name, parameters=parameters, columns=tuple(columns)))
    return tuple(members)


def promising(table: Table, columns: Sequence[str], k: int) -> tuple[tuple[Member, ...], tuple[LeftOut, ...]]:
    """Each method that promises that *k* rows agree in all *columns* together, and those that do not suit these.

    Generalisation to levels is not among them: its levels have to be found first. Nor is a method that applies another
    one, which is there by itself.
    """
    members, left_out = [], []
    for entry in protections.entries():
        names = [each.name for each in entry.parameters]
        if not entry.method.promises_k or "k" not in names or "inner" in names or entry.method is FullDomain:
            continue
        other = [name for name in columns if table.attribute(name).kind not in entry.method.kinds]
        if other:
            listed = ", ".join(f"{name!r} is {table.attribute(name).kind}" for name in other)
            takes = " and ".join(entry.method.kinds)
            left_out.append(LeftOut(entry.name, f"it takes {takes} columns only, and {listed}"))
        else:
            members.append(Member(method=entry.name, parameters={"k": k}, columns=tuple(columns)))
    return tuple(each for each in members if each.promises_k), tuple(left_out)
