"""The course of a search: the best found and the proven bound over time, with the gap between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tabular.report.front import WIDE, axis, number
from tabular.report.kit.charts import WIDTH, drawing, lettering, level_line, upright_line
from tabular.report.kit.markup import Markup, element, join
from tabular.report.kit.scales import Scale, nice_step, nice_ticks, tick_label

_LEFT, _RIGHT, _TOP, _BOTTOM = 52, WIDTH - 10, 26, 226


@dataclass(frozen=True)
class Instant:
    """What was known at one time: the best so far and the bound, as far as there were any."""

    seconds: float
    evaluated: int
    best: float | None
    bound: float | None


def course_chart(instants: Sequence[Instant], *, label: str, upwards: str) -> Markup:
    """Both as lines that step where they change; what lies between them is shaded."""
    y, ticks = _loss_axis([each for one in instants for each in (one.best, one.bound) if each is not None])
    x, across = _time_axis([each.seconds for each in instants])
    parts: list[Markup | None] = [level_line(y(tick), _LEFT, _RIGHT, words) for tick, words in ticks]
    parts += [upright_line(x(tick), _TOP, _BOTTOM, words) for tick, words in across]
    seconds = "seconds (logarithmic)" if x.logarithmic else "seconds"
    parts.append(lettering((_LEFT + _RIGHT) / 2, _BOTTOM + 27, seconds, "middle"))
    parts.append(lettering(2, 11, upwards))
    parts.append(_gap(instants, x, y))
    best = [(each.seconds, each.best) for each in instants if each.best is not None]
    bound = [(each.seconds, each.bound) for each in instants if each.bound is not None]
    parts += [_steps(best, x, y, "line-series-1", None), _steps(bound, x, y, "line-series-2", "6 3")]
    parts += [_pointed(each, x, y) for each in instants]
    return drawing(join(parts, _key(_BOTTOM + 46.0, has_bound=bool(bound))), _BOTTOM + 54, label)


def _time_axis(seconds: Sequence[float]) -> tuple[Scale, list[tuple[float, str]]]:
    """From the first moment on, logarithmic, where the last comes much later; else from 0."""
    if seconds and min(seconds) > 0 and max(seconds) / min(seconds) >= WIDE:
        return axis(seconds, _LEFT, _RIGHT)
    last = max(seconds, default=0.0) or 1.0
    return Scale(0, last, _LEFT, _RIGHT), [(tick, tick_label(tick)) for tick in nice_ticks(last)]


def _loss_axis(values: Sequence[float]) -> tuple[Scale, list[tuple[float, str]]]:
    """From a round number below all to one above: the gap is what is looked at, not the way from 0."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    step = nice_step((high - low) or abs(high) or 1.0)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    scale = Scale(first * step, last * step, _BOTTOM, _TOP)
    return scale, [(step * place, number(round(step * place, 9))) for place in range(first, last + 1)]


def _corners(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    corners: list[tuple[float, float]] = []
    for place, point in enumerate(points):
        if place:
            corners.append((point[0], points[place - 1][1]))
        corners.append(point)
    return corners


def _steps(points: Sequence[tuple[float, float]], x: Scale, y: Scale, line: str, dashes: str | None) -> Markup | None:
    if not points:
        return None
    corners = _corners(points)
    if len(corners) == 1:
        # One moment is all there is: a line to be seen, not a point.
        corners.append((x.high, corners[0][1]))
    written = " ".join(f"{x(one):.1f},{y(other):.1f}" for one, other in corners)
    return element("polyline", points=written, class_=f"curve {line}", stroke_dasharray=dashes)


def _gap(instants: Sequence[Instant], x: Scale, y: Scale) -> Markup | None:
    both = [each for each in instants if each.best is not None and each.bound is not None]
    if len(both) < 2:
        return None
    upper = _corners([(each.seconds, each.best or 0.0) for each in both])
    lower = _corners([(each.seconds, each.bound or 0.0) for each in both])
    written = " ".join(f"{x(one):.1f},{y(other):.1f}" for one, other in [*upper, *reversed(lower)])
    return element("polygon", points=written, class_="band fill-series-1")


def _pointed(instant: Instant, x: Scale, y: Scale) -> Markup | None:
    values = [value for value in (instant.best, instant.bound) if value is not None]
    if not values:
        return None
    said = f"{instant.seconds:.3f} s, {instant.evaluated:,} nodes"
    said += "" if instant.best is None else f", best {instant.best:,.4f}"
    said += "" if instant.bound is None else f", bound {instant.bound:,.4f}"
    at = x(instant.seconds)
    dots = [
        element("circle", cx=at, cy=y(value), r=2.2, class_=f"fill-series-{place} edge")
        for place, value in ((1, instant.best), (2, instant.bound))
        if value is not None
    ]
    return element("g", element("title", said), dots)


def _key(y: float, *, has_bound: bool) -> Markup:
    parts = []
    kinds = ((4, "line-series-1", None, "best found"), (104, "line-series-2", "6 3", "proven bound"))
    for left, line, dashes, words in kinds if has_bound else kinds[:1]:
        points = f"{left},{y} {left + 20},{y}"
        parts.append(element("polyline", points=points, class_=f"curve {line}", stroke_dasharray=dashes))
        parts.append(lettering(left + 25, y + 4, words))
    if has_bound:
        parts.append(element("rect", x=220, y=y - 5, width=20, height=10, class_="band fill-series-1"))
        parts.append(lettering(245, y + 4, "gap"))
    return join(parts)
