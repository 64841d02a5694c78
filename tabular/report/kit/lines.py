"""Lines: means with their spread over a parameter, and values that hold until they change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tabular.report.kit import marks
from tabular.report.kit.axes import Axis, grid, lettering, nice_top, number, spread_apart
from tabular.report.kit.markup import element, join, shortened


@dataclass(frozen=True)
class Spread:
    """The mean of repeated runs and their standard deviation."""

    mean: float
    deviation: float = 0.0


@dataclass(frozen=True)
class Moment:
    """The values of two lines at one time, as far as they are known, and a tooltip."""

    time: float
    values: tuple[float | None, float | None]
    said: str


def lines(
    steps: Sequence[float],
    columns: Mapping[str, Sequence[Spread | None]],
    *,
    label: str,
    across: str,
    top: float | None = None,
) -> Markup:
    """Means over *steps* with a band of one standard deviation, each line named at its end.

    Charts that are to be compared share their *top*.
    """
    right, bottom = marks.WIDTH - 122, 196
    y = Axis.from_zero([top or top_of(columns)], bottom, 10, ceiling=1.0)
    x = Axis.by_factor(steps, 36, right)
    parts = [grid(Axis(x.low, x.high, 28, right), y), grid(x, Axis(0, 1, bottom, 10), across=across)]
    ends = {name: [spread for spread in column if spread][-1] for name, column in columns.items() if any(column)}
    heights = dict(zip(ends, spread_apart([y(end.mean) for end in ends.values()], 13, 13, bottom), strict=True))
    for position, (name, column) in enumerate(columns.items()):
        known = [(at, spread) for at, spread in zip(steps, column, strict=True) if spread is not None]
        parts += _means(known, x, y, position, f"{marks.named(name)}, {across}")
        if name in ends:
            end, beside = y(ends[name].mean), heights[name]
            parts.append(element("line", x1=right + 4.0, x2=right + 10.0, y1=end, y2=beside, class_="grid"))
            parts.append(marks.marker(right + 12.5, beside, position))
            parts.append(lettering(right + 18, beside + 3.5, shortened(name, 17)))
    return marks.drawing(join(parts), bottom + 36, label)


def _means(known: Sequence[tuple[float, Spread]], x: Axis, y: Axis, position: int, name: str) -> Iterator[Markup]:
    """A band, the line within it, and a marker with a tooltip for each mean."""
    colour = marks.series(position)
    upper = [(at, min(each.mean + each.deviation, y.high)) for at, each in known]
    lower = [(at, max(each.mean - each.deviation, 0)) for at, each in reversed(known)]
    if len(known) > 1:
        yield marks.area([*upper, *lower], x, y, f"fill-{colour}")
    yield marks.curve([(at, each.mean) for at, each in known], x, y, f"line-{colour}", marks.dashes(position))
    for at, each in known:
        said = f"{name} = {number(at)}: {each.mean:.4f}, deviation {each.deviation:.4f}"
        yield marks.told(said, marks.marker(x(at), y(each.mean), position))


def top_of(columns: Mapping[str, Sequence[Spread | None]]) -> float:
    """A round number above all means with their deviations, at most 1."""
    every = [each.mean + each.deviation for column in columns.values() for each in column if each is not None]
    return nice_top(every, ceiling=1.0)


def held_lines(
    moments: Sequence[Moment], *, names: tuple[str, str], between: str, label: str, across: str, upwards: str
) -> Markup:
    """Two lines that hold each value until the next one; what lies *between* them is shaded."""
    left, right, top, bottom = 52, marks.WIDTH - 10, 26, 226
    x = Axis.fitting([each.time for each in moments], left, right)
    y = Axis.around([value for each in moments for value in each.values if value is not None], bottom, top)
    parts, entries = [grid(x, y, across=across, upwards=upwards)], []
    both = [each for each in moments if None not in each.values]
    upper, lower = (marks.held([(each.time, each.values[place] or 0.0) for each in both]) for place in (0, 1))
    if len(both) > 1:
        parts.append(marks.area([*upper, *reversed(lower)], x, y, "fill-series-1"))
    for place, name in enumerate(names):
        known = [(each.time, value) for each in moments if (value := each.values[place]) is not None]
        if known:
            # A line of one moment goes on to the end, so that it can be seen.
            points = marks.held(known if len(known) > 1 else [*known, (x.high, known[0][1])])
            parts.append(marks.curve(points, x, y, f"line-{marks.series(place)}", marks.dashes(place)))
            entries.append((marks.dashed(place), name))
    for each in moments:
        values = [(place, value) for place, value in enumerate(each.values) if value is not None]
        dots = [marks.circle(x(each.time), y(value), 2.2, f"fill-series-{place + 1} edge") for place, value in values]
        parts.append(marks.told(each.said, dots) if dots else Markup())
    if len(entries) > 1:
        entries.append((lambda x, y: marks.block(x - 6, y - 5, 12, 10, "band fill-series-1"), between))
    key, height = marks.key(entries, bottom + 46)
    return marks.drawing(join(parts, key), height, label)
