"""Where each neighbour of a pattern may go at the outset, by its type, its links and what is around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.containment.shapes import Shapes
from graphpriv.risk.containment.spaces import Space
from graphpriv.risk.containment.surroundings import Surroundings, offers
from graphpriv.risk.isomorphism import NO, OPEN, YES
from tabular.kernels import inlined, lean

_0, _1 = np.uint64(0), np.uint64(1)
_FIELDS = np.uint64(0x8888888888888888)


@inlined
def first_at_most(degrees: NDArray[np.int32], base: int, low: int, high: int, most: int) -> int:
    """The first place from *low* to *high* with at most so many links; degrees fall."""
    while low < high:
        middle = (low + high) >> 1
        if degrees[base + middle] > most:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def first_of(types: NDArray[np.int64], low: int, high: int, kind: int) -> int:
    """The first place from *low* to *high* with at least that type; types rise."""
    while low < high:
        middle = (low + high) >> 1
        if types[middle] < kind:
            low = middle + 1
        else:
            high = middle
    return low


@lean
def windows(shapes: Shapes, pattern: int, target: int, space: Space) -> int:
    """Write the run of places each neighbour can take by its type and links, and what is wanted without links.

    How many types are wanted without links; -1 where somebody can take no place.
    """
    base, target_base = shapes.offsets[pattern], shapes.offsets[target]
    count, target_count = shapes.offsets[pattern + 1] - base, shapes.offsets[target + 1] - target_base
    slack, place, start, types = target_count - count, 0, 0, 0
    lows, highs, room = space.lows, space.highs, space.room
    while place < count:
        kind, end = shapes.types[base + place], place
        while end < count and shapes.types[base + end] == kind:
            end += 1
        first = first_of(shapes.types, target_base + start, target_base + target_count, kind) - target_base
        last = target_count
        if first < target_count and shapes.types[target_base + target_count - 1] != kind:
            last = first_of(shapes.types, target_base + first, target_base + target_count, kind + 1) - target_base
        start = last
        if last - first < end - place:
            return -1
        low, high = first, first
        alone, fewest = 0, first
        for each in range(place, end):
            degree = shapes.degrees[base + each]
            # Degrees fall on both sides, so that each run starts and ends after the one before.
            if each == place or degree < shapes.degrees[base + each - 1]:
                high = first_at_most(shapes.degrees, target_base, high, last, degree - 1)
                low = first_at_most(shapes.degrees, target_base, low, last, degree + slack)
            if high - first < each - place + 1 or last - low < end - each or low >= high:
                return -1
            lows[each], highs[each] = low, high
            if degree == 0:
                alone += 1
                fewest = low
        if alone:
            room.wanted[types], room.lows[types], room.highs[types] = alone, fewest, last
            types += 1
        place = end
    return types


@inlined
def first_domains(
    shapes: Shapes, around: Surroundings, base: int, count: int, target_base: int, words: int, space: Space, budget: int
) -> int:
    """Write the domains that types, links and surroundings leave: NO where one has nothing in it."""
    for place in range(count):
        if shapes.degrees[base + place] == 0:
            continue
        if space.spent[0] > budget:
            return OPEN
        own, twin = place * words, shapes.twins[base + place]
        first, last = space.lows[place] >> 6, (space.highs[place] + 63) >> 6
        if twin != place:
            for word in range(first, last):
                space.first[own + word] = space.first[twin * words + word]
            continue
        for word in range(first, last):
            space.first[own + word] = _0
        tally, some = shapes.tallies[base + place], False
        space.spent[0] += 2 * (space.highs[place] - space.lows[place]) + last - first
        for value in range(space.lows[place], space.highs[place]):
            # No field of the target's tally may fall short: then no borrow clears its highest bit.
            if ((shapes.tallies[target_base + value] | _FIELDS) - tally) & _FIELDS == _FIELDS and offers(
                around, base + place, target_base + value
            ):
                space.first[own + (value >> 6)] |= _1 << np.uint64(value & 63)
                some = True
        if not some:
            return NO
    return YES
