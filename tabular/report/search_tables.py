"""The tables of a report on a search: solutions, the exact front, the course, the release, and what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tabular.report.kit.figures import Figures
from tabular.report.kit.markup import Markup, element, foreign, join
from tabular.report.kit.page import paragraphs, side_by_side, table

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
_LOST = {
    "level": "Level",
    "height": "of",
    "values_before": "Values before",
    "values_after": "after",
    "general_loss": "GLM a cell",
    "precision": "Precision lost",
    "non_uniform_entropy": "Bits a row",
    "cells_suppressed": "Cells suppressed",
}
_LIMITS = {
    "k": "k, at least",
    "l": "l, at least",
    "t": "t, at most",
    "suppression": "Share of rows that may be suppressed",
    "suppressible": "Rows that may be suppressed",
}


def count(figures: Figures, *path: Any) -> int:
    """How many entries the list at *path* has; 0 where there is none."""
    found = figures.get(*path)
    return len(found) if isinstance(found, list | tuple) else 0


def names_of(figures: Figures) -> list[Any]:
    """The names of the quasi-identifiers."""
    return [figures.get("quasi_identifiers", place, "name") for place in range(count(figures, "quasi_identifiers"))]


def node_of(figures: Figures, *path: Any) -> tuple[Any, ...]:
    """The levels of the node at *path*."""
    return tuple(figures.get(*path, "node", place) for place in range(count(figures, *path, "node")))


def levels(figures: Figures, *path: Any) -> Markup:
    """The levels of the node at *path* by the names of the attributes."""
    names = names_of(figures)
    told = []
    for place in range(count(figures, *path, "node")):
        name = names[place] if place < len(names) else None
        told.append([", " if place else None, name and [foreign(name), "\u00a0"], figures.inline(*path, "node", place)])
    return join(told)


def ranks(figures: Figures) -> Markup:
    """By what solutions are put in order."""
    if not count(figures, "objectives"):
        return figures.inline("metric")
    each = range(count(figures, "objectives"))
    return join([[", " if place else None, figures.inline("objectives", place)] for place in each])


def solutions_table(figures: Figures) -> Markup:
    """All solutions with their levels, and further metrics of the same ones."""
    shown, found = count(figures, "solutions"), figures.number("solutions_found")
    if not shown:
        return paragraphs("There is none.")
    more = None
    if found is not None and found > shown:
        listed = (f"The first {shown:,} of ", figures.inline("solutions_found"), "; the JSON document has all.")
        more = element("p", *listed)
    keys = list(dict.fromkeys(key for place in range(shown) for key in figures.keys("solutions", place, known=FIRST)))
    keys = [key for key in keys if key != "node" and _is_known(figures, key)]
    others = [key for key in keys if key not in FIRST]
    caption = "Further metrics of the same solutions, in the same order."
    return join(
        more,
        _solutions(figures, join("The solutions, by ", ranks(figures), "."), [key for key in keys if key in FIRST]),
        _solutions(figures, caption, others, with_levels=False) if others else None,
    )


def _is_known(figures: Figures, key: str) -> bool:
    return any(figures.get("solutions", place, key) is not None for place in range(count(figures, "solutions")))


def _solutions(figures: Figures, caption: object, keys: Sequence[str], *, with_levels: bool = True) -> Markup:
    rows = []
    for place in range(count(figures, "solutions")):
        at = _placed(figures, "solutions", place) if with_levels else f"{place + 1}"
        rows.append([at, *(figures.cell("solutions", place, key) for key in keys)])
    heads = ["Place and levels" if with_levels else "Place", *(HEADS.get(key, key) for key in keys)]
    return table(join(caption), heads, rows, wide=True)


def _placed(figures: Figures, key: str, place: int) -> Markup:
    """The place of a node in its list, and its levels."""
    return element("div", f"{place + 1}: ", levels(figures, key, place), class_="levels")


def exact_table(figures: Figures) -> Markup | None:
    """The exact front, and which of its nodes were found."""
    places = range(count(figures, "exact_front"))
    if not places:
        return None
    found = {node_of(figures, "solutions", place) for place in range(count(figures, "solutions"))}
    keys = [key for key in figures.keys("exact_front", 0) if key != "node"]
    rows = [
        [
            _placed(figures, "exact_front", place),
            *(figures.cell("exact_front", place, key) for key in keys),
            element("td", "yes" if node_of(figures, "exact_front", place) in found else "no", class_="number"),
        ]
        for place in places
    ]
    heads = ["Place and levels", *(HEADS.get(key, key) for key in keys), "Found"]
    return table("The exact front, and whether the search found the node.", heads, rows, wide=True)


def moments_table(figures: Figures) -> Markup:
    """The best and the bound, time by time."""
    rows = [
        [
            figures.inline("moments", place, "seconds"),
            *(figures.cell("moments", place, key) for key in ("evaluated", "best", "lower_bound")),
        ]
        for place in range(count(figures, "moments"))
    ]
    return table("What was known when.", ["Seconds", "Nodes evaluated", "Best", "Bound"], rows)


def release_tables(figures: Figures) -> Markup:
    """Which node was released, what each attribute lost, and what the labels stand for."""
    place = figures.get("release", "place")
    at = [
        [", " if position else None, foreign(name), "\u00a0", figures.inline("release", "levels", name)]
        for position, name in enumerate(figures.keys("release", "levels"))
    ]
    values = None
    if figures.get("release", "l") is not None:
        values = [", l = ", figures.inline("release", "l"), ", t = ", figures.inline("release", "t")]
    said = join(
        "Released was ",
        ["place ", figures.inline("release", "place"), " of the list: "] if place is not None else None,
        at, ". Counted anew in its cells: k = ", figures.inline("release", "k"), values, ", ",
        figures.inline("release", "suppressed"), " rows suppressed.",
    )  # fmt: skip
    return join(element("p", said), _lost(figures), _labels(figures))


def _lost(figures: Figures) -> Markup:
    rows = [
        [
            figures.inline("release", "attributes", place, "name"),
            *(figures.cell("release", "attributes", place, key) for key in _LOST),
        ]
        for place in range(count(figures, "release", "attributes"))
    ]
    return table("What each attribute lost.", ["Attribute", *_LOST.values()], rows, wide=True)


def _labels(figures: Figures) -> Markup | None:
    rows = []
    for place in range(count(figures, "release", "attributes")):
        path: tuple[Any, ...] = ("release", "attributes", place)
        for at in range(count(figures, *path, "labels")):
            cells = [figures.cell(*path, "labels", at, key) for key in ("label", "name", "values", "rows")]
            rows.append([foreign(figures.get(*path, "name")), *cells])
    if not rows:
        return None
    caption = (
        "The labels of the release: what the hierarchy calls them, how many values it has under them, and their rows."
    )
    heads = ["Attribute", "Label", "In the hierarchy", "Values", "Rows"]
    return element("div", table(caption, heads, rows, wide=True), class_="text")


def asked_tables(figures: Figures) -> Markup:
    """The quasi-identifiers, and what a node has to satisfy."""
    rows = [
        [
            figures.inline("quasi_identifiers", place, "name"),
            *(figures.cell("quasi_identifiers", place, key) for key in ("values", "height")),
        ]
        for place in range(count(figures, "quasi_identifiers"))
    ]
    asked = [
        [said, figures.cell("limits", key)] for key, said in _LIMITS.items() if figures.get("limits", key) is not None
    ]
    asked += [
        [said, figures.cell(key)]
        for key, said in (("sensitive", "Sensitive column"), ("class_label", "Class label"))
        if figures.get(key) is not None
    ]
    return side_by_side(
        table("The quasi-identifiers.", ["Column", "Values", "Height"], rows),
        element("div", table("What was asked of a node.", ["What", "Value"], asked), class_="text"),
    )
