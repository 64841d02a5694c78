"""Whether a target has room for neighbours without links: so many of each type, no two of them linked."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.containment.bits import highest, lowest, ones, run_of
from graphpriv.risk.isomorphism import NO, OPEN, YES
from tabular.kernels import compiled, lean

_0, _1 = np.uint64(0), np.uint64(1)

#: For so many types of neighbours a search has room down to its last level.
_MOST_TYPES = 256


class Room(NamedTuple):
    """What is wanted of each type, and room to search in: one of each for a thread."""

    #: How many of each type are wanted, and the run of places of the target with that type.
    wanted: NDArray[np.int64]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    #: By level of the search what is still wanted of each type, which places are left, and the one branched on.
    left: NDArray[np.int64]
    sets: NDArray[np.uint64]
    branch: NDArray[np.int64]
    kept: NDArray[np.uint64]
    #: How many steps the last search took.
    spent: NDArray[np.int64]


class Links(NamedTuple):
    """The rows of bits of a target: the first of each place says with whom it is not linked."""

    bits: NDArray[np.uint64]
    start: int
    apart: int
    words: int


@compiled
def room_for(neighbours: int, words: int) -> Room:
    """Room for targets of up to so many neighbours."""
    levels = neighbours + 2
    # Each level of a search counts what is left of each type.
    counts = min(levels * min(levels, _MOST_TYPES), words)
    words = min(levels * (neighbours // 64 + 1), words)
    return Room(
        wanted=np.zeros(levels, dtype=np.int64),
        lows=np.zeros(levels, dtype=np.int64),
        highs=np.zeros(levels, dtype=np.int64),
        left=np.zeros(counts, dtype=np.int64),
        sets=np.zeros(words, dtype=np.uint64),
        branch=np.zeros(levels, dtype=np.int64),
        kept=np.zeros(neighbours // 64 + 2, dtype=np.uint64),
        spent=np.zeros(1, dtype=np.int64),
    )


@lean
def near_to(links: Links, sets: NDArray[np.uint64], own: int, vertex: int) -> tuple[int, int]:
    """How many of a set a vertex is linked with, and the last of them."""
    degree, other = 0, -1
    row = links.start + vertex * links.apart
    for word in range(links.words):
        near = sets[own + word] & ~links.bits[row + word]
        if word == vertex >> 6:
            near &= ~(_1 << np.uint64(vertex & 63))
        if near != _0:
            degree += ones(near)
            other = word * 64 + lowest(near)
    return degree, other


@lean
def matched(links: Links, sets: NDArray[np.uint64], own: int) -> int:
    """How many pairs of linked vertices a set has at least, no vertex in two; the set is used up."""
    pairs = 0
    for word in range(links.words):
        while sets[own + word] != _0:
            vertex = word * 64 + lowest(sets[own + word])
            sets[own + word] &= sets[own + word] - _1
            other = near_to(links, sets, own, vertex)[1]
            if other >= 0:
                sets[own + (other >> 6)] &= ~(_1 << np.uint64(other & 63))
                pairs += 1
    return pairs


@lean
def reduce_set(room: Room, types: int, links: Links, own: int, mine: int) -> tuple[int, int, int, int]:
    """Take whoever can be taken without harm, and drop who is not needed.

    Whether that settles the question, the vertex with most links left, how many are wanted, and how many are there.
    """
    sets, left = room.sets, room.left
    while True:
        heaviest, most, wanted, there, changed = -1, 0, 0, 0, False
        for kind in range(types):
            low, high, alone, inside = room.lows[kind], room.highs[kind], 0, 0
            for word in range(low >> 6, (high + 63) >> 6):
                run = run_of(word, low, high)
                if left[mine + kind] <= 0:
                    sets[own + word] &= ~run
                inside += ones(sets[own + word] & run)
            room.spent[0] += links.words
            if left[mine + kind] <= 0:
                continue
            if inside < left[mine + kind]:
                return NO, -1, 0, 0
            for word in range(low >> 6, (high + 63) >> 6):
                vertices = sets[own + word] & run_of(word, low, high)
                while vertices != _0:
                    bit = vertices & (~vertices + _1)
                    vertices ^= bit
                    if sets[own + word] & bit == _0:
                        continue
                    vertex = word * 64 + lowest(bit)
                    degree, other = near_to(links, sets, own, vertex)
                    room.spent[0] += links.words + 2
                    if degree == 1 and low <= other < high:
                        # Whatever holds the other one could hold this one in its place.
                        sets[own + (other >> 6)] &= ~(_1 << np.uint64(other & 63))
                        degree, changed = 0, True
                        inside -= 1
                    if degree == 0:
                        alone += 1
                    elif degree > most:
                        heaviest, most = vertex, degree
            if alone >= left[mine + kind]:
                left[mine + kind], changed = 0, True
            else:
                wanted += left[mine + kind]
                there += inside
        if wanted == 0:
            return YES, -1, 0, 0
        if not changed:
            return OPEN, heaviest, wanted, there


@lean
def taken_in_turn(room: Room, types: int, links: Links) -> bool:
    """Whether taking whoever is still free, those with fewest links first, already gives all that is wanted."""
    sets, words = room.sets, links.words
    for word in range(words):
        sets[words + word] = sets[word]
    for kind in range(types):
        wanted, word = room.wanted[kind], (room.highs[kind] + 63) >> 6
        while wanted > 0:
            word -= 1
            if word < room.lows[kind] >> 6:
                return False
            run = run_of(word, room.lows[kind], room.highs[kind])
            while wanted > 0 and sets[words + word] & run != _0:
                row = links.start + (word * 64 + highest(sets[words + word] & run)) * links.apart
                for each in range(words):
                    # The first row leaves out the vertex itself.
                    sets[words + each] &= links.bits[row + each]
                room.spent[0] += words
                wanted -= 1
    return True


@lean
def has_independent(room: Room, types: int, links: Links, budget: int) -> int:
    """Say whether the first set of *room* holds an independent set with all that is wanted of each type."""
    sets, left, level, words = room.sets, room.left, 0, links.words
    for kind in range(types):
        left[kind] = room.wanted[kind]
    room.spent[0] = 0
    if 2 * words <= len(sets) and taken_in_turn(room, types, links):
        return YES
    while True:
        own, mine = level * words, level * types
        if own + 2 * words > len(sets) or mine + 2 * types > len(left) or room.spent[0] > budget:
            return OPEN
        answer, heaviest, wanted, there = reduce_set(room, types, links, own, mine)
        if answer == YES:
            return YES
        if answer == OPEN:
            for word in range(words):
                sets[own + words + word] = sets[own + word]
            room.spent[0] += there * words
            if there - matched(links, sets, own + words) < wanted:
                answer = NO
        if answer == NO:
            level -= 1
            while level >= 0 and room.branch[level] < 0:
                level -= 1
            if level < 0:
                return NO
            # Without its heaviest vertex the set would not do: now with it.
            vertex, own, mine = room.branch[level], level * words, level * types
            for kind in range(types):
                if room.lows[kind] <= vertex < room.highs[kind]:
                    left[mine + kind] -= 1
            row = links.start + vertex * links.apart
            for word in range(words):
                # The first row leaves out the vertex itself.
                sets[own + word] &= links.bits[row + word]
            room.branch[level] = -1
            continue
        room.branch[level] = heaviest
        for word in range(words):
            sets[own + words + word] = sets[own + word]
        for kind in range(types):
            left[mine + types + kind] = left[mine + kind]
        sets[own + words + (heaviest >> 6)] &= ~(_1 << np.uint64(heaviest & 63))
        level += 1


@lean
def most_apart(room: Room, links: Links, start: int, stop: int, budget: int) -> tuple[int, int]:
    """Between what lies the greatest number of places of the set in *room*, from *start* to *stop*, no two linked."""
    words = links.words
    room.lows[0], room.highs[0] = start, stop
    kept, there = room.kept, 0
    for word in range(words):
        kept[word] = room.sets[word]
        there += ones(kept[word])
    if there == 0:
        return 0, 0
    for word in range(words):
        room.sets[word] = kept[word]
    most = there - matched(links, room.sets, 0)
    least, spent = 0, 0
    # Whoever is still free in turn, those with fewest links first.
    for word in range(words):
        room.sets[word] = kept[word]
    for back in range(words):
        word = words - 1 - back
        while room.sets[word] != _0:
            row = links.start + (word * 64 + highest(room.sets[word])) * links.apart
            for each in range(words):
                room.sets[each] &= links.bits[row + each]
            least += 1
    while least < most and spent < budget:
        for word in range(words):
            room.sets[word] = kept[word]
        room.wanted[0] = least + 1
        answer = has_independent(room, 1, links, budget - spent)
        spent += room.spent[0]
        if answer == YES:
            least += 1
        elif answer == NO:
            most = least
        else:
            break
    return least, most
