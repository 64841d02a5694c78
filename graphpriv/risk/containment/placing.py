"""Look for one neighbourhood inside another, node-induced and centre on centre, one component after the other.

Each neighbour of the pattern has a domain, the neighbours of the target that it may stand for. Placing one cuts the
others of its component down to what stands to it the same way (forward checking); the next is always the one with the
fewest places left. Components only meet in the places that are linked with none of those taken: what could not be
completed in some of these cannot be in fewer. Neighbours without links come last, as one independent set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.containment.bits import highest, lowest, ones, run_of
from graphpriv.risk.containment.independent_sets import Links, Room, has_independent, matched, room_for
from graphpriv.risk.containment.plans import Plans
from graphpriv.risk.containment.shapes import BitRows, Shapes, write_row
from graphpriv.risk.containment.surroundings import LEVELS, Surroundings, offers
from graphpriv.risk.isomorphism import NO, OPEN, YES
from tabular.kernels import inlined, lean

_0, _1 = np.uint64(0), np.uint64(1)
_FIELDS = np.uint64(0x8888888888888888)

#: Sets of places that did not do are remembered, so many for each component.
_MEMORY = 16

#: From so many words on a few neighbours are first placed by going along links; so many steps for each of them.
_SPARSE, _TRIAL = 2, 32

#: In a target so many times as large the places with few links are tried first, whatever the neighbour's share.
_MUCH_LARGER = 16

#: How far off a place's twins are looked for.
_TWIN_REACH = 32

#: Room for the rows of a target whose rows are not kept, in words.
_ROWS = 1 << 24

#: Up to so many words the places that are left for the other components are counted at each step.
_NARROW = 8


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
        ends=np.empty(levels, dtype=np.int32),
        remembered=np.zeros(levels, dtype=np.int32),
        bounds=np.empty(levels * _MEMORY, dtype=np.int32),
        memory=np.empty(min(levels * per_set * _MEMORY, words), dtype=np.uint64),
        row=np.empty(4 * per_set, dtype=np.uint64),
        blocked=np.zeros(levels, dtype=np.int64),
        inside=np.zeros(levels, dtype=np.int64),
        trial=np.zeros(1, dtype=np.int64),
        reached=np.empty(levels, dtype=np.int64),
        rows=np.empty(_ROWS, dtype=np.uint64),
        target=np.full(1, -1, dtype=np.int64),
        spent=np.zeros(1, dtype=np.int64),
        room=room_for(neighbours, words),
    )


@inlined
def first_at_most(degrees: NDArray[np.int32], base: int, low: int, high: int, most: int) -> int:
    """The first place from *low* to *high* with at most so many links; degrees fall."""
    while low < high:
        middle = (low + high) >> 1
        if degrees[base + middle] > most:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def first_of(types: NDArray[np.int64], low: int, high: int, kind: int) -> int:
    """The first place from *low* to *high* with at least that type; types rise."""
    while low < high:
        middle = (low + high) >> 1
        if types[middle] < kind:
            low = middle + 1
        else:
            high = middle
    return low


@lean
def windows(shapes: Shapes, pattern: int, target: int, space: Space) -> int:
    """Write the run of places each neighbour can take by its type and links, and what is wanted without links.

    How many types are wanted without links; -1 where somebody can take no place.
    """
    base, target_base = shapes.offsets[pattern], shapes.offsets[target]
    count, target_count = shapes.offsets[pattern + 1] - base, shapes.offsets[target + 1] - target_base
    slack, place, start, types = target_count - count, 0, 0, 0
    lows, highs, room = space.lows, space.highs, space.room
    while place < count:
        kind, end = shapes.types[base + place], place
        while end < count and shapes.types[base + end] == kind:
            end += 1
        first = first_of(shapes.types, target_base + start, target_base + target_count, kind) - target_base
        last = target_count
        if first < target_count and shapes.types[target_base + target_count - 1] != kind:
            last = first_of(shapes.types, target_base + first, target_base + target_count, kind + 1) - target_base
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


@inlined
def first_domains(
    shapes: Shapes, around: Surroundings, base: int, count: int, target_base: int, words: int, space: Space
) -> bool:
    """Write the domains that types, links and surroundings leave; whether each has something in it."""
    for place in range(count):
        if shapes.degrees[base + place] == 0:
            continue
        own, twin = place * words, shapes.twins[base + place]
        first, last = space.lows[place] >> 6, (space.highs[place] + 63) >> 6
        if twin != place:
            for word in range(first, last):
                space.first[own + word] = space.first[twin * words + word]
            continue
        for word in range(first, last):
            space.first[own + word] = _0
        tally, some = shapes.tallies[base + place], False
        space.spent[0] += 2 * (space.highs[place] - space.lows[place]) + last - first
        for value in range(space.lows[place], space.highs[place]):
            # No field of the target's tally may fall short: then no borrow clears its highest bit.
            if ((shapes.tallies[target_base + value] | _FIELDS) - tally) & _FIELDS == _FIELDS and offers(
                around, base + place, target_base + value
            ):
                space.first[own + (value >> 6)] |= _1 << np.uint64(value & 63)
                some = True
        if not some:
            return False
    return True


@inlined
def is_remembered(space: Space, depth: int, own: int, words: int, bound: int) -> bool:
    """Whether a set that holds this one did not do, under no closer bound."""
    for each in range(min(space.remembered[depth], _MEMORY)):
        at, inside = (depth * _MEMORY + each) * words, space.bounds[depth * _MEMORY + each] >= bound
        word = 0
        while inside and word < words:
            inside = space.free[own + word] & ~space.memory[at + word] == _0
            word += 1
        if inside:
            return True
    return False


@inlined
def remember(space: Space, depth: int, own: int, words: int, bound: int) -> None:
    """Remember that a set of places did not do, in the place of the oldest."""
    each = depth * _MEMORY + space.remembered[depth] % _MEMORY
    if (each + 1) * words <= len(space.memory):
        space.bounds[each] = bound
        for word in range(words):
            space.memory[each * words + word] = space.free[own + word]
        space.remembered[depth] += 1


@inlined
def enough_apart(space: Space, links: Links, own: int, words: int, needed: int) -> bool:
    """Whether a set may have so many places of which no two are linked."""
    there = 0
    for word in range(words):
        there += ones(space.free[own + word])
    if there < needed:
        return False
    # Of two that are linked only one can be taken; no set has more pairs than half of it.
    if there - (there >> 1) >= needed:
        return True
    for word in range(words):
        space.row[word] = space.free[own + word]
    space.spent[0] += there * words
    return there - matched(links, space.row, 0) >= needed


@inlined
def rule_out(shapes: Shapes, plans: Plans, space: Space, base: int, target_base: int, depth: int, words: int) -> None:
    """Take a value that failed, and all that could change places with it, from a neighbour and its twins."""
    first = plans.component[base + depth]
    last, block = space.ends[first], space.starts[depth]
    place, value = plans.order[base + space.turn[depth]], space.images[depth]
    twin, kind = shapes.twins[base + place], shapes.twins[target_base + value]
    bit = _1 << np.uint64(value & 63)
    for slot in range(first, last):
        other = plans.order[base + slot]
        if shapes.twins[base + other] == twin and space.placed[other] == 0:
            space.domains[block + (slot - first) * words + (value >> 6)] &= ~bit
    own = block + (space.turn[depth] - first) * words
    # Twins have as many links: they are side by side, or nearly.
    for step in range(2):
        near, change = value, 1 - 2 * step
        for _ in range(_TWIN_REACH):
            near += change
            if near < space.lows[place] or near >= space.highs[place]:
                break
            if shapes.degrees[target_base + near] != shapes.degrees[target_base + value]:
                break
            space.spent[0] += 1
            if shapes.twins[target_base + near] == kind:
                space.domains[own + (near >> 6)] &= ~(_1 << np.uint64(near & 63))


@inlined
def fits_in(
    shapes: Shapes,
    plans: Plans,
    space: Space,
    base: int,
    target_base: int,
    depth: int,
    value: int,
    ways: int,
    mark: int,
) -> bool:
    """Whether a place is linked with those of the same component just as the neighbour at *depth* is with theirs."""
    first, last = plans.rows[base + depth], plans.rows[base + depth + 1]
    row = shapes.rows[target_base + value]
    met = 0
    for link in range(row, row + shapes.degrees[target_base + value]):
        at = space.inside[shapes.inner[link]] - mark
        if at >= 0:
            code, known = 1, -1
            for each in range(first, last):
                if plans.earlier[each] == at:
                    known = plans.codes[each] if ways == 4 else 1
            if ways == 4:
                # How the other one stands to this one: the reverse of how this one stands to it.
                code = (shapes.codes[link] >> 1) | ((shapes.codes[link] & 1) << 1)
            if code != known:
                return False
            met += 1
    return bool(met == last - first)


@inlined
def block(shapes: Shapes, space: Space, target_base: int, value: int, mark: int) -> None:
    """Block a place and those linked with it."""
    space.blocked[value] = mark
    row = shapes.rows[target_base + value]
    for link in range(row, row + shapes.degrees[target_base + value]):
        space.blocked[shapes.inner[link]] = mark
    space.spent[0] += shapes.degrees[target_base + value] + 1


@lean
def found_in_turn(
    shapes: Shapes,
    plans: Plans,
    around: Surroundings,
    pattern: int,
    target: int,
    types: int,
    ways: int,
    space: Space,
    budget: int,
) -> bool:
    """Whether placing one component after the other, each where it first fits, already does; few links come first."""
    base, target_base, linked = shapes.offsets[pattern], shapes.offsets[target], plans.linked[pattern]
    # Marks of a trial: one that says blocked, then one for each depth.
    mark = space.trial[0] + 1
    space.trial[0] = mark + linked + 1
    depth, fresh = 0, True
    while depth < linked:
        first, place = plans.component[base + depth], plans.order[base + depth]
        low, high = space.lows[place], space.highs[place]
        if fresh:
            space.reached[depth] = 0
        parent, links = -1, high - low
        if depth > first:
            parent = space.images[plans.earlier[plans.rows[base + depth]]]
            links = shapes.degrees[target_base + parent]
        value = -1
        while value < 0 and space.reached[depth] < links:
            step = space.reached[depth]
            space.reached[depth] += 1
            space.spent[0] += 1
            near = high - 1 - step
            if parent >= 0:
                # Those with few links come last in a row.
                near = shapes.inner[shapes.rows[target_base + parent] + links - 1 - step]
            if near < low or near >= high or space.blocked[near] == mark or space.inside[near] > mark:
                continue
            space.spent[0] += shapes.degrees[target_base + near]
            if fits_in(shapes, plans, space, base, target_base, depth, near, ways, mark + 1) and offers(
                around, base + place, target_base + near
            ):
                value = near
        if space.spent[0] > budget:
            return False
        if value < 0:
            if depth == first:
                return False
            depth -= 1
            space.inside[space.images[depth]] = 0
            fresh = False
            continue
        space.images[depth] = value
        space.inside[value] = mark + 1 + depth
        depth, fresh = depth + 1, True
        if depth == linked or plans.component[base + depth] == depth:
            for each in range(first, depth):
                block(shapes, space, target_base, space.images[each], mark)
                space.inside[space.images[each]] = 0
    room = space.room
    for kind in range(types):
        wanted, value = room.wanted[kind], room.highs[kind] - 1
        while wanted > 0 and value >= room.lows[kind]:
            space.spent[0] += 1
            if space.blocked[value] != mark:
                block(shapes, space, target_base, value, mark)
                wanted -= 1
            value -= 1
        if wanted > 0:
            return False
    return True


@lean
def write_rows(shapes: Shapes, target: int, ways: int, words: int, count: int, space: Space) -> None:
    """Write the rows of bits of a target whose rows are not kept, unless it was the last one."""
    if space.target[0] == target:
        return
    space.target[0] = target
    for at in range(count * ways * words):
        space.rows[at] = _0
    for place in range(count):
        write_row(shapes, target, place, ways, words, count, space.rows, place * ways * words)


@inlined
def begin(plans: Plans, space: Space, task: Task) -> None:
    """Leave all places free, and note where each component ends."""
    for word in range(task.words):
        space.free[word] = run_of(word, 0, task.target_size)
    for place in range(task.size):
        space.placed[place] = 0
    end = task.linked
    for back in range(task.linked):
        at = task.linked - 1 - back
        if plans.component[task.base + at] == at:
            space.ends[at], space.remembered[at] = end, 0
            end = at
    space.remembered[task.linked], space.starts[0] = 0, 0


@inlined
def place_the_rest(space: Space, task: Task, links: Links, budget: int) -> int:
    """Say whether those without links find room in what the others leave."""
    own, words, room = task.linked * task.words, task.words, space.room
    if task.linked == task.size:
        return YES
    space.spent[0] += 4 * words
    if is_remembered(space, task.linked, own, words, 0):
        return NO
    for word in range(words):
        room.sets[word] = _0
    for kind in range(task.types):
        for word in range(room.lows[kind] >> 6, (room.highs[kind] + 63) >> 6):
            room.sets[word] |= space.free[own + word] & run_of(word, room.lows[kind], room.highs[kind])
    answer = has_independent(room, task.types, links, max(budget - space.spent[0], 0))
    space.spent[0] += room.spent[0]
    if answer == NO:
        remember(space, task.linked, own, words, 0)
    return answer


@inlined
def open_component(plans: Plans, space: Space, task: Task, links: Links, depth: int) -> int:
    """Write the domains of the component that starts at *depth*, its first neighbour's turn: NO where one is empty."""
    base, words, own, last = task.base, task.words, depth * task.words, space.ends[depth]
    block, bound = space.starts[depth], bound_of(plans, space, task, depth)
    space.spent[0] += 4 * words
    if is_remembered(space, depth, own, words, bound):
        return NO
    if not enough_apart(space, links, own, words, plans.apart[base + depth]):
        return NO
    if block + (last - depth) * words > len(space.domains):
        return OPEN
    for slot in range(depth, last):
        place = plans.order[base + slot]
        at, to, some = place * words, block + (slot - depth) * words, _0
        for word in range(space.lows[place] >> 6, (space.highs[place] + 63) >> 6):
            left = space.first[at + word] & space.free[own + word]
            if slot == depth:
                left &= run_of(word, 0, bound)
            space.domains[to + word] = left
            some |= left
            space.spent[0] += 1
        if some == _0:
            return NO
    space.turn[depth] = depth
    space.placed[plans.order[base + depth]] = 1
    return YES


