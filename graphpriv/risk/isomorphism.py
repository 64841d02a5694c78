"""Decide whether two coloured neighbourhoods are the same, centre on centre, by individualisation and refinement.

A colour that several neighbours share is split by giving one of them, and in turn each of its counterparts, a colour
of its own (McKay and Piperno 2014 tell of the family). What is found is looked at link by link before it counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.colour_refinement import mixed, recolour, sort_by_colour
from graphpriv.risk.neighbourhoods import Neighbourhoods
from tabular.kernels import compiled

#: What a search can answer.
NO, YES, OPEN = 0, 1, -1

#: What a look at one assignment can answer beside the place that does not fit.
_FITS, _NEVER = -1, -2

_SINGLED_OUT = np.uint64(0xD6E8FEB86659FD93)


@compiled
def misfit(
    found: Neighbourhoods,
    types: NDArray[np.int64],
    one: int,
    other: int,
    count: int,
    colours: NDArray[np.uint64],
    order: NDArray[np.int32],
    other_colours: NDArray[np.uint64],
    other_order: NDArray[np.int32],
    image: NDArray[np.int32],
    mark: NDArray[np.int8],
) -> int:
    """Assign neighbours in the order of colours; say where that breaks a link, or that it fits, or never will."""
    for at in range(count):
        place, onto = order[at], other_order[at]
        if colours[place] != other_colours[onto] or types[one + place] != types[other + onto]:
            return _NEVER
        image[place] = onto
    for place in range(count):
        first, last = found.rows[one + place], found.rows[one + place + 1]
        other_first, other_last = found.rows[other + image[place]], found.rows[other + image[place] + 1]
        if last - first != other_last - other_first:
            return place
        for link in range(other_first, other_last):
            mark[found.inner[link]] = found.codes[link]
        broken = -1
        for link in range(first, last):
            if mark[image[found.inner[link]]] != found.codes[link]:
                broken = found.inner[link]
                break
        for link in range(other_first, other_last):
            mark[found.inner[link]] = 0
        if broken >= 0:
            # Name the end whose colour leaves a choice.
            for at in range(count):
                if colours[order[at]] == colours[place] and order[at] != place:
                    return place
            return broken
    return _FITS


@compiled
def equitable(
    found: Neighbourhoods,
    one: int,
    other: int,
    count: int,
    colours: NDArray[np.uint64],
    order: NDArray[np.int32],
    other_colours: NDArray[np.uint64],
    other_order: NDArray[np.int32],
    fresh: NDArray[np.uint64],
    spare: NDArray[np.int32],
) -> int:
    """Refine the colours of both as far as they go; the rounds it took, negative where they come apart."""
    distinct = sort_by_colour(colours, order, spare, count)
    if sort_by_colour(other_colours, other_order, spare, count) != distinct:
        return -1
    rounds = 1
    while True:
        recolour(found, one, count, colours, fresh)
        for place in range(count):
            colours[place] = fresh[place]
        recolour(found, other, count, other_colours, fresh)
        for place in range(count):
            other_colours[place] = fresh[place]
        finer = sort_by_colour(colours, order, spare, count)
        if sort_by_colour(other_colours, other_order, spare, count) != finer:
            return -rounds
        for at in range(count):
            if colours[order[at]] != other_colours[other_order[at]]:
                return -rounds
        rounds += 1
        if finer <= distinct:
            return rounds
        distinct = finer


@compiled
def search_isomorphism(
    found: Neighbourhoods,
    types: NDArray[np.int64],
    one: int,
    other: int,
    count: int,
    start: NDArray[np.uint64],
    other_start: NDArray[np.uint64],
    broken: int,
    image: NDArray[np.int32],
    mark: NDArray[np.int8],
    budget: int,
) -> int:
    """Single out one neighbour after the other until an assignment fits, or none is left, or the steps are used up."""
    order, other_order = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    fresh, spare = np.empty(count, dtype=np.uint64), np.empty(count, dtype=np.int32)
    colours, other_colours = np.empty(count, dtype=np.uint64), np.empty(count, dtype=np.uint64)
    # By level: the colours of one neighbourhood, then those of the other.
    kept = np.empty(8 * count, dtype=np.uint64)
    chosen, cursor = np.empty(count + 1, dtype=np.int64), np.empty(count + 1, dtype=np.int64)
    for place in range(count):
        kept[place], kept[count + place] = start[place], other_start[place]
    size = count + found.rows[one + count] - found.rows[one]
    level, steps = 0, 0
    chosen[0], cursor[0] = broken, 0
    while level >= 0:
        own, others = 2 * level * count, (2 * level + 1) * count
        cell = kept[own + chosen[level]]
        onto = cursor[level]
        while onto < count and kept[others + onto] != cell:
            onto += 1
        if onto == count:
            level -= 1
            continue
        cursor[level] = onto + 1
        for place in range(count):
            colours[place], other_colours[place] = kept[own + place], kept[others + place]
        colours[chosen[level]] = mixed(cell ^ _SINGLED_OUT)
        other_colours[onto] = colours[chosen[level]]
        rounds = equitable(found, one, other, count, colours, order, other_colours, other_order, fresh, spare)
        steps += abs(rounds) * size
        if rounds > 0:
            broken = misfit(found, types, one, other, count, colours, order, other_colours, other_order, image, mark)
            if broken == _FITS:
                return YES
            if broken >= 0:
                broken = with_choice(colours, order, count, broken)
            if broken >= 0:
                level += 1
                if 2 * (level + 1) * count > len(kept):
                    more = np.empty(2 * len(kept), dtype=np.uint64)
                    for at in range(len(kept)):
                        more[at] = kept[at]
                    kept = more
                for place in range(count):
                    kept[2 * level * count + place] = colours[place]
                    kept[(2 * level + 1) * count + place] = other_colours[place]
                chosen[level], cursor[level] = broken, 0
        if steps > budget:
            return OPEN
    return NO


@compiled
def with_choice(colours: NDArray[np.uint64], order: NDArray[np.int32], count: int, wanted: int) -> int:
    """The *wanted* place if another one has its colour, else the first of several that share one, else -1."""
    shared = -1
    for at in range(1, count):
        if colours[order[at]] == colours[order[at - 1]]:
            if order[at] == wanted or order[at - 1] == wanted:
                return wanted
            if shared < 0:
                shared = order[at - 1]
    return shared


@compiled
def same_neighbourhood(
    found: Neighbourhoods,
    types: NDArray[np.int64],
    labels: NDArray[np.int32],
    colours: NDArray[np.uint64],
    orders: NDArray[np.int32],
    centre: int,
    other_centre: int,
    image: NDArray[np.int32],
    mark: NDArray[np.int8],
    budget: int,
) -> int:
    """Say whether two centres have the same neighbourhood: YES, NO, or OPEN where the *budget* did not do."""
    one, other = found.offsets[centre], found.offsets[other_centre]
    one_end, other_end = found.offsets[centre + 1], found.offsets[other_centre + 1]
    count = one_end - one
    if count != other_end - other or labels[centre] != labels[other_centre]:
        return NO
    if found.rows[one_end] - found.rows[one] != found.rows[other_end] - found.rows[other]:
        return NO
    own, others = colours[one:one_end], colours[other:other_end]
    broken = misfit(
        found, types, one, other, count, own, orders[one:one_end], others, orders[other:other_end], image, mark
    )
    if broken == _FITS:
        return YES
    if broken == _NEVER:
        return NO
    broken = with_choice(own, orders[one:one_end], count, broken)
    if broken < 0:
        return NO
    return search_isomorphism(found, types, one, other, count, own, others, broken, image, mark, budget)
