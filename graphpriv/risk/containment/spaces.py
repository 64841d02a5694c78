"""What a search works on: a task, and room to search in, one of each for a thread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.containment.independent_sets import Room, room_for

#: Sets of places that did not do are remembered, so many for each component.
MEMORY = 16

#: As many neighbours as a word has bits; and how many sets are remembered of a target with no more.
PLACES, REMEMBERED = 64, 32

#: Room for the rows of a target whose rows are not kept, in words.
_ROWS = 1 << 24


class Task(NamedTuple):
    """A pattern, a target, and where what is known of them begins."""

    base: int
    size: int
    target_base: int
    target_size: int
    #: How many neighbours of the pattern have links.
    linked: int
    #: Words of a set of places; ways of being linked; the first row of bits, and how far two neighbours' are apart.
    words: int
    ways: int
    start: int
    apart: int
    #: How many types are wanted without links.
    types: int
    #: Levels of the pattern's pairs, negative where they are not known, and rows of the target's.
    pairs: int
    levels: int


class Word(NamedTuple):
    """Room to search in targets whose places fit into one word."""

    #: By depth: the domain of each place, who is not placed, the places linked with none that is taken; whose turn it
    #: is, and the value it has.
    domains: NDArray[np.uint64]
    unplaced: NDArray[np.uint64]
    free: NDArray[np.uint64]
    turn: NDArray[np.int64]
    images: NDArray[np.int64]
    #: By place: its component, how many of that there are at least of whom no two are linked, and the first value with
    #: no larger a share of links.
    parts: NDArray[np.uint64]
    apart: NDArray[np.int64]
    middles: NDArray[np.int64]
    #: Which values could change places, by the first of them.
    alike: NDArray[np.uint64]
    #: Whom sets did not do for, and which; how many there were.
    memory: NDArray[np.uint64]
    remembered: NDArray[np.int64]
    #: Who kept no place the last time.
    last: NDArray[np.int64]


class Space(NamedTuple):
    """Room to search in: one of each for a thread."""

    lows: NDArray[np.int32]
    highs: NDArray[np.int32]
    #: The domains that types, links and surroundings leave, by place.
    first: NDArray[np.uint64]
    #: By depth: the places linked with none that is taken; whose turn it is, the value it has; where its domains start.
    free: NDArray[np.uint64]
    turn: NDArray[np.int32]
    images: NDArray[np.int32]
    starts: NDArray[np.int64]
    #: The domains of a component, for each depth in it.
    domains: NDArray[np.uint64]
    #: Who is placed, and how each stands to the one being placed.
    placed: NDArray[np.int8]
    way: NDArray[np.int8]
    #: How often each kept no place, from 1 on; and who in the order was the last.
    weights: NDArray[np.int64]
    failed: NDArray[np.int64]
    #: For each depth at which a component starts: where it ends, and how many sets are remembered, which, under which
    #: bound.
    ends: NDArray[np.int32]
    remembered: NDArray[np.int32]
    bounds: NDArray[np.int32]
    memory: NDArray[np.uint64]
    row: NDArray[np.uint64]
    #: For each place of the target, in which trial it was last taken or next to one taken, and in which component.
    blocked: NDArray[np.int64]
    inside: NDArray[np.int64]
    trial: NDArray[np.int64]
    #: The rows of bits of one target whose rows are not kept, and which one.
    rows: NDArray[np.uint64]
    target: NDArray[np.int64]
    #: By depth: how far the places to try have been gone through.
    reached: NDArray[np.int64]
    spent: NDArray[np.int64]
    room: Room
    word: Word


def space_for(neighbours: int, words: int) -> Space:
    """Room for patterns and targets of up to so many neighbours; memory that is not touched is never there."""
    levels, per_set = neighbours + 2, neighbours // 64 + 1
    return Space(
        lows=np.empty(levels, dtype=np.int32),
        highs=np.empty(levels, dtype=np.int32),
        first=np.empty(min(levels * per_set, words), dtype=np.uint64),
        free=np.empty(min(levels * per_set, words), dtype=np.uint64),
        turn=np.empty(levels, dtype=np.int32),
        images=np.empty(levels, dtype=np.int32),
        starts=np.empty(levels, dtype=np.int64),
        domains=np.empty(words, dtype=np.uint64),
        placed=np.zeros(levels, dtype=np.int8),
        way=np.zeros(levels, dtype=np.int8),
        weights=np.ones(levels, dtype=np.int64),
        failed=np.zeros(1, dtype=np.int64),
        ends=np.empty(levels, dtype=np.int32),
        remembered=np.zeros(levels, dtype=np.int32),
        bounds=np.empty(levels * MEMORY, dtype=np.int32),
        memory=np.empty(min(levels * per_set * MEMORY, words), dtype=np.uint64),
        row=np.empty(4 * per_set, dtype=np.uint64),
        blocked=np.zeros(levels, dtype=np.int64),
        inside=np.zeros(levels, dtype=np.int64),
        trial=np.zeros(1, dtype=np.int64),
        reached=np.empty(levels, dtype=np.int64),
        rows=np.empty(_ROWS, dtype=np.uint64),
        target=np.full(1, -1, dtype=np.int64),
        spent=np.zeros(1, dtype=np.int64),
        room=room_for(neighbours, words),
        word=_word(),
    )


def _word() -> Word:
    def sets(count: int = PLACES + 1) -> NDArray[np.uint64]:
        return np.zeros(count, dtype=np.uint64)

    def numbers(count: int = PLACES + 1) -> NDArray[np.int64]:
        return np.zeros(count, dtype=np.int64)

    return Word(
        domains=sets((PLACES + 1) * PLACES),
        unplaced=sets(),
        free=sets(),
        turn=numbers(),
        images=numbers(),
        parts=sets(),
        apart=numbers(),
        middles=numbers(),
        alike=sets(),
        memory=sets(2 * REMEMBERED),
        remembered=numbers(1),
        last=numbers(1),
    )
