"""A grid of protections of one table: the methods of the thesis, each with many parameters, measured side by side.

Mares Soler (2013), section 3.5, starts from 72 microaggregations, 4 to 6 each of top, bottom and global coding, 11 rank
swappings and 9 PRAMs. It does not print their parameters; those that stand here are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tabular.attributes import KINDS, ORDINAL
from tabular.comparison import LeftOut, Member, Outcomes, compare
from tabular.loop import ALONE, Parts, Report, silent
from tabular.protections import check_columns, protections
from tabular.protections.recoding import THESIS
from tabular.table import Table

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
    keep: Callable[[Member, Table], object] | None = None,
    parts: Parts = ALONE,
) -> Outcomes:
    """Mask *table* by each protection of the grid and measure it, as `compare` does."""
    members, left_out = thesis_grid(table, attributes)
    return compare(
        table, attributes, members, left_out, rng=rng, workers=workers, report=report, keep=keep, parts=parts
    )


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
