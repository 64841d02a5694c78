"""Decide whether two coloured neighbourhoods are the same, centre on centre, by individualisation and refinement.

A colour that several neighbours share is split by giving one of them, and in turn each of its counterparts, a colour
of its own (McKay and Piperno 2014 tell of the family). What is found is looked at link by link before it counts.
"""

from __future__ import annotations

from typing import NamedTuple

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


class Colouring(NamedTuple):
    """The colours of neighbours, and these in the order of their colours."""

    colours: NDArray[np.uint64]
    order: NDArray[np.int32]


@compiled
def misfit(
    found: Neighbourhoods,
    one: int,
    other: int,
    count: int,
    own: Colouring,
    others: Colouring,
    image: NDArray[np.int32],
    mark: NDArray[np.int8],
) -> int:
    """Assign neighbours in the order of colours; say where that breaks a link, or that it fits, or never will."""
    for at in range(count):
        place, onto = own.order[at], others.order[at]
        if own.colours[place] != others.colours[onto] or found.types[one + place] != found.types[other + onto]:
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
                if own.colours[own.order[at]] == own.colours[place] and own.order[at] != place:
                    return place
            return broken
    return _FITS


@compiled
def equitable(
    found: Neighbourhoods,
    one: int,
    other: int,
    count: int,
    own: Colouring,
    others: Colouring,
    fresh: NDArray[np.uint64],
    spare: NDArray[np.int32],
) -> int:
    """Refine the colours of both as far as they go; the rounds it took, negative where they come apart."""
    distinct = sort_by_colour(own.colours, own.order, spare, count)
    if sort_by_colour(others.colours, others.order, spare, count) != distinct:
        return -1
    rounds = 1
    while True:
        recolour(found, one, count, own.colours, fresh)
        own.colours[:] = fresh
        recolour(found, other, count, others.colours, fresh)
        others.colours[:] = fresh
        finer = sort_by_colour(own.colours, own.order, spare, count)
        if sort_by_colour(others.colours, others.order, spare, count) != finer:
            return -rounds
        for at in range(count):
            if own.colours[own.order[at]] != others.colours[others.order[at]]:
                return -rounds
        rounds += 1
        if finer <= distinct:
            return rounds
        distinct = finer


@compiled
def search_isomorphism(
    found: Neighbourhoods,
    one: int,
    other: int,
    count: int,
    start: NDArray[np.uint64],
    other_start: NDArray[np.uint64],
    broken: int,
    image: NDArray[np.int32],
    mark: NDArray[np.int8],
    budget: int,
    spent: NDArray[np.int64],
) -> int:
    """Single out one neighbour after the other until an assignment fits, or none is left, or the steps are used up."""
    fresh, spare = np.empty(count, dtype=np.uint64), np.empty(count, dtype=np.int32)
    mine = Colouring(np.empty(count, dtype=np.uint64), np.empty(count, dtype=np.int32))
    theirs = Colouring(np.empty(count, dtype=np.uint64), np.empty(count, dtype=np.int32))
    # By level: the colours of one neighbourhood, then those of the other.
    kept = np.empty(8 * count, dtype=np.uint64)
    chosen, cursor = np.empty(count + 1, dtype=np.int64), np.empty(count + 1, dtype=np.int64)
    kept[:count], kept[count : 2 * count] = start, other_start
    size = count + found.rows[one + count] - found.rows[one]
    level, steps = 0, spent[0]
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
        mine.colours[:], theirs.colours[:] = kept[own : own + count], kept[others : others + count]
        mine.colours[chosen[level]] = theirs.colours[onto] = mixed(cell ^ _SINGLED_OUT)
        rounds = equitable(found, one, other, count, mine, theirs, fresh, spare)
        steps += abs(rounds) * size
        spent[0] = steps
        if rounds > 0:
            broken = misfit(found, one, other, count, mine, theirs, image, mark)
            if broken == _FITS:
                return YES
            if broken >= 0:
                broken = with_choice(mine, count, broken)
            if broken >= 0:
                level += 1
                if 2 * (level + 1) * count > len(kept):
                    kept = np.concatenate((kept, np.empty_like(kept)))
                own, others = 2 * level * count, (2 * level + 1) * count
                kept[own : own + count], kept[others : others + count] = mine.colours, theirs.colours
                chosen[level], cursor[level] = broken, 0
        if steps > budget:
            return OPEN
    return NO


@compiled
def with_choice(own: Colouring, count: int, wanted: int) -> int:
    """The *wanted* place if another one has its colour, else the first of several that share one, else -1."""
    shared = -1
    for at in range(1, count):
        place, before = own.order[at], own.order[at - 1]
        if own.colours[place] == own.colours[before]:
            if wanted in (place, before):
                return wanted
            if shared < 0:
                shared = before
    return shared


@compiled
def same_neighbourhood(
    found: Neighbourhoods,
    colouring: Colouring,
    centre: int,
    other_centre: int,
    image: NDArray[np.int32],
    mark: NDArray[np.int8],
    budget: int,
    spent: NDArray[np.int64],
) -> int:
    """Say whether two centres have the same neighbourhood: YES, NO, or OPEN where the *budget* did not do.

    How many steps it took is written to *spent*.
    """
    spent[0] = 1
    one, other = found.offsets[centre], found.offsets[other_centre]
    one_end, other_end = found.offsets[centre + 1], found.offsets[other_centre + 1]
    count = one_end - one
    if count != other_end - other or found.labels[centre] != found.labels[other_centre]:
        return NO
    if found.rows[one_end] - found.rows[one] != found.rows[other_end] - found.rows[other]:
        return NO
    spent[0] += count + found.rows[one_end] - found.rows[one]
    own = Colouring(colouring.colours[one:one_end], colouring.order[one:one_end])
    others = Colouring(colouring.colours[other:other_end], colouring.order[other:other_end])
    broken = misfit(found, one, other, count, own, others, image, mark)
    if broken == _FITS:
        return YES
    if broken >= 0:
        broken = with_choice(own, count, broken)
    if broken < 0:
        return NO
    return search_isomorphism(found, one, other, count, own.colours, others.colours, broken, image, mark, budget, spent)
