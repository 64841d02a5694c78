"""Cuts at medians into parts of k or more records, which share the range of their values or the middle of it.

Mondrian is by LeFevre and others (2006), the global median by Mares Soler (2013). A part is cut in the column in which
it is widest, relative to the whole; of several in the one with the longer domain, then in the first. Strict cuts run
between two values: beside the median, on the side that leaves the smaller half larger, and above it if both do. Where
neither is allowed none in that column is, and the next widest column has its turn: so in the end no allowed cut is
left. Relaxed cuts part the records in halves and the median's records by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import CONTINUOUS, ORDINAL, Attribute, Members
from tabular.grouping.points import domain_numbers
from tabular.intervals import Spans, on_a_grid
from tabular.kernels import compiled
from tabular.protections.contract import Protection, protections
from tabular.registry import option
from tabular.table import Table

STRICT, RELAXED = CUTS = ("strict", "relaxed")


@protections.add(
    "mondrian",
    cites="LeFevre, DeWitt and Ramakrishnan (2006); Mares Soler (2013), section 2.3.3",
    limits="nominal columns are cut along the order of their domain, which has no meaning; ranges of numbers reach "
    "outwards to round ends, and cover more, unless the values were declared in a schema; a part whose records share "
    "one value keeps it",
)
@dataclass(frozen=True, kw_only=True)
class Mondrian(Protection):
    """Cut the records at medians into parts of k or more and give each the range of its part's values."""

    promises_k: ClassVar[bool] = True

    k: int = option(3, low=1, help="fewest records of a part")
    cuts: str = option(
        STRICT,
        choices=CUTS,
        help="strict: equal values stay together; relaxed: they may part, and parts have fewer than 2k",
    )

    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """Labels [a,b] of the ends of ordered columns, {a|b} of the values of nominal ones; draws nothing."""
        parts = parts_of(table, attributes, self.k, relaxed=self.cuts == RELAXED)
        columns, sets = dict(table.columns), dict(table.sets)
        for name in attributes:
            attribute = table.attribute(name)
            if attribute.is_ordered:
                columns[name], sets[name] = _ranges(attribute, table.columns[name], parts, self.k)
            else:
                columns[name], sets[name] = _choices(table.columns[name], parts, len(attribute.domain))
        return Table(table.attributes, columns, sets)