@inlined
def bound_of(plans: Plans, space: Space, task: Task, depth: int) -> int:
    """Below which place the first neighbour of a component must be: the same components go by falling places."""
    above = plans.above[task.base + depth]
    return int(space.images[above]) if above >= 0 else task.target_size


@inlined
def choose_turn(plans: Plans, space: Space, task: Task, depth: int) -> None:
    """Choose who in the component has the fewest places left."""
    first = plans.component[task.base + depth]
    block, fewest, turn = space.starts[depth], 1 << 30, -1
    for slot in range(first, space.ends[first]):
        place = plans.order[task.base + slot]
        if space.placed[place] == 0:
            size, at = 0, block + (slot - first) * task.words
            for word in range(space.lows[place] >> 6, (space.highs[place] + 63) >> 6):
                size += ones(space.domains[at + word])
            if size < fewest:
                fewest, turn = size, slot
    space.spent[0] += space.ends[first] - first
    space.turn[depth] = turn
    space.placed[plans.order[task.base + turn]] = 1


@inlined
def next_value(shapes: Shapes, plans: Plans, space: Space, task: Task, depth: int) -> int:
    """The next place for whoever's turn it is, the likest share of links first; -1 if none is left.

    Where the same components follow one another, the first of each goes by falling places; in a much larger target all
    do, as places with few links leave most to the others.
    """
    first = plans.component[task.base + depth]
    at = space.starts[depth] + (space.turn[depth] - first) * task.words
    place = plans.order[task.base + space.turn[depth]]
    low, high = space.lows[place] >> 6, (space.highs[place] + 63) >> 6
    after = space.ends[first]
    same = plans.above[task.base + depth] >= 0 or (after < task.linked and plans.above[task.base + after] == depth)
    if (depth == first and same) or task.target_size > _MUCH_LARGER * task.size:
        word = high
        while word > low:
            word -= 1
            left = space.domains[at + word]
            if left != _0:
                bit = highest(left)
                space.domains[at + word] = left ^ (_1 << np.uint64(bit))
                return int(word * 64 + bit)
        return -1
    best, nearest, wanted = -1, 1 << 60, shapes.degrees[task.base + place] * (task.target_size - 1)
    for word in range(low, high):
        left = space.domains[at + word]
        while left != _0:
            value = word * 64 + lowest(left)
            left &= left - _1
            off = abs(shapes.degrees[task.target_base + value] * (task.size - 1) - wanted)
            if off < nearest:
                best, nearest = value, off
            space.spent[0] += 1
    if best >= 0:
        space.domains[at + (best >> 6)] &= ~(_1 << np.uint64(best & 63))
    return int(best)


