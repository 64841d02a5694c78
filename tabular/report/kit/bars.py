"""Bars by category: upright, lying, as parts of a whole; and pairs of dots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from markupsafe import Markup

from tabular.report.kit.axes import Axis, grid, lettering
from tabular.report.kit.marks import WIDTH, block, circle, drawing, key, named, series, square, step, told
from tabular.report.kit.markup import element, join, shortened

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
    marks = [grid(x, y)]
    for position, (name, column) in enumerate(columns.items()):
        for place, value in enumerate(column):
            start = x(place) + wide * (position - len(columns) / 2)
            words, high = ("?", 0.0) if value is None else (f"{value:.2f}".removeprefix("0"), bottom - y(value))
            if value is not None:
                said = f"{named(groups[place], name)}: {value:.4f}"
                look = f"fill-{series(position)} edge"
                marks.append(block(start + 0.5, bottom - high, wide - 1, max(high, 0.75), look, said))
            marks.append(lettering(start + wide / 2, bottom - high - 3, words, "middle", small=True))
    meaning, height = key([(square(series(place)), name) for place, name in enumerate(columns)], bottom + 32)
    return drawing(join(marks, meaning), height, label)


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
    marks = [grid(x, Axis(0, 1, bottom, 4))]
    for place, group in enumerate(groups):
        top = 4 + tall * place
        marks.append(lettering(2, top + 11, shortened(group, 56)))
        for position, (name, column) in enumerate(columns.items()):
            value, unsure = column[place], undecided.get(name, [0.0] * len(groups))[place] or 0.0
            marks.append(_lying(x, top + _HEAD + _LINE * position, value, unsure, position, named(group, name)))
    meaning, height = key([(square(series(place)), name) for place, name in enumerate(columns)], bottom + 25)
    return drawing(join(marks, meaning), height, label)


def stacked_shares(rows: Mapping[str, Mapping[str, int]], *, what: str, units: str, label: str) -> Markup:
    """Each row's counts of *units* as parts of a whole bar, from the worst part to the most harmless.

    The names of the parts are values of *what*.
    """
    names = list(next(iter(rows.values()), {}))
    marks = []
    for place, (row, counts) in enumerate(rows.items()):
        top, total, start = 4 + 40 * place, sum(counts.values()), 2.0
        marks.append(lettering(2, top + 11, shortened(row, 56)))
        for position, name in enumerate(names):
            share = counts.get(name, 0) / total if total else 0.0
            length = (WIDTH - 4) * share
            said = f"{named(row)}, {what} {named(name)}: {counts.get(name, 0):,} {units} ({share:.1%})"
            if length:
                marks.append(block(start, top + _HEAD, length, 17, f"fill-{step(position)} edge", said))
            if length > 24:
                words = lettering(start + length / 2, top + _HEAD + 12.5, f"{share:.0%}", "middle", small=True)
                marks.append(element("g", words, class_=f"on-{step(position)}"))
            start += length
    meaning, height = key([(square(step(place)), name) for place, name in enumerate(names)], 40 * len(rows) + 21)
    return drawing(join(marks, meaning), height, label)


def before_after(rows: Sequence[tuple[str, float, float | None]], *, label: str) -> Markup:
    """Shares before (hollow) and after (filled) as two dots on the line of each name."""
    bottom = 19 * len(rows) + 4
    shares = [share for _, before, after in rows for share in (before, after) if share is not None]
    x = Axis.from_zero(shares, 134, WIDTH - 14, ceiling=1.0)
    x = replace(x, ticks=tuple((tick, f"{tick:.0%}") for tick, _ in x.ticks))
    y = Axis.by_category([name for name, _, _ in rows], 4, bottom, width=18)
    marks = [grid(x, y)]
    for place, (name, before, after) in enumerate(rows):
        at, said = y(place), f"{named(name)}: {before:.1%} before"
        if after is None:
            marks.append(told(said, circle(x(before), at, 4.5, "hollow")))
            continue
        link = element("line", x1=x(before), x2=x(after), y1=at, y2=at, class_="link")
        dots = circle(x(before), at, 4.5, "hollow"), circle(x(after), at, 4.5, "fill-series-1 edge")
        marks.append(told(f"{said}, {after:.1%} after", link, dots))
    looks = {"before": "hollow", "after": "fill-series-1 edge"}
    samples = [(lambda x, y, look=look: circle(x, y, 4.5, look), name) for name, look in looks.items()]
    meaning, height = key(samples, bottom + 30)
    return drawing(join(marks, meaning), height, label)


def _lying(x: Axis, y: float, value: float | None, undecided: float, position: int, name: str) -> Markup:
    if value is None:
        return lettering(x.start + 4, y + 10, "not known", small=True)
    said = f"{name}: {value:.4f}" + (f", undecided {undecided:.4f}" if undecided else "")
    middle, end = x(value), x(value + undecided)
    return join(
        block(x.start, y + 1, max(middle - x.start, 0.75), 11, f"fill-{series(position)} edge", said),
        block(middle, y + 1, end - middle, 11, "open", said) if undecided else None,
        lettering(end + 4, y + 10.5, f"{value:.4f}", small=True),
    )
