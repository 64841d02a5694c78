"""Charts as SVG: drawn small, so that they are read on a telephone, and scaled up where there is room.

Colours come from classes of the page's style sheet. Every mark says its numbers in a tooltip, every series stands
apart in grey too: by lightness, dash, marker or a label beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tabular.report.kit.markup import Markup, element, isolated, join, shortened
from tabular.report.kit.palette import SERIES, STEPS
from tabular.report.kit.scales import Scale, nice_ticks, nice_top, spread_apart, tick_label

#: All charts are this wide, in units of their own.
WIDTH = 360

_DASHES = (None, "7 3", "2 3", "9 3 2 3", "5 5", "1 4", "12 4")


@dataclass(frozen=True)
class Spread:
    """The mean of repeated runs and their standard deviation."""

    mean: float
    deviation: float = 0.0


def grouped_bars(
    groups: Sequence[str], series: Mapping[str, Sequence[float | None]], *, label: str, ceiling: float | None = 1.0
) -> Markup:
    """Upright bars, side by side within each group, each with its value on top."""
    height, left, right, top, bottom = 216, 28, WIDTH - 4, 16, 172
    values = [value for column in series.values() for value in column if value is not None]
    scale = Scale(0, nice_top(values, ceiling=ceiling), bottom, top)
    slot = (right - left) / max(len(groups), 1)
    wide = min(20.0, slot * 0.86 / max(len(series), 1))
    marks = [level_line(scale(tick), left, right, tick_label(tick)) for tick in nice_ticks(scale.high)]
    for place, group in enumerate(groups):
        middle = left + slot * (place + 0.5)
        marks.append(lettering(middle, bottom + 15, shortened(group, int(slot / 5.6)), "middle"))
        for position, (name, column) in enumerate(series.items()):
            start = middle + wide * (position - len(series) / 2)
            if column[place] is None:
                marks.append(lettering(start + wide / 2, bottom - 3, "?", "middle", small=True))
                continue
            marks.append(_upright(start, wide, scale, column[place] or 0.0, position, f"{group}, {name}"))
    return drawing(join(_key(list(series), height - 10), marks), height, label)


def horizontal_bars(
    groups: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    *,
    label: str,
    undecided: Mapping[str, Sequence[float | None]] | None = None,
    top: float | None = 1.0,
) -> Markup:
    """Lying bars under the name of their group, each with its value at its end; what is undecided is added dashed."""
    left, right, line, head = 2, WIDTH - 44, 14, 16
    undecided = undecided or {}
    ends = [
        value + (undecided.get(name, [0.0] * len(groups))[place] or 0.0)
        for name, column in series.items()
        for place, value in enumerate(column)
        if value is not None
    ]
    scale = Scale(0, max([top or nice_top(ends), *ends]), left, right)
    block = head + line * len(series) + 8
    height = block * len(groups) + 40
    marks = [upright_line(scale(tick), 4, height - 36, tick_label(tick)) for tick in nice_ticks(scale.high)]
    for place, group in enumerate(groups):
        top = 4 + block * place
        marks.append(lettering(left, top + 11, shortened(group, 56)))
        for position, (name, column) in enumerate(series.items()):
            open_share = undecided.get(name, [0.0] * len(groups))[place] or 0.0
            said = f"{isolated(group)}, {isolated(name)}"
            marks.append(_lying(scale, top + head + line * position, column[place], open_share, position, said))
    return drawing(join(marks, _key(list(series), height - 8)), height, label)


def stacked_shares(rows: Mapping[str, Mapping[str, int]], *, label: str, bucket: str = "candidates") -> Markup:
    """Each row's counts as parts of one whole bar, from the worst bucket to the most harmless."""
    left, right, line, head = 2, WIDTH - 2, 17, 16
    names = list(next(iter(rows.values()), {}))
    block = head + line + 7
    height = block * len(rows) + 34
    marks = []
    for place, (row, counts) in enumerate(rows.items()):
        top, total, start = 4 + block * place, sum(counts.values()), float(left)
        marks.append(lettering(left, top + 11, shortened(row, 56)))
        for position, name in enumerate(names):
            share = counts.get(name, 0) / total if total else 0.0
            length = (right - left) * share
            many = "no" if name == "none" else isolated(name)
            said = f"{isolated(row)}: {counts.get(name, 0):,} users with {many} {bucket} ({share:.1%})"
            marks.append(_part(start, top + head, length, line, position, f"{share:.0%}", said))
            start += length
    return drawing(join(marks, _key(names, height - 8, steps=True)), height, label)


