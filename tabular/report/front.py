"""The front of what can be had: privacy across, loss upwards, a third objective as colour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tabular.report.kit.charts import WIDTH, drawing, lettering, level_line, upright_line
from tabular.report.kit.markup import Markup, element, isolated, join, shortened
from tabular.report.kit.palette import STEPS
from tabular.report.kit.scales import Scale, nice_step

_LEFT, _RIGHT, _TOP, _BOTTOM = 46, WIDTH - 12, 26, 316
_ROW = 17
#: Numbers that lie further apart than this are drawn on a logarithmic axis.
WIDE = 30
#: Where in the key each kind of point stands, what it is called, and whether it was found and is exact.
_KINDS = (
    (8.0, "found, exact", True, True),
    (112.0, "exact, not found", False, True),
    (238.0, "found, not exact", True, False),
)
#: Which colours of the palette so many steps take.
_SPREAD = ((2,), (1, 4), (1, 3, 5), (1, 2, 4, 5), (1, 2, 3, 4, 5))
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Mark:
    """One node: its place, what its tooltip says, and how it came onto the chart.

    *is_found* says that the search has it among its solutions, *is_exact* that it lies on the exact front, where that
    is known.
    """

    x: float
    y: float
    said: str
    shade: float | None = None
    is_found: bool = True
    is_exact: bool = False


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


def front_chart(marks: Sequence[Mark], *, label: str, across: str, upwards: str, shade: str | None = None) -> Markup:
    """Points of one or two fronts, the found ones filled, the exact ones ringed; *shade* names what the colour is."""
    x, across_ticks = axis([mark.x for mark in marks], _LEFT + 6, _RIGHT)
    y, upward_ticks = axis([mark.y for mark in marks], _BOTTOM, _TOP + 6)
    parts = [level_line(y(tick), _LEFT, _RIGHT, words) for tick, words in upward_ticks]
    parts += [upright_line(x(tick), _TOP, _BOTTOM, words) for tick, words in across_ticks]
    parts.append(
        lettering((_LEFT + _RIGHT) / 2, _BOTTOM + 27, across + (" (logarithmic)" if x.logarithmic else ""), "middle")
    )
    parts.append(lettering(2, 11, upwards + (" (logarithmic)" if y.logarithmic else "")))
    shades = Shades.of([mark.shade for mark in marks if mark.shade is not None]) if shade else Shades(())
    # What only one front has lies on top, so that it is not hidden where points crowd.
    for mark in sorted(marks, key=lambda each: each.is_found != each.is_exact):
        parts.append(_dot(mark, x, y, shades))
    key, height = _key(marks, shades, shade, _BOTTOM + 48.0)
    return drawing(join(parts, key), height, label)


def axis(values: Sequence[float], start: float, end: float) -> tuple[Scale, list[tuple[float, str]]]:
    """A scale for *values* with its ticks: from 0 on, or logarithmic where they are above 0 and far apart."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low > 0 and high / low >= WIDE:
        first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
        scale = Scale(10.0**first, 10.0**last, start, end, logarithmic=True)
        return scale, [(10.0**power, _power(power)) for power in range(first, last + 1)]
    step = nice_step(high) if high > 0 else 0.2
    top = step * math.ceil(high / step - 1e-9) if high > 0 else 1.0
    count = round(top / step)
    return Scale(0, top, start, end), [(step * tick, number(round(step * tick, 12))) for tick in range(count + 1)]


def _power(power: int) -> str:
    if -3 <= power <= 4:
        return f"{10.0**power:,.10g}"
    return "10" + ("⁻" if power < 0 else "") + str(abs(power)).translate(_SUPERSCRIPTS)


def _dot(mark: Mark, x: Scale, y: Scale, shades: Shades) -> Markup:
    at = {"cx": x(mark.x), "cy": y(mark.y)}
    fill = "series-1" if mark.shade is None or not shades.bounds else shades.fill(shades.place(mark.shade))
    ring = element("circle", **at, r=5.4, class_="ring") if mark.is_exact else None
    dot = element("circle", **at, r=3.4, class_=f"fill-{fill} edge") if mark.is_found else None
    # Something to point at where there is nothing but the ring.
    room = None if dot else element("circle", **at, r=5.0, class_="fill-none")
    return element("g", element("title", isolated(mark.said)), room, ring, dot)


def _key(marks: Sequence[Mark], shades: Shades, shade: str | None, top: float) -> tuple[Markup, float]:
    """What dots, rings and colours mean, in rows, and where they end."""
    parts: list[Markup] = []
    if any(mark.is_exact for mark in marks):
        for left, words, is_found, is_exact in _KINDS:
            sample = Mark(0, 0, words, is_found=is_found, is_exact=is_exact)
            parts.append(_dot(sample, _at(left), _at(top), Shades(())))
            parts.append(lettering(left + 10, top + 4, words))
        top += _ROW
    if shades.bounds and shade:
        parts.append(lettering(2, top + 4, f"Colour: {shortened(shade, 50)}"))
        top += _ROW
        left = 8.0
        for place, (low, high) in enumerate(shades.bounds):
            words = number(low) if low == high else f"{number(low)} to {number(high)}"
            wide = 20 + 6.2 * len(words)
            if left + wide > WIDTH:
                left, top = 8.0, top + _ROW
            parts.append(element("circle", cx=left, cy=top, r=3.4, class_=f"fill-{shades.fill(place)} edge"))
            parts.append(lettering(left + 9, top + 4, words))
            left += wide
        top += _ROW
    return join(parts), top


def _at(place: float) -> Scale:
    """A scale on which 0 lies at *place*."""
    return Scale(0, 1, place, place + 1)


def number(value: float) -> str:
    """A number in few digits, thousands apart.

    >>> number(250000.0), number(0.25)
    ('250,000', '0.25')
    """
    return f"{value:,.0f}" if value == round(value) else f"{value:,.4g}"
