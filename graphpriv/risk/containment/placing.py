"""Look for one neighbourhood inside another, node-induced and centre on centre, one component after the other.

Targets whose places fit into one word have a search of their own (`single_words.py`).

Each neighbour of the pattern has a domain, the neighbours of the target that it may stand for. Placing one cuts the
others of its component down to what stands to it the same way (forward checking); the next is always the one with the
fewest places left. Components only meet in the places that are linked with none of those taken: what could not be
completed in some of these cannot be in fewer. Neighbours without links come last, as one independent set.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.containment.bits import highest, lowest, ones, run_of
from graphpriv.risk.containment.domains import first_domains, windows
from graphpriv.risk.containment.independent_sets import Links, has_independent, matched
from graphpriv.risk.containment.plans import Plans
from graphpriv.risk.containment.shapes import BitRows, Shapes, write_row
from graphpriv.risk.containment.single_words import place_in_word
from graphpriv.risk.containment.spaces import MEMORY, Space, Task
from graphpriv.risk.containment.surroundings import KINDS, LEVELS, Surroundings
from graphpriv.risk.containment.trials import found_in_turn
from graphpriv.risk.isomorphism import NO, OPEN, YES
from tabular.kernels import inlined, lean

_0, _1 = np.uint64(0), np.uint64(1)

#: From so many words on a few neighbours are first placed by going along links; so many steps for each of them.
_SPARSE, _TRIAL = 2, 32

#: Steps that it takes to begin a search.
_BEGINNING = 64

#: How far off a place's twins are looked for.
_TWIN_REACH = 32

#: Up to so many words the places that are left for the other components are counted at each step.
_NARROW = 8


@inlined
def is_remembered(space: Space, depth: int, own: int, words: int, bound: int) -> bool:
    """Whether a set that holds this one did not do, under no closer bound."""
    for each in range(min(space.remembered[depth], MEMORY)):
        at, inside = (depth * MEMORY + each) * words, space.bounds[depth * MEMORY + each] >= bound
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
    each = depth * MEMORY + space.remembered[depth] % MEMORY
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
    space.failed[0] = 0
    for place in range(task.size):
        space.placed[place], space.weights[place] = 0, 1
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
    """Choose who in the component has the fewest places left for the times it kept none."""
    first = plans.component[task.base + depth]
    block, fewest, weight, turn = space.starts[depth], 1 << 30, np.int64(1), -1
    for slot in range(first, space.ends[first]):
        place = plans.order[task.base + slot]
        if space.placed[place] == 0:
            size, at = 0, block + (slot - first) * task.words
            for word in range(space.lows[place] >> 6, (space.highs[place] + 63) >> 6):
                size += ones(space.domains[at + word])
            if size * weight < fewest * space.weights[place]:
                fewest, weight, turn = size, space.weights[place], slot
    space.spent[0] += space.ends[first] - first
    space.turn[depth] = turn
    space.placed[plans.order[task.base + turn]] = 1


@inlined
def next_value(shapes: Shapes, plans: Plans, space: Space, task: Task, depth: int) -> int:
    """The next place for whoever's turn it is, the likest share of links first; -1 if none is left.

    Where the same components follow one another, the first of each goes by falling places.
    """
    first = plans.component[task.base + depth]
    at = space.starts[depth] + (space.turn[depth] - first) * task.words
    place = plans.order[task.base + space.turn[depth]]
    low, high = space.lows[place] >> 6, (space.highs[place] + 63) >> 6
    after = space.ends[first]
    same = plans.above[task.base + depth] >= 0 or (after < task.linked and plans.above[task.base + after] == depth)
    if depth == first and same:
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
    """Cut the domains of the component down to what stands rightly to the one just placed; whether all keep some.

    Whoever kept nothing the last time is looked at first, and its turn comes earlier from now on.
    """
    base, words, first = task.base, task.words, plans.component[task.base + depth]
    last, block = space.ends[first], space.starts[depth]
    to, value = block + (last - first) * words, space.images[depth]
    place, row = plans.order[base + space.turn[depth]], task.start + value * task.apart
    link_first = shapes.rows[base + place]
    link_last = link_first + shapes.degrees[base + place]
    for link in range(link_first, link_last):
        space.way[shapes.inner[link]] = shapes.codes[link] if task.ways == 4 else 1
    fits, work, slot = True, 0, max(first, min(space.failed[0], last - 1))
    for _ in range(first, last):
        other = plans.order[base + slot]
        if space.placed[other] == 0:
            source, aim = block + (slot - first) * words, to + (slot - first) * words
            across, some = row + space.way[other] * words, _0
            first_word, end_word = space.lows[other] >> 6, (space.highs[other] + 63) >> 6
            for word in range(first_word, end_word):
                space.domains[aim + word] = space.domains[source + word] & bits[across + word]
            if task.pairs >= 0:
                # The two have as much around them as those they stand for.
                pair = KINDS * (task.pairs + place * task.size + other)
                for kind in range(KINDS):
                    level = np.int64(around.levels[pair + kind])
                    if level > 0:
                        work += end_word - first_word
                        high = task.levels + ((value * KINDS + kind) * LEVELS + level - 1) * words
                        for word in range(first_word, end_word):
                            space.domains[aim + word] &= around.rows[high + word]
            for word in range(first_word, end_word):
                some |= space.domains[aim + word]
            work += end_word - first_word + 3
            if some == _0:
                space.weights[other] += 1
                space.failed[0] = slot
                fits = False
                break
        slot += 1
        if slot == last:
            slot = first
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
    space.spent[0] = _BEGINNING + 8 * count
    types = windows(shapes, pattern, target, space)
    if types < 0:
        return NO
    kept = rows.starts[pattern] >= 0 and rows.starts[target] >= 0
    if words == 1 and kept and around.rows_at[target] < 0:
        return place_in_word(shapes, plans, around, pattern, target, rows, space, types, budget)
    trial = min(budget, _TRIAL * (count + 4))
    if words >= _SPARSE and found_in_turn(shapes, plans, around, pattern, target, types, ways, space, trial):
        return YES
    bits, start = rows.bits, rows.starts[target]
    if start < 0 and target_count * ways * words <= len(space.rows):
        write_rows(shapes, target, ways, words, target_count, space)
        bits, start = space.rows, 0
    if start < 0 or count * words > len(space.first) or (linked + 1) * words > len(space.free):
        return OPEN
    answer = first_domains(shapes, around, base, count, target_base, words, space, budget)
    if answer != YES:
        return answer
    pairs = around.starts[pattern] if around.rows_at[target] >= 0 else -1
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
