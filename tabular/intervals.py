"""Sets of neighbouring codes, held by their ends, and the numbers that are published as ends.

A label of a long domain covers many values: it is kept as two codes, never as a list of them. Where the ends that are
published are no values of the domain they are kept beside the codes. They are round numbers, so that none of them is a
value of few records.

Ends lie on a grid of 1, 2 or 5 times a power of ten. A point of the grid is an end only where the cells on both sides
of it hold k records or more; every interval reaches outwards to the nearest such points, and is open where there is
none. Of all grids the one is taken on which the intervals cover the fewest values, of equal ones the finest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isfinite, isnan, log10, nan
from operator import eq
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tabular.attributes import Attribute, Members

#: The label of an interval of numbers in a hierarchy.
_INTERVAL = re.compile(r"\[ *(-?\d+(?:\.\d+)?) *, *(-?\d+(?:\.\d+)?) *[\])]", re.ASCII)

FACTORS = (5, 2, 1)

#: The greatest power of ten that still has a multiple.
COARSEST = 307

#: Steps that are tried, and in a row that lose more than the best, before no finer one is; numbers of cells are exact.
MOST, WORSE, EXACT = 40, 4, 2**52


class Span(Sequence[int]):
    """All codes from *first* to *last*; equal to a tuple of the same codes.

    *low* and *high* are the ends as published: a number, or an infinite one where the label is open; None: the value
    of the domain at that end.

    >>> Span(2, 4) == (2, 3, 4), len(Span(2, 4)), 3 in Span(2, 4)
    (True, 3, True)
    """

    __slots__ = ("first", "high", "last", "low")

    def __init__(self, first: int, last: int, low: float | None = None, high: float | None = None) -> None:
        self.first, self.last, self.low, self.high = first, last, low, high

    def __len__(self) -> int:
        return self.last - self.first + 1

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[int, ...]: ...
    def __getitem__(self, place: int | slice) -> int | tuple[int, ...]:
        codes = range(self.first, self.last + 1)
        return tuple(codes[place]) if isinstance(place, slice) else codes[place]

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.last + 1))

    def __contains__(self, code: object) -> bool:
        return code in range(self.first, self.last + 1)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Span):
            return (self.first, self.last) == (other.first, other.last)
        return isinstance(other, tuple) and len(other) == len(self) and all(map(eq, self, other))

    def __hash__(self) -> int:
        # As the tuple's, to which it is equal.
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Span({self.first}, {self.last})"

    def moved(self, places: NDArray[np.integer]) -> Span:
        """The same label in a domain where the code c of this one is *places*[c], in the same order."""
        return Span(int(places[self.first]), int(places[self.last]), self.low, self.high)


@dataclass(frozen=True, eq=False)
class Spans(Sequence[Span]):
    """Many spans, as arrays; an end that is not a number stands for the value of the domain there."""

    firsts: NDArray[np.int64]
    lasts: NDArray[np.int64]
    lows: NDArray[np.float64]
    highs: NDArray[np.float64]

    @classmethod
    def of(cls, spans: Sequence[Span]) -> Spans:
        """*spans* as arrays."""
        return cls(
            np.fromiter((each.first for each in spans), np.int64, len(spans)),
            np.fromiter((each.last for each in spans), np.int64, len(spans)),
            np.fromiter((nan if each.low is None else each.low for each in spans), np.float64, len(spans)),
            np.fromiter((nan if each.high is None else each.high for each in spans), np.float64, len(spans)),
        )

    def take(self, places: NDArray[np.integer]) -> Spans:
        """The spans at *places*."""
        return Spans(self.firsts[places], self.lasts[places], self.lows[places], self.highs[places])

    def __len__(self) -> int:
        return len(self.firsts)

    @overload
    def __getitem__(self, place: int) -> Span: ...
    @overload
    def __getitem__(self, place: slice) -> Spans: ...
    def __getitem__(self, place: int | slice) -> Span | Spans:
        if isinstance(place, slice):
            return self.take(np.arange(len(self))[place])
        low, high = float(self.lows[place]), float(self.highs[place])
        return Span(
            int(self.firsts[place]),
            int(self.lasts[place]),
            None if isnan(low) else low,
            None if isnan(high) else high,
        )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Spans):
            return np.array_equal(self.firsts, other.firsts) and np.array_equal(self.lasts, other.lasts)
        return isinstance(other, Sequence) and len(other) == len(self) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]


def first_and_last(sets: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lowest and the highest code of each of *sets*, which are in order."""
    if isinstance(sets, Spans):
        return sets.firsts, sets.lasts
    count = len(sets)
    return (
        np.fromiter((each[0] for each in sets), np.int64, count),
        np.fromiter((each[-1] for each in sets), np.int64, count),
    )