@protections.add(
    "global-median",
    cites="Mares Soler (2013), section 5.3.1",
    limits="the middle of a range need not be a value that occurs; of two middles the lower one is taken",
)
@dataclass(frozen=True, kw_only=True)
class GlobalMedian(Protection):
    """Cut the records at medians into parts of k or more and give each the middle category of its part's range."""

    kinds: ClassVar[tuple[str, ...]] = (ORDINAL,)
    promises_k: ClassVar[bool] = True

    k: int = option(3, low=1, help="fewest records of a part")

    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """The middle of all categories of the domain between the ends of a range; draws nothing."""
        parts = parts_of(table, attributes, self.k, relaxed=False)
        ends = {name: ends_of(table.columns[name], parts) for name in attributes}
        return table.with_codes(**{name: ((lows + highs) // 2)[parts] for name, (lows, highs) in ends.items()})


def ends_of(codes: NDArray[np.int32], parts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lowest and the highest code of each part."""
    order = np.argsort(parts, kind="stable")
    sizes = np.bincount(parts)
    starts, held = np.cumsum(sizes) - sizes, codes[order].astype(np.int64)
    return np.minimum.reduceat(held, starts), np.maximum.reduceat(held, starts)


def _ranges(
    attribute: Attribute, codes: NDArray[np.int32], parts: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int32], Spans]:
    lows, highs = ends_of(codes, parts)
    size = len(attribute.domain)
    keys, which = np.unique(lows * size + highs, return_inverse=True)
    labels, unpublished = which[parts], np.full(len(keys), np.nan)
    spans = Spans(keys // size, keys % size, unpublished, unpublished)
    counts = np.bincount(codes, minlength=size)
    return (size + labels).astype(np.int32), on_a_grid(attribute, spans, np.bincount(labels), counts, k)


def _choices(
    codes: NDArray[np.int32], parts: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int32], tuple[Members, ...]]:
    keys = np.unique(parts * size + codes)
    members = np.split(keys % size, np.flatnonzero(np.diff(keys // size)) + 1)
    found: dict[Members, int] = {}
    which = np.array([found.setdefault(tuple(each.tolist()), len(found)) for each in members])
    return (size + which[parts]).astype(np.int32), tuple(found)


def parts_of(table: Table, attributes: Sequence[str], k: int, *, relaxed: bool) -> NDArray[np.int64]:
    """The part of each record, numbered as they lie; each has *k* records or more."""
    described = [table.attribute(name) for name in attributes]
    sizes = np.array([len(attribute.domain) for attribute in described], dtype=np.int64)
    # The longer domain first, so that it wins among equally wide ones.
    order = np.argsort(-sizes, kind="stable")
    codes = np.stack([table.columns[attributes[column]] for column in order])
    places = [_places(described[column]) for column in order]
    parts: NDArray[np.int64] = _parts(codes, np.concatenate(places), np.cumsum(sizes[order]) - sizes[order], k, relaxed)
    return parts


def _places(attribute: Attribute) -> NDArray[np.float64]:
    """Where each value lies between the ends of the domain, from 0 to 1; a missing number lies one step beyond."""
    size = len(attribute.domain)
    if attribute.kind != CONTINUOUS:
        return np.arange(size) / max(size - 1, 1)
    numbers = domain_numbers(attribute)
    present = numbers[~np.isnan(numbers)]
    if not present.size or present[0] == present[-1]:
        return np.arange(size) / max(size - 1, 1)
    # Halved, so that the span of the greatest numbers is one.
    places = (numbers / 2 - present[0] / 2) / (present[-1] / 2 - present[0] / 2)
    return np.where(np.isnan(places), 1 + 1 / (size - 1), places)


@compiled
def _parts(
    codes: NDArray[np.int32],
    places: NDArray[np.float64],
    offsets: NDArray[np.int64],
    k: int,
    relaxed: bool,
) -> NDArray[np.int64]:
    width, count = codes.shape
    rows, parts, room = np.arange(count), np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    # A part of a part is at most so many cuts deep as it has records; what waits is at most one a cut.
    waiting = np.empty((count + 1, 2), dtype=np.int64)
    spans = np.empty(width)
    waiting[0, 0], waiting[0, 1], top, found = 0, count, 1, 0
    while top:
        top -= 1
        start, end = waiting[top, 0], waiting[top, 1]
        middle = start
        if end - start >= 2 * k:
            for column in range(width):
                low = high = codes[column, rows[start]]
                for place in range(start + 1, end):
                    code = codes[column, rows[place]]
                    low, high = min(low, code), max(high, code)
                spans[column] = places[offsets[column] + high] - places[offsets[column] + low] if low < high else -1.0
            for _ in range(width):
                widest = 0
                for column in range(1, width):
                    widest = column if spans[column] > spans[widest] else widest
                if spans[widest] < 0.0:
                    break
                middle = _cut(codes[widest], rows, start, end, k, relaxed, room)
                if middle > start:
                    break
                spans[widest] = -1.0
        if middle == start:
            for place in range(start, end):
                parts[rows[place]] = found
            found += 1
        else:
            waiting[top, 0], waiting[top, 1] = middle, end
            waiting[top + 1, 0], waiting[top + 1, 1] = start, middle
            top += 2
    return parts


@compiled
def _cut(
    codes: NDArray[np.int32],
    rows: NDArray[np.int64],
    start: int,
    end: int,
    k: int,
    relaxed: bool,
    room: NDArray[np.int64],
) -> int:
    """Put the rows of the lower side first; where the upper side starts, *start* where no cut is allowed."""
    count = end - start
    held = np.empty(count, dtype=np.int32)
    for place in range(count):
        held[place] = codes[rows[start + place]]
    median = _at_rank(held, (count - 1) // 2)
    below, upto = 0, 0
    for code in held:
        below += 1 if code < median else 0
        upto += 1 if code <= median else 0
    # The records of the median itself that go to the lower side.
    if relaxed:
        taken = count // 2 - below
    else:
        taken = 0 if min(below, count - below) > min(upto, count - upto) else upto - below
        if min(below + taken, count - below - taken) < k:
            return start
    low, high = start, int(start + below + taken)
    middle = high
    for place in range(start, end):
        row = rows[place]
        if codes[row] < median or (codes[row] == median and taken > 0):
            taken -= 1 if codes[row] == median else 0
            room[low] = row
            low += 1
        else:
            room[high] = row
            high += 1
    rows[start:end] = room[start:end]
    return middle


@compiled
def _at_rank(held: NDArray[np.int32], rank: int) -> int:
    """The value at *rank* of the sorted values; written out, since a library's sort compiles slowly."""
    low, high = 0, len(held) - 1
    while low < high:
        pivot, i, j = held[(low + high) // 2], low, high
        while i <= j:
            while held[i] < pivot:
                i += 1
            while held[j] > pivot:
                j -= 1
            if i <= j:
                held[i], held[j] = held[j], held[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return int(held[rank])
