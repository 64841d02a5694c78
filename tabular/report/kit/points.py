"""Points on two axes: ringed, hollow, by marker or by colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from tabular.report.kit.axes import Axis, grid, lettering, number
from tabular.report.kit.marks import WIDTH, Sample, circle, curve, drawing, held, key, marked, marker, told
from tabular.report.kit.markup import element, isolated, join, shortened
from tabular.report.kit.palette import STEPS

#: Which colours of the palette so many steps take: as far from one another as there is room for.
_COLOURS = ((2,), (1, 4), (1, 3, 5), (1, 2, 4, 5), (1, 2, 3, 4, 5))


@dataclass(frozen=True)
class Point:
    """A point with its tooltip; its marker tells its series, or its colour the value of *shade*."""

    x: float
    y: float
    said: str
    series: int = 0
    shade: float | None = None
    is_filled: bool = True
    is_ringed: bool = False


@dataclass(frozen=True)
class Shade:
    """A step of colour, and the values that have it."""

    low: float
    high: float
    fill: str


def shades_of(values: Sequence[float]) -> list[Shade]:
    """Up to five steps of colour: one for each value where they are few, else for ranges of about as many values.

    >>> [(each.low, each.high, each.fill) for each in shades_of([2, 1, 2])]
    [(1, 1, 'step-1'), (2, 2, 'step-4')]
    """
    distinct = sorted(set(values))
    many = min(len(distinct), len(STEPS))
    cuts = [round(len(distinct) * step / many) for step in range(many + 1)] if many else []
    colours = _COLOURS[many - 1] if many else ()
    ranges = zip(pairwise(cuts), colours, strict=True)
    return [Shade(distinct[low], distinct[high - 1], f"step-{colour}") for (low, high), colour in ranges]


def scatter(
    points: Sequence[Point],
    *,
    label: str,
    across: str,
    upwards: str,
    names: Sequence[str] = (),
    kinds: Sequence[tuple[Point, str]] = (),
    shade: str = "",
    ceiling: float | None = None,
) -> Markup:
    """Points on linear axes, or on logarithmic ones where they lie far apart; later ones lie on top.

    The key shows the markers by the *names* of their series, the *kinds* of point, and the colours of what *shade*
    names. Both axes of a map end at a *ceiling* at most: it has a dotted line where both are equal, and a solid one
    that joins what is ringed.
    """
    left, right, top, bottom = 46, WIDTH - 12, 26, 316
    one, other = [point.x for point in points], [point.y for point in points]
    if ceiling is None:
        x, y = Axis.fitting(one, left + 6, right), Axis.fitting(other, bottom, top + 6)
    else:
        x, y = Axis.from_zero(one, left, right, ceiling=ceiling), Axis.from_zero(other, bottom, top, ceiling=ceiling)
    marks = [grid(x, y, across=across, upwards=upwards)]
    if ceiling is not None:
        end = min(x.high, y.high)
        marks.append(element("line", x1=x(0), y1=y(0), x2=x(end), y2=y(end), class_="link", stroke_dasharray="1 5"))
        marks.append(curve(held(sorted({(each.x, each.y) for each in points if each.is_ringed})), x, y, "line-rest"))
    shades = shades_of([each.shade for each in points if each.shade is not None])
    marks += [told(isolated(point.said), _dot(point, x(point.x), y(point.y), shades)) for point in points]
    entries = [(marked(place), name) for place, name in enumerate(names)]
    entries += [(_sample(kind), meaning) for kind, meaning in kinds]
    meaning, height = key(entries, bottom + 48) if entries else (Markup(), bottom + 38)
    if shades:
        title = lettering(2, height + 12, f"Colour: {shortened(shade, 50)}")
        colours, height = key([(_step(each), _range(each)) for each in shades], height + 25)
        meaning = join(meaning, title, colours)
    return drawing(join(marks, meaning), height, label)


def _dot(point: Point, x: float, y: float, shades: Sequence[Shade] = ()) -> list[Markup]:
    ring = [circle(x, y, 5.6, "ring")] if point.is_ringed else []
    if not point.is_filled:
        # Something to point at where there is nothing but the ring.
        return [circle(x, y, 5.0, "fill-none"), *ring]
    shade = next((each for each in shades if point.shade is not None and point.shade <= each.high), None)
    return [*ring, _step(shade)(x, y) if shade else marker(x, y, point.series)]


def _sample(kind: Point) -> Sample:
    return lambda x, y: join(_dot(kind, x, y))


def _step(shade: Shade) -> Sample:
    return lambda x, y: circle(x, y, 3.4, f"fill-{shade.fill} edge")


def _range(shade: Shade) -> str:
    return number(shade.low) if shade.low == shade.high else f"{number(shade.low)} to {number(shade.high)}"
