"""NeighbourhoodClasses of equal neighbourhoods over both graphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.colour_refinement import mixed, refine
from graphpriv.risk.isomorphism import OPEN, YES, Colouring, same_neighbourhood
from graphpriv.risk.neighbourhoods import Neighbourhoods
from graphpriv.risk.workers import even_bounds, in_chunks
from tabular.kernels import compiled


@dataclass(frozen=True)
class NeighbourhoodClasses:
    """Which neighbourhoods are the same.

    `of` names each centre's class by the first centre in it. `open` marks the centres of whom a budget of steps left in
    doubt whether one of the other graph is the same.
    """

    of: NDArray[np.int32]
    open: NDArray[np.bool_]


def equal_neighbourhoods(found: Neighbourhoods, originals: int, *, budget: int, workers: int) -> NeighbourhoodClasses:
    """Sort all centres into classes; the first *originals* are those of one graph, the others of the other."""
    centres = len(found.offsets) - 1
    sizes = np.diff(found.offsets)
    keys = np.empty(centres, dtype=np.uint64)
    in_chunks(lambda start, stop: rough_keys(found, start, stop, keys), even_bounds(sizes), workers)
    of, open_ = np.arange(centres, dtype=np.int32), np.zeros(centres, dtype=np.bool_)
    # Who shares not even that with anybody is a class alone, and the links around it are not looked at.
    among = members_of(*numbered(keys), least=2)[0]
    colours = np.empty(len(found.types), dtype=np.uint64)
    orders = np.empty(len(found.types), dtype=np.int32)
    keys = np.empty(len(among), dtype=np.uint64)
    in_chunks(
        lambda start, stop: refine(found, among, start, stop, colours, orders, keys),
        even_bounds(sizes[among]),
        workers,
    )
    order, starts = members_of(*numbered(keys), least=2)
    by_key = among[order]
    in_chunks(
        lambda start, stop: split_by_key(
            found, Colouring(colours, orders), by_key, starts, start, stop, originals, budget, of, open_
        ),
        even_bounds(np.diff(starts), least=1 << 14),
        workers,
    )
    return NeighbourhoodClasses(of, open_)


@compiled
def rough_keys(found: Neighbourhoods, start: int, stop: int, keys: NDArray[np.uint64]) -> None:
    """Give each centre a key of its label, how many links are around it, and the types of its neighbours."""
    for centre in range(start, stop):
        first, last = found.offsets[centre], found.offsets[centre + 1]
        key = mixed(np.uint64(found.labels[centre])) ^ mixed(np.uint64(found.rows[last] - found.rows[first]))
        for place in range(first, last):
            key += mixed(np.uint64(found.types[place]))
        keys[centre] = key


@compiled
def numbered(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int32], int]:
    """Number the distinct *keys* in the order in which they first occur: the number of each, and how many there are."""
    size = 16
    while size < 2 * len(keys):
        size *= 2
    table, owners = np.empty(size, dtype=np.uint64), np.zeros(size, dtype=np.int32)
    numbers, count = np.empty(len(keys), dtype=np.int32), 0
    for at in range(len(keys)):
        key = keys[at]
        slot = np.int64(mixed(key) & np.uint64(size - 1))
        while owners[slot] > 0 and table[slot] != key:
            slot = (slot + 1) & (size - 1)
        if owners[slot] == 0:
            count += 1
            table[slot], owners[slot] = key, count
        numbers[at] = owners[slot] - 1
    return numbers, count


@compiled
def members_of(numbers: NDArray[np.int32], count: int, least: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Who has each number that *least* have or more, one number after the other, and where each one's members start."""
    sizes = np.zeros(count, dtype=np.int64)
    for at in range(len(numbers)):
        sizes[numbers[at]] += 1
    kept, total = 0, 0
    starts = np.empty(count + 1, dtype=np.int64)
    for number in range(count):
        if sizes[number] >= least:
            starts[kept] = total
            kept += 1
            total += sizes[number]
            sizes[number] = total - sizes[number]
        else:
            sizes[number] = -1
    starts[kept] = total
    members = np.empty(total, dtype=np.int64)
    for at in range(len(numbers)):
        place = sizes[numbers[at]]
        if place >= 0:
            members[place] = at
            sizes[numbers[at]] += 1
    return members, starts[: kept + 1].copy()


@compiled
def split_by_key(
    found: Neighbourhoods,
    colouring: Colouring,
    by_key: NDArray[np.int64],
    starts: NDArray[np.int64],
    start: int,
    stop: int,
    originals: int,
    budget: int,
    of: NDArray[np.int32],
    open_: NDArray[np.bool_],
) -> None:
    """Split each run of centres with one key into classes, comparing each centre with one of every class so far."""
    most, longest = 0, 0
    for run in range(start, stop):
        longest = max(longest, starts[run + 1] - starts[run])
        for at in range(starts[run], starts[run + 1]):
            centre = by_key[at]
            most = max(most, found.offsets[centre + 1] - found.offsets[centre])
    image, mark = np.empty(most, dtype=np.int32), np.zeros(most, dtype=np.int8)
    firsts = np.empty(longest, dtype=np.int64)
    for run in range(start, stop):
        classes, doubt = 0, False
        for at in range(starts[run], starts[run + 1]):
            centre, known = by_key[at], False
            for each in range(classes):
                answer = same_neighbourhood(found, colouring, firsts[each], centre, image, mark, budget)
                if answer == YES:
                    of[centre], known = firsts[each], True
                    break
                doubt = doubt or answer == OPEN
            if not known:
                firsts[classes] = centre
                classes += 1
        # The members of a run rise: the original users come first.
        if doubt and by_key[starts[run]] < originals <= by_key[starts[run + 1] - 1]:
            for at in range(starts[run], starts[run + 1]):
                open_[by_key[at]] = True