def lines(
    steps: Sequence[float], series: Mapping[str, Sequence[Spread | None]], *, label: str, top_value: float | None = None
) -> Markup:
    """Means over *steps* with a band of one standard deviation, each line named at its end."""
    height, left, right, top, bottom = 232, 28, WIDTH - 122, 10, 196
    scale = Scale(0, top_value or top_of(series), bottom, top)
    across = Scale(min(steps, default=1), max(steps, default=1), left + 8, right, logarithmic=True)
    marks = [level_line(scale(tick), left, right, tick_label(tick)) for tick in nice_ticks(scale.high)]
    marks += [lettering(across(step), bottom + 15, tick_label(step), "middle") for step in _clear(steps, across)]
    marks.append(lettering((left + right) / 2, bottom + 30, "k (logarithmic)", "middle", small=True))
    ends = {name: next((each for each in reversed(column) if each), None) for name, column in series.items()}
    named = [name for name, end in ends.items() if end is not None]
    heights = spread_apart([scale(_mean(ends[name])) for name in named], 13, top + 3, bottom)
    for position, (name, column) in enumerate(series.items()):
        points = [(across(step), each) for step, each in zip(steps, column, strict=True) if each is not None]
        marks.append(_line(points, scale, position, name, steps, column))
        if name in named:
            at = heights[named.index(name)]
            marks.append(_leader(right, scale(_mean(ends[name])), at, position))
            marks.append(lettering(right + 18, at + 3.5, shortened(name, 17)))
    return drawing(join(marks), height, label)


def top_of(series: Mapping[str, Sequence[Spread | None]]) -> float:
    """A round number above all means with their deviations, for charts that are to share an axis; at most 1."""
    every = [each.mean + each.deviation for column in series.values() for each in column if each is not None]
    return nice_top(every, ceiling=1.0)


def before_after(rows: Sequence[tuple[str, float, float | None]], *, label: str) -> Markup:
    """Shares before (hollow) and after (filled) as two dots on one line a row."""
    left, right, line = 134, WIDTH - 14, 19
    height = line * len(rows) + 52
    shares = [share for _, before, after in rows for share in (before, after) if share is not None]
    scale = Scale(0, nice_top(shares, ceiling=1.0), left, right)
    marks = [upright_line(scale(tick), 4, height - 46, f"{tick:.0%}") for tick in nice_ticks(scale.high)]
    for place, (name, before, after) in enumerate(rows):
        middle = 4 + line * (place + 0.5)
        said = f"{isolated(name)}: {before:.1%} before" + ("" if after is None else f", {after:.1%} after")
        marks.append(lettering(left - 8, middle + 4, shortened(name, 20), "end"))
        dots = [element("circle", cx=scale(before), cy=middle, r=4.5, class_="hollow")]
        if after is not None:
            dots.insert(0, element("line", x1=scale(before), x2=scale(after), y1=middle, y2=middle, class_="link"))
            dots.append(element("circle", cx=scale(after), cy=middle, r=4.5, class_="fill-series-1 edge"))
        marks.append(element("g", element("title", said), dots))
    base = height - 8
    key = [
        element("circle", cx=left + 5.0, cy=base - 4, r=4.5, class_="hollow"),
        lettering(left + 14, base, "before"),
        element("circle", cx=left + 69.0, cy=base - 4, r=4.5, class_="fill-series-1 edge"),
        lettering(left + 78, base, "after"),
    ]
    return drawing(join(marks, key), height, label)


def drawing(content: Markup, height: float, label: str, *, width: float = WIDTH, kind: str = "chart") -> Markup:
    """An SVG element with a text alternative."""
    return element(
        "svg", content, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:g} {height:g}", role="img",
        aria_label=label, class_=kind,
    )  # fmt: skip


def lettering(x: float, y: float, words: str, anchor: str | None = None, *, small: bool = False) -> Markup:
    return element("text", words, x=float(x), y=float(y), text_anchor=anchor, class_="small" if small else None)


def level_line(y: float, left: float, right: float, tick: str) -> Markup:
    line = element("line", x1=float(left), x2=float(right), y1=y, y2=y, class_="grid")
    return join(line, lettering(left - 5, y + 3.5, tick, "end", small=True))


def upright_line(x: float, top: float, bottom: float, tick: str) -> Markup:
    line = element("line", x1=x, x2=x, y1=float(top), y2=float(bottom), class_="grid")
    return join(line, lettering(x, bottom + 11, tick, "middle" if x > 12 else None, small=True))


def _upright(start: float, wide: float, scale: Scale, value: float, position: int, name: str) -> Markup:
    top = scale(value)
    bar = element(
        "rect", element("title", f"{isolated(name)}: {value:.4f}"), x=start + 0.5, y=top, width=wide - 1,
        height=max(scale.start - top, 0.75), class_=f"fill-{_series(position)} edge",
    )  # fmt: skip
    return join(bar, lettering(start + wide / 2, top - 3, f"{value:.2f}".removeprefix("0"), "middle", small=True))


