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

from graphpriv.risk.containment.bits import highest, lowest, ones
from graphpriv.risk.containment.independent_sets import Links, Room, has_independent, room_for
from graphpriv.risk.containment.shapes import BitRows, Shapes, write_row
from graphpriv.risk.containment.surroundings import LEVELS, Surroundings, offers
from graphpriv.risk.isomorphism import NO, OPEN, YES
from tabular.kernels import compiled, inlined

_1 = np.uint64(1)
_0, _FIELDS = np.uint64(0), np.uint64(0x8888888888888888)

#: States of a neighbour of the pattern.
_FREE, _ASSIGNED, _SPREAD, _GROUP = 0, 1, 2, 3


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
    #: How many values a neighbour needs: more than one where it stands for all of its type that have no links.
    needs: NDArray[np.int32]
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
    #: How many steps the last search took.
    spent: NDArray[np.int64]
    room: Room


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
        needs=np.empty(levels, dtype=np.int32),
        trying=np.empty(levels + 1, dtype=np.int32),
        value=np.empty(levels + 1, dtype=np.int32),
        way=np.zeros(levels, dtype=np.int8),
        waiting=np.empty(levels, dtype=np.int32),
        union=np.empty(target_neighbours // 64 + 2, dtype=np.uint64),
        blame=np.empty(levels, dtype=np.int64),
        row=np.empty(4 * (target_neighbours // 64 + 1), dtype=np.uint64),
        spent=np.zeros(1, dtype=np.int64),
        room=room_for(target_neighbours, words),
    )


@inlined
def first_domains(shapes: Shapes, around: Surroundings, span: Span, grouped: bool, space: Workspace) -> int:
    """Write the domains that types and inner degrees leave; how many words they take, negative where one is empty."""
    base, count, target_base, target_count = span
    slack, kinds = target_count - count, shapes.types[target_base : target_base + target_count]
    total, place, low_end = 0, 0, 0
    while place < count:
        kind, end = shapes.types[base + place], place
        while end < count and shapes.types[base + end] == kind:
            end += 1
        first = low_end + np.searchsorted(kinds[low_end:], kind)
        low_end = first + np.searchsorted(kinds[first:], kind, side="right")
        # Whatever has no links can stand for whatever has none, and for nothing else that would need it: these are
        # settled beforehand, as many as there are on both sides.
        alone, groups = 0, 0
        while grouped and place + groups < end and shapes.degrees[base + end - groups - 1] == 0:
            groups += 1
        while (
            not grouped
            and place + alone < end
            and first + alone < low_end
            and shapes.degrees[base + end - alone - 1] == 0
            and shapes.degrees[target_base + low_end - alone - 1] == 0
        ):
            alone += 1
        for each in range(end - alone, end):
            space.words[each], space.at[each], space.word[each] = 0, total, 0
            space.sizes[each], space.states[each], space.blame[each] = 0, _SPREAD, 1
        top = low_end - alone
        # Degrees fall on both sides, so each domain is a window that moves on.
        low, high = first, first
        for each in range(place, end - alone):
            degree = shapes.degrees[base + each]
            while high < top and shapes.degrees[target_base + high] >= degree:
                high += 1
            while low < low_end and shapes.degrees[target_base + low] > degree + slack:
                low += 1
            if high - first < each - place + 1 or top - low < end - alone - each or low >= high:
                return -1
            space.needs[each] = 1
            if each > end - groups:
                # The first of those without links stands for them all.
                space.words[each], space.at[each], space.word[each] = 0, total, 0
                space.sizes[each], space.states[each], space.blame[each] = 0, _SPREAD, 1
                continue
            space.word[each] = low >> 6
            space.words[each] = ((high - 1) >> 6) - (low >> 6) + 1
            space.at[each] = total
            if total + space.words[each] > len(space.domains):
                return len(space.domains) + 1
            for word in range(space.words[each]):
                space.domains[total + word] = _0
            tally, size = shapes.tallies[base + each], 0
            space.spent[0] += high - low + 8
            for value in range(low, high):
                # No field of the target's tally may fall short: then no borrow clears its highest bit.
                if ((shapes.tallies[target_base + value] | _FIELDS) - tally) & _FIELDS == _FIELDS and offers(
                    around, base + each, target_base + value
                ):
                    space.domains[total + (value >> 6) - space.word[each]] |= _1 << np.uint64(value & 63)
                    size += 1
            if size == 0:
                return -1
            total += space.words[each]
            space.sizes[each] = size
            space.states[each] = _FREE
            space.blame[each] = 1
            if each == end - groups:
                space.states[each], space.needs[each] = _GROUP, groups
                if size < groups:
                    return -1
        place = end
    return total


@inlined
def spread(
    shapes: Shapes,
    around: Surroundings,
    pattern: int,
    target: int,
    span: Span,
    rows: BitRows,
    space: Workspace,
    level: int,
    total: int,
    waiting: int,
    budget: int,
) -> int:
    """Carry assignments over to all other domains until nothing changes; NO where a domain runs empty."""
    base, count, _, target_count = span
    mine, own, row_words = level * count, level * total, (target_count + 63) >> 6
    kept_at, ways = rows.starts[target], rows.ways
    bits = rows.bits if kept_at >= 0 else space.row
    refined = around.starts[pattern] >= 0 and around.starts[target] >= 0
    pairs, levels = around.starts[pattern], around.rows_at[target]
    while waiting:
        waiting -= 1
        place = space.waiting[waiting]
        value = space.values[mine + place]
        space.states[mine + place] = _SPREAD
        first = shapes.rows[base + place]
        last = first + shapes.degrees[base + place]
        for link in range(first, last):
            space.way[shapes.inner[link]] = shapes.codes[link] if ways == 4 else 1
        start = kept_at + value * ways * row_words
        if kept_at < 0:
            start = 0
            space.spent[0] += ways * row_words
            bits[: ways * row_words] = _0
            write_row(shapes, target, value, ways, row_words, target_count, bits, 0)
        fits, work = True, count
        for other in range(count):
            state = space.states[mine + other]
            if state == _SPREAD:
                continue
            row = start + space.way[other] * row_words + space.word[other]
            domain = own + space.at[other]
            left, many = 0, space.words[other]
            for word in range(many):
                space.domains[domain + word] &= bits[row + word]
            if refined:
                # The two have as much around them as those they stand for.
                pair = pairs + place * count + other
                both, neither = np.int64(around.both[pair]), np.int64(around.neither[pair])
                high = levels + (value * 2 * LEVELS + both - 1) * row_words + space.word[other]
                low = levels + (value * 2 * LEVELS + LEVELS + neither - 1) * row_words + space.word[other]
                if both > 0:
                    for word in range(many):
                        space.domains[domain + word] &= around.rows[high + word]
                if neither > 0:
                    for word in range(many):
                        space.domains[domain + word] &= around.rows[low + word]
                work += 2 * many
            for word in range(many):
                left += ones(space.domains[domain + word])
            if left < space.needs[other]:
                space.blame[other] += 1
                fits = False
                break
            space.sizes[mine + other] = left
            work += space.words[other] + 2
            if left == 1 and state == _FREE:
                space.states[mine + other] = _ASSIGNED
                space.values[mine + other] = first_value(space, other, domain)
                space.waiting[waiting] = other
                waiting += 1
        for link in range(first, last):
            space.way[shapes.inner[link]] = 0
        space.spent[0] += work
        if not fits:
            return NO
        if space.spent[0] > budget:
            return OPEN
    return YES if has_room(shapes, span, space, mine, own) else NO


@inlined
def first_value(space: Workspace, place: int, domain: int) -> int:
    """The lowest value of a domain that is not empty."""
    word = 0
    while space.domains[domain + word] == _0:
        word += 1
    return int(space.word[place] + word) * 64 + lowest(space.domains[domain + word])


@inlined
def has_room(shapes: Shapes, span: Span, space: Workspace, mine: int, own: int) -> bool:
    """Whether the unassigned neighbours of each type have as many values between them as they are."""
    base, count, place = span.base, span.neighbours, 0
    while place < count:
        kind, end, free, low, high = shapes.types[base + place], place, 0, 1 << 40, 0
        while end < count and shapes.types[base + end] == kind:
            state = space.states[mine + end]
            if state in (_FREE, _GROUP):
                free += space.needs[end]
                low = min(low, space.word[end])
                high = max(high, space.word[end] + space.words[end])
            end += 1
        if free > 1:
            space.union[: high - low] = _0
            for each in range(place, end):
                if space.states[mine + each] == _FREE or space.states[mine + each] == _GROUP:
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


@compiled
def groups_have_room(
    span: Span, rows: BitRows, target: int, space: Workspace, level: int, total: int, budget: int
) -> int:
    """Say whether those without links find room where all others are placed."""
    words, types, room = (span.target_neighbours + 63) >> 6, 0, space.room
    mine, own = level * span.neighbours, level * total
    for place in range(span.neighbours):
        if space.states[mine + place] == _GROUP:
            if types == 0:
                room.sets[:words] = _0
            first, count = space.word[place], space.words[place]
            low, high = -1, -1
            for word in range(count):
                left = space.domains[own + space.at[place] + word]
                room.sets[first + word] |= left
                if left != _0:
                    high = (first + word) * 64 + highest(left) + 1
                    if low < 0:
                        low = (first + word) * 64 + lowest(left)
            # The runs of two types share no place.
            room.wanted[types], room.lows[types], room.highs[types] = space.needs[place], low, high
            types += 1
    if types == 0:
        return YES
    links = Links(rows.bits, rows.starts[target], rows.ways * words, words)
    answer = has_independent(room, types, links, max(budget - space.spent[0], 0))
    space.spent[0] += room.spent[0]
    return answer


@inlined
def next_place(shapes: Shapes, span: Span, space: Workspace, mine: int) -> int:
    """The unassigned neighbour with the fewest values, of several the one with most links; -1 if all are assigned."""
    best, fewest, blame, most = -1, 1, 0, -1
    for place in range(span.neighbours):
        if space.states[mine + place] == _FREE:
            size, degree = space.sizes[mine + place] * blame, shapes.degrees[span.base + place]
            known = fewest * space.blame[place]
            if best < 0 or size < known or (size == known and degree > most):
                best, most = place, degree
                fewest, blame = space.sizes[mine + place], space.blame[place]
    return best


@inlined
def best_value(shapes: Shapes, span: Span, space: Workspace, own: int, place: int) -> int:
    """The value whose share of links is nearest to that of the neighbour at *place*; -1 if none is left."""
    best, nearest = -1, 1 << 60
    wanted = shapes.degrees[span.base + place] * (span.target_neighbours - 1)
    for word in range(space.words[place]):
        left = space.domains[own + space.at[place] + word]
        while left != _0:
            value = (space.word[place] + word) * 64 + lowest(left)
            left &= left - _1
            off = abs(shapes.degrees[span.target_base + value] * (span.neighbours - 1) - wanted)
            if off < nearest:
                best, nearest = value, off
    return best


@inlined
def rule_out(shapes: Shapes, span: Span, space: Workspace, mine: int, own: int, level: int) -> None:
    """Take a value that failed, and all that could change places with it, from a neighbour and its twins."""
    base, count, target_base, _ = span
    place, value = space.trying[level], space.value[level]
    twin, kind = shapes.twins[base + place], shapes.twins[target_base + value]
    for word in range(space.words[place]):
        left, gone = space.domains[own + space.at[place] + word], _0
        while left != _0:
            bit = left & (~left + _1)
            left ^= bit
            if shapes.twins[target_base + (space.word[place] + word) * 64 + lowest(bit)] == kind:
                gone |= bit
        if gone != _0:
            for other in range(count):
                same = shapes.twins[base + other] == twin and space.states[mine + other] == _FREE
                at = space.word[place] + word - space.word[other]
                if same and 0 <= at < space.words[other]:
                    space.domains[own + space.at[other] + at] &= ~gone


@compiled
def search_inside(
    shapes: Shapes,
    around: Surroundings,
    pattern: int,
    target: int,
    rows: BitRows,
    space: Workspace,
    budget: int,
) -> int:
    """Say whether the pattern lies in the target: YES, NO, or OPEN where the *budget* of steps did not do."""
    base, target_base = shapes.offsets[pattern], shapes.offsets[target]
    count = shapes.offsets[pattern + 1] - base
    span = Span(base, count, target_base, shapes.offsets[target + 1] - target_base)
    space.spent[0] = 2 * count
    grouped = rows.starts[target] >= 0
    total = first_domains(shapes, around, span, grouped, space)
    if total < 0:
        return NO
    if total > len(space.domains):
        return OPEN
    waiting, level = 0, 0
    for place in range(count):
        if space.sizes[place] == 1 and space.states[place] == _FREE:
            space.states[place] = _ASSIGNED
            space.values[place] = first_value(space, place, space.at[place])
            space.waiting[waiting] = place
            waiting += 1
    while True:
        answer = spread(shapes, around, pattern, target, span, rows, space, level, total, waiting, budget)
        if answer == OPEN:
            return OPEN
        failed = answer == NO
        if not failed:
            space.trying[level] = next_place(shapes, span, space, level * count)
            if space.trying[level] < 0:
                answer = groups_have_room(span, rows, target, space, level, total, budget)
                if answer != NO:
                    return answer
                failed = True
        value = -1
        while value < 0:
            if failed:
                level -= 1
                if level < 0:
                    return NO
                rule_out(shapes, span, space, level * count, level * total, level)
            value = best_value(shapes, span, space, level * total, space.trying[level])
            failed = value < 0
        own, mine = level * total, level * count
        space.spent[0] += total + 4 * count
        if space.spent[0] > budget or own + 2 * total > len(space.domains) or mine + 2 * count > len(space.sizes):
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
