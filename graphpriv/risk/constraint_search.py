"""Look for one neighbourhood inside another, node-induced and centre on centre, by constraint search on bits.

Each neighbour of the pattern has a domain, the neighbours of the target that it may stand for. Assigning one cuts
the others down to what stands to it the same way (forward checking, also for those not linked), domains of one value
are assigned at once, and all neighbours of one type must find room in the union of their domains (McCreesh, Prosser
and Trimble 2020). What failed for one value fails for all that could change places with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.isomorphism import NO, OPEN, YES
from graphpriv.risk.shapes import BitRows, Shapes, write_row
from tabular.kernels import compiled, inlined

_1, _2, _4, _56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
_M1, _M2 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_M4, _H = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
_0, _FIELDS = np.uint64(0), np.uint64(0x8888888888888888)

#: States of a neighbour of the pattern.
_FREE, _ASSIGNED, _SPREAD = 0, 1, 2


class Span(NamedTuple):
    """Where the neighbours of a pattern and of a target begin, and how many there are."""

    base: int
    neighbours: int
    target_base: int
    target_neighbours: int


class Workspace(NamedTuple):
    """Room to search in, for patterns of some size: one of each for a thread."""

    #: For each neighbour of the pattern the first word of its domain in a row, how many words, and where they lie.
    word: NDArray[np.int64]
    words: NDArray[np.int64]
    at: NDArray[np.int64]
    #: By level: domains, how many values each has, states, values.
    domains: NDArray[np.uint64]
    sizes: NDArray[np.int32]
    states: NDArray[np.int8]
    values: NDArray[np.int32]
    #: By level: the neighbour being tried and the value it has.
    trying: NDArray[np.int32]
    value: NDArray[np.int32]
    #: How each neighbour stands to the one whose assignment is being spread, and those waiting for that.
    way: NDArray[np.int8]
    waiting: NDArray[np.int32]
    union: NDArray[np.uint64]
    #: How often the domain of each neighbour ran empty in this search.
    blame: NDArray[np.int64]
    #: Rows of bits of one neighbour of a target whose rows are not kept.
    row: NDArray[np.uint64]


def workspace_for(neighbours: int, target_neighbours: int, words: int) -> Workspace:
    """Room for patterns of up to so many neighbours; memory that is not touched is never there."""
    levels = neighbours + 1
    by_level = min(levels * levels, words)
    return Workspace(
        word=np.empty(levels, dtype=np.int64),
        words=np.empty(levels, dtype=np.int64),
        at=np.empty(levels, dtype=np.int64),
        domains=np.empty(words, dtype=np.uint64),
        sizes=np.empty(by_level, dtype=np.int32),
        states=np.empty(by_level, dtype=np.int8),
        values=np.empty(by_level, dtype=np.int32),
        trying=np.empty(levels + 1, dtype=np.int32),
        value=np.empty(levels + 1, dtype=np.int32),
        way=np.zeros(levels, dtype=np.int8),
        waiting=np.empty(levels, dtype=np.int32),
        union=np.empty(target_neighbours // 64 + 2, dtype=np.uint64),
        blame=np.empty(levels, dtype=np.int64),
        row=np.empty(4 * (target_neighbours // 64 + 1), dtype=np.uint64),
    )


@compiled
def ones(word: np.uint64) -> int:
    """How many bits of *word* are set."""
    word = word - ((word >> _1) & _M1)
    word = (word & _M2) + ((word >> _2) & _M2)
    word = (word + (word >> _4)) & _M4
    return int((word * _H) >> _56)


@compiled
def lowest(word: np.uint64) -> int:
    """Which bit of *word* is the lowest that is set."""
    return ones((word & (~word + _1)) - _1)


@inlined
def first_domains(patterns: Shapes, targets: Shapes, span: Span, space: Workspace) -> int:
    """Write the domains that types and inner degrees leave; how many words they take, negative where one is empty."""
    base, count, target_base, target_count = span
    slack, kinds = target_count - count, targets.types[target_base : target_base + target_count]
    total, place, low_end = 0, 0, 0
    while place < count:
        kind, end = patterns.types[base + place], place
        while end < count and patterns.types[base + end] == kind:
            end += 1
        first = low_end + np.searchsorted(kinds[low_end:], kind)
        low_end = first + np.searchsorted(kinds[first:], kind, side="right")
        # Whatever has no links can stand for whatever has none, and for nothing else that would need it: these are
        # settled beforehand, as many as there are on both sides.
        alone = 0
        while (
            place + alone < end
            and first + alone < low_end
            and patterns.degrees[base + end - alone - 1] == 0
            and targets.degrees[target_base + low_end - alone - 1] == 0
        ):
            alone += 1
        for each in range(end - alone, end):
            space.words[each], space.at[each], space.word[each] = 0, total, 0
            space.sizes[each], space.states[each], space.blame[each] = 0, _SPREAD, 1
        top = low_end - alone
        # Degrees fall on both sides, so each domain is a window that moves on.
        low, high = first, first
        for each in range(place, end - alone):
            degree = patterns.degrees[base + each]
            while high < top and targets.degrees[target_base + high] >= degree:
                high += 1
            while low < low_end and targets.degrees[target_base + low] > degree + slack:
                low += 1
            if high - first < each - place + 1 or top - low < end - alone - each or low >= high:
                return -1
            space.word[each] = low >> 6
            space.words[each] = ((high - 1) >> 6) - (low >> 6) + 1
            space.at[each] = total
            if total + space.words[each] > len(space.domains):
                return len(space.domains) + 1
            for word in range(space.words[each]):
                space.domains[total + word] = _0
            tally, size = patterns.tallies[base + each], 0
            for value in range(low, high):
                # No field of the target's tally may fall short: then no borrow clears its highest bit.
                if ((targets.tallies[target_base + value] | _FIELDS) - tally) & _FIELDS == _FIELDS:
                    space.domains[total + (value >> 6) - space.word[each]] |= _1 << np.uint64(value & 63)
                    size += 1
            if size == 0:
                return -1
            total += space.words[each]
            space.sizes[each] = size
            space.states[each] = _FREE
            space.blame[each] = 1
        place = end
    return total


@inlined
def spread(
    patterns: Shapes,
    targets: Shapes,
    target: int,
    span: Span,
    rows: BitRows,
    space: Workspace,
    level: int,
    total: int,
    waiting: int,
) -> bool:
    """Carry assignments over to all other domains until nothing changes; False where a domain runs empty."""
    base, count, _, target_count = span
    mine, own, row_words = level * count, level * total, (target_count + 63) >> 6
    kept_at, ways = rows.starts[target], rows.ways
    bits = rows.bits if kept_at >= 0 else space.row
    while waiting:
        waiting -= 1
        place = space.waiting[waiting]
        value = space.values[mine + place]
        space.states[mine + place] = _SPREAD
        first = patterns.rows[base + place]
        last = first + patterns.degrees[base + place]
        for link in range(first, last):
            space.way[patterns.inner[link]] = patterns.codes[link] if ways == 4 else 1
        start = kept_at + value * ways * row_words
        if kept_at < 0:
            start = 0
            bits[: ways * row_words] = _0
            write_row(targets, target, value, ways, row_words, target_count, bits, 0)
        fits = True
        for other in range(count):
            state = space.states[mine + other]
            if state == _SPREAD:
                continue
            row = start + space.way[other] * row_words + space.word[other]
            domain = own + space.at[other]
            left = 0
            for word in range(space.words[other]):
                kept = space.domains[domain + word] & bits[row + word]
                space.domains[domain + word] = kept
                left += ones(kept)
            if left == 0:
                space.blame[other] += 1
                fits = False
                break
            space.sizes[mine + other] = left
            if left == 1 and state == _FREE:
                space.states[mine + other] = _ASSIGNED
                space.values[mine + other] = first_value(space, other, domain)
                space.waiting[waiting] = other
                waiting += 1
        for link in range(first, last):
            space.way[patterns.inner[link]] = 0
        if not fits:
            return False
    return has_room(patterns, span, space, mine, own)


@inlined
def first_value(space: Workspace, place: int, domain: int) -> int:
    """The lowest value of a domain that is not empty."""
    word = 0
    while space.domains[domain + word] == _0:
        word += 1
    return int(space.word[place] + word) * 64 + lowest(space.domains[domain + word])


@inlined
def has_room(patterns: Shapes, span: Span, space: Workspace, mine: int, own: int) -> bool:
    """Whether the unassigned neighbours of each type have as many values between them as they are."""
    base, count, place = span.base, span.neighbours, 0
    while place < count:
        kind, end, free, low, high = patterns.types[base + place], place, 0, 1 << 40, 0
        while end < count and patterns.types[base + end] == kind:
            if space.states[mine + end] == _FREE:
                free += 1
                low = min(low, space.word[end])
                high = max(high, space.word[end] + space.words[end])
            end += 1
        if free > 1:
            space.union[: high - low] = _0
            for each in range(place, end):
                if space.states[mine + each] == _FREE:
                    domain, shift = own + space.at[each], space.word[each] - low
                    for word in range(space.words[each]):
                        space.union[shift + word] |= space.domains[domain + word]
            room = 0
            for word in range(high - low):
                room += ones(space.union[word])
            if room < free:
                return False
        place = end
    return True


@inlined
def next_place(patterns: Shapes, span: Span, space: Workspace, mine: int) -> int:
    """The unassigned neighbour with the fewest values, of several the one with most links; -1 if all are assigned."""
    best, fewest, blame, most = -1, 1, 0, -1
    for place in range(span.neighbours):
        if space.states[mine + place] == _FREE:
            size, degree = space.sizes[mine + place] * blame, patterns.degrees[span.base + place]
            known = fewest * space.blame[place]
            if best < 0 or size < known or (size == known and degree > most):
                best, most = place, degree
                fewest, blame = space.sizes[mine + place], space.blame[place]
    return best


@inlined
def best_value(patterns: Shapes, targets: Shapes, span: Span, space: Workspace, own: int, place: int) -> int:
    """The value whose share of links is nearest to that of the neighbour at *place*; -1 if none is left."""
    best, nearest = -1, 1 << 60
    wanted = patterns.degrees[span.base + place] * (span.target_neighbours - 1)
    for word in range(space.words[place]):
        left = space.domains[own + space.at[place] + word]
        while left != _0:
            value = (space.word[place] + word) * 64 + lowest(left)
            left &= left - _1
            off = abs(targets.degrees[span.target_base + value] * (span.neighbours - 1) - wanted)
            if off < nearest:
                best, nearest = value, off
    return best


@inlined
def rule_out(patterns: Shapes, targets: Shapes, span: Span, space: Workspace, mine: int, own: int, level: int) -> None:
    """Take a value that failed, and all that could change places with it, from a neighbour and its twins."""
    base, count, target_base, _ = span
    place, value = space.trying[level], space.value[level]
    twin, kind = patterns.twins[base + place], targets.twins[target_base + value]
    for word in range(space.words[place]):
        left, gone = space.domains[own + space.at[place] + word], _0
        while left != _0:
            bit = left & (~left + _1)
            left ^= bit
            if targets.twins[target_base + (space.word[place] + word) * 64 + lowest(bit)] == kind:
                gone |= bit
        if gone != _0:
            for other in range(count):
                same = patterns.twins[base + other] == twin and space.states[mine + other] == _FREE
                at = space.word[place] + word - space.word[other]
                if same and 0 <= at < space.words[other]:
                    space.domains[own + space.at[other] + at] &= ~gone


@compiled
def search_inside(
    patterns: Shapes, pattern: int, targets: Shapes, target: int, rows: BitRows, space: Workspace, budget: int
) -> int:
    """Say whether the pattern lies in the target: YES, NO, or OPEN where the *budget* of tried values did not do."""
    base, target_base = patterns.offsets[pattern], targets.offsets[target]
    count = patterns.offsets[pattern + 1] - base
    span = Span(base, count, target_base, targets.offsets[target + 1] - target_base)
    total = first_domains(patterns, targets, span, space)
    if total < 0:
        return NO
    if total > len(space.domains):
        return OPEN
    waiting, level, tried = 0, 0, 0
    for place in range(count):
        if space.sizes[place] == 1:
            space.states[place] = _ASSIGNED
            space.values[place] = first_value(space, place, space.at[place])
            space.waiting[waiting] = place
            waiting += 1
    while True:
        failed = not spread(patterns, targets, target, span, rows, space, level, total, waiting)
        if not failed:
            space.trying[level] = next_place(patterns, span, space, level * count)
            if space.trying[level] < 0:
                return YES
        value = -1
        while value < 0:
            if failed:
                level -= 1
                if level < 0:
                    return NO
                rule_out(patterns, targets, span, space, level * count, level * total, level)
            value = best_value(patterns, targets, span, space, level * total, space.trying[level])
            failed = value < 0
        tried += 1
        own, mine = level * total, level * count
        if tried > budget or own + 2 * total > len(space.domains) or mine + 2 * count > len(space.sizes):
            return OPEN
        space.value[level] = value
        space.domains[own + total : own + 2 * total] = space.domains[own : own + total]
        for at in range(mine, mine + count):
            space.sizes[at + count], space.states[at + count] = space.sizes[at], space.states[at]
            space.values[at + count] = space.values[at]
        level += 1
        place = space.trying[level - 1]
        space.states[level * count + place] = _ASSIGNED
        space.values[level * count + place] = value
        space.waiting[0] = place
        waiting = 1