def sizes_of(sets: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """How many codes each of *sets* has."""
    if isinstance(sets, Spans):
        return sets.lasts - sets.firsts + 1
    return np.fromiter((len(each) for each in sets), np.int64, len(sets))


def runs_of(sets: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], Spans]:
    """The runs of neighbouring codes that *sets* are made of, and the set of each, in order.

    >>> owners, runs = runs_of([(1, 2, 5), (0, 1)])
    >>> owners.tolist(), runs.firsts.tolist(), runs.lasts.tolist()
    ([0, 0, 1], [1, 5, 0], [2, 5, 1])
    """
    if isinstance(sets, Spans):
        return np.arange(len(sets)), sets
    found = [(owner, first, last) for owner, each in enumerate(sets) for first, last in _runs(each)]
    owners, firsts, lasts = np.array(found, dtype=np.int64).reshape(-1, 3).T
    nothing = np.full(len(found), nan)
    return owners, Spans(firsts, lasts, nothing, nothing)


def _runs(members: Sequence[int]) -> list[tuple[int, int]]:
    if members[-1] - members[0] + 1 == len(members):
        return [(members[0], members[-1])]
    codes = codes_in(members)
    ends = np.flatnonzero(np.diff(codes) > 1)
    firsts, lasts = codes[np.append(0, ends + 1)], codes[np.append(ends, len(codes) - 1)]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def codes_in(members: Sequence[int]) -> NDArray[np.int64]:
    """The codes of one set."""
    if isinstance(members, Span):
        return np.arange(members.first, members.last + 1)
    return np.array(members, dtype=np.int64)


def place_of(members: Sequence[int]) -> tuple[int, ...]:
    """Where a set stands among others: they sort as the tuples of their codes do, and equal ones alone are equal.

    >>> sets = [(1, 2, 5), (1, 2), (1, 3), (1, 2, 3, 4), (0, 7)]
    >>> sorted(sets) == sorted(sets, key=place_of)
    True
    """
    *others, (first, last) = _runs(members)
    # A run that others follow sorts behind one that ends the set, and the shorter behind the longer one.
    return *(part for begin, end in others for part in (begin, 1, -end)), first, 0, last


def number_text(number: float) -> str:
    """A published end as written.

    >>> number_text(20.0), number_text(0.5), number_text(-1e300)
    ('20', '0.5', '-1e+300')
    """
    return str(int(number)) if float(number).is_integer() and abs(number) < 2**53 else repr(float(number))


def interval_text(low: str | None, high: str | None) -> str:
    """The label of an interval; an end that is None is open, and one end is not.

    >>> interval_text("20", "30"), interval_text(None, "20"), interval_text("30", None)
    ('[20,30]', '<=20', '>=30')
    """
    if low is None:
        return f"<={high}"
    return f">={low}" if high is None else f"[{low},{high}]"


def is_open(end: float | None) -> bool:
    """Whether a published end is that of an open label."""
    return end is not None and abs(end) == inf