@inlined
def rest_fits(plans: Plans, space: Space, task: Task, depth: int, own: int) -> bool:
    """Whether those of the components from *depth* on, and those without links, find places in a set that is free."""
    for slot in range(depth, task.linked):
        place = plans.order[task.base + slot]
        at, some = place * task.words, _0
        for word in range(space.lows[place] >> 6, (space.highs[place] + 63) >> 6):
            some |= space.first[at + word] & space.free[own + word]
        space.spent[0] += 1
        if some == _0:
            return False
    room = space.room
    for kind in range(task.types):
        left = 0
        for word in range(room.lows[kind] >> 6, (room.highs[kind] + 63) >> 6):
            left += ones(space.free[own + word] & run_of(word, room.lows[kind], room.highs[kind]))
        space.spent[0] += 1
        if left < room.wanted[kind]:
            return False
    return True


@inlined
def free_after(plans: Plans, space: Space, task: Task, bits: NDArray[np.uint64], depth: int) -> bool:
    """Write which places stay free for the other components; whether they are enough."""
    first, words, own = plans.component[task.base + depth], task.words, depth * task.words
    last = space.ends[first]
    if words <= _NARROW:
        row, there = task.start + space.images[depth] * task.apart, 0
        for word in range(words):
            left = space.free[own + word] & bits[row + word]
            space.free[own + words + word] = left
            there += ones(left)
        space.spent[0] += words
        return there >= task.size - last and rest_fits(plans, space, task, last, own + words)
    if depth + 1 == last:
        # Many words: only when the whole component has its places.
        for word in range(words):
            space.free[own + words + word] = space.free[first * words + word]
        for each in range(first, last):
            row = task.start + space.images[each] * task.apart
            for word in range(words):
                space.free[own + words + word] &= bits[row + word]
        space.spent[0] += (last - first) * words
        return rest_fits(plans, space, task, last, own + words)
    return True


