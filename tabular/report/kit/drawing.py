"""What charts are drawn with: axes from values to coordinates, the grid that two of them span, curves, markers, keys.

Colours come from classes of the style sheet. Each series stands apart in grey too: by lightness, dashes or marker.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from tabular.report.kit.figures import element, isolated, join, shortened
from tabular.report.kit.page import SERIES, STEPS

#: Numbers that lie further apart than this are drawn on a logarithmic axis.
WIDE = 30
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    """Places the values from *low* to *high* between two coordinates, in equal steps or in equal factors."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[tuple[float, str], ...] = ()
    is_logarithmic: bool = False
    has_lines: bool = True

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.is_logarithmic:
            value, low, high = math.log(value), math.log(low), math.log(high)
        share = 0.5 if high == low else (value - low) / (high - low)
        return self.start + (self.end - self.start) * share

    @classmethod
    def from_zero(cls, values: Sequence[float], start: float, end: float, *, ceiling: float | None = None) -> Axis:
        """From 0 to a round number at or above all *values*, but not above *ceiling* unless a value is."""
        top = nice_top(values, ceiling=ceiling)
        return cls._between(0, top, nice_step(top), start, end)

    @classmethod
    def around(cls, values: Sequence[float], start: float, end: float) -> Axis:
        """From a round number below all *values* to one above them, for charts of differences."""
        low, high = min(values, default=0.0), max(values, default=1.0)
        step = nice_step((high - low) or abs(high) or 1.0)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        return cls._between(first * step, max(last, first + 1) * step, step, start, end)

    @classmethod
    def _between(cls, low: float, high: float, step: float, start: float, end: float) -> Axis:
        """With a tick at each *step* from *low* on."""
        ticks = [round(low + step * place, 12) for place in range(math.floor((high - low) / step + 1e-9) + 1)]
        return cls(low, high, start, end, tuple((tick, number(tick)) for tick in ticks))

    @classmethod
    def fitting(cls, values: Sequence[float], start: float, end: float) -> Axis:
        """From 0, or by powers of ten where all *values* are above 0 and lie far apart."""
        low, high = min(values, default=0.0), max(values, default=0.0)
        if low <= 0 or high / low < WIDE:
            return cls.from_zero(values, start, end)
        first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
        ticks = tuple((10.0**power, _power(power)) for power in range(first, last + 1))
        return cls(10.0**first, 10.0**last, start, end, ticks, is_logarithmic=True)

    @classmethod
    def by_factor(cls, values: Sequence[float], start: float, end: float) -> Axis:
        """From the least to the greatest of *values*, with each of them named where there is room."""
        bare = cls(min(values, default=1), max(values, default=1), start, end, is_logarithmic=True, has_lines=False)
        kept = list(values[:1])
        for value in values[1:]:
            if abs(bare(value) - bare(kept[-1])) >= 15:
                kept.append(value)
        return replace(bare, ticks=tuple((value, number(value)) for value in kept))

    @classmethod
    def by_category(cls, names: Sequence[str], start: float, end: float, *, width: int) -> Axis:
        """Equal room for each name, which is cut to *width* columns; a category's value is its place."""
        ticks = tuple((float(place), shortened(name, width)) for place, name in enumerate(names))
        return cls(-0.5, max(len(names), 1) - 0.5, start, end, ticks, has_lines=False)


def grid(x: Axis, y: Axis, *, across: str | None = None, upwards: str | None = None) -> Markup:
    """Ticks and lines of both axes with the titles *across* and *upwards*."""
    (left, right), (top, bottom) = sorted((x.start, x.end)), sorted((y.start, y.end))
    marks: list[Markup] = []
    for value, words in y.ticks:
        at = y(value)
        if y.has_lines:
            marks.append(element("line", x1=float(left), x2=float(right), y1=at, y2=at, class_="grid"))
        marks.append(lettering(left - (5 if y.has_lines else 9), at + 3.5, words, "end", small=y.has_lines))
    for value, words in x.ticks:
        at = x(value)
        if x.has_lines:
            marks.append(element("line", x1=at, x2=at, y1=float(top), y2=float(bottom), class_="grid"))
        down = 11 if x.has_lines else 15
        marks.append(lettering(at, bottom + down, words, "middle" if at > 12 else None, small=x.has_lines))
    if across is not None:
        marks.append(lettering((left + right) / 2, bottom + 28, across + _scale(x), "middle"))
    if upwards is not None:
        marks.append(lettering(2, 11, upwards + _scale(y)))
    return join(marks)


