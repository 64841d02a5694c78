"""Look for a neighbourhood in a target of up to 64 neighbours, where each set of places is one word.

All neighbours with links are cut down at once (forward checking), and the next is the one with the fewest places left,
in whichever component it is. Steps are so cheap here that nothing is weighed up between them. A set of places that did
not do for whole components, and those without links, is remembered: no part of it does. Nor does a set that falls into
fewer cliques than neighbours are wanted of whom no two are linked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.containment.bits import ALL, highest, lowest, ones, run_of
from graphpriv.risk.containment.domains import first_domains
from graphpriv.risk.containment.independent_sets import Links, has_independent
from graphpriv.risk.containment.plans import Plans
from graphpriv.risk.containment.shapes import BitRows, Shapes
from graphpriv.risk.containment.spaces import PLACES, REMEMBERED, Space, Word
from graphpriv.risk.containment.surroundings import Surroundings
from graphpriv.risk.isomorphism import NO, OPEN, YES
from tabular.kernels import inlined, lean

_0, _1 = np.uint64(0), np.uint64(1)


class Pair(NamedTuple):
    """A pattern and a target, and where what is known of them begins."""

    base: int
    size: int
    target_base: int
    target_size: int
    #: How many neighbours of the pattern have links, and how many types are wanted without.
    linked: int
    types: int
    #: The first rows of bits of either.
    own: int
    start: int
    ways: int


@inlined
def bit_of(place: int) -> np.uint64:
    """The bit that stands for a place."""
    return _1 << np.uint64(place)


@inlined
def write_parts(plans: Plans, word: Word, pair: Pair) -> None:
    """Write in which component each neighbour is, and how many of it there are at least of whom no two are linked."""
    base, start = pair.base, 0
    word.unplaced[0] = _0
    while start < pair.linked:
        part, end = _0, start
        while end < pair.linked and plans.component[base + end] == start:
            part |= bit_of(plans.order[base + end])
            end += 1
        after = plans.apart[base + end] if end < pair.linked else pair.size - pair.linked
        for at in range(start, end):
            place = plans.order[base + at]
            word.parts[place], word.apart[place] = part, plans.apart[base + start] - after
        word.unplaced[0] |= part
        start = end


@inlined
def begin(shapes: Shapes, plans: Plans, space: Space, pair: Pair) -> int:
    """Write what holds before anybody is placed; who comes first."""
    word, fewest, first = space.word, 1 << 30, np.int64(-1)
    write_parts(plans, word, pair)
    for value in range(pair.target_size):
        word.alike[value] = _0
    for value in range(pair.target_size):
        word.alike[shapes.twins[pair.target_base + value]] |= bit_of(value)
    left = word.unplaced[0]
    while left != _0:
        place = np.int64(lowest(left))
        left &= left - _1
        word.domains[place] = space.first[place]
        size = ones(space.first[place])
        if size < fewest:
            fewest, first = size, place
        # The first place with no larger a share of links.
        low, high, wanted = space.lows[place], space.highs[place], shapes.degrees[pair.base + place]
        wanted *= pair.target_size - 1
        while low < high:
            middle = (low + high) >> 1
            if shapes.degrees[pair.target_base + middle] * (pair.size - 1) > wanted:
                low = middle + 1
            else:
                high = middle
        word.middles[place] = min(low, pair.target_size - 1)
    word.free[0] = run_of(0, 0, pair.target_size)
    return int(first)


@inlined
def next_value(word: Word, depth: int) -> int:
    """The next place for whoever's turn it is, the likest share of links first; -1 if none is left."""
    place = word.turn[depth]
    left = word.domains[depth * PLACES + place]
    if left == _0:
        return -1
    after = left & (ALL << np.uint64(word.middles[place]))
    value = lowest(after) if after != _0 else highest(left)
    word.domains[depth * PLACES + place] = left & ~bit_of(value)
    word.images[depth] = value
    return int(value)


@inlined
def has_room(space: Space, pair: Pair, free: np.uint64) -> bool:
    """Whether a set has as many places of each type as are wanted without links."""
    room = space.room
    for kind in range(pair.types):
        if ones(free & run_of(0, room.lows[kind], room.highs[kind])) < room.wanted[kind]:
            return False
    return True


@inlined
def wanted_places(space: Space, pair: Pair) -> np.uint64:
    """The places of the types that are wanted without links: a search counts links with no others."""
    room, places = space.room, _0
    for kind in range(pair.types):
        places |= run_of(0, room.lows[kind], room.highs[kind])
    return places


@inlined
def narrow(space: Space, pair: Pair, bits: NDArray[np.uint64], depth: int) -> int:
    """Cut all domains down to what stands rightly to the one just placed; who has the fewest places, -1 for none.

    Whoever kept nothing the last time is looked at first.
    """
    word = space.word
    own, row = pair.own + word.turn[depth] * pair.ways, pair.start + word.images[depth] * pair.ways
    source, unplaced, last = depth * PLACES, word.unplaced[depth + 1], word.last[0]
    if (unplaced >> np.uint64(last)) & _1 != _0:
        way = 0
        for each in range(1, pair.ways):
            if (bits[own + each] >> np.uint64(last)) & _1 != _0:
                way = each
        space.spent[0] += 1
        if word.domains[source + last] & bits[row + way] == _0:
            return -1
    fewest, chosen = 1 << 30, np.int64(-1)
    for way in range(pair.ways):
        across, left = bits[row + way], unplaced & bits[own + way]
        while left != _0:
            place = np.int64(lowest(left))
            left &= left - _1
            domain = word.domains[source + place] & across
            word.domains[source + PLACES + place] = domain
            space.spent[0] += 1
            if domain == _0:
                word.last[0] = place
                return -1
            size = ones(domain)
            if size < fewest:
                fewest, chosen = size, place
    return int(chosen)


