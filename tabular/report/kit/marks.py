"""The marks that charts are made of: drawings, curves, markers and keys.

Colours come from classes of the style sheet. Each series stands apart in grey too: by lightness, dashes or marker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from tabular.report.kit.axes import Axis, lettering
from tabular.report.kit.markup import element, isolated, join, shortened
from tabular.report.kit.palette import SERIES, STEPS

#: All charts are this wide, in units of their own: small enough for a telephone, scaled up where there is room.
WIDTH = 360

_DASHES = (None, "7 3", "2 3", "9 3 2 3", "5 5", "1 4", "12 4")
_CORNERS = {
    1: ((-3.4, -3.4), (3.4, -3.4), (3.4, 3.4), (-3.4, 3.4)),
    2: ((0, -4.4), (4.2, 3.2), (-4.2, 3.2)),
    3: ((0, -4.6), (4.6, 0), (0, 4.6), (-4.6, 0)),
}

#: Values on two axes.
Points = Sequence[tuple[float, float]]
#: Draws the sample of a key around a place.
Sample = Callable[[float, float], Markup]


def drawing(content: Markup, height: float, label: str, *, width: float = WIDTH, kind: str = "chart") -> Markup:
    """An SVG element with *label* as its text alternative."""
    return element(
        "svg", content, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:g} {height:g}", role="img",
        aria_label=label, class_=kind,
    )  # fmt: skip


def told(words: str, *marks: object) -> Markup:
    """Marks with a tooltip."""
    return element("g", element("title", words), marks)


def block(x: float, y: float, width: float, height: float, look: str, words: str | None = None) -> Markup:
    """A rectangle, with a tooltip if there are *words*."""
    title = None if words is None else element("title", words)
    return element("rect", title, x=float(x), y=float(y), width=float(width), height=float(height), class_=look)


def circle(x: float, y: float, radius: float, look: str) -> Markup:
    """A circle around a point."""
    return element("circle", cx=float(x), cy=float(y), r=radius, class_=look)


def marker(x: float, y: float, position: int) -> Markup:
    """A circle, square, triangle or diamond, in turn, in the colour of the series at *position*."""
    look = f"fill-{series(position)} marker"
    corners = _CORNERS.get(position % 4)
    if corners is None:
        return circle(x, y, 3.6, look)
    return element("polygon", points=" ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners), class_=look)


def curve(points: Points, x: Axis, y: Axis, look: str, dashes: str | None = None) -> Markup:
    """A line through *points*."""
    return element("polyline", points=_written(points, x, y), class_=f"curve {look}", stroke_dasharray=dashes)


def area(points: Points, x: Axis, y: Axis, look: str) -> Markup:
    """The inside of the outline through *points*, shaded."""
    return element("polygon", points=_written(points, x, y), class_=f"band {look}")


def held(points: Points) -> list[tuple[float, float]]:
    """The corners of a line that keeps each value until the next one."""
    corners = list(points[:1])
    for point in points[1:]:
        corners += [(point[0], corners[-1][1]), point]
    return corners


def key(entries: Sequence[tuple[Sample, str]], top: float) -> tuple[Markup, float]:
    """Samples with their meaning, in rows as wide as a chart; and the height at which the rows end."""
    marks, left = [], 2.0
    for sample, meaning in entries:
        words = shortened(meaning, 26)
        wide = 28 + 6.2 * len(words)
        if left + wide > WIDTH and left > 2:
            left, top = 2.0, top + 17
        marks += [sample(left + 6, top), lettering(left + 15, top + 4, words)]
        left += wide
    return join(marks), top + 10


def square(fill: str) -> Sample:
    """The sample of a colour in a key."""
    return lambda x, y: block(x - 5, y - 5, 10, 10, f"fill-{fill} edge")


def marked(position: int) -> Sample:
    """The sample of a marker in a key."""
    return lambda x, y: marker(x, y, position)


def dashed(position: int) -> Sample:
    """The sample of a line in a key."""
    whole = Axis(0, 1, 0, 1)
    look = f"line-{series(position)}"
    return lambda x, y: curve([(x - 7, y), (x + 6, y)], whole, whole, look, dashes(position))


def named(*names: object) -> str:
    """Names from the data for a tooltip, each kept from turning the direction of the others."""
    return ", ".join(isolated(name) for name in names)


def series(position: int) -> str:
    """The colour of a series, by its position."""
    return f"series-{position % len(SERIES) + 1}"


def dashes(position: int) -> str | None:
    """The dashes of a line, by its position."""
    return _DASHES[position % len(_DASHES)]


def step(position: int) -> str:
    """The colour of an ordered step, from the worst; beyond the last one there is none."""
    return f"step-{position + 1}" if position < len(STEPS) else "none"


def _written(points: Points, x: Axis, y: Axis) -> str:
    return " ".join(f"{x(one):.1f},{y(other):.1f}" for one, other in points)
