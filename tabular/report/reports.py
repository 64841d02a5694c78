"""Reports on tables: one HTML file each, from the same numbers as the JSON, without script and without network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from tabular.report.kit.charts import Moment, Point, held_lines, scatter
from tabular.report.kit.figures import Figures, isolated, percent
from tabular.report.kit.page import page


def risk_loss_report(document: Mapping[str, Any], *, title: str = "Risk against loss: protections compared") -> str:
    """The report of a grid of protections of one table, from its JSON document."""
    return page(__package__, "risk_loss.html", title=title, **risk_loss_context(Figures(document)))


def search_report(document: Mapping[str, Any], *, title: str = "Search of the lattice of generalisations") -> str:
    """The report of one search of a table's lattice, from its JSON document."""
    return page(__package__, "search.html", title=title, **search_context(Figures(document)))


#: What stands beside the levels of a solution; the other metrics have a table of their own.
FIRST = ("k", "l", "t", "suppressed", "s_k", "s_l", "glm", "cm", "precision")
HEADS = {
    "k": "k",
    "l": "l",
    "t": "t",
    "suppressed": "Rows suppressed",
    "s_k": "S_k",
    "s_l": "S_l",
    "glm": "GLM",
    "cm": "CM",
    "precision": "Precision lost",
    "discernibility": "Discernibility",
    "normalized_average_class_size": "Class size over k",
    "non_uniform_entropy": "Entropy, bits",
    "l_entropy": "Entropy l",
    "l_recursive": "Recursive c",
}
_PRIVACY = ("k", "l", "s_k", "s_l")
_AXES = {"glm": "GLM, summed over cells", "cm": "CM, rows"}
#: The kinds of point on a front, where the exact front is known.
_KINDS = (
    (Point(0, 0, "", is_ringed=True), "found, exact"),
    (Point(0, 0, "", is_filled=False, is_ringed=True), "exact, not found"),
    (Point(0, 0, ""), "found, not exact"),
)


def search_context(figures: Figures) -> dict[str, Any]:
    """What the template shows."""
    solutions = list(figures["solutions"])
    keys = dict.fromkeys(key for each in solutions for key in each.names(*FIRST) if each[key].is_known)
    columns = {key: HEADS.get(key, key) for key in (*FIRST, *keys) if key in keys and key != "node"}
    return {
        "document": figures,
        "is_front": len(figures["objectives"]) > 0,
        "ranks": list(figures["objectives"]) or [figures["metric"]],
        "cells": _share_of_cells(figures),
        "is_proven": _is_proven(figures),
        "chart": front_chart(figures) if figures["objectives"] else _course(figures),
        "first_columns": {key: head for key, head in columns.items() if key in FIRST},
        "other_columns": {key: head for key, head in columns.items() if key not in FIRST},
        "found": [each["node"].value for each in solutions],
        "exact_columns": {key: HEADS.get(key, key) for key in figures.at("exact_front", 0).names() if key != "node"},
    }


def _node(solution: Figures) -> tuple[Any, ...]:
    return tuple(level.value for level in solution["node"])


def _share_of_cells(figures: Figures) -> Figures:
    """The general loss of the best as a share of all cells."""
    loss = figures.at("solutions", 0, "glm")
    cells = (figures["rows"].number or 0) * len(figures["quasi_identifiers"])
    return loss.words(percent(loss.number / cells) if loss.number is not None and cells else None)


def _is_proven(figures: Figures) -> bool | None:
    """Whether the bound meets the best; None where there is no bound."""
    bound, gap = figures["lower_bound"].number, figures["gap"].number
    # A gap so small beside the bound is none: both were added up in another order.
    return None if bound is None or gap is None else gap <= 1e-9 * max(1.0, bound)


def _axes(objectives: Sequence[str]) -> tuple[str, str, str | None]:
    """What goes across, upwards and into the colour: a privacy objective, a loss, and the next one.

    >>> _axes(["k", "l", "glm"]), _axes(["glm", "cm"])
    (('k', 'glm', 'l'), ('glm', 'cm', None))
    """
    private = [name for name in objectives if name in _PRIVACY]
    losses = [name for name in objectives if name not in _PRIVACY]
    across, *rest = [*private[:1], *losses[:1], *private[1:], *losses[1:]]
    return across, rest[0] if rest else "glm", rest[1] if len(rest) > 1 else None


def _axis_name(name: str) -> str:
    return _AXES.get(name, HEADS.get(name, name))


