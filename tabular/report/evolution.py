"""The report of an evolution: its scores by generation, and its population on the map of risk against loss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from tabular.comparison import pareto_front
from tabular.report.kit import drawing as marks
from tabular.report.kit.charts import Point, scatter
from tabular.report.kit.drawing import WIDTH, Axis
from tabular.report.kit.figures import Figures
from tabular.report.kit.page import page
from tabular.report.reports import MEASURES, SCORES

#: A report lists so many generations; the document has all of them.
GENERATIONS = 60

#: What the linkage of the thesis gives.
_BY_EM = {"prl_em": "PRL by EM", "score_max_em": "Greater by EM", "score_mean_em": "Mean by EM"}

#: The curves of a history, and what they are called.
_CURVES = ("best", "mean", "worst")


def evolution_report(document: Mapping[str, Any], *, title: str = "Evolution of protections") -> str:
    """The report of one evolution, from its JSON document."""
    return page(__package__, "evolution.html", title=title, **evolution_context(Figures(document)))


def evolution_charts(best: Mapping[str, Any]) -> tuple[Markup, Markup]:
    """Where a run stands that goes on: its history, and its population on the map, with those it began with."""
    figures = Figures(best)
    lowered = "score, percent" if figures["fitness"].value is None else str(figures["fitness"].value)
    points = [(float(loss), float(risk)) for loss, risk in best["population"]]
    front = pareto_front(points) if points else []
    members = [
        {"origin": f"member {place}", "information_loss": loss, "disclosure_risk": risk, "on_front": is_on_it}
        for place, ((loss, risk), is_on_it) in enumerate(zip(points, front, strict=True), 1)
    ]
    began = [
        {"origin": f"member {place}", "information_loss": loss, "disclosure_risk": risk}
        for place, (loss, risk) in enumerate(best["start"], 1)
    ]
    population = Figures({"initial": began, "final": members})
    return history_chart(figures["history"], lowered), population_map(population, "now")


def evolution_for_report(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with some generations for all (the first, the last, others between), without the list of files."""
    history = document["history"]
    places = np.linspace(0, len(history) - 1, min(GENERATIONS, len(history))).round().astype(int)
    kept = {name: value for name, value in document.items() if name != "population_files"}
    return {**kept, "history": [history[place] for place in places.tolist()]}


def evolution_context(figures: Figures) -> dict[str, Any]:
    """What the template shows."""
    initial, final = figures["initial"], figures["final"]
    taken = {**SCORES, **MEASURES, **_BY_EM}
    measures = {key: name for key, name in taken.items() if initial[key].is_known or final[key].is_known}
    fitness, score = figures["fitness"], f"score_{figures['score'].value}"
    rows = list(figures["history"])
    is_score = fitness.value is None
    return {
        "document": figures,
        "lowered": "score" if is_score else fitness,
        "is_score": is_score,
        "before": initial[score] if is_score or not rows else rows[0][1],
        "after": final[score] if is_score or not rows else rows[-1][1],
        "chart": history_chart(rows, "score, percent" if is_score else str(fitness.value)),
        "map": population_map(figures["population"]),
        "measures": [[name, initial[key], final[key]] for key, name in measures.items()],
    }


def history_chart(history: Iterable[Figures], lowered: str) -> Markup:
    """The best, the mean and the worst of what is *lowered*, by generation."""
    rows = [[each.number for each in row] for row in history]
    known = [row for row in rows if len(row) == 4 and None not in row]
    x = Axis.from_zero([row[0] or 0.0 for row in known], 40, WIDTH - 10)
    y = Axis.around([value or 0.0 for row in known for value in row[1:]], 226, 26)
    parts, entries = [marks.grid(x, y, across="generation", upwards=lowered)], []
    for place, name in enumerate(_CURVES):
        points = [(row[0] or 0.0, row[place + 1] or 0.0) for row in known]
        parts.append(marks.curve(points, x, y, f"line-{marks.series(place)}", marks.dashes(place)))
        entries.append((marks.dashed(place), name))
    for generation, *scores in known:
        said = ", ".join(f"{name} {score:.2f}" for name, score in zip(_CURVES, scores, strict=True))
        dots = [
            marks.circle(x(generation or 0.0), y(score or 0.0), 1.8, f"fill-{marks.series(place)} edge")
            for place, score in enumerate(scores)
        ]
        parts.append(marks.told(f"generation {generation:,.0f}: {said}", dots))
    label = f"Lines: the best, the mean and the worst {lowered.partition(',')[0]} by generation."
    return marks.chart(parts, entries, 272, label)


def population_map(population: Figures, last: str = "at the end") -> Markup:
    """The population at the start and at the *last*, by risk and loss."""
    points = [
        *_points(population["initial"], 0, "at the start"),
        # The end lies on top, and on it the front.
        *sorted(_points(population["final"], 1, last), key=lambda point: point.is_ringed),
    ]
    return scatter(
        points,
        label="Map of information loss against disclosure risk, one point a member; the tables have all figures.",
        across="Disclosure risk, percent",
        upwards="Information loss, percent",
        names=["at the start", last],
        kinds=[(Point(0, 0, "", is_filled=False, is_ringed=True), f"front {last}")],
        ceiling=100.0,
    )


def _points(members: Figures, series: int, when: str) -> Sequence[Point]:
    found = []
    for each in members:
        loss, risk = each["information_loss"].number, each["disclosure_risk"].number
        if loss is not None and risk is not None:
            said = f"{each['origin'].value}, {when}: loss {loss:.2f} %, risk {risk:.2f} %"
            found.append(Point(risk, loss, said, series, is_ringed=series == 1 and each["on_front"].value is True))
    return found
