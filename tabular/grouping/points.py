"""Records as points: one coordinate an attribute, or two where numbers are missing, and how far apart records are.

The squared distance between two records is the sum over their attributes of the squared distances of the values:
eq 2.6 for ordinal ones (difference of ranks over the size of the domain), eq 2.7 for nominal ones (0 or 1), and for
continuous ones the difference over four standard deviations, so that a common one counts as much as a common
difference of the others (Wilson and Martinez 1997). A missing number is a category of its own, 1 away from any
number and otherwise as far as their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import CONTINUOUS, Attribute
from tabular.errors import InvalidInput
from tabular.table import Table

#: The kinds of middle that the values of a coordinate have.
MEAN, MEDIAN, MODE = range(3)

#: Whole numbers up to here are exact as floating-point ones, and so are sums of whole numbers up to the other.
EXACT, SUMMABLE = 2**53, 2**62

#: The decimals up to which numbers are counted in units of their last decimal.
DECIMALS = 9


class Points(NamedTuple):
    """A row a record and a column a coordinate; *ordered* ones come first, the others are equal or not.

    All coordinates are whole numbers: sums are exact, and so are ties between equal differences. The squared distance
    of an ordered coordinate is its weight times the squared difference, that of another its weight if they differ.
    Where a coordinate is a code, its domain has *sizes* values.
    """

    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    middles: NDArray[np.int64]
    sizes: NDArray[np.int64]
    ordered: int

    def rows(self, positions: NDArray[np.integer]) -> Points:
        """The points at *positions*."""
        return self._replace(values=np.ascontiguousarray(self.values[positions]))


class Coordinate(NamedTuple):
    """One coordinate of all records; its weight is one over the square of *scale*."""

    values: NDArray[np.float64]
    scale: float
    middle: int
    size: int


def points_of(table: Table, attributes: Sequence[str]) -> Points:
    """The records of *table* by *attributes*, which hold values and no sets."""
    found: list[Coordinate] = []
    for name in attributes:
        attribute, codes = table.attribute(name), table.columns[name]
        if table.sets[name]:
            raise InvalidInput(f"Column {name!r} holds labels that stand for sets; it must hold values.")
        if attribute.kind == CONTINUOUS:
            found.extend(_numbers(attribute, codes))
        else:
            size = len(attribute.domain)
            middle, scale = (MEDIAN, size) if attribute.is_ordered else (MODE, 1)
            found.append(Coordinate(codes.astype(np.float64), scale, middle, size))
    found.sort(key=lambda coordinate: coordinate.middle == MODE)
    return Points(
        values=np.stack([each.values for each in found], axis=1) if found else np.zeros((len(table), 0)),
        weights=_weights(found),
        middles=np.array([each.middle for each in found], dtype=np.int64),
        sizes=np.array([each.size for each in found], dtype=np.int64),
        ordered=sum(each.middle != MODE for each in found),
    )


def domain_numbers(attribute: Attribute) -> NDArray[np.float64]:
    """The values of a continuous domain as numbers; a missing one is not a number."""
    # A missing value, None, becomes not a number.
    numbers = np.array(attribute.domain, dtype=np.float64)
    if np.isinf(numbers).any():
        raise InvalidInput(f"Column {attribute.name!r} holds an infinite number; distances need finite ones.")
    return numbers


def _numbers(attribute: Attribute, codes: NDArray[np.int32]) -> list[Coordinate]:
    numbers = domain_numbers(attribute)[codes]
    missing = np.isnan(numbers)
    present = numbers[~missing]
    whole = np.zeros(len(numbers))
    if present.size:
        whole[~missing] = whole_numbers(present, len(numbers))
        # In order, so that the spread does not depend on the order of the rows.
        ordered = np.sort(whole[~missing])
        whole[missing] = np.rint(ordered.mean())
        scale = 4 * float(ordered.std(ddof=1)) if ordered[0] < ordered[-1] else np.inf
    else:
        scale = np.inf
    coordinates = [Coordinate(whole, scale, MEAN, 0)]
    if missing.any():
        coordinates.append(Coordinate(missing.astype(np.float64), 1, MODE, 2))
    return coordinates


def whole_numbers(numbers: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    """*numbers* as whole multiples of one unit, so small that nothing is lost and so great that sums are exact.

    >>> whole_numbers(np.array([0.1, 0.25, 3]), 3).tolist()
    [10.0, 25.0, 300.0]
    """
    greatest = float(np.abs(numbers).max(initial=0.0))
    most = min(EXACT, SUMMABLE // max(rows, 1))
    for decimals in range(DECIMALS + 1):
        unit = 10.0**decimals
        if greatest * unit >= most:
            break
        scaled = np.rint(numbers * unit)
        if np.array_equal(scaled / unit, numbers):
            return scaled + 0.0
    # No such unit: the finest power of two that leaves the sums exact.
    bits = int(np.floor(np.log2(most))) - 1 - int(np.ceil(np.log2(greatest)))
    return np.rint(np.ldexp(numbers, bits)) + 0.0


def _weights(coordinates: Sequence[Coordinate]) -> NDArray[np.float64]:
    """One over the squared scales; whole numbers for codes alone, so that equal sums are exactly equal."""
    common = lcm(*(each.size for each in coordinates if each.middle == MEDIAN and each.size))
    if common**2 * max(len(coordinates), 1) >= EXACT:
        common = 1
    return np.array([(common / each.scale) ** 2 if each.scale else 0.0 for each in coordinates])
