"""Look for one neighbourhood inside another by placing one neighbour after the other, those without links last."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.containment.bits import highest, ones, run_of
from graphpriv.risk.containment.independent_sets import Links, Room, has_independent
from graphpriv.risk.containment.plans import Plans
from graphpriv.risk.containment.shapes import BitRows, Shapes
from graphpriv.risk.containment.surroundings import Surroundings, offers
from graphpriv.risk.isomorphism import NO, OPEN, YES
from tabular.kernels import compiled

_0, _1 = np.uint64(0), np.uint64(1)


@compiled
def first_at_most(degrees: NDArray[np.int32], base: int, low: int, high: int, most: int) -> int:
    """The first place from *low* to *high* with at most so many links; degrees fall."""
    while low < high:
        middle = (low + high) >> 1
        if degrees[base + middle] > most:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def windows(
    shapes: Shapes, pattern: int, target: int, room: Room, lows: NDArray[np.int32], highs: NDArray[np.int32]
) -> int:
    """Write the run of places each neighbour can take by its type and links, and what is wanted without links.

    How many types are wanted without links; -1 where somebody can take no place.
    """
    base, target_base = shapes.offsets[pattern], shapes.offsets[target]
    count, target_count = shapes.offsets[pattern + 1] - base, shapes.offsets[target + 1] - target_base
    slack, place, start, types = target_count - count, 0, 0, 0
    while place < count:
        kind, end = shapes.types[base + place], place
        while end < count and shapes.types[base + end] == kind:
            end += 1
        first = start + np.searchsorted(shapes.types[target_base + start : target_base + target_count], kind)
        last = first
        if first < target_count and shapes.types[target_base + target_count - 1] == kind:
            last = target_count
        else:
            last += np.searchsorted(shapes.types[target_base + first : target_base + target_count], kind, side="right")
        start = last
        if last - first < end - place:
            return -1
        low, high = first, first
        alone, fewest = 0, first
        for each in range(place, end):
            degree = shapes.degrees[base + each]
            # Degrees fall on both sides, so that each run starts and ends after the one before.
            if each == place or degree < shapes.degrees[base + each - 1]:
                high = first_at_most(shapes.degrees, target_base, high, last, degree - 1)
                low = first_at_most(shapes.degrees, target_base, low, last, degree + slack)
            if high - first < each - place + 1 or last - low < end - each or low >= high:
                return -1
            lows[each], highs[each] = low, high
            if degree == 0:
                alone += 1
                fewest = low
        if alone:
            room.wanted[types], room.lows[types], room.highs[types] = alone, fewest, last
            types += 1
        place = end
    return types


@compiled
def lacks_place(
    shapes: Shapes, around: Surroundings, pattern: int, target: int, room: Room, lows: NDArray[np.int32],
    highs: NDArray[np.int32]
) -> bool:  # fmt: skip
    """Whether some neighbour finds nobody in its run with as much around it."""
    base, target_base = shapes.offsets[pattern], shapes.offsets[target]
    for place in range(shapes.offsets[pattern + 1] - base):
        if shapes.degrees[base + place] == 0 or shapes.twins[base + place] != place:
            continue
        value = highs[place] - 1
        while value >= lows[place] and not offers(around, base + place, target_base + value):
            value -= 1
        room.spent[0] += 2 * (highs[place] - value)
        if value < lows[place]:
            return True
    return False


@compiled
def place_all(
    shapes: Shapes,
    plans: Plans,
    around: Surroundings,
    pattern: int,
    target: int,
    rows: BitRows,
    room: Room,
    lows: NDArray[np.int32],
    highs: NDArray[np.int32],
    images: NDArray[np.int32],
    sets: NDArray[np.uint64],
    budget: int,
) -> int:
    """Say whether the pattern lies in the target: YES, NO, or OPEN where the *budget* of steps did not do."""
    base = shapes.offsets[pattern]
    count = shapes.offsets[pattern + 1] - base
    linked, target_count = plans.linked[pattern], shapes.offsets[target + 1] - shapes.offsets[target]
    words, ways = (target_count + 63) >> 6, rows.ways
    start, apart = rows.starts[target], ways * words
    room.spent[0] = 3 * count
    types = windows(shapes, pattern, target, room, lows, highs)
    if types < 0 or lacks_place(shapes, around, pattern, target, room, lows, highs):
        return NO
    spent = room.spent[0]
    if start < 0 or 2 * (linked + 1) * words > len(sets):
        room.spent[0] = spent
        return OPEN
    links, alone = Links(rows.bits, start, apart, words), count - linked
    # By depth, the places that are left for the neighbour, and those that are linked with none that is taken.
    for word in range(words):
        sets[words + word] = run_of(word, 0, target_count)
    depth, fresh, unsure = 0, True, False
    while depth >= 0:
        own = 2 * depth * words
        free = own + words
        if depth == linked:
            if alone == 0:
                room.spent[0] = spent
                return YES
            for word in range(words):
                room.sets[word] = _0
            for kind in range(types):
                for word in range(room.lows[kind] >> 6, (room.highs[kind] + 63) >> 6):
                    room.sets[word] |= sets[free + word] & run_of(word, room.lows[kind], room.highs[kind])
            answer = has_independent(room, types, links, max(budget - spent, 0))
            spent += room.spent[0] + words
            if answer == YES:
                room.spent[0] = spent
                return YES
            unsure = unsure or answer == OPEN
            depth, fresh = depth - 1, False
            continue
        at = base + depth
        if fresh:
            place, component = plans.order[at], plans.component[at]
            above = plans.above[at]
            high = highs[place]
            if above >= 0:
                high = min(high, images[above])
            known = 2 * component * words + words
            first, last = lows[place] >> 6, (high + 63) >> 6
            for word in range(words):
                sets[own + word] = _0
            for word in range(first, last):
                sets[own + word] = sets[known + word] & run_of(word, lows[place], high)
            link, link_end = plans.rows[at], plans.rows[at + 1]
            for other in range(component, depth):
                way = 0
                if link < link_end and plans.earlier[link] == other:
                    way = plans.codes[link] if ways == 4 else 1
                    link += 1
                row = start + images[other] * apart + way * words
                for word in range(first, last):
                    sets[own + word] &= rows.bits[row + word]
            spent += words + max(last - first, 0) * (depth - component + 1) + 8
        if spent > budget:
            room.spent[0] = spent
            return OPEN
        value = -1
        for back in range(words):
            word = words - 1 - back
            bits = sets[own + word]
            if bits != _0:
                bit = highest(bits)
                sets[own + word] = bits ^ (_1 << np.uint64(bit))
                value = word * 64 + bit
                break
        if value < 0:
            depth, fresh = depth - 1, False
            continue
        images[depth] = value
        row, left = start + value * apart, 0
        for word in range(words):
            sets[free + 2 * words + word] = sets[free + word] & rows.bits[row + word]
            left += ones(sets[free + 2 * words + word])
        spent += words + 4
        # Those without links need places that are linked with nobody placed.
        fresh = left >= alone
        if fresh:
            depth += 1
    room.spent[0] = spent
    return OPEN if unsure else NO
