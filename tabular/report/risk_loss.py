"""The figures and the map of a report on many protections of one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from tabular.report.kit.figures import Figures
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
    typed = [(key, parameters[key].value) for key in parameters.names()]
    words = " ".join(
        f"{key} {', '.join(map(str, value.values())) if isinstance(value, Mapping) else value}" for key, value in typed
    )
    said = f"{protection['method'].value} {words}: loss {loss:.2f} %, risk {risk:.2f} %, k = {protection['k'].value}"
    return Point(loss, risk, said, place, is_ringed=protection["on_front"].value is True)