def lettering(x: float, y: float, words: str, anchor: str | None = None, *, small: bool = False) -> Markup:
    """Words in a drawing."""
    return element("text", words, x=float(x), y=float(y), text_anchor=anchor, class_="small" if small else None)


def nice_top(values: Sequence[float], *, ceiling: float | None = None) -> float:
    """A round number at or above all *values*, to end an axis that begins at 0; at most *ceiling*.

    >>> nice_top([0.12, 0.31]), nice_top([]), nice_top([0.97], ceiling=1.0)
    (0.4, 1.0, 1.0)
    """
    highest = max(values, default=0.0)
    if highest <= 0:
        return 1.0 if ceiling is None else ceiling
    step = nice_step(highest)
    top = step * math.ceil(highest / step - 1e-9)
    return round(top if ceiling is None else min(top, max(ceiling, highest)), 12)


def nice_step(span: float, *, at_most: int = 5) -> float:
    """The smallest of 1, 2 or 5 times a power of ten that divides *span* into few parts.

    >>> nice_step(0.31), nice_step(7), nice_step(100)
    (0.1, 2.0, 20.0)
    """
    rough = span / at_most
    power = 10.0 ** math.floor(math.log10(rough))
    return next(round(each * power, 12) for each in (1, 2, 5, 10) if each * power >= rough * (1 - 1e-9))


def number(value: float) -> str:
    """A number in few digits, thousands apart.

    >>> number(250000.0), number(0.25), number(0.0)
    ('250,000', '0.25', '0')
    """
    return f"{value:,.0f}" if value == round(value) else f"{value:,.4g}"


def spread_apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions as near to the *wanted* ones as may be, at least *gap* from one another, in the same order.

    >>> spread_apart([10, 11, 30], 8, 0, 40)
    [6.5, 14.5, 30.0]
    """
    order = sorted(range(len(wanted)), key=lambda each: (wanted[each], each))
    if len(order) > 1:
        gap = min(gap, (high - low) / (len(order) - 1))

    def start(block: Sequence[int]) -> float:
        """Where a block of touching labels begins that stands centred on where its labels want to be."""
        middle, length = sum(wanted[each] for each in block) / len(block), gap * (len(block) - 1)
        return max(low, min(middle - length / 2, high - length))

    blocks: list[list[int]] = []
    for each in order:
        blocks.append([each])
        while len(blocks) > 1 and start(blocks[-1]) < start(blocks[-2]) + gap * len(blocks[-2]) - 1e-9:
            last = blocks.pop()
            blocks[-1].extend(last)
    placed = [0.0] * len(wanted)
    for block in blocks:
        for position, each in enumerate(block):
            placed[each] = float(start(block) + position * gap)
    return placed


def _power(power: int) -> str:
    if -3 <= power <= 4:
        return f"{10.0**power:,.10g}"
    return "10" + ("⁻" if power < 0 else "") + str(abs(power)).translate(_SUPERSCRIPTS)


def _scale(axis: Axis) -> str:
    return " (logarithmic)" if axis.is_logarithmic else ""


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


def drawing(
    content: Markup, height: float, label: str, *, width: float = WIDTH, kind: str = "chart", role: str = "img"
) -> Markup:
    """An SVG element with *label* as its text alternative; one with links in it is a group and no image."""
    return element(
        "svg", content, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:g} {height:g}", role=role,
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


def chart(parts: Sequence[Markup], entries: Sequence[tuple[Sample, str]], top: float, label: str) -> Markup:
    """A drawing with a key that begins at *top*."""
    meaning, height = key(entries, top)
    return drawing(join(parts, meaning), height, label)


def colours(names: Iterable[str], colour: Callable[[int], str] | None = None) -> list[tuple[Sample, str]]:
    """The entries of a key: a square in the colour of each series, or in another *colour*, by its position."""

    def square(fill: str) -> Sample:
        return lambda x, y: block(x - 5, y - 5, 10, 10, f"fill-{fill} edge")

    return [(square((colour or series)(place)), name) for place, name in enumerate(names)]


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
