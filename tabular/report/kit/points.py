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

#: Which colours of the palette so many steps take.
_SPREAD = ((2,), (1, 4), (1, 3, 5), (1, 2, 4, 5), (1, 2, 3, 4, 5))


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
class Shades:
    """Values in up to five steps of colour: each its own where they are few, else ranges of about as many points."""

    bounds: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, values: Sequence[float]) -> Shades:
        """The steps for these values.

        >>> Shades.of([3, 1, 2, 2]).bounds
        ((1, 1), (2, 2), (3, 3))
        """
        distinct = sorted(set(values))
        if len(distinct) <= len(STEPS):
            return cls(tuple((value, value) for value in distinct))
        cuts = [round(len(distinct) * step / len(STEPS)) for step in range(len(STEPS) + 1)]
        return cls(tuple((distinct[low], distinct[high - 1]) for low, high in pairwise(cuts)))

    def place(self, value: float) -> int:
        """Which of the steps a value has, from 0."""
        return next((place for place, (_, high) in enumerate(self.bounds) if value <= high), len(self.bounds) - 1)

    def fill(self, place: int) -> str:
        """The colour of a step: as far from its neighbours as the palette has room for.

        >>> [Shades.of([1, 2]).fill(place) for place in (0, 1)]
        ['step-1', 'step-4']
        """
        return f"step-{_SPREAD[len(self.bounds) - 1][place]}"


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
    shades = Shades.of([each.shade for each in points if each.shade is not None])
    marks += [told(isolated(point.said), _dot(point, x(point.x), y(point.y), shades)) for point in points]
    entries = [(marked(place), name) for place, name in enumerate(names)]
    entries += [(_sample(kind), meaning) for kind, meaning in kinds]
    meaning, height = key(entries, bottom + 48) if entries else (Markup(), bottom + 38)
    colours = Markup()
    if shades.bounds:
        title = lettering(2, height + 12, f"Colour: {shortened(shade, 50)}")
        steps = [(_step(shades.fill(place)), _range(*bounds)) for place, bounds in enumerate(shades.bounds)]
        samples, height = key(steps, height + 25)
        colours = join(title, samples)
    return drawing(join(marks, meaning, colours), height, label)


def _dot(point: Point, x: float, y: float, shades: Shades) -> list[Markup]:
    ring = [circle(x, y, 5.6, "ring")] if point.is_ringed else []
    if not point.is_filled:
        # Something to point at where there is nothing but the ring.
        return [circle(x, y, 5.0, "fill-none"), *ring]
    if point.shade is None or not shades.bounds:
        return [*ring, marker(x, y, point.series)]
    return [*ring, circle(x, y, 3.4, f"fill-{shades.fill(shades.place(point.shade))} edge")]


def _sample(kind: Point) -> Sample:
    return lambda x, y: join(_dot(kind, x, y, Shades(())))


def _step(fill: str) -> Sample:
    return lambda x, y: circle(x, y, 3.4, f"fill-{fill} edge")


def _range(low: float, high: float) -> str:
    return number(low) if low == high else f"{number(low)} to {number(high)}"
