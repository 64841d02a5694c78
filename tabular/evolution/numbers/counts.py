"""The counts of one protected file of numbers; a changed number changes few of them."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.evolution.numbers.tables import Tables
from tabular.kernels import lean
from tabular.measures.linkage.nearest import ROUNDING

#: Products are summed in two words, so that sums are exact: the lower word has so many bits.
BITS = 31


class Counts(NamedTuple):
    """A protected file: its `units`, each column `sorted`, and its records in code `order`.

    `sums` are those of the units less the middles, `products` the sums of the products of two columns in two words,
    the lower one first. `disclosed` counts the cells of each record, `shares` what each adds to DBRL.
    """

    units: NDArray[np.int64]
    sorted: NDArray[np.int64]
    order: NDArray[np.int64]
    sums: NDArray[np.int64]
    products: NDArray[np.int64]
    disclosed: NDArray[np.int64]
    shares: NDArray[np.int64]


def counts_for(units: NDArray[np.int64]) -> Counts:
    """The counts of a file with these *units*, still to be made but for the orders."""
    records, columns = units.shape
    return Counts(
        units=np.array(units, dtype=np.int64, order="C"),
        sorted=np.ascontiguousarray(np.sort(units, axis=0).T),
        order=np.lexsort(units.T[::-1]).astype(np.int64),
        sums=np.zeros(columns, dtype=np.int64),
        products=np.zeros((2, columns, columns), dtype=np.int64),
        disclosed=np.zeros(records, dtype=np.int64),
        shares=np.zeros(records, dtype=np.int64),
    )


def copied(counts: Counts) -> Counts:
    """The same counts, to be changed on their own."""
    return Counts(*(part.copy() for part in counts))


@lean
def count(tables: Tables, counts: Counts, scratch: NDArray[np.float64]) -> None:
    """Count the whole file."""
    for record in range(len(counts.units)):
        _add(tables, counts, record, 1)
        _measure(tables, counts, scratch, record)


@lean
def change(tables: Tables, counts: Counts, scratch: NDArray[np.float64], record: int, units: NDArray[np.int64]) -> None:
    """Give a record other *units*."""
    _add(tables, counts, record, -1)
    _leave(counts, record)
    for column in range(len(units)):
        if units[column] != counts.units[record, column]:
            _move(counts.sorted[column], counts.units[record, column], units[column])
            counts.units[record, column] = units[column]
    _enter(counts, record)
    _add(tables, counts, record, 1)
    _measure(tables, counts, scratch, record)


@lean
def _add(tables: Tables, counts: Counts, record: int, sign: int) -> None:
    """Add a record to the sums, or take it out."""
    columns = counts.units.shape[1]
    for one in range(columns):
        first = counts.units[record, one] - tables.middles[one]
        counts.sums[one] += sign * first
        for two in range(one, columns):
            product = first * (counts.units[record, two] - tables.middles[two])
            counts.products[0, one, two] += sign * (product & ((1 << BITS) - 1))
            counts.products[1, one, two] += sign * (product >> BITS)


@lean
def _measure(tables: Tables, counts: Counts, scratch: NDArray[np.float64], record: int) -> None:
    """How many cells of a record are disclosed, and its share of DBRL."""
    columns, disclosed = counts.units.shape[1], 0
    own = 0.0
    for column in range(columns):
        units = counts.units[record, column]
        disclosed += tables.lows[record, column] <= units <= tables.highs[record, column]
        scratch[column] = units / tables.tens[column] / tables.scale[column]
        own += (tables.scaled[record, column] - scratch[column]) ** 2
    counts.disclosed[record] = disclosed
    counts.shares[record] = tables.shares[_tied(tables, scratch, record, sqrt(own))]


@lean
def _tied(tables: Tables, masked: NDArray[np.float64], record: int, own: float) -> int:
    """How many originals are as near as the record's own; 0 if another one is nearer.

    Looked at from where the masked record lies on the line, in both directions, as far as one can be as near.
    """
    records, columns = tables.scaled.shape
    here = masked.sum() / sqrt(columns)
    begin = np.searchsorted(tables.line, here)
    nearest = own
    for counting in range(2):
        reach = nearest * (1 + ROUNDING) + ROUNDING
        # So much farther that rounding leaves none out.
        far = reach * (1 + ROUNDING) + ROUNDING
        tied = 0
        for direction in range(2):
            place = begin - 1 if direction else begin
            while 0 <= place < records and abs(tables.line[place] - here) <= far:
                distance = _within(tables, masked, tables.along[place], columns, far * far)
                if distance <= far * far:
                    distance = sqrt(distance)
                    if own > distance * (1 + ROUNDING) + ROUNDING:
                        return 0
                    nearest = min(nearest, distance)
                    tied += distance <= reach
                place += 1 - 2 * direction
        if counting == 1 or nearest == own:
            return tied
    return tied


@lean
def _within(tables: Tables, masked: NDArray[np.float64], other: int, columns: int, most: float) -> float:
    """The square of the distance of an original, or more than *most* as soon as it is."""
    distance = 0.0
    for column in range(columns):
        distance += (tables.scaled[other, column] - masked[column]) ** 2
        if distance > most:
            break
    return distance


@lean
def _move(ordered: NDArray[np.int64], before: int, after: int) -> None:
    """Replace one number in an ascending column."""
    place = np.searchsorted(ordered, before)
    while place > 0 and ordered[place - 1] > after:
        ordered[place] = ordered[place - 1]
        place -= 1
    while place < len(ordered) - 1 and ordered[place + 1] < after:
        ordered[place] = ordered[place + 1]
        place += 1
    ordered[place] = after


@lean
def _leave(counts: Counts, record: int) -> None:
    """Take a record out of the order; its place is the last one."""
    place = 0
    while counts.order[place] != record:
        place += 1
    for after in range(place, len(counts.order) - 1):
        counts.order[after] = counts.order[after + 1]


@lean
def _enter(counts: Counts, record: int) -> None:
    """Put a record that left back into the order; equal ones stand in the order of the file."""
    low, high = 0, len(counts.order) - 1
    while low < high:
        middle = (low + high) >> 1
        if _is_before(counts, counts.order[middle], record):
            low = middle + 1
        else:
            high = middle
    for after in range(len(counts.order) - 1, low, -1):
        counts.order[after] = counts.order[after - 1]
    counts.order[low] = record


@lean
def _is_before(counts: Counts, one: int, other: int) -> bool:
    for column in range(counts.units.shape[1]):
        if counts.units[one, column] != counts.units[other, column]:
            return bool(counts.units[one, column] < counts.units[other, column])
    return one < other


@lean
def weigh(
    tables: Tables, gains: NDArray[np.int64], units: NDArray[np.int64], held: NDArray[np.int64],
    weights: NDArray[np.int32],
) -> None:  # fmt: skip
    """Make *weights*, which are those of the records *held*, the ones of *units*: the gains of what agrees.

    A row a masked record, a column an original in code order.
    """
    columns = units.shape[1]
    for record in range(len(units)):
        same = True
        for column in range(columns):
            same &= units[record, column] == held[record, column]
        if same:
            continue
        row = weights[record]
        row[:] = 0
        for column in range(columns):
            held[record, column] = units[record, column]
            number, reach = units[record, column] / tables.tens[column], tables.reaches[column]
            values = tables.values[tables.starts[column] : tables.starts[column + 1]]
            low = np.searchsorted(values, number - reach)
            high = np.searchsorted(values, number + reach, side="right")
            gain, places = np.int32(gains[column]), tables.places[column]
            for original in range(len(row)):
                row[original] += gain if low <= places[original] < high else np.int32(0)


@lean
def combine(counts: Counts, ends: NDArray[np.int64], combinations: NDArray[np.int64]) -> int:
    """Which combination each masked record has, and where that of each ends in the order; how many there are."""
    found = -1
    for place in range(len(counts.order)):
        record = counts.order[place]
        is_new = place == 0
        if place > 0:
            for column in range(counts.units.shape[1]):
                is_new |= counts.units[record, column] != counts.units[counts.order[place - 1], column]
        found += is_new
        combinations[record], ends[found] = found, place + 1
    return found + 1