@lean
def cliques(bits: NDArray[np.uint64], pair: Pair, places: np.uint64, most: int) -> int:
    """Into how many cliques a set falls, taken in turn; no more than *most*."""
    found = 0
    while places != _0 and found < most:
        value = lowest(places)
        places &= places - _1
        near = places & ~bits[pair.start + value * pair.ways]
        while near != _0:
            other = lowest(near)
            places ^= bit_of(other)
            near &= (near - _1) & ~bits[pair.start + other * pair.ways]
        found += 1
    return found


@inlined
def rest_fits(space: Space, pair: Pair, bits: NDArray[np.uint64], depth: int) -> bool:
    """Whether whole components, and those without links, may find room in what is linked with nobody placed."""
    word = space.word
    free, unplaced = word.free[depth], word.unplaced[depth]
    wanted, whole, left = pair.size - pair.linked, True, unplaced
    while left != _0:
        place = lowest(left)
        if word.parts[place] & ~unplaced == _0:
            wanted += word.apart[place]
        else:
            whole = False
        left &= ~word.parts[place]
    there = ones(free)
    if there < wanted:
        return False
    # Where fewer than half of them are wanted, cliques refuse less than they take.
    if there - (there >> 1) < wanted:
        space.spent[0] += there
        if cliques(bits, pair, free, wanted) < wanted:
            return False
    if whole:
        count = min(word.remembered[0], REMEMBERED)
        space.spent[0] += 1 + (count >> 2)
        for each in range(count):
            if word.memory[2 * each] & ~unplaced == _0 and free & ~word.memory[2 * each + 1] == _0:
                return False
    return True


@inlined
def remember(word: Word, depth: int) -> None:
    """Remember that the free places did not do for what was left, if that was whole components; the oldest goes."""
    unplaced = word.unplaced[depth]
    left = unplaced
    while left != _0:
        part = word.parts[lowest(left)]
        if part & ~unplaced != _0:
            return
        left &= ~part
    if unplaced != _0:
        at = 2 * (word.remembered[0] % REMEMBERED)
        word.memory[at], word.memory[at + 1] = unplaced, word.free[depth]
        word.remembered[0] += 1


@inlined
def rule_out(shapes: Shapes, word: Word, pair: Pair, depth: int) -> None:
    """Take a value that failed, and all that could change places with it, from a neighbour and its twins."""
    place, value, block = word.turn[depth], word.images[depth], depth * PLACES
    word.domains[block + place] &= ~word.alike[shapes.twins[pair.target_base + value]]
    twin, left = shapes.twins[pair.base + place], word.unplaced[depth] & word.parts[place]
    while left != _0:
        other = lowest(left)
        left &= left - _1
        if shapes.twins[pair.base + other] == twin:
            word.domains[block + other] &= ~bit_of(value)


@lean
def place_in_word(
    shapes: Shapes,
    plans: Plans,
    around: Surroundings,
    pattern: int,
    target: int,
    rows: BitRows,
    space: Space,
    types: int,
    budget: int,
) -> int:
    """Say whether the pattern lies in the target: YES, NO, or OPEN where the *budget* of steps did not do."""
    base, target_base = shapes.offsets[pattern], shapes.offsets[target]
    pair = Pair(
        base, shapes.offsets[pattern + 1] - base, target_base, shapes.offsets[target + 1] - target_base,
        plans.linked[pattern], types, rows.starts[pattern], rows.starts[target], rows.ways,
    )  # fmt: skip
    answer = first_domains(shapes, around, base, pair.size, target_base, 1, space, budget)
    if answer != YES:
        return answer
    word, bits, links = space.word, rows.bits, Links(rows.bits, pair.start, pair.ways, 1)
    chosen = begin(shapes, plans, space, pair)
    word.remembered[0], word.last[0] = 0, 0
    depth, fresh, unsure = 0, True, False
    while depth >= 0:
        back = False
        if fresh:
            if space.spent[0] > budget:
                return OPEN
            word.turn[depth] = chosen
            if depth == pair.linked:
                answer = YES
                if pair.linked < pair.size:
                    space.room.sets[0] = word.free[depth] & wanted_places(space, pair)
                    answer = has_independent(space.room, types, links, max(budget - space.spent[0], 0))
                    space.spent[0] += 4 + space.room.spent[0]
                if answer == YES:
                    return YES
                unsure = unsure or answer == OPEN
                back = True
        if not back:
            value = next_value(word, depth)
            if value < 0:
                if not unsure:
                    remember(word, depth)
                back = True
            else:
                space.spent[0] += 3
                word.free[depth + 1] = word.free[depth] & bits[pair.start + value * pair.ways]
                word.unplaced[depth + 1] = word.unplaced[depth] & ~bit_of(word.turn[depth])
                fresh = has_room(space, pair, word.free[depth + 1])
                if fresh and depth + 1 < pair.linked:
                    chosen = narrow(space, pair, bits, depth)
                    fresh = chosen >= 0 and rest_fits(space, pair, bits, depth + 1)
        if back:
            depth, fresh = depth - 1, False
        elif fresh:
            depth += 1
        if not fresh and depth >= 0:
            rule_out(shapes, word, pair, depth)
    return OPEN if unsure else NO
