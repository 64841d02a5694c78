"""The charts of all reports: bars, squares, pairs of dots, lines, points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from markupsafe import Markup

from tabular.report.kit import drawing as marks
from tabular.report.kit.drawing import WIDTH, Axis, Sample
from tabular.report.kit.figures import element, isolated, join, shortened
from tabular.report.kit.page import STEPS

#: Values by the name of their series, one for each group; None is not known.
Columns = Mapping[str, Sequence[float | None]]

_HEAD, _LINE = 16, 14


def upright_bars(groups: Sequence[str], columns: Columns, *, label: str, ceiling: float = 1.0) -> Markup:
    """Upright bars, side by side within each group, each with its value on top."""
    left, right, top, bottom = 28, WIDTH - 4, 16, 172
    slot = (right - left) / max(len(groups), 1)
    wide = min(20.0, slot * 0.86 / max(len(columns), 1))
    x = Axis.by_category(groups, left, right, width=int(slot / 5.6))
    known = [value for column in columns.values() for value in column if value is not None]
    y = Axis.from_zero(known, bottom, top, ceiling=ceiling)
    parts = [marks.grid(x, y)]
    for position, (name, column) in enumerate(columns.items()):
        for place, value in enumerate(column):
            start = x(place) + wide * (position - len(columns) / 2)
            words, high = ("?", 0.0) if value is None else (f"{value:.2f}".removeprefix("0"), bottom - y(value))
            if value is not None:
                said = f"{marks.named(groups[place], name)}: {value:.4f}"
                look = f"fill-{marks.series(position)} edge"
                parts.append(marks.block(start + 0.5, bottom - high, wide - 1, max(high, 0.75), look, said))
            parts.append(marks.lettering(start + wide / 2, bottom - high - 3, words, "middle", small=True))
    return marks.chart(parts, marks.colours(columns), bottom + 32, label)


def lying_bars(groups: Sequence[str], columns: Columns, *, label: str, undecided: Columns | None = None) -> Markup:
    """Lying bars of shares under the name of their group; a dashed end shows the share that is undecided."""
    tall = _HEAD + _LINE * len(columns) + 8
    bottom = tall * len(groups) + 4
    undecided = undecided or {}
    ends = [
        sum(value or 0 for value in values)
        for name, column in columns.items()
        for values in zip(column, undecided.get(name, [0.0] * len(column)), strict=True)
    ]
    x = Axis.from_zero([1.0, *ends], 2, WIDTH - 44)
    parts = [marks.grid(x, Axis(0, 1, bottom, 4))]
    for place, group in enumerate(groups):
        top = 4 + tall * place
        parts.append(marks.lettering(2, top + 11, shortened(group, 56)))
        for position, (name, column) in enumerate(columns.items()):
            value, unsure = column[place], undecided.get(name, [0.0] * len(groups))[place] or 0.0
            parts.append(_lying(x, top + _HEAD + _LINE * position, value, unsure, position, marks.named(group, name)))
    return marks.chart(parts, marks.colours(columns), bottom + 25, label)


def stacked_shares(rows: Mapping[str, Mapping[str, int]], *, what: str, units: str, label: str) -> Markup:
    """Each row's counts of *units* as parts of a whole bar, from the worst part to the most harmless.

    The names of the parts are values of *what*.
    """
    names = list(next(iter(rows.values()), {}))
    parts = []
    for place, (row, counts) in enumerate(rows.items()):
        top, total, start = 4 + 40 * place, sum(counts.values()), 2.0
        parts.append(marks.lettering(2, top + 11, shortened(row, 56)))
        for position, name in enumerate(names):
            share = counts.get(name, 0) / total if total else 0.0
            length = (WIDTH - 4) * share
            said = f"{marks.named(row)}, {what} {marks.named(name)}: {counts.get(name, 0):,} {units} ({share:.1%})"
            if length:
                parts.append(marks.block(start, top + _HEAD, length, 17, f"fill-{marks.step(position)} edge", said))
            if length > 24:
                words = marks.lettering(start + length / 2, top + _HEAD + 12.5, f"{share:.0%}", "middle", small=True)
                parts.append(element("g", words, class_=f"on-{marks.step(position)}"))
            start += length
    return marks.chart(parts, marks.colours(names, marks.step), 40 * len(rows) + 21, label)


def heat_map(names: Sequence[str], shares: Sequence[Sequence[float]], *, label: str, what: str) -> Markup:
    """A square for each pair of *names*: the darker, the larger the share that leads from its row to its column.

    Columns have letters, which stand before the names of the rows.
    """
    letters, left, side = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 152, min(30.0, (WIDTH - 156) / max(len(names), 1))
    top = max((share for row in shares for share in row), default=0.0)
    parts = []
    for place, (name, row) in enumerate(zip(names, shares, strict=True)):
        y = 18 + side * place
        parts.append(marks.lettering(2, y + side / 2 + 4, f"{letters[place]}  {shortened(name, 24)}"))
        parts.append(marks.lettering(left + side * (place + 0.5), 12, letters[place], "middle"))
        for at, share in enumerate(row):
            said = f"{marks.named(name, names[at])}: {share:.1%}"
            look = marks.step(_darkness(share, top))
            square = marks.block(left + side * at, y, side, side, f"fill-{look} edge", said)
            words = marks.lettering(left + side * (at + 0.5), y + side / 2 + 3.5, f"{share:.0%}", "middle", small=True)
            parts.append(element("g", square, words, class_=f"on-{look}"))
    steps = [f"{top * (4 - step) / 5:.0%} to {top * (5 - step) / 5:.0%}" for step in range(5)]
    bottom = 18 + side * len(names)
    parts.append(marks.lettering(2, bottom + 18, f"Colour: {what}"))
    return marks.chart(parts, marks.colours(steps, marks.step), bottom + 36, label)


def _darkness(share: float, top: float) -> int:
    """Which step of colour a share has, from 0 for those near the *top* to 4 for those near nothing."""
    return 4 - min(int(5 * share / top), 4) if top else 4


def before_after(rows: Sequence[tuple[str, float, float | None]], *, label: str) -> Markup:
    """Shares before (hollow) and after (filled) as two dots on the line of each name."""
    bottom = 19 * len(rows) + 4
    shares = [share for _, before, after in rows for share in (before, after) if share is not None]
    x = Axis.from_zero(shares, 134, WIDTH - 14, ceiling=1.0)
    x = replace(x, ticks=tuple((tick, f"{tick:.0%}") for tick, _ in x.ticks))
    y = Axis.by_category([name for name, _, _ in rows], 4, bottom, width=18)
    parts = [marks.grid(x, y)]
    for place, (name, before, after) in enumerate(rows):
        at, said = y(place), f"{marks.named(name)}: {before:.1%} before"
        if after is None:
            parts.append(marks.told(said, marks.circle(x(before), at, 4.5, "hollow")))
            continue
        link = element("line", x1=x(before), x2=x(after), y1=at, y2=at, class_="link")
        dots = marks.circle(x(before), at, 4.5, "hollow"), marks.circle(x(after), at, 4.5, "fill-series-1 edge")
        parts.append(marks.told(f"{said}, {after:.1%} after", link, dots))
    looks = {"before": "hollow", "after": "fill-series-1 edge"}
    samples = [(lambda x, y, look=look: marks.circle(x, y, 4.5, look), name) for name, look in looks.items()]
    return marks.chart(parts, samples, bottom + 30, label)


def _lying(x: Axis, y: float, value: float | None, undecided: float, position: int, name: str) -> Markup:
    if value is None:
        return marks.lettering(x.start + 4, y + 10, "not known", small=True)
    said = f"{name}: {value:.4f}" + (f", undecided {undecided:.4f}" if undecided else "")
    middle, end = x(value), x(value + undecided)
    return join(
        marks.block(x.start, y + 1, max(middle - x.start, 0.75), 11, f"fill-{marks.series(position)} edge", said),
        marks.block(middle, y + 1, end - middle, 11, "open", said) if undecided else None,
        marks.lettering(end + 4, y + 10.5, f"{value:.4f}", small=True),
    )


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
    right, bottom = WIDTH - 122, 196
    y = Axis.from_zero([top or top_of(columns)], bottom, 10, ceiling=1.0)
    x = Axis.by_factor(steps, 36, right)
    parts = [marks.grid(Axis(x.low, x.high, 28, right), y), marks.grid(x, Axis(0, 1, bottom, 10), across=across)]
    ends = {name: [spread for spread in column if spread][-1] for name, column in columns.items() if any(column)}
    heights = dict(zip(ends, marks.spread_apart([y(end.mean) for end in ends.values()], 13, 13, bottom), strict=True))
    for position, (name, column) in enumerate(columns.items()):
        known = [(at, spread) for at, spread in zip(steps, column, strict=True) if spread is not None]
        parts += _means(known, x, y, position, f"{marks.named(name)}, {across}")
        if name in ends:
            end, beside = y(ends[name].mean), heights[name]
            parts.append(element("line", x1=right + 4.0, x2=right + 10.0, y1=end, y2=beside, class_="grid"))
            parts.append(marks.marker(right + 12.5, beside, position))
            parts.append(marks.lettering(right + 18, beside + 3.5, shortened(name, 17)))
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
        said = f"{name} = {marks.number(at)}: {each.mean:.4f}, deviation {each.deviation:.4f}"
        yield marks.told(said, marks.marker(x(at), y(each.mean), position))


def top_of(columns: Mapping[str, Sequence[Spread | None]]) -> float:
    """A round number above all means with their deviations, at most 1."""
    every = [each.mean + each.deviation for column in columns.values() for each in column if each is not None]
    return marks.nice_top(every, ceiling=1.0)


def held_lines(
    moments: Sequence[Moment], *, names: tuple[str, str], between: str, label: str, across: str, upwards: str
) -> Markup:
    """Two lines that hold each value until the next one; what lies *between* them is shaded."""
    left, right, top, bottom = 52, WIDTH - 10, 26, 226
    x = Axis.fitting([each.time for each in moments], left, right)
    y = Axis.around([value for each in moments for value in each.values if value is not None], bottom, top)
    parts, entries = [marks.grid(x, y, across=across, upwards=upwards)], []
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
    return marks.chart(parts, entries, bottom + 46, label)


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
    #: What is written beside it.
    name: str = ""
    #: Where it leads, on a page.
    address: str | None = None


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
    parts = [marks.grid(x, y, across=across, upwards=upwards)]
    if ceiling is not None:
        end = min(x.high, y.high)
        parts.append(element("line", x1=x(0), y1=y(0), x2=x(end), y2=y(end), class_="link", stroke_dasharray="1 5"))
        front = sorted({(each.x, each.y) for each in points if each.is_ringed})
        parts.append(marks.curve(marks.held(front), x, y, "line-rest"))
    shades = shades_of([each.shade for each in points if each.shade is not None])
    parts += [_linked(point, _dot(point, x(point.x), y(point.y), shades)) for point in points]
    parts += [marks.lettering(x(each.x) + 8, y(each.y) - 5, each.name, small=True) for each in points if each.name]
    entries = [(marks.marked(place), name) for place, name in enumerate(names)]
    entries += [(_sample(kind), meaning) for kind, meaning in kinds]
    meaning, height = marks.key(entries, bottom + 48) if entries else (Markup(), bottom + 38)
    if shades:
        title = marks.lettering(2, height + 12, f"Colour: {shortened(shade, 50)}")
        colours, height = marks.key([(_step(each), _range(each)) for each in shades], height + 25)
        meaning = join(meaning, title, colours)
    leads = any(point.address for point in points)
    return marks.drawing(join(parts, meaning), height, label, role="group" if leads else "img")


def _linked(point: Point, dot: list[Markup]) -> Markup:
    """A point with its tooltip, which is a link where it leads somewhere."""
    if point.address is None:
        return marks.told(isolated(point.said), dot)
    return element("a", element("title", isolated(point.said)), dot, href=point.address, aria_label=point.said)


def _dot(point: Point, x: float, y: float, shades: Sequence[Shade] = ()) -> list[Markup]:
    ring = [marks.circle(x, y, 5.6, "ring")] if point.is_ringed else []
    if not point.is_filled:
        # Something to point at where there is nothing but the ring.
        return [marks.circle(x, y, 5.0, "fill-none"), *ring]
    shade = next((each for each in shades if point.shade is not None and point.shade <= each.high), None)
    return [*ring, _step(shade)(x, y) if shade else marks.marker(x, y, point.series)]


def _sample(kind: Point) -> Sample:
    return lambda x, y: join(_dot(kind, x, y))


def _step(shade: Shade) -> Sample:
    return lambda x, y: marks.circle(x, y, 3.4, f"fill-{shade.fill} edge")


def _range(shade: Shade) -> str:
    return " to ".join(map(marks.number, dict.fromkeys((shade.low, shade.high))))