def _lying(scale: Scale, y: float, value: float | None, undecided: float, position: int, name: str) -> Markup:
    if value is None:
        return lettering(scale.start + 4, y + 10, "not known", small=True)
    said = f"{name}: {value:.4f}" + (f", undecided {undecided:.4f}" if undecided else "")
    end = scale(value)
    bars = [
        element(
            "rect", element("title", said), x=scale.start, y=y + 1, width=max(end - scale.start, 0.75), height=11,
            class_=f"fill-{_series(position)} edge",
        )
    ]  # fmt: skip
    if undecided:
        end = scale(value + undecided)
        start = scale(value)
        bars.append(
            element("rect", element("title", said), x=start, y=y + 1, width=end - start, height=11, class_="open")
        )
    return join(bars, lettering(end + 4, y + 10.5, f"{value:.4f}", small=True))


def _part(x: float, y: float, length: float, high: float, position: int, words: str, said: str) -> Markup:
    if not length:
        return join()
    step = _step(position)
    bar = element("rect", element("title", said), x=x, y=y, width=length, height=high, class_=f"fill-{step} edge")
    inside = lettering(x + length / 2, y + 12.5, words, "middle", small=True) if length > 24 else None
    return join(bar, element("g", inside, class_=f"on-{step}") if inside else None)


def _line(
    points: Sequence[tuple[float, Spread]],
    scale: Scale,
    position: int,
    name: str,
    steps: Sequence[float],
    column: Sequence[Spread | None],
) -> Markup:
    upper = [f"{x:.1f},{scale(min(each.mean + each.deviation, scale.high)):.1f}" for x, each in points]
    lower = [f"{x:.1f},{scale(max(each.mean - each.deviation, 0)):.1f}" for x, each in reversed(points)]
    middle = " ".join(f"{x:.1f},{scale(each.mean):.1f}" for x, each in points)
    series = _series(position)
    said = [(step, each) for step, each in zip(steps, column, strict=True) if each is not None]
    dots = [
        element(
            "g",
            element(
                "title", f"{isolated(name)}, k = {tick_label(step)}: {each.mean:.4f}, deviation {each.deviation:.4f}"
            ),
            marker(x, scale(each.mean), position),
        )
        for (x, _), (step, each) in zip(points, said, strict=True)
    ]
    return join(
        element("polygon", points=" ".join(upper + lower), class_=f"band fill-{series}") if len(points) > 1 else None,
        element("polyline", points=middle, class_=f"curve line-{series}", stroke_dasharray=_DASHES[position % 7]),
        dots,
    )


def marker(x: float, y: float, position: int) -> Markup:
    """Circle, square, triangle or diamond, in turn."""
    name = f"fill-{_series(position)} marker"
    corners = {
        1: ((-3.4, -3.4), (3.4, -3.4), (3.4, 3.4), (-3.4, 3.4)),
        2: ((0, -4.4), (4.2, 3.2), (-4.2, 3.2)),
        3: ((0, -4.6), (4.6, 0), (0, 4.6), (-4.6, 0)),
    }.get(position % 4)
    if corners is None:
        return element("circle", cx=x, cy=y, r=3.6, class_=name)
    return element("polygon", points=" ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners), class_=name)


def _leader(right: float, y: float, at: float, position: int) -> Markup:
    line = element("line", x1=right + 4.0, x2=right + 10.0, y1=y, y2=at, class_="grid")
    return join(line, marker(right + 12.5, at, position))


def _key(names: Sequence[str], y: float, *, steps: bool = False) -> Markup:
    """What the fills mean, in one row."""
    marks, x = [], 2.0
    for position, name in enumerate(names):
        fill = _step(position) if steps else _series(position)
        words = shortened(name, 26)
        marks.append(element("rect", x=x, y=y - 9, width=10, height=10, class_=f"fill-{fill} edge"))
        marks.append(lettering(x + 14, y, words))
        x += 26 + 6.6 * len(words)
    return join(marks)


def _clear(steps: Sequence[float], across: Scale) -> list[float]:
    """The steps whose labels keep clear of the one before."""
    kept = list(steps[:1])
    for before, step in pairwise(steps):
        if across(step) - across(kept[-1]) >= 15 or step == before:
            kept.append(step)
    return kept


def _mean(spread: Spread | None) -> float:
    return 0.0 if spread is None else spread.mean


def _series(position: int) -> str:
    return f"series-{position % len(SERIES) + 1}"


def _step(position: int) -> str:
    return f"step-{position + 1}" if position < len(STEPS) else "none"