def front_chart(figures: Figures, address: Callable[[Sequence[int]], str] | None = None) -> Markup:
    """The front of a document, and the exact one where it is known; on a page each node has an *address*."""
    names = [each["name"].value for each in figures["quasi_identifiers"]]
    objectives = [str(each.value) for each in figures["objectives"]]
    across, upwards, shade = _axes(objectives)
    found = {_node(each) for each in figures["solutions"]}
    exact = {_node(each) for each in figures["exact_front"]}
    points = []
    for each in (*figures["solutions"], *(each for each in figures["exact_front"] if _node(each) not in found)):
        x, y = each[across].number, each[upwards].number
        if x is not None and y is not None:
            node, colour = _node(each), None if shade is None else each[shade].number
            said = _said(each, names, objectives)
            leads = None if address is None else address(node)
            points.append(Point(x, y, said, 0, colour, is_filled=node in found, is_ringed=node in exact, address=leads))
    return scatter(
        # What only one front has lies on top, so that it is not hidden where points crowd.
        sorted(points, key=lambda point: point.is_filled != point.is_ringed),
        label=f"Points: {upwards} against {across}, one a node; the tables have all figures.",
        across=_axis_name(across),
        upwards=_axis_name(upwards),
        kinds=_KINDS if exact else (),
        shade=_axis_name(shade or ""),
    )


def _said(solution: Figures, names: Sequence[Any], objectives: Sequence[str]) -> str:
    """A node for a tooltip."""
    levels = ", ".join(f"{isolated(name)} {level}" for name, level in zip(names, _node(solution), strict=False))
    values = [
        f"{HEADS.get(name, name)} {solution[name].number:,.10g}"
        for name in dict.fromkeys(("k", "l", *objectives, "suppressed"))
        if solution[name].number is not None
    ]
    return f"{levels}: {', '.join(values)}"


def _course(figures: Figures) -> Markup:
    moments = []
    for each in figures["moments"]:
        time, values = each["seconds"].number, (each["best"].number, each["lower_bound"].number)
        if time is not None:
            said = [f"{time:.3f} s", f"{each['evaluated'].number or 0:,.0f} nodes"]
            said += [
                f"{name} {value:,.4f}"
                for name, value in zip(("best", "bound"), values, strict=True)
                if value is not None
            ]
            moments.append(Moment(time, values, ", ".join(said)))
    metric = str(figures["metric"].value or "loss")
    return held_lines(
        moments,
        names=("best found", "proven bound"),
        between="gap",
        label=f"Lines: the best {metric} found and its bound over time; the table has all figures.",
        across="seconds",
        upwards=_axis_name(metric),
    )


#: What stands first in the table of figures, and what the rest is called there.
SCORES = {"k": "k", "information_loss": "Loss", "disclosure_risk": "Risk", "score_max": "Greater", "score_mean": "Mean"}
MEASURES = {
    "ctbil": "CTBIL",
    "dbil": "DBIL",
    "ebil": "EBIL",
    "pil": "PIL",
    "id": "ID",
    "dbrl": "DBRL",
    "prl": "PRL",
    "rsrl": "RSRL",
    "informed": "Informed",
    "clustering": "Clustering",
    "disclosure_risk_bound": "Risk, within",
}
_BY = {"max": "the greater of loss and risk", "mean": "the mean of loss and risk"}


def risk_loss_context(figures: Figures) -> dict[str, Any]:
    """What the template shows."""
    protections = list(figures["protections"])
    methods: dict[str, list[Figures]] = {}
    for each in protections:
        methods.setdefault(str(each["method"].value), []).append(each)
    # In the order of their names, so that a method keeps its colour.
    methods = dict(sorted(methods.items()))
    taken = {key: name for key, name in MEASURES.items() if any(each[key].is_known for each in protections)}
    return {
        "document": figures,
        "by": _BY.get(str(figures["score"].value), "score"),
        "map": _map(methods),
        "methods": methods.values(),
        "scores": SCORES,
        "measures": {**SCORES, **taken},
    }


def _map(methods: Mapping[str, list[Figures]]) -> Markup:
    points = [_point(each, place) for place, tried in enumerate(methods.values()) for each in tried]
    return scatter(
        # The front lies on top, so that it is not hidden where points crowd.
        sorted((point for point in points if point), key=lambda point: point.is_ringed),
        label="Map of information loss against disclosure risk, one point a protection; the tables have all figures.",
        across="Disclosure risk, percent",
        upwards="Information loss, percent",
        names=list(methods),
        kinds=[(Point(0, 0, "", is_filled=False, is_ringed=True), "on the front")],
        ceiling=100.0,
    )


def _point(protection: Figures, place: int) -> Point | None:
    loss, risk = protection["information_loss"].number, protection["disclosure_risk"].number
    if loss is None or risk is None:
        return None
    parameters = protection["parameters"]
    typed = [(key, parameters[key].value) for key in parameters.names()]
    words = " ".join(
        f"{key} {', '.join(map(str, value.values())) if isinstance(value, Mapping) else value}" for key, value in typed
    )
    said = f"{protection['method'].value} {words}: loss {loss:.2f} %, risk {risk:.2f} %, k = {protection['k'].value}"
    return Point(risk, loss, said, place, is_ringed=protection["on_front"].value is True)
