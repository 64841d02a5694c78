"""A map of points by two measures, each of which is better the lower it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabular.report.kit.charts import WIDTH, drawing, lettering, level_line, marker, upright_line
from tabular.report.kit.markup import Markup, element, isolated, join, shortened
from tabular.report.kit.scales import Scale, nice_ticks, nice_top, tick_label

#: Where the points lie; ticks stand on the left, names above and below.
_LEFT, _RIGHT, _TOP, _BOTTOM = 24, WIDTH - 10, 24, 334
_ROW, _COLUMNS = 16, 3


@dataclass(frozen=True)
class Point:
    """One point: its coordinates, what its tooltip says, and whether no other is better in both."""

    x: float
    y: float
    said: str
    on_front: bool = False


def scatter(series: Mapping[str, Sequence[Point]], *, label: str, across: str, upwards: str, ceiling: float) -> Markup:
    """Points of several series; those on the front are ringed and joined, and a dotted line has x and y equal."""
    every = [point for points in series.values() for point in points]
    rightmost = nice_top([point.x for point in every], ceiling=ceiling)
    highest = nice_top([point.y for point in every], ceiling=ceiling)
    x, y = Scale(0, rightmost, _LEFT, _RIGHT), Scale(0, highest, _BOTTOM, _TOP)
    marks = [level_line(y(tick), _LEFT, _RIGHT, tick_label(tick)) for tick in nice_ticks(highest)]
    marks += [upright_line(x(tick), _TOP, _BOTTOM, tick_label(tick)) for tick in nice_ticks(rightmost)]
    even = min(rightmost, highest)
    marks.append(element("line", x1=x(0), y1=y(0), x2=x(even), y2=y(even), class_="link", stroke_dasharray="1 5"))
    marks.append(lettering((_LEFT + _RIGHT) / 2, _BOTTOM + 25, across, "middle"))
    marks.append(lettering(2, 11, upwards))
    marks.append(_front(every, x, y))
    for position, points in enumerate(series.values()):
        marks += [_dot(point, x, y, position) for point in points if not point.on_front]
    # What is on the front lies on top, so that it is not hidden where points crowd.
    for position, points in enumerate(series.values()):
        marks += [_dot(point, x, y, position) for point in points if point.on_front]
    key, height = _key(list(series), _BOTTOM + 46)
    return drawing(join(marks, key), height, label)


def _dot(point: Point, x: Scale, y: Scale, position: int) -> Markup:
    at = x(point.x), y(point.y)
    ring = element("circle", cx=at[0], cy=at[1], r=5.6, class_="ring") if point.on_front else None
    return element("g", element("title", isolated(point.said)), ring, marker(*at, position))


def _front(every: Sequence[Point], x: Scale, y: Scale) -> Markup:
    """The edge of what can be had: nothing lies below it on the left."""
    on_front = sorted({(point.x, point.y) for point in every if point.on_front})
    corners: list[tuple[float, float]] = []
    for place, point in enumerate(on_front):
        if place:
            corners.append((point[0], on_front[place - 1][1]))
        corners.append(point)
    written = " ".join(f"{x(one):.1f},{y(other):.1f}" for one, other in corners)
    return element("polyline", points=written, class_="curve line-rest")


def _key(names: Sequence[str], y: float) -> tuple[Markup, float]:
    """The markers with their names and the ring, in rows, and where they end."""
    marks, wide = [], (WIDTH - 4) / _COLUMNS
    for place in range(len(names) + 1):
        left, line = 8 + wide * (place % _COLUMNS), y + _ROW * (place // _COLUMNS)
        if place < len(names):
            marks.append(marker(left, line, place))
            marks.append(lettering(left + 9, line + 4, shortened(names[place], 18)))
        else:
            marks.append(element("circle", cx=left, cy=line, r=5.6, class_="ring"))
            marks.append(lettering(left + 10, line + 4, "on the front"))
    return join(marks), y + _ROW * (len(names) // _COLUMNS) + 14
