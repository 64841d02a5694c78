"""What a search works on: a task, and room to search in, one of each for a thread."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.containment.independent_sets import Room, room_for

N = TypeVar("N", bound=np.generic)

#: Two lines of the cache, in bytes: processors fetch two at a time.
_LINES = 128

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
        lows=_own(levels, np.int32),
        highs=_own(levels, np.int32),
        first=_own(min(levels * per_set, words), np.uint64),
        free=_own(min(levels * per_set, words), np.uint64),
        turn=_own(levels, np.int32),
        images=_own(levels, np.int32),
        starts=_own(levels, np.int64),
        domains=_own(words, np.uint64),
        placed=_own(levels, np.int8),
        way=_own(levels, np.int8),
        weights=_own(levels, np.int64),
        failed=_own(1, np.int64),
        ends=_own(levels, np.int32),
        remembered=_own(levels, np.int32),
        bounds=_own(levels * MEMORY, np.int32),
        memory=_own(min(levels * per_set * MEMORY, words), np.uint64),
        row=_own(4 * per_set, np.uint64),
        blocked=_own(levels, np.int64),
        inside=_own(levels, np.int64),
        trial=_own(1, np.int64),
        reached=_own(levels, np.int64),
        rows=_own(_ROWS, np.uint64),
        target=np.full(1, -1, dtype=np.int64),
        spent=_own(1, np.int64),
        room=room_for(neighbours, words),
        word=_word(),
    )


def _word() -> Word:
    places = PLACES + 1
    return Word(
        domains=_own(places * PLACES, np.uint64),
        unplaced=_own(places, np.uint64),
        free=_own(places, np.uint64),
        turn=_own(places, np.int64),
        images=_own(places, np.int64),
        parts=_own(places, np.uint64),
        apart=_own(places, np.int64),
        middles=_own(places, np.int64),
        alike=_own(places, np.uint64),
        memory=_own(2 * REMEMBERED, np.uint64),
        remembered=_own(1, np.int64),
        last=_own(1, np.int64),
    )


def _own(count: int, kind: type[N]) -> NDArray[N]:
    """Zeros on lines of the cache with no other array: threads that write to the same line wait for each other."""
    beside = _LINES // np.dtype(kind).itemsize
    return np.zeros(count + 2 * beside, dtype=kind)[beside : beside + count]
