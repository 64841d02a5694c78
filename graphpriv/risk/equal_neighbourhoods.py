"""Classes of equal neighbourhoods over both graphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.colour_refinement import mixed, refine
from graphpriv.risk.disclosure import Disclosure
from graphpriv.risk.isomorphism import OPEN, YES, Colouring, same_neighbourhood
from graphpriv.risk.neighbourhoods import Neighbourhoods
from graphpriv.risk.workers import even_bounds, in_chunks
from tabular.kernels import compiled

#: Steps that one comparison may take.
MOST_STEPS = 20_000_000


@dataclass(frozen=True)
class NeighbourhoodClasses:
    """Which neighbourhoods are the same.

    `of` names each centre's class by the first centre in it. Where the steps left in doubt which of several centres are
    the same, `doubt` names the first of these for each of them; it is -1 for all others. The first *originals* centres
    are those of the original graph.
    """

    of: NDArray[np.int32]
    doubt: NDArray[np.int32]
    originals: int

    def disclosure(self, mapping: NDArray[np.int64] | None) -> Disclosure:
        """The masked users in a user's class are its candidates, and those in doubt may be."""
        own, masked = self.of[: self.originals], self.of[self.originals :]
        weights = np.bincount(masked, minlength=len(self.of))
        candidates, possible = weights[own], weights[own]
        doubt = self.doubt[: self.originals]
        unsure, others = doubt >= 0, self.doubt[self.originals :]
        alike = np.bincount(others[others >= 0], minlength=len(self.of))
        possible[unsure] = alike[doubt[unsure]]
        if mapping is None:
            return Disclosure(candidates, possible, None, None)
        found, least = np.zeros(len(own), dtype=np.bool_), np.zeros(len(own), dtype=np.int64)
        there = np.flatnonzero(mapping >= 0)
        found[there] = own[there] == masked[mapping[there]]
        least[found] = candidates[found]
        maybe = there[~found[there] & unsure[there] & (doubt[there] == others[mapping[there]])]
        least[maybe] = candidates[maybe] + weights[masked[mapping[maybe]]]
        return Disclosure(candidates, possible, found, least)


def equal_neighbourhoods(found: Neighbourhoods, originals: int, *, steps: int, workers: int) -> NeighbourhoodClasses:
    """Sort all centres into classes; the first *originals* are those of one graph, the others of the other."""
    centres = len(found.offsets) - 1
    sizes = np.diff(found.offsets)
    keys = np.empty(centres, dtype=np.uint64)
    in_chunks(lambda start, stop: rough_keys(found, start, stop, keys), even_bounds(sizes), workers)
    of, doubt = np.arange(centres, dtype=np.int32), np.full(centres, -1, dtype=np.int32)
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
    shares = _shares(sizes[by_key], starts, steps)
    in_chunks(
        lambda start, stop: split_by_key(
            found, Colouring(colours, orders), by_key, starts, start, stop, originals, shares, of, doubt
        ),
        even_bounds(np.diff(starts), least=1 << 14),
        workers,
    )
    return NeighbourhoodClasses(of, doubt, originals)


def _shares(sizes: NDArray[np.int64], starts: NDArray[np.int64], steps: int) -> NDArray[np.int64]:
    """Share *steps* out among runs of centres, by how many neighbours these have."""
    done = np.concatenate([[0], np.cumsum(sizes + 1)])
    shares: NDArray[np.int64] = (np.diff(done[starts]) * (steps / max(int(done[-1]), 1))).astype(np.int64)
    return shares


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
    shares: NDArray[np.int64],
    of: NDArray[np.int32],
    doubt: NDArray[np.int32],
) -> None:
    """Split each run of centres with one key into classes, comparing each centre with one of every class so far.

    A run that has used up its share of the steps is compared no further.
    """
    most, longest = 0, 0
    for run in range(start, stop):
        longest = max(longest, starts[run + 1] - starts[run])
        for at in range(starts[run], starts[run + 1]):
            centre = by_key[at]
            most = max(most, found.offsets[centre + 1] - found.offsets[centre])
    image, mark = np.empty(most, dtype=np.int32), np.zeros(most, dtype=np.int8)
    firsts, spent = np.empty(longest, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for run in range(start, stop):
        classes, unsure, left = 0, False, shares[run]
        for at in range(starts[run], starts[run + 1]):
            centre, known = by_key[at], False
            for each in range(classes):
                answer = OPEN
                if left > 0:
                    answer = same_neighbourhood(
                        found, colouring, firsts[each], centre, image, mark, min(left, MOST_STEPS), spent
                    )
                    left -= spent[0]
                if answer == YES:
                    of[centre], known = firsts[each], True
                    break
                unsure = unsure or answer == OPEN
                if left <= 0:
                    break
            if not known:
                firsts[classes] = centre
                classes += 1
        # The members of a run rise: the original users come first.
        if unsure and by_key[starts[run]] < originals <= by_key[starts[run + 1] - 1]:
            for at in range(starts[run], starts[run + 1]):
                doubt[by_key[at]] = by_key[starts[run]]
