"""The sections of a report on losses and risks by k."""

from __future__ import annotations

from collections.abc import Sequence

from graphpriv.report import words
from graphpriv.report.definitions import definitions
from tabular.report.kit import charts
from tabular.report.kit.charts import Spread
from tabular.report.kit.figures import Figures, Step
from tabular.report.kit.inputs import inputs
from tabular.report.kit.markup import Markup, element, join
from tabular.report.kit.page import Section, figure, paragraphs, side_by_side, table

_LOSSES = {"aamil": "AAMIL", "cdil": "CDIL", "dbil": "DBIL", "mean": "Mean"}
_KINDS = (
    ("disclosure_risk", "Disclosure risk", "share of users for whom a match is found"),
    ("expected_success", "Expected success", "how often a guess among the matches is right"),
    ("undecided", "Undecided", "share of users whose search ended at the budget"),
)

_BAND = "Mean of the runs, band of one standard deviation."


def sweep_lead(figures: Figures) -> Markup:
    """What was swept, in one line."""
    steps = ", ".join(f"{step:g}" for step in _steps(figures))
    return element(
        "p",
        figures.inline("users"), " users, ", figures.inline("edges"), f" links. k = {steps}; ",
        figures.inline("parameters", "runs"), " runs each. Measured with graphpriv ", figures.inline("version"), ".",
        class_="lead",
    )  # fmt: skip


def sweep_sections(figures: Figures) -> list[Section]:
    """What was found in short, losses, risks, definitions and inputs."""
    return [
        Section("verdict", "In short", _verdict(figures)),
        Section("loss", "What is lost", _losses(figures)),
        Section("risk", "Who can be found", _risks(figures)),
        *_links(figures),
        Section("definitions", "What the measures mean", definitions()),
        Section("inputs", "Inputs, version and parameters", inputs(figures)),
    ]


def _rows(figures: Figures) -> range:
    return range(len(figures.get("rows") or []))


def _places(figures: Figures) -> list[int]:
    """The rows that have a k, and so a place on the axis."""
    return [place for place in _rows(figures) if (figures.number("rows", place, "k") or 0) > 0]


def _steps(figures: Figures) -> list[float]:
    return [figures.number("rows", place, "k") or 1 for place in _places(figures)]


def _verdict(figures: Figures) -> Markup:
    places = _places(figures)
    if not places:
        return paragraphs("The document holds no rows.")
    first, last = places[0], places[-1]
    sentences = [
        _from_to(figures, "The mean information loss goes from ", ("information_loss", "mean", "mean"), first, last)
    ]
    for name in figures.keys("rows", 0, "disclosure_risk", known=tuple(words.ATTACKERS)):
        said = f"The share of users found by place, topics and {words.known(name)} goes from "
        sentences.append(_from_to(figures, said, ("disclosure_risk", name, "all", "mean"), first, last))
    for name in figures.keys("rows", 0, "structure", "risk", known=tuple(words.ATTACKERS)):
        said = f"The share of users found by links alone, {words.known(name)}, goes from "
        sentences.append(_from_to(figures, said, ("structure", "risk", name, "mean"), first, last))
    return element(
        "div",
        element("p", "A higher k hides profiles among more others and costs information.", class_="headline"),
        element("ul", [element("li", each) for each in sentences if each]),
        class_="verdict",
    )


def _from_to(figures: Figures, said: str, path: tuple[Step, ...], first: int, last: int) -> Markup | None:
    ends = [("rows", place, *path) for place in (first, last)]
    if any(figures.number(*each) is None for each in ends):
        return None
    low, high = (f"{figures.number('rows', place, 'k'):g}" for place in (first, last))
    return join(said, figures.share(*ends[0]), f" at k = {low} to ", figures.share(*ends[1]), f" at k = {high}.")


