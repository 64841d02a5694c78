"""The figures, tables and charts of a report on losses and risks by k."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from graphpriv.report import names
from graphpriv.report.audit import KNOWN
from tabular.report.kit.figures import Figures, Path
from tabular.report.kit.lines import Spread, lines, top_of
from tabular.report.kit.markup import element, join

_LOSSES = {"aamil": "AAMIL", "cdil": "CDIL", "dbil": "DBIL", "mean": "Mean"}
_RUNS = "Mean and standard deviation of the runs."


def sweep_context(figures: Figures) -> dict[str, Any]:
    """What the template of a sweep shows."""
    rows = list(figures["rows"])
    # Rows without a k have no place on the axis.
    placed = [row for row in rows if (row["k"].number or 0) > 0]
    steps = [row["k"].number or 1 for row in placed]
    paths = {shown: ("information_loss", name) for name, shown in _LOSSES.items()}
    label = "Lines: information loss by k; the table has all."
    return {
        "document": figures,
        "steps": steps,
        "changes": list(_changes(placed)) if placed else [],
        "losses": lines(steps, _columns(placed, paths), label=label, across="k"),
        "lost": _table(rows, f"Information loss by k. {_RUNS}", paths),
        "risks": list(_risks(rows, placed, steps)),
        "links": list(_links(rows)),
        **KNOWN,
    }


def _changes(placed: Sequence[Figures]) -> Iterator[tuple[str, Figures, Figures]]:
    """What changes from the first k to the last, and its figures there."""
    first, last = placed[0], placed[-1]
    paths: dict[str, Path] = {"The mean information loss": ("information_loss", "mean", "mean")}
    for name in first["disclosure_risk"].names(*names.ATTACKERS):
        said = f"The share of users found by place, topics and {names.neighbourhood(name)}"
        paths[said] = ("disclosure_risk", name, "all", "mean")
    for name in first.at("structure", "risk").names(*names.ATTACKERS):
        said = f"The share of users found by links alone, {names.neighbourhood(name)},"
        paths[said] = ("structure", "risk", name, "mean")
    for said, path in paths.items():
        ends = first.at(*path), last.at(*path)
        if None not in (ends[0].number, ends[1].number):
            yield said, *ends


def _columns(placed: Sequence[Figures], paths: Mapping[str, Path]) -> dict[str, list[Spread | None]]:
    """What stands at each of *paths* in all rows, where it is known in any."""
    columns = {shown: [_spread(row.at(*path)) for row in placed] for shown, path in paths.items()}
    return {shown: column for shown, column in columns.items() if any(column)}


def _spread(figures: Figures) -> Spread | None:
    mean = figures["mean"].number
    return None if mean is None else Spread(mean, figures["sd"].number or 0.0)


def _risks(rows: Sequence[Figures], placed: Sequence[Figures], steps: Sequence[float]) -> Iterator[dict[str, Any]]:
    """For each kind of risk and each attacker a table, and a chart of what was decided."""
    for kind, _, name, meaning in names.RISKS:
        found = rows[0][kind] if rows else Figures(None)
        paths = {
            each: {names.scenario(known): (kind, each, known) for known in found[each].names(*names.SCENARIOS)}
            for each in found.names(*names.ATTACKERS)
        }
        columns = {each: _columns(placed, below) for each, below in paths.items() if kind != "undecided"}
        # The charts of one kind share their axis, so that the attackers can be compared.
        top = max(map(top_of, columns.values()), default=1.0)
        for each, below in paths.items():
            who, drawn = names.attacker(each), columns.get(each)
            label = f"Lines: {name.lower()} by k, {who}; the table has all."
            yield {
                "caption": f"{name} by k. Attacker: {who}.",
                "chart": lines(steps, drawn, label=label, across="k", top=top) if drawn else None,
                "table": _table(rows, f"{name} by k ({meaning}). Attacker: {who}. {_RUNS}", below),
            }


def _links(rows: Sequence[Figures]) -> Iterator[dict[str, Any]]:
    """What attackers find who know nothing of the profiles."""
    for _, kind, name, meaning in names.RISKS if rows else ():
        attackers = rows[0].at("structure", kind).names(*names.ATTACKERS)
        if attackers:
            caption = f"{name} by k, links alone ({meaning}). {_RUNS}"
            yield _table(rows, caption, {names.attacker(each): ("structure", kind, each) for each in attackers})


def _table(rows: Sequence[Figures], caption: str, columns: Mapping[str, Path]) -> dict[str, Any]:
    listed = [[row["k"], *(_cell(row.at(*path)) for path in columns.values())] for row in rows]
    return {"caption": caption, "heads": ["k", *columns], "rows": listed, "wide": True}


def _cell(figures: Figures) -> Markup:
    return join(figures["mean"], " ", element("span", "± ", figures["sd"], class_="deviation"))
