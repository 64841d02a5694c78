"""The sections of a report on a search of the lattice: what is best, the front or the course, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tabular.report.course import Instant, course_chart
from tabular.report.front import Mark, front_chart
from tabular.report.kit.figures import Figures, percent
from tabular.report.kit.inputs import inputs
from tabular.report.kit.markup import Markup, element, isolated, join
from tabular.report.kit.page import Section, figure, paragraphs
from tabular.report.search_tables import (
    HEADS,
    asked_tables,
    count,
    exact_table,
    levels,
    moments_table,
    names_of,
    node_of,
    ranks,
    release_tables,
    solutions_table,
)

_PRIVACY = ("k", "l", "s_k", "s_l")
_AXES = {"glm": "GLM, summed over cells", "cm": "CM, rows"}

DEFINITIONS = (
    ("Node, level", "One level for each quasi-identifier: 0 keeps its values, the last one has one label for all."),
    ("k", "How many records agree with the loneliest one kept in all quasi-identifiers."),
    ("l, t", "The fewest distinct sensitive values, and the greatest distance of their shares from all, in a class."),
    ("S_k, S_l", "Sums over the records of the size of their class, and of how often their sensitive value is in it."),
    ("GLM", "General loss: for each cell the values under its label, from 0 to 1; a suppressed cell costs 1; summed."),
    ("CM", "Classification loss: records that are suppressed or not of their class's commonest label."),
    ("Precision lost", "The mean share of its height by which each attribute is generalised."),
    ("Entropy, bits", "Non-uniform entropy: what it takes to tell original values from the others of their labels."),
    ("Bound, gap", "No node that satisfies the limits has less than the bound; the gap is from there to the best."),
    ("Front", "The nodes than which no other is as good in all objectives and better in one."),
    (
        "RR, CE",
        "The share of the exact front's boxes that is occupied; the distance of the solutions from the exact front, "
        "each objective over its largest value there (Dewri and others 2010).",
    ),
)


def search_lead(figures: Figures) -> Markup:
    """What was searched, in one line."""
    each = range(count(figures, "quasi_identifiers"))
    names = [[", " if place else None, figures.inline("quasi_identifiers", place, "name")] for place in each]
    return element(
        "p",
        "Levels for ", names, " in ", figures.inline("file"), ", ", figures.inline("rows"), " records. Searched by ",
        figures.inline("algorithm"), " with graphpriv ", figures.inline("version"), ".",
        class_="lead",
    )  # fmt: skip


def search_sections(figures: Figures) -> list[Section]:
    """In short, the chart, all solutions, the release, definitions and inputs."""
    sections = [Section("verdict", "In short", _verdict(figures))]
    if _is_front(figures):
        sections.append(Section("front", "The front", join(_front(figures), exact_table(figures))))
    elif count(figures, "moments"):
        sections.append(Section("course", "Best and bound over time", _course(figures)))
    sections.append(Section("solutions", "The solutions", solutions_table(figures)))
    if figures.get("release"):
        sections.append(Section("release", "What the release lost", release_tables(figures)))
    if count(figures, "moments"):
        sections.append(Section("moments", "The course in figures", moments_table(figures)))
    sections.append(Section("definitions", "What the figures mean", _definitions()))
    sections.append(Section("inputs", "Inputs, version and parameters", join(asked_tables(figures), inputs(figures))))
    return sections


def _is_front(figures: Figures) -> bool:
    return count(figures, "objectives") > 0


def _verdict(figures: Figures) -> Markup:
    found = count(figures, "solutions")
    if not found:
        return paragraphs("No solution is in the document.")
    if _is_front(figures):
        many = figures.inline("solutions_found") if figures.get("solutions_found") is not None else f"{found:,}"
        head = join("The front of ", ranks(figures), " has ", many, " node." if found == 1 else " nodes.")
    else:
        head = join("By ", ranks(figures), ", the best is ", levels(figures, "solutions", 0), ".")
    told = [_looked(figures), _stopped(figures), _proof(figures), _compared(figures)]
    return element(
        "div",
        element("p", head, class_="headline"),
        None if _is_front(figures) else _tiles(figures),
        element("ul", [element("li", each) for each in told if each is not None]),
        class_="verdict",
    )


def _tiles(figures: Figures) -> Markup:
    best = ("solutions", 0)
    loss, cells = figures.number(*best, "glm"), (figures.number("rows") or 0) * count(figures, "quasi_identifiers")
    share = percent(loss / cells) if loss is not None and cells else None
    told = [
        ("Records that agree with the loneliest one (k)", figures.inline(*best, "k")),
        ("Rows suppressed", figures.inline(*best, "suppressed")),
        ("General loss (GLM), share of all cells", figures.inline(*best, "glm", words=share)),
    ]
    tiles = [element("div", element("dt", name), element("dd", said)) for name, said in told]
    return element("dl", tiles, class_="tiles")


def _looked(figures: Figures) -> Markup:
    satisfy = None
    if figures.number("satisfying") is not None:
        satisfy = [" Of all nodes ", figures.inline("satisfying"), " satisfy the limits."]
    return join(
        "The lattice has ", figures.inline("lattice_nodes"), " nodes; ", figures.inline("evaluated"),
        " were evaluated, in ", figures.inline("seconds"), " seconds.", satisfy,
    )  # fmt: skip


def _stopped(figures: Figures) -> Markup | None:
    ended = figures.get("ended")
    if ended is None:
        return None
    words = "came to its end" if ended else "was stopped before its end"
    return join("The search ", figures.inline("ended", words=words), "." if ended else ": this is the best it had.")


def _proof(figures: Figures) -> Markup | None:
    if _is_front(figures):
        return None
    bound, gap = figures.number("lower_bound"), figures.number("gap")
    if bound is None or gap is None:
        return join("Nothing is proven of the best: another node may lose less.")
    # A gap so small beside the bound is none: both were added up in another order.
    if gap <= 1e-9 * max(1.0, bound):
        return join("It is proven that no node that satisfies the limits loses less.")
    return join(
        "It is proven that no node that satisfies the limits loses less than ", figures.inline("lower_bound"),
        "; the gap is ", figures.inline("gap"), ".",
    )  # fmt: skip


def _compared(figures: Figures) -> Markup | None:
    """How near the front found is to the exact one."""
    if not figures.keys("comparison"):
        return None
    return join(
        "Of the boxes of the exact front ", figures.share("comparison", "representation_ratio"),
        " are occupied (RR); the distance from it (CE) is ", figures.inline("comparison", "convergence_error"),
        " in sum and ", figures.inline("comparison", "mean_convergence_error"), " a solution.",
    )  # fmt: skip


def _axes(objectives: Sequence[str]) -> tuple[str, str, str | None]:
    """What goes across, upwards and into the colour: a privacy objective, a loss, and the next one.

    >>> _axes(["k", "l", "glm"]), _axes(["glm", "cm"])
    (('k', 'glm', 'l'), ('glm', 'cm', None))
    """
    private = [name for name in objectives if name in _PRIVACY]
    losses = [name for name in objectives if name not in _PRIVACY]
    across, *rest = [*private[:1], *losses[:1], *private[1:], *losses[1:]]
    return across, rest[0] if rest else "glm", rest[1] if len(rest) > 1 else None


def _front(figures: Figures) -> Markup:
    given = range(count(figures, "objectives"))
    across, upwards, shade = _axes([str(figures.get("objectives", place)) for place in given])
    solutions: list[tuple[Any, ...]] = [("solutions", place) for place in range(count(figures, "solutions"))]
    exact: list[tuple[Any, ...]] = [("exact_front", place) for place in range(count(figures, "exact_front"))]
    found = {node_of(figures, *path) for path in solutions}
    on_front = {node_of(figures, *path) for path in exact}
    marks = []
    for path in (*solutions, *(each for each in exact if node_of(figures, *each) not in found)):
        x, y = figures.number(*path, across), figures.number(*path, upwards)
        if x is not None and y is not None:
            colour = figures.number(*path, shade) if shade else None
            is_exact = node_of(figures, *path) in on_front
            marks.append(Mark(x, y, _said(figures, *path), colour, is_found=path[0] == "solutions", is_exact=is_exact))
    drawn = front_chart(
        marks,
        label=f"Points: {upwards} against {across}, one a node; the tables have all figures.",
        across=_axis_name(across),
        upwards=_axis_name(upwards),
        shade=_axis_name(shade) if shade else None,
    )
    caption = "The front, one point a node; it says its levels and figures when it is pointed at."
    if exact:
        caption += " Ringed is what lies on the exact front: a ring without a dot was not found."
    return figure(drawn, caption, large=True)


def _said(figures: Figures, *path: Any) -> str:
    """A node for a tooltip."""
    named = zip(names_of(figures), node_of(figures, *path), strict=False)
    told = ", ".join(f"{isolated(name)} {level}" for name, level in named)
    objectives = [str(figures.get("objectives", place)) for place in range(count(figures, "objectives"))]
    values = []
    for name in dict.fromkeys(("k", "l", *objectives, "suppressed")):
        value = figures.number(*path, name)
        if value is not None:
            values.append(f"{HEADS.get(name, name)} {value:,.10g}")
    return f"{told}: {', '.join(values)}"


def _axis_name(name: str) -> str:
    return _AXES.get(name, HEADS.get(name, name))


def _course(figures: Figures) -> Markup:
    instants = []
    for place in range(count(figures, "moments")):
        seconds = figures.number("moments", place, "seconds")
        if seconds is not None:
            evaluated = int(figures.number("moments", place, "evaluated") or 0)
            best, bound = (figures.number("moments", place, key) for key in ("best", "lower_bound"))
            instants.append(Instant(seconds, evaluated, best, bound))
    metric = str(figures.get("metric") or "loss")
    label = f"Lines: the best {metric} found and its bound over time; the table has all figures."
    caption = "The best found, and the bound below which no node that satisfies the limits lies."
    return figure(course_chart(instants, label=label, upwards=_axis_name(metric)), caption, large=True)


def _definitions() -> Markup:
    listed = [element("div", element("dt", name), element("dd", said)) for name, said in DEFINITIONS]
    return element("dl", listed, class_="definitions")