def _column(figures: Figures, path: tuple[Step, ...]) -> list[Spread | None]:
    column: list[Spread | None] = []
    for place in _places(figures):
        mean = figures.number("rows", place, *path, "mean")
        deviation = figures.number("rows", place, *path, "sd")
        column.append(None if mean is None else Spread(mean, deviation or 0.0))
    return column


def _losses(figures: Figures) -> Markup:
    steps = _steps(figures)
    series = {shown: _column(figures, ("information_loss", name)) for name, shown in _LOSSES.items()}
    series = {name: column for name, column in series.items() if any(column)}
    chart = charts.lines(steps, series, label="Lines: information loss by k; the table has all.")
    paths: list[tuple[Step, ...]] = [("information_loss", name) for name in _LOSSES]
    return join(
        figure(chart, ["Information loss by k. ", _BAND]),
        _table(
            figures, "Information loss by k, mean and standard deviation of the runs.", list(_LOSSES.values()), paths
        ),
    )


def _risks(figures: Figures) -> Markup:
    steps = _steps(figures)
    drawn, tables = [], []
    for kind, name, meaning in _KINDS:
        attackers = figures.keys("rows", 0, kind, known=tuple(words.ATTACKERS))
        series = {attacker: _by_scenario(figures, kind, attacker) for attacker in attackers}
        # The charts of one kind share their axis, so that the attackers can be compared.
        top = max((charts.top_of(columns) for columns in series.values()), default=1.0)
        for attacker, columns in series.items():
            who = words.attacker(attacker)
            if columns and kind != "undecided":
                label = f"Lines: {name.lower()} by k, {who}; the table has all."
                chart = charts.lines(steps, columns, label=label, top_value=top)
                drawn.append(figure(chart, [f"{name} by k. Attacker: {who}. ", _BAND]))
            scenarios = figures.keys("rows", 0, kind, attacker, known=tuple(words.SCENARIOS))
            paths: list[tuple[Step, ...]] = [(kind, attacker, each) for each in scenarios]
            caption = f"{name} by k ({meaning}). Attacker: {who}. Mean and standard deviation of the runs."
            tables.append(_table(figures, caption, [words.scenario(each) for each in scenarios], paths))
    return join(side_by_side(*drawn), tables)


def _links(figures: Figures) -> list[Section]:
    """What attackers find who know nothing of the profiles, and what the release does to the links."""
    note = figures.get("note")
    tables = []
    for kind, name, meaning in (("risk", *_KINDS[0][1:]), *_KINDS[1:]):
        attackers = figures.keys("rows", 0, "structure", kind, known=tuple(words.ATTACKERS))
        paths: list[tuple[Step, ...]] = [("structure", kind, attacker) for attacker in attackers]
        caption = f"{name} by k, links alone ({meaning}). Mean and standard deviation of the runs."
        if paths:
            tables.append(_table(figures, caption, [words.attacker(attacker) for attacker in attackers], paths))
    if not tables and not note:
        return []
    said = element("p", figures.inline("note", words=str(note)), class_="note prose") if note else None
    return [Section("structure", "The links", join(said, tables))]


def _by_scenario(figures: Figures, kind: str, attacker: str) -> dict[str, list[Spread | None]]:
    scenarios = figures.keys("rows", 0, kind, attacker, known=tuple(words.SCENARIOS))
    columns = {words.scenario(each): _column(figures, (kind, attacker, each)) for each in scenarios}
    return {shown: column for shown, column in columns.items() if any(column)}


def _table(figures: Figures, caption: str, heads: Sequence[str], paths: Sequence[tuple[Step, ...]]) -> Markup:
    rows = []
    for place in _rows(figures):
        cells = [
            element(
                "td",
                figures.inline("rows", place, *path, "mean"),
                " ",
                element("span", "± ", figures.inline("rows", place, *path, "sd"), class_="deviation"),
                class_="number",
            )
            for path in paths
        ]
        rows.append([figures.inline("rows", place, "k"), *cells])
    return table(caption, ["k", *heads], rows, wide=True)
