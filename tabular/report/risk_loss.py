"""The sections of a report on many protections of one table: the map of risk against loss, and all their figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tabular.report.kit.figures import Figures
from tabular.report.kit.inputs import inputs
from tabular.report.kit.markup import Markup, element, foreign, join
from tabular.report.kit.page import Section, figure, paragraphs, table
from tabular.report.kit.scatter import Point, scatter

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

DEFINITIONS = (
    ("Information loss", "The mean of CTBIL, DBIL and EBIL (eq 4.9); of columns of numbers alone, PIL."),
    (
        "Disclosure risk",
        "The mean of ID and the better of the two linkages, DBRL and PRL (eq 4.10); of numbers alone, of ID and the "
        "mean of the two.",
    ),
    ("Greater, mean", "The greater of loss and risk (eq 3.4) and their mean (eq 3.2): lower is better."),
    ("k", "How many records agree with the loneliest one in all protected columns, counted in the masked table."),
    (
        "CTBIL, DBIL, EBIL",
        "How far cross tables of pairs of columns differ (eq 2.10); how far values lie from what they were (eq 2.8, "
        "2.9); how uncertain the original value is (eq 2.12, 2.13).",
    ),
    (
        "ID, DBRL, PRL, RSRL",
        "Records whose original value lies near the masked one; records linked rightly by distance, by agreement, and "
        "by distance within the reach of a swap.",
    ),
    ("Informed", "Records linked rightly by an attacker who knows the method and what it does to each value."),
    ("PIL", "How probably statistics of the numbers lie apart by more than chance would have it."),
    ("Clustering", "How far a clustering of the masked records differs from one of the originals (eq 5.3)."),
    ("On the front", "No other protection is as low in loss and in risk, and lower in one of them."),
)


def risk_loss_lead(figures: Figures) -> Markup:
    """What was tried, in one line."""
    columns = [figures.inline("columns", place, "name") for place in range(len(figures.get("columns") or []))]
    listed = [[", " if place else None, each] for place, each in enumerate(columns)]
    return element(
        "p",
        f"{_count(figures):,} protections of ", listed, " in ", figures.inline("file"), ", ", figures.inline("rows"),
        " records. Measured with graphpriv ", figures.inline("version"), ".",
        class_="lead",
    )  # fmt: skip


def risk_loss_sections(figures: Figures) -> list[Section]:
    """The best, the map, all figures, what was left out, definitions and inputs."""
    return [
        Section("verdict", "In short", _verdict(figures)),
        Section("map", "Risk against loss", _map(figures)),
        Section("methods", "The best of each method", _best(figures)),
        Section("all", "All protections", _all(figures)),
        *_left_out(figures),
        Section("definitions", "What the figures mean", _definitions()),
        Section("inputs", "Inputs, version and parameters", join(_columns(figures), inputs(figures))),
    ]


def named(figures: Figures, place: int) -> Markup:
    """A protection by its method and parameters, each of them a figure."""
    path = ("protections", place, "parameters")
    words = [
        [" ", element("span", foreign(key), " ", _parameter(figures, place, key), class_="deviation")]
        for key in figures.keys(*path)
    ]
    return join(figures.inline("protections", place, "method"), words)


def _parameter(figures: Figures, place: int, key: str) -> Markup:
    path = ("protections", place, "parameters", key)
    below = figures.keys(*path)
    if below:
        each = [[", " if at else None, figures.inline(*path, name)] for at, name in enumerate(below)]
        return join(each)
    value = figures.get(*path)
    if isinstance(value, dict):
        return join("none")
    # Parameters are shown as they are typed.
    return figures.inline(*path, words=f"{value:g}" if isinstance(value, float) else None)


def _count(figures: Figures) -> int:
    return len(figures.get("protections") or [])


def _places(figures: Figures) -> range:
    return range(_count(figures))


def _methods(figures: Figures) -> dict[str, list[int]]:
    """The places of each method's protections; the methods in the order of their names, so that colours stay."""
    found: dict[str, list[int]] = {}
    for place in _places(figures):
        found.setdefault(str(figures.get("protections", place, "method")), []).append(place)
    return dict(sorted(found.items()))


def _verdict(figures: Figures) -> Markup:
    if not _count(figures):
        return paragraphs("No protection is in the document.")
    by = _BY.get(str(figures.get("score")), "score")
    front = [place for place in _places(figures) if figures.get("protections", place, "on_front")]
    best = ("protections", 0)
    return element(
        "div",
        element("p", f"By {by}, the best is ", named(figures, 0), ".", class_="headline"),
        element(
            "dl",
            [
                element("div", element("dt", name), element("dd", _hundredth(figures, *best, key)))
                for key, name in (
                    ("information_loss", "Its information loss, from 0 to 100"),
                    ("disclosure_risk", "Its disclosure risk, from 0 to 100"),
                    ("k", "Records that agree with the loneliest one (k)"),
                )
            ],
            class_="tiles",
        ),
        element(
            "ul",
            element(
                "li",
                f"On the front, where no other is better in loss and risk, lie {len(front)} of {_count(figures)} "
                f"protections.",
            ),
            element(
                "li",
                "A low score is no promise: where k is 1, what a row says may be true of one record alone. Look at k, "
                "and at who is attacked how, before a table is given away.",
            ),
            element("li", "Methods that draw at random were run once: another run differs a little."),
        ),
        class_="verdict",
    )  # fmt: skip