@dataclass(frozen=True)
class Grid:
    """The multiples of a step, *factor* times ten to the power of *exponent*."""

    factor: int
    exponent: int

    def at(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """The numbers at *places*, each the nearest to its decimals."""
        whole = (places * self.factor).astype(np.float64)
        # The next end above the greatest number there is lies at infinity, and leaves the label open.
        with np.errstate(over="ignore"):
            return whole * 10.0**self.exponent if self.exponent >= 0 else whole / 10.0**-self.exponent

    def below(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """The place of the greatest point up to each of *numbers*."""
        step = self.factor * 10.0**self.exponent
        places = np.floor(numbers / step).astype(np.int64)
        # Division rounds; the points themselves decide.
        places -= self.at(places) > numbers
        places += self.at(places + 1) <= numbers
        return places


def on_a_grid(attribute: Attribute, spans: Spans, rows: NDArray[np.int64], counts: NDArray[np.int64], k: int) -> Spans:
    """*spans* of a numeric domain with ends on a grid, which cover what they cover and more.

    *rows* counts the records of each span, *counts* those of each value in the original. Spans of one value keep it.

    >>> from tabular.attributes import Attribute
    >>> ages = Attribute(name="age", kind="ordinal", domain=tuple(range(18, 58)))
    >>> ends = Spans(np.array([0, 14]), np.array([13, 39]), np.full(2, np.nan), np.full(2, np.nan))
    >>> found = on_a_grid(ages, ends, np.array([28, 52]), np.full(40, 2), 4)
    >>> found.lows.tolist(), found.highs.tolist()
    ([-inf, 32.0], [32.0, inf])
    """
    numbers = attribute.occurring_numbers
    if len(numbers) < 2 or not len(spans):
        return spans
    size, worse, bounds = len(attribute.domain), 0, _bounds(attribute, numbers)
    found = _rounded(numbers, size, spans, np.zeros(0))
    least = _loss(found, rows)
    for grid in _grids(numbers):
        permitted = _permitted(grid.below(numbers), counts[: len(numbers)], k)
        rounded = _rounded(numbers, size, spans, grid.at(permitted))
        loss = _loss(rounded, rows)
        worse = 0 if loss <= least else worse + 1
        if loss <= least:
            found, least = rounded, loss
        elif worse == WORSE:
            break
    lows, highs = (
        np.where(np.isinf(ends), bound, ends) for ends, bound in zip((found.lows, found.highs), bounds, strict=True)
    )
    return replace(found, lows=lows, highs=highs)


def _bounds(attribute: Attribute, numbers: NDArray[np.float64]) -> tuple[float, float]:
    """The declared bounds of an attribute; infinite ones where there are none, or numbers lie outside."""
    low, high = attribute.bounds or (-inf, inf)
    return (low, high) if low <= numbers[0] and numbers[-1] <= high else (-inf, inf)


def roundest_above(before: float, number: float) -> float:
    """The roundest number that is greater than *before* and no greater than *number*.

    >>> roundest_above(79, 81), roundest_above(0.31, 0.38), roundest_above(28, 29)
    (80.0, 0.35, 29.0)
    """
    exponent = min(ceil(log10(max(abs(before), abs(number), 1e-250))) + 1, COARSEST)
    for tried in range(MOST):
        grid = Grid(FACTORS[tried % 3], exponent - tried // 3)
        if abs(number) >= EXACT * grid.factor * 10.0**grid.exponent:
            break
        point = float(grid.at(grid.below(np.array([number])))[0])
        if before < point:
            return point
    return float(number)


def roundest_below(number: float, after: float) -> float:
    """The roundest number that is no less than *number* and less than *after*.

    >>> roundest_below(28, 31), roundest_below(-5, 0)
    (30.0, -5.0)
    """
    return -roundest_above(-after, -number)


def with_round_ends(attribute: Attribute, parts: Sequence[Members], labels: Sequence[str] = ()) -> tuple[Members, ...]:
    """The *parts* of a domain as they are published: with the ends of their *labels* in a hierarchy, or round ones.

    Only neighbouring numbers that nobody declared change; ends lie between them and the next numbers on both sides, and
    the first and the last part are open.

    >>> from tabular.attributes import Attribute
    >>> ages = Attribute(name="age", kind="ordinal", domain=(18, 21, 23, 31, 58))
    >>> [(each.low, each.high) for each in with_round_ends(ages, [(1, 2), (3, 4)], ["[20, 25)", "old"])]
    [(20.0, 25.0), (30.0, inf)]
    """
    numbers = attribute.occurring_numbers
    names = labels or [""] * len(parts)
    bounds = _bounds(attribute, numbers) if len(numbers) else (-inf, inf)
    return tuple(_published(numbers, bounds, part, label) for part, label in zip(parts, names, strict=True))


def _published(numbers: NDArray[np.float64], bounds: tuple[float, float], part: Members, label: str) -> Members:
    first, last = part[0], part[-1]
    if last >= len(numbers) or last - first + 1 > len(part):
        return part
    if found := _INTERVAL.fullmatch(label):
        low, high = float(found[1]), float(found[2])
        begin, end = int(np.searchsorted(numbers, low, side="left")), int(np.searchsorted(numbers, high, side="right"))
        if (begin, end) == (first, last + 1):
            return Span(first, last, low, high)
    if len(part) == 1:
        return part
    low = roundest_above(numbers[first - 1], numbers[first]) if first else bounds[0]
    high = roundest_below(numbers[last], numbers[last + 1]) if last + 1 < len(numbers) else bounds[1]
    return Span(first, last, low, high)


def _loss(spans: Spans, rows: NDArray[np.int64]) -> int:
    return int(np.dot(spans.lasts - spans.firsts, rows))


def _grids(numbers: NDArray[np.float64]) -> Iterator[Grid]:
    """Grids from the coarsest that parts the numbers to the finest that their size allows."""
    spread = float(numbers[-1]) - float(numbers[0])
    if not spread or not isfinite(spread):
        return
    greatest, whole = float(np.abs(numbers).max()), bool((numbers == np.floor(numbers)).all())
    exponent = min(ceil(log10(spread)), COARSEST)
    for tried in range(MOST):
        grid = Grid(FACTORS[tried % 3], exponent - tried // 3)
        if grid.exponent < -COARSEST:
            return
        step = grid.factor * 10.0**grid.exponent
        if greatest / step >= EXACT or (whole and grid.exponent < 0):
            return
        yield grid


def _permitted(places: NDArray[np.int64], counts: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """The points with *k* records or more in the cells on both sides; *places* are the cells of the values."""
    cells, begins = np.unique(places, return_index=True)
    full = cells[np.add.reduceat(counts, begins) >= k]
    return np.asarray(full[1:][np.diff(full) == 1])


def _rounded(numbers: NDArray[np.float64], size: int, spans: Spans, points: NDArray[np.float64]) -> Spans:
    """*spans* of a domain of *size* that reach outwards to some of the *points*, or are open."""
    last = len(numbers) - 1
    # A range may reach up to a missing value, which stands behind the numbers.
    several, missing = spans.firsts < spans.lasts, spans.lasts > last
    padded = np.concatenate([[-inf], points, [inf]])
    lows = padded[np.searchsorted(points, numbers[np.minimum(spans.firsts, last)], side="right")]
    highs = padded[np.searchsorted(points, numbers[np.minimum(spans.lasts, last)], side="left") + 1]
    firsts = np.searchsorted(numbers, lows, side="left")
    lasts = np.where(missing, spans.lasts, np.searchsorted(numbers, highs, side="right") - 1)
    # What is open on both sides stands for all values.
    lasts[np.isinf(lows) & (missing | np.isinf(highs))] = size - 1
    return Spans(
        np.where(several, firsts, spans.firsts),
        np.where(several, lasts, spans.lasts),
        np.where(several, lows, np.nan),
        np.where(several & ~missing, highs, np.nan),
    )