@inlined
def narrow(
    shapes: Shapes, plans: Plans, around: Surroundings, space: Space, task: Task, bits: NDArray[np.uint64], depth: int
) -> bool:
    """Cut the domains of the component down to what stands rightly to the one just placed; whether all keep some."""
    base, words, first = task.base, task.words, plans.component[task.base + depth]
    last, block = space.ends[first], space.starts[depth]
    to, value = block + (last - first) * words, space.images[depth]
    place, row = plans.order[base + space.turn[depth]], task.start + value * task.apart
    link_first = shapes.rows[base + place]
    link_last = link_first + shapes.degrees[base + place]
    for link in range(link_first, link_last):
        space.way[shapes.inner[link]] = shapes.codes[link] if task.ways == 4 else 1
    fits, slot, work = True, first, 0
    while fits and slot < last:
        other = plans.order[base + slot]
        if space.placed[other] == 0:
            source, aim = block + (slot - first) * words, to + (slot - first) * words
            across, some = row + space.way[other] * words, _0
            both, neither = np.int64(0), np.int64(0)
            if task.pairs >= 0:
                # The two have as much around them as those they stand for.
                pair = task.pairs + place * task.size + other
                both, neither = np.int64(around.both[pair]), np.int64(around.neither[pair])
            high = task.levels + (value * 2 * LEVELS + both - 1) * words
            low = task.levels + (value * 2 * LEVELS + LEVELS + neither - 1) * words
            first_word, end_word = space.lows[other] >> 6, (space.highs[other] + 63) >> 6
            for word in range(first_word, end_word):
                left = space.domains[source + word] & bits[across + word]
                if both > 0:
                    left &= around.rows[high + word]
                if neither > 0:
                    left &= around.rows[low + word]
                space.domains[aim + word] = left
                some |= left
            work += 3 * (end_word - first_word) + 3
            fits = some != _0
        slot += 1
    space.spent[0] += work
    for link in range(link_first, link_last):
        space.way[shapes.inner[link]] = 0
    return fits


