"""A grid of protections of one table: the methods of the thesis, each with many parameters, measured side by side.

Mares Soler (2013), section 3.5, starts from 72 microaggregations, 4 to 6 each of top, bottom and global coding, 11 rank
swappings and 9 PRAMs. It does not print their parameters; those that stand here are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tabular.attributes import KINDS, ORDINAL
from tabular.errors import NoSolution, ReportedError
from tabular.loop import Report, on_threads, processors, silent
from tabular.measures import Summary, summary
from tabular.measures.scores import PLAIN
from tabular.protections import check_columns, protect, protections
from tabular.protections.recoding import THESIS
from tabular.table import Table, smallest_class

#: 24 sizes of groups; each column alone, two together and all together make 72 microaggregations of three columns.
GROUP_SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 50, 60, 70, 80, 90, 100)
#: The reach of 11 rank swappings, in percent of the records.
REACHES = (1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20)
#: The matrices of 9 PRAMs: five of equation 2.3, four of equations 2.4 and 2.5.
MATRICES = (
    *({"retain": share} for share in (0.9, 0.7, 0.5, 0.3, 0.1)),
    *({"theta": share} for share in (0.25, 0.5, 0.75, 1.0)),
)
#: The most codings of each kind; a column with few categories has fewer.
CODINGS = 6

SCORES = ("max", "mean")


@dataclass(frozen=True, kw_only=True)
class Member:
    """One protection of the grid: a method and its parameters; a *count* can be a mapping from *columns*."""

    method: str
    parameters: Mapping[str, Any]
    columns: tuple[str, ...] = ()

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
            return protect(table, self.method, self.columns, rng=rng, **self.parameters)
        for name in self.columns:
            table = protect(table, self.method, [name], rng=rng, **{**self.parameters, "count": counts[name]})
        return table


@dataclass(frozen=True)
class LeftOut:
    """A protection that the grid leaves out for this table, and the reason."""

    method: str
    reason: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """The result of one protection: the k of the masked columns, and all measures."""

    member: Member
    k: int
    summary: Summary

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
            # In percent, ACTBIL is CTBIL.
            **{name: value for name, value in measured.items() if isinstance(value, float) and name != "actbil"},
            **({"disclosure_risk_bound": bound} if bound else {}),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcomes:
    """The results of all protections, in the order of the grid, and those left out."""

    outcomes: tuple[Outcome, ...]
    left_out: tuple[LeftOut, ...] = field(default=())

    def ranked(self, score: str) -> list[Outcome]:
        """The outcomes from the best *score* on; equal ones in the order of the grid."""
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


def thesis_grid(table: Table, attributes: Sequence[str]) -> tuple[tuple[Member, ...], tuple[LeftOut, ...]]:
    """The protections of the grid that suit these columns of *table*, and those left out."""
    columns = check_columns(table, attributes, "the grid", KINDS)
    members: list[Member] = []
    left_out: list[LeftOut] = []
    for method, build in _BUILDERS.items():
        taken = _KINDS.get(method, protections[method].method.kinds)
        other = [name for name in columns if table.attribute(name).kind not in taken]
        if other:
            kinds = " and ".join(taken)
            found: list[Mapping[str, Any]] = []
            listed = ", ".join(f"{name!r} is {table.attribute(name).kind}" for name in other)
            reason = f"it takes {kinds} columns only, and {listed}"
        else:
            found, reason = build(table, columns)
        members += [Member(method=method, parameters=parameters, columns=columns) for parameters in found]
        if reason:
            left_out.append(LeftOut(method, reason))
    return tuple(members), tuple(left_out)


def run_grid(
    table: Table,
    attributes: Sequence[str],
    *,
    rng: np.random.Generator,
    workers: int | None = None,
    report: Report = silent,
    keep: Callable[[Member, Table], object] = lambda member, masked: None,
) -> Outcomes:
    """Mask *table* by each protection of the grid and measure it; *keep* is given each masked table, one by one.

    Every protection draws from a stream of its own, so that neither the number of *workers* nor another protection
    changes what it gives.
    """
    members, left_out = thesis_grid(table, attributes)
    outcomes, failed = [], list(left_out)
    drawn = zip(members, rng.spawn(len(members)), strict=True)
    tried = on_threads(lambda each: _tried(table, attributes, *each), drawn, workers or min(4, processors()))
    for done, (member, found) in enumerate(zip(members, tried, strict=True)):
        report("Protections", done, len(members))
        if isinstance(found, ReportedError):
            failed.append(LeftOut(member.name, str(found)))
        else:
            outcomes.append(found[0])
            keep(member, found[1])
    if not outcomes:
        raise NoSolution(f"No protection of the grid can be made: {failed[-1].method}: {failed[-1].reason}")
    return Outcomes(outcomes=tuple(outcomes), left_out=tuple(failed))


def _tried(
    table: Table, attributes: Sequence[str], member: Member, rng: np.random.Generator
) -> tuple[Outcome, Table] | ReportedError:
    try:
        masked = member.protect(table, rng)
    except ReportedError as error:
        return error
    k = smallest_class([masked.columns[name] for name in attributes])
    return Outcome(member=member, k=k, summary=summary(table, masked, attributes, without=(PLAIN,))), masked


_Ways = tuple[list[Mapping[str, Any]], str]


def _microaggregations(table: Table, columns: tuple[str, ...]) -> _Ways:
    ways: list[Mapping[str, Any]] = [{}]
    if len(columns) > 2:
        ways.append({"groups": 2})
    if len(columns) > 1:
        ways.append({"univariate": True})
    sizes = [k for k in GROUP_SIZES if k <= len(table)]
    reason = f"k above {len(table)}, the number of rows" if len(sizes) < len(GROUP_SIZES) else ""
    return [{"k": k, **way} for way in ways for k in sizes], reason


def _codings(table: Table, columns: tuple[str, ...]) -> _Ways:
    few = [name for name in columns if len(table.attribute(name).domain) < 3]
    if few:
        listed = ", ".join(map(repr, few))
        return [], f"it joins two or more of three or more categories, and {listed} has fewer than three"
    # Each column joins the same share of its categories; shares with the same counts are one protection.
    sizes = [len(table.attribute(name).domain) for name in columns]
    shares = range(1, 100)
    every = list(dict.fromkeys(tuple(min(max(round(part * n / 100), 2), n - 1) for n in sizes) for part in shares))
    places = np.unique(np.linspace(0, len(every) - 1, min(CODINGS, len(every))).round().astype(int))
    counts = [every[place] for place in places.tolist()]
    return [{"count": each[0] if len(set(each)) == 1 else dict(zip(columns, each, strict=True))} for each in counts], ""


def _end_codings(table: Table, columns: tuple[str, ...]) -> _Ways:
    ways, reason = _codings(table, columns)
    return [{**way, "order": THESIS} for way in ways], reason


def _rank_swappings(table: Table, columns: tuple[str, ...]) -> _Ways:
    reaches = [percent for percent in REACHES if round(len(table) * percent / 100)]
    reason = "a reach of less than one record" if len(reaches) < len(REACHES) else ""
    return [{"percent": percent} for percent in reaches], reason


#: The kinds of column that the thesis gives to a method, where the method takes more.
_KINDS = dict.fromkeys(("bottom-coding", "top-coding"), (ORDINAL,))

_BUILDERS: Mapping[str, Callable[[Table, tuple[str, ...]], _Ways]] = {
    "microaggregation": _microaggregations,
    "bottom-coding": _end_codings,
    "top-coding": _end_codings,
    "global-recoding": _codings,
    "rank-swapping": _rank_swappings,
    "pram": lambda table, columns: (list(MATRICES), ""),
}
