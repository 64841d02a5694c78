"""Round numbers as the ends of published intervals, so that none of them is a value of few records.

Ends lie on a grid of 1, 2 or 5 times a power of ten. A point of the grid is an end only where the cells on both sides
of it hold k records or more; every interval reaches outwards to the nearest such points, and is open where there is
none. Of all grids the one is taken on which the intervals cover the fewest values, of equal ones the finest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isfinite, log10

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Attribute, Members, all_numbers
from tabular.intervals import Span, Spans

#: The label of an interval of numbers in a hierarchy.
_INTERVAL = re.compile(r"\[ *(-?\d+(?:\.\d+)?) *, *(-?\d+(?:\.\d+)?) *[\])]", re.ASCII)

FACTORS = (5, 2, 1)

#: The greatest power of ten that still has a multiple.
COARSEST = 307

#: Steps that are tried, and in a row that lose more than the best, before no finer one is; numbers of cells are exact.
MOST, WORSE, EXACT = 40, 4, 2**52


@dataclass(frozen=True)
class Grid:
    """The multiples of a step, *factor* times ten to the power of *exponent*."""

    factor: int
    exponent: int

    def at(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """The numbers at *places*, each the nearest to its decimals."""
        whole = (places * self.factor).astype(np.float64)
        return whole * 10.0**self.exponent if self.exponent >= 0 else whole / 10.0**-self.exponent

    def below(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """The place of the greatest point up to each of *numbers*."""
        step = self.factor * 10.0**self.exponent
        places = np.floor(numbers / step).astype(np.int64)
        # Division rounds; the points themselves decide.
        places -= self.at(places) > numbers
        places += self.at(places + 1) <= numbers
        return places


def numbers_of(attribute: Attribute) -> NDArray[np.float64]:
    """The ascending finite numbers that a column holds, without a missing value at the end of its domain.

    None where it holds anything else, or where the domain was declared: its values tell nothing of the records.
    """
    domain = attribute.domain
    held = domain[: len(domain) - (len(domain) > 0 and domain[-1] is None)]
    if not attribute.is_ordered or attribute.declared or not all_numbers(held):
        return np.zeros(0)
    try:
        numbers = np.array(held, dtype=np.float64)
    except OverflowError:
        # Whole numbers beyond the greatest floating-point one.
        return np.zeros(0)
    return numbers if np.isfinite(numbers).all() and (numbers[1:] >= numbers[:-1]).all() else np.zeros(0)


def on_a_grid(attribute: Attribute, spans: Spans, rows: NDArray[np.int64], counts: NDArray[np.int64], k: int) -> Spans:
    """*spans* of a numeric domain with ends on a grid, which cover what they cover and more.

    *rows* counts the records of each span, *counts* those of each value in the original. Spans of one value keep it.

    >>> ages = Attribute(name="age", kind="ordinal", domain=tuple(range(18, 58)))
    >>> ends = Spans(np.array([0, 14]), np.array([13, 39]), np.full(2, np.nan), np.full(2, np.nan))
    >>> found = on_a_grid(ages, ends, np.array([28, 52]), np.full(40, 2), 4)
    >>> found.lows.tolist(), found.highs.tolist()
    ([-inf, 32.0], [32.0, inf])
    """
    numbers = numbers_of(attribute)
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

    >>> ages = Attribute(name="age", kind="ordinal", domain=(18, 21, 23, 31, 58))
    >>> [(each.low, each.high) for each in with_round_ends(ages, [(1, 2), (3, 4)], ["[20, 25)", "old"])]
    [(20.0, 25.0), (30.0, inf)]
    """
    numbers = numbers_of(attribute)
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