@lean
def place_all(
    shapes: Shapes,
    plans: Plans,
    around: Surroundings,
    pattern: int,
    target: int,
    rows: BitRows,
    space: Space,
    budget: int,
) -> int:
    """Say whether the pattern lies in the target: YES, NO, or OPEN where the *budget* of steps did not do."""
    base, target_base = shapes.offsets[pattern], shapes.offsets[target]
    count, target_count = shapes.offsets[pattern + 1] - base, shapes.offsets[target + 1] - target_base
    linked, words, ways = plans.linked[pattern], (target_count + 63) >> 6, rows.ways
    space.spent[0] = 2 * count
    types = windows(shapes, pattern, target, space)
    if types < 0:
        return NO
    trial = min(budget, _TRIAL * (count + 4))
    if words >= _SPARSE and found_in_turn(shapes, plans, around, pattern, target, types, ways, space, trial):
        return YES
    bits, start = rows.bits, rows.starts[target]
    if start < 0 and target_count * ways * words <= len(space.rows):
        write_rows(shapes, target, ways, words, target_count, space)
        bits, start = space.rows, 0
    if start < 0 or count * words > len(space.first) or (linked + 1) * words > len(space.free):
        return OPEN
    if not first_domains(shapes, around, base, count, target_base, words, space):
        return NO
    pairs = around.starts[pattern] if around.starts[target] >= 0 else -1
    task = Task(base, count, target_base, target_count, linked, words, ways, start, ways * words, types,
                pairs, around.rows_at[target])  # fmt: skip
    links, unsure = Links(bits, start, task.apart, words), False
    begin(plans, space, task)
    depth, fresh = 0, True
    while depth >= 0:
        back = False
        if fresh:
            if space.spent[0] > budget:
                return OPEN
            answer = YES
            if depth == linked:
                answer = place_the_rest(space, task, links, budget)
                if answer == YES:
                    return YES
                unsure = unsure or answer == OPEN
                back = True
            elif plans.component[base + depth] == depth:
                answer = open_component(plans, space, task, links, depth)
                if answer == OPEN:
                    return OPEN
                back = answer == NO
            else:
                choose_turn(plans, space, task, depth)
        if not back:
            value = next_value(shapes, plans, space, task, depth)
            if value < 0:
                space.placed[plans.order[base + space.turn[depth]]] = 0
                if plans.component[base + depth] == depth and not unsure:
                    remember(space, depth, depth * words, words, bound_of(plans, space, task, depth))
                back = True
            else:
                space.images[depth] = value
                space.spent[0] += 8
                fresh = free_after(plans, space, task, bits, depth)
                first = plans.component[base + depth]
                last = space.ends[first]
                space.starts[depth + 1] = space.starts[depth] + (last - first) * words
                if fresh and depth + 1 < last:
                    if space.starts[depth + 1] + (last - first) * words > len(space.domains):
                        return OPEN
                    fresh = narrow(shapes, plans, around, space, task, bits, depth)
        if back:
            depth, fresh = depth - 1, False
        elif fresh:
            depth += 1
        if not fresh and depth >= 0:
            rule_out(shapes, plans, space, base, target_base, depth, words)
    return OPEN if unsure else NO
