"""Colour refinement (Weisfeiler and Leman 1968) of labelled neighbourhoods.

A colour is a number of 64 bits that depends on nothing but the shape and the labels around a neighbour, so equal
neighbourhoods get equal colours in both graphs. Unequal ones may by accident share a colour: whoever calls
two neighbourhoods equal must look at them (see `isomorphism`); that two of unequal colours differ is certain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.neighbourhoods import Neighbourhoods
from tabular.kernels import compiled

_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)

#: Below this many, elements are sorted by insertion.
_RUN = 16


@compiled
def mixed(value: np.uint64) -> np.uint64:
    """Scatter the bits of *value* (the finaliser of SplitMix64)."""
    value = value + _GOLDEN
    value = (value ^ (value >> _30)) * _FIRST
    value = (value ^ (value >> _27)) * _SECOND
    return value ^ (value >> _31)


@compiled
def sort_by_colour(colours: NDArray[np.uint64], order: NDArray[np.int32], spare: NDArray[np.int32], count: int) -> int:
    """Put *order* in the order of colours and say how many different ones there are."""
    for place in range(count):
        order[place] = place
    for low in range(0, count, _RUN):
        for place in range(low + 1, min(low + _RUN, count)):
            moving = order[place]
            at = place
            while at > low and colours[order[at - 1]] > colours[moving]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = moving
    width = _RUN
    while width < count:
        for low in range(0, count, 2 * width):
            middle, high = min(low + width, count), min(low + 2 * width, count)
            left, right = low, middle
            for at in range(low, high):
                if right >= high or (left < middle and colours[order[left]] <= colours[order[right]]):
                    spare[at] = order[left]
                    left += 1
                else:
                    spare[at] = order[right]
                    right += 1
        for at in range(count):
            order[at] = spare[at]
        width *= 2
    distinct = 1 if count else 0
    for at in range(1, count):
        distinct += colours[order[at]] != colours[order[at - 1]]
    return distinct


@compiled
def recolour(
    found: Neighbourhoods, first: int, count: int, colours: NDArray[np.uint64], fresh: NDArray[np.uint64]
) -> None:
    """Give each neighbour a colour made of its own and of those it is linked to."""
    for place in range(count):
        around = np.uint64(0)
        for link in range(found.rows[first + place], found.rows[first + place + 1]):
            around += mixed(colours[found.inner[link]] ^ (np.uint64(found.codes[link]) * _GOLDEN))
        fresh[place] = mixed(colours[place] + mixed(around))


@compiled
def refine(
    found: Neighbourhoods,
    centres: NDArray[np.int64],
    start: int,
    stop: int,
    colours: NDArray[np.uint64],
    orders: NDArray[np.int32],
    keys: NDArray[np.uint64],
) -> None:
    """Colour the neighbours of the *centres* from *start* to *stop*, and give each of these a key of them all."""
    most = 0
    for at in range(start, stop):
        most = max(most, found.offsets[centres[at] + 1] - found.offsets[centres[at]])
    fresh, spare = np.empty(most, dtype=np.uint64), np.empty(most, dtype=np.int32)
    again = np.empty(most, dtype=np.int32)
    for at in range(start, stop):
        centre = centres[at]
        first, last = found.offsets[centre], found.offsets[centre + 1]
        count = last - first
        own, order = colours[first:last], orders[first:last]
        for place in range(count):
            own[place] = mixed(np.uint64(found.types[first + place]))
        links = found.rows[last] - found.rows[first]
        distinct = sort_by_colour(own, order, spare, count)
        rounds = 0
        while links:
            recolour(found, first, count, own, fresh)
            finer = sort_by_colour(fresh, again, spare, count)
            # The first round always counts: it brings the links into colours that are all different already.
            if finer <= distinct and rounds:
                break
            rounds += 1
            distinct = finer
            for place in range(count):
                own[place], order[place] = fresh[place], again[place]
            if distinct == count:
                break
        key = mixed(np.uint64(found.labels[centre])) + mixed(np.uint64(links) ^ _GOLDEN)
        for place in range(count):
            key += mixed(own[place])
        keys[at] = key