def _hundredth(figures: Figures, *path: Any) -> Markup:
    value = figures.get(*path)
    return figures.inline(*path, words=f"{value:.2f}" if isinstance(value, float) else None)


def _map(figures: Figures) -> Markup:
    series = {
        method: [point for place in places if (point := _point(figures, place))]
        for method, places in _methods(figures).items()
    }
    drawn = scatter(
        series,
        label="Map of disclosure risk against information loss, one point a protection; the tables have all figures.",
        across="Information loss, percent",
        upwards="Disclosure risk, percent",
        ceiling=100.0,
    )
    caption = (
        "Risk against loss: one point a protection, the nearer to the lower left corner the better. On the dotted line "
        "loss and risk are equal. The solid line joins the front, whose points are ringed. A point says its name and "
        "figures when it is pointed at."
    )
    return figure(drawn, caption)


def _point(figures: Figures, place: int) -> Point | None:
    path = ("protections", place)
    loss, risk = (figures.number(*path, key) for key in ("information_loss", "disclosure_risk"))
    if loss is None or risk is None:
        return None
    parameters = figures.keys(*path, "parameters")
    words = " ".join(f"{key} {_typed(figures.get(*path, 'parameters', key))}" for key in parameters)
    said = (
        f"{figures.get(*path, 'method')} {words}: loss {loss:.2f} %, risk {risk:.2f} %, k = {figures.get(*path, 'k')}"
    )
    return Point(loss, risk, said, figures.get(*path, "on_front") is True)


def _typed(value: Any) -> str:
    return ", ".join(map(str, value.values())) if isinstance(value, Mapping) else str(value)


def _best(figures: Figures) -> Markup:
    rows = []
    for places in _methods(figures).values():
        place = places[0]
        cells = [figures.cell("protections", place, key) for key in SCORES]
        rows.append([named(figures, place), *cells, element("td", f"{len(places)}", class_="number")])
    by = _BY.get(str(figures.get("score")), "score")
    caption = f"The best of each method by {by}; loss, risk and scores in percent."
    return table(caption, ["Protection", *SCORES.values(), "Tried"], rows, wide=True)


def _all(figures: Figures) -> Markup:
    columns = {**SCORES, **{key: name for key, name in MEASURES.items() if _is_taken(figures, key)}}
    rows = []
    for place in _places(figures):
        front = figures.inline(
            "protections", place, "on_front", words="●" if figures.get("protections", place, "on_front") else "-"
        )
        cells = [figures.cell("protections", place, key) for key in columns]
        rows.append([named(figures, place), element("td", front, class_="number"), *cells])
    caption = join(
        "All protections, sorted by ", figures.inline("score", words=_BY.get(str(figures.get("score")))),
        "; all measures in percent.",
    )  # fmt: skip
    return table(caption, ["Protection", "On the front", *columns.values()], rows, wide=True)


def _is_taken(figures: Figures, key: str) -> bool:
    return any(figures.get("protections", place, key) is not None for place in _places(figures))


def _left_out(figures: Figures) -> list[Section]:
    entries = range(len(figures.get("left_out") or []))
    if not entries:
        return []
    rows = [
        [figures.inline("left_out", place, "method"), element("td", figures.inline("left_out", place, "reason"))]
        for place in entries
    ]
    content = join(
        paragraphs("What these columns cannot take, or what cannot be made of them:"),
        element("div", table("Protections that the grid lacks for this table.", ["What", "Why"], rows), class_="text"),
    )
    return [Section("left-out", "What was left out", content)]


def _columns(figures: Figures) -> Markup:
    rows = [
        [
            figures.inline("columns", place, "name"),
            *(figures.cell("columns", place, key) for key in ("kind", "categories")),
        ]
        for place in range(len(figures.get("columns") or []))
    ]
    return element("div", table("The protected columns.", ["Column", "Kind", "Categories"], rows), class_="text")


def _definitions() -> Markup:
    listed = [element("div", element("dt", name), element("dd", said)) for name, said in DEFINITIONS]
    return join(
        paragraphs("Equations are those of Mares Soler (2013). Every measure goes from 0 to 100; 0 is best."),
        element("dl", listed, class_="definitions"),
    )
