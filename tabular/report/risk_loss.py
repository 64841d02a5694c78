"""The figures, tables and the map of a report on many protections of one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from tabular.report.kit.figures import Figures, series
from tabular.report.kit.markup import element, foreign, join
from tabular.report.kit.points import Point, scatter

#: What stands first in the table of figures, and what the rest is called there.
SCORES = {
    "k": "k",
    "information_loss": "Loss",
    "disclosure_risk": "Risk",
    "score_max": "Greater",
    "score_mean": "Mean",
}
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
    methods = _by_method(protections)
    taken = {key: name for key, name in MEASURES.items() if any(each[key].is_known for each in protections)}
    columns = {**SCORES, **taken}
    return {
        "document": figures,
        "names": [column["name"] for column in figures["columns"]],
        "by": _BY.get(str(figures["score"].value), "score"),
        "best": _named(protections[0]) if protections else None,
        "tiles": [
            (name, _hundredth(protections[0][key]))
            for key, name in (
                ("information_loss", "Its information loss, from 0 to 100"),
                ("disclosure_risk", "Its disclosure risk, from 0 to 100"),
                ("k", "Records, at least, that share a combination of values (k)"),
            )
            if protections
        ],
        "on_front": sum(bool(each["on_front"]) for each in protections),
        "map": _map(methods),
        "score_names": list(SCORES.values()),
        "best_of": [
            [_named(tried[0]), *(tried[0][key] for key in SCORES), len(tried)] for tried in methods.values()
        ],
        "column_names": list(columns.values()),
        "all": [
            [_named(each), _on_front(each), *(each[key] for key in columns)] for each in protections
        ],
        "left_out": [[each["method"], each["reason"]] for each in figures["left_out"]],
        "columns": [[each["name"], each["kind"], each["categories"]] for each in figures["columns"]],
        "inputs": figures["inputs"].listed({"original": "Original, fingerprint"}),
    }  # fmt: skip


def _by_method(protections: list[Figures]) -> dict[str, list[Figures]]:
    """The protections of each method; the methods in the order of their names, so that colours stay."""
    found: dict[str, list[Figures]] = {}
    for each in protections:
        found.setdefault(str(each["method"].value), []).append(each)
    return dict(sorted(found.items()))


def _named(protection: Figures) -> Markup:
    """A protection by its method and parameters, each of them a figure."""
    parameters = protection["parameters"]
    words = [
        [" ", element("span", foreign(key), " ", _parameter(parameters[key]), class_="deviation")]
        for key in parameters.names()
    ]
    return join(protection["method"], words)


def _parameter(parameter: Figures) -> object:
    if isinstance(parameter.value, Mapping):
        return series([parameter[name] for name in parameter.names()]) or "none"
    # Parameters are shown as they are typed.
    return parameter.words(f"{parameter.value:g}") if isinstance(parameter.value, float) else parameter


def _hundredth(figures: Figures) -> Figures:
    return figures.words(f"{figures.value:.2f}") if isinstance(figures.value, float) else figures


def _on_front(protection: Figures) -> Figures:
    return protection["on_front"].words("●" if protection["on_front"] else "-")


def _map(methods: Mapping[str, list[Figures]]) -> Markup:
    points = [point for place, tried in enumerate(methods.values()) for each in tried if (point := _point(each, place))]
    return scatter(
        # The front lies on top, so that it is not hidden where points crowd.
        sorted(points, key=lambda point: point.is_ringed),
        label="Map of disclosure risk against information loss, one point a protection; the tables have all figures.",
        across="Information loss, percent",
        upwards="Disclosure risk, percent",
        names=list(methods),
        kinds=[(Point(0, 0, "", is_filled=False, is_ringed=True), "on the front")],
        ceiling=100.0,
    )


def _point(protection: Figures, place: int) -> Point | None:
    loss, risk = protection["information_loss"].number, protection["disclosure_risk"].number
    if loss is None or risk is None:
        return None
    parameters = protection["parameters"]
    words = " ".join(f"{key} {_typed(parameters[key].value)}" for key in parameters.names())
    method, k = protection["method"].value, protection["k"].value
    said = f"{method} {words}: loss {loss:.2f} %, risk {risk:.2f} %, k = {k}"
    return Point(loss, risk, said, place, is_ringed=protection["on_front"].value is True)


def _typed(value: Any) -> str:
    return ", ".join(map(str, value.values())) if isinstance(value, Mapping) else str(value)
