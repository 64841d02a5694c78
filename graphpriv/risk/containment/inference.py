"""Decide which nodes lie in which, and infer from what is known as much as can be.

What lies in a part of a target lies in the target, and what a part of the pattern does not lie in, the pattern does not
lie in either. Targets are taken by rising size, so that all that is known of a smaller one can be used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.containment.bits import highest, lowest, ones
from graphpriv.risk.containment.filters import Needs
from graphpriv.risk.containment.nodes import Nodes
from graphpriv.risk.containment.placing import place_all
from graphpriv.risk.containment.plans import Plans
from graphpriv.risk.containment.shapes import BitRows, Shapes
from graphpriv.risk.containment.spaces import Space
from graphpriv.risk.containment.surroundings import Surroundings
from graphpriv.risk.isomorphism import NO, YES
from tabular.kernels import compiled, inlined, lean

_0, _1 = np.uint64(0), np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


#: Steps that looking at one open pair takes, search apart.
VISIT = 16


@compiled
def candidates_of(
    pattern: int, needs: Needs, nodes: Nodes, words: NDArray[np.uint64], spare: NDArray[np.uint64]
) -> int:
    """Mark the larger nodes of the label that have all the pattern needs, as bits from its base; how many they are."""
    base, low, high = nodes.bases[pattern], nodes.highs[pattern], nodes.ends[pattern]
    if low >= high:
        return 0
    start, size = (low - base) >> 6, (high - base + 63) >> 6
    words[start:size] = _ALL
    words[start] &= _ALL << np.uint64((low - base) & 63)
    words[size - 1] &= _ALL >> np.uint64(63 - ((high - base - 1) & 63))
    first, last = needs.offsets[pattern], needs.offsets[pattern + 1]
    for need in range(first, last):
        feature = needs.features[need]
        if needs.bits_at[feature] >= 0:
            at = needs.bits_at[feature]
            for word in range(start, size):
                words[word] &= needs.bits[at + word]
    for need in range(first, last):
        feature = needs.features[need]
        if needs.bits_at[feature] < 0:
            spare[start:size] = _0
            for at in range(needs.starts[feature], needs.starts[feature + 1]):
                target = needs.targets[at]
                # A feature includes the centre's label, so that others come up by accident only.
                if low <= target < high:
                    spare[(target - base) >> 6] |= _1 << np.uint64((target - base) & 63)
            for word in range(start, size):
                words[word] &= spare[word]
    left = 0
    for word in range(start, size):
        left += ones(words[word])
    return left


@compiled
def fill_columns(
    needs: Needs,
    nodes: Nodes,
    start: int,
    stop: int,
    open_: NDArray[np.uint64],
    beyond: NDArray[np.int64],
) -> None:
    """Write the patterns from *start* to *stop* into the columns of the targets that have all they need.

    Of a pattern for which the columns have no room only the masked users in such targets are counted.
    """
    most = 1
    for pattern in range(start, stop):
        most = max(most, (nodes.ends[pattern] - nodes.bases[pattern] + 63) >> 6)
    words, spare = np.empty(most, dtype=np.uint64), np.empty(most, dtype=np.uint64)
    for pattern in range(start, stop):
        if nodes.users[pattern] == 0 or candidates_of(pattern, needs, nodes, words, spare) == 0:
            continue
        base = nodes.bases[pattern]
        own_word, own_bit = (pattern - base) >> 6, _1 << np.uint64((pattern - base) & 63)
        for word in range((nodes.highs[pattern] - base) >> 6, (nodes.ends[pattern] - base + 63) >> 6):
            left = words[word]
            while left != _0:
                target = base + word * 64 + lowest(left)
                left &= left - _1
                if own_word < nodes.words[target]:
                    open_[nodes.starts[target] + own_word] |= own_bit
                else:
                    beyond[pattern] += nodes.weights[target]


@inlined
def take_over(known: NDArray[np.uint64], open_: NDArray[np.uint64], at: int, smaller: int, words: int) -> None:
    """What lies in a smaller target lies in this one."""
    for word in range(words):
        more = known[smaller + word]
        known[at + word] |= more
        open_[at + word] &= ~more


@inlined
def first_shared(known: NDArray[np.uint64], at: int, absent: NDArray[np.uint64], words: int) -> int:
    """The first word with something known to lie in a node and absent from a target; *words* if there is none."""
    word = 0
    while word < words and known[at + word] & absent[word] == _0:
        word += 1
    return word


@lean
def look_inside(
    shapes: Shapes,
    plans: Plans,
    around: Surroundings,
    pattern: int,
    target: int,
    rows: BitRows,
    space: Space,
    budget: int,
) -> int:
    """Say whether the pattern lies in the target, by counting links before its neighbours are placed."""
    base, target_base = shapes.offsets[pattern], shapes.offsets[target]
    slack = shapes.offsets[target + 1] - target_base - (shapes.offsets[pattern + 1] - base)
    # Each neighbour that is left out takes its links away, and no others.
    surplus = links_of(shapes, target) - links_of(shapes, pattern)
    if surplus > 2 * plans.heaviest[target_base + slack - 1]:
        space.spent[0] = 4
        return NO
    return place_all(shapes, plans, around, pattern, target, rows, space, budget)


@inlined
def links_of(shapes: Shapes, node: int) -> int:
    """How many links are around a centre, counted from both ends."""
    links: int = shapes.rows[shapes.offsets[node + 1]] - shapes.rows[shapes.offsets[node]]
    return links


@inlined
def first_larger(sizes: NDArray[np.int64], low: int, high: int, size: int) -> int:
    """The first place from *low* to *high* with more than *size*; sizes rise."""
    while low < high:
        middle = (low + high) >> 1
        if sizes[middle] <= size:
            low = middle + 1
        else:
            high = middle
    return low


@lean
def decide(
    shapes: Shapes,
    plans: Plans,
    around: Surroundings,
    rows: BitRows,
    nodes: Nodes,
    order: NDArray[np.int64],
    start: int,
    stop: int,
    least: int,
    known: NDArray[np.uint64],
    open_: NDArray[np.uint64],
    grew: NDArray[np.bool_],
    lost: NDArray[np.bool_],
    windows: NDArray[np.int64],
    space: Space,
    cap: int,
    share: int,
    small_size: int,
    absent: NDArray[np.uint64],
) -> tuple[int, int]:
    """Look for the open patterns in the targets of *order* from *start* to *stop*.

    How many steps looking at pairs took, and inferring what follows. One search takes at most *cap* steps, all of them
    *share*. It reads only columns of targets smaller than *least*: those of its layer may be written at the same time.
    A pattern is only looked for in the targets of its window. Told are the targets that *grew*, in which something was
    found, and those that *lost* something to look for.
    """
    left, inferred = share, 0
    for at in range(start, stop):
        target = order[at]
        own, words, base = nodes.starts[target], nodes.words[target], nodes.bases[target]
        grown, some, most_steps = False, _0, cap * effort_for(nodes.sizes[target])
        for back in range(words):
            word = words - 1 - back
            bits = known[own + word]
            while bits != _0:
                smaller = base + word * 64 + lowest(bits)
                bits &= bits - _1
                inferred += 1
                if nodes.sizes[smaller] < least and grew[smaller]:
                    grown = True
                    inferred += nodes.words[smaller] >> 1
                    take_over(known, open_, own, nodes.starts[smaller], nodes.words[smaller])
        for word in range(words):
            absent[word] = ~(known[own + word] | open_[own + word])
            some |= open_[own + word]
        if some != _0 and left > 0:
            small = first_larger(nodes.sizes, base, nodes.lows[target], small_size)
            # The small ones first, rising; then the others, falling.
            for turn in range(2):
                for step in range(words):
                    word = step if turn == 0 else words - 1 - step
                    mask = _ALL
                    edge = small - base - word * 64
                    if edge <= 0:
                        mask = _0
                    elif edge < 64:
                        mask = _ALL >> np.uint64(64 - edge)
                    if turn == 1:
                        mask = ~mask
                    bits = open_[own + word] & mask
                    while bits != _0 and left > 0:
                        if turn == 0:
                            bit = bits & (~bits + _1)
                            place = np.int64(lowest(bit))
                        else:
                            place = np.int64(highest(bits))
                            bit = _1 << np.uint64(place)
                        bits ^= bit
                        # It may have been inferred since.
                        if open_[own + word] & bit == _0:
                            continue
                        pattern = base + word * 64 + place
                        if not windows[pattern, 0] <= target < windows[pattern, 1]:
                            continue
                        left -= VISIT
                        smaller = nodes.starts[pattern]
                        its = nodes.words[pattern] if nodes.sizes[pattern] < least else 0
                        shared = first_shared(known, smaller, absent, its)
                        left -= shared >> 2
                        if shared < its:
                            answer = NO
                        elif nodes.sizes[pattern] <= 1:
                            answer = YES
                        else:
                            answer = look_inside(
                                shapes, plans, around, pattern, target, rows, space, min(most_steps, max(left, 0))
                            )
                            left -= min(space.spent[0], min(most_steps, max(left, 0)))
                        if answer == YES:
                            grown = True
                            known[own + word] |= bit
                            open_[own + word] ^= bit
                            inferred += its >> 1
                            take_over(known, open_, own, smaller, its)
                        elif answer == NO:
                            open_[own + word] ^= bit
                            absent[word] |= bit
                            lost[target] = True
        grew[target] |= grown
    return share - left, inferred


@compiled
def close_layer(
    nodes: Nodes,
    order: NDArray[np.int64],
    start: int,
    stop: int,
    known: NDArray[np.uint64],
    open_: NDArray[np.uint64],
    grew: NDArray[np.bool_],
) -> None:
    """Hand on what was found inside smaller targets of the same layer; *order* goes by rising size."""
    least = nodes.sizes[order[start]]
    for at in range(start, stop):
        target = order[at]
        if nodes.sizes[target] == least:
            continue
        own, base = nodes.starts[target], nodes.bases[target]
        for back in range(nodes.words[target]):
            word = nodes.words[target] - 1 - back
            if nodes.sizes[min(base + word * 64 + 63, nodes.ends[target] - 1)] < least:
                break
            bits = known[own + word]
            while bits != _0:
                place = np.int64(highest(bits))
                bits ^= _1 << np.uint64(place)
                smaller = base + word * 64 + place
                grew[target] |= grew[smaller]
                if nodes.sizes[smaller] >= least and grew[target]:
                    take_over(known, open_, own, nodes.starts[smaller], nodes.words[smaller])


@compiled
def mark_words(
    nodes: Nodes, known: NDArray[np.uint64], starts: NDArray[np.int64], marks: NDArray[np.uint64], start: int, stop: int
) -> None:
    """Mark which words of the columns from *start* to *stop* hold anything: most of those of a small pattern do not."""
    for node in range(start, stop):
        for word in range(nodes.words[node]):
            if known[nodes.starts[node] + word] != _0:
                marks[starts[node] + (word >> 6)] |= _1 << np.uint64(word & 63)


@inlined
def share_any(
    known: NDArray[np.uint64], at: int, marks: NDArray[np.uint64], marks_at: int, absent: NDArray[np.uint64], words: int
) -> tuple[bool, int]:
    """Whether something known to lie in a node is absent from a target, and how many words that took.

    *marks* say where to look.
    """
    found, group, steps = False, 0, 0
    while not found and group * 64 < words:
        left = marks[marks_at + group]
        while left != _0 and not found:
            word = group * 64 + lowest(left)
            left &= left - _1
            found = word < words and known[at + word] & absent[word] != _0
            steps += 1
        group += 1
    return found, steps + group


@compiled
def rule_out_all(
    nodes: Nodes,
    known: NDArray[np.uint64],
    open_: NDArray[np.uint64],
    starts: NDArray[np.int64],
    marks: NDArray[np.uint64],
    grew: NDArray[np.bool_],
    lost: NDArray[np.bool_],
    start: int,
    stop: int,
) -> int:
    """Rule out, in the columns from *start* to *stop*, every open pattern that holds something that is ruled out.

    All is as it should be but for patterns that *grew* and targets that *lost* something. How many steps that took,
    words gone along apart.
    """
    most, steps = 1, 0
    for target in range(start, stop):
        most = max(most, nodes.words[target])
    absent = np.empty(most, dtype=np.uint64)
    for target in range(start, stop):
        own, words, base = nodes.starts[target], nodes.words[target], nodes.bases[target]
        for word in range(words):
            absent[word] = ~(known[own + word] | open_[own + word])
        # Rising: what is ruled out here rules out larger ones in turn.
        changed = lost[target]
        for word in range(words):
            bits = open_[own + word]
            while bits != _0:
                bit = bits & (~bits + _1)
                bits ^= bit
                pattern = base + word * 64 + lowest(bit)
                if not (changed or grew[pattern]):
                    continue
                its = min(nodes.words[pattern], words)
                found, looked = share_any(known, nodes.starts[pattern], marks, starts[pattern], absent, its)
                steps += looked
                if found:
                    open_[own + word] ^= bit
                    absent[word] |= bit
                    changed = True
    return steps


@compiled
def rule_out_by_independence(nodes: Nodes, plans: Plans, open_: NDArray[np.uint64], start: int, stop: int) -> None:
    """Rule out whatever has more neighbours of whom no two are linked than its target, columns *start* to *stop*."""
    for target in range(start, stop):
        own, base = nodes.starts[target], nodes.bases[target]
        for word in range(nodes.words[target]):
            bits = open_[own + word]
            while bits != _0:
                bit = bits & (~bits + _1)
                bits ^= bit
                if plans.least_apart[base + word * 64 + lowest(bit)] > plans.most_apart[target]:
                    open_[own + word] ^= bit


@compiled
def count_weights(
    nodes: Nodes, columns: NDArray[np.uint64], masked_users: NDArray[np.int64], patterns: NDArray[np.int64]
) -> None:
    """Count for each pattern the masked users in the targets whose columns hold it, and the targets themselves."""
    for target in range(len(nodes.sizes)):
        own, base = nodes.starts[target], nodes.bases[target]
        for word in range(nodes.words[target]):
            bits = columns[own + word]
            while bits != _0:
                pattern = base + word * 64 + lowest(bits)
                masked_users[pattern] += nodes.weights[target]
                patterns[pattern] += 1
                bits &= bits - _1


@inlined
def effort_for(size: int) -> int:
    """How many times the steps a search takes in a target that has to be kept in many words."""
    return 1 + (size >> 9)


@compiled
def count_worth(
    nodes: Nodes,
    columns: NDArray[np.uint64],
    windows: NDArray[np.int64],
    pairs: NDArray[np.int64],
    start: int,
    stop: int,
) -> None:
    """Count for targets the patterns in their columns in whose *windows* they are, times the effort of one search.

    These are the targets from *start* to *stop*.
    """
    for target in range(start, stop):
        own, base, effort = nodes.starts[target], nodes.bases[target], effort_for(nodes.sizes[target])
        for word in range(nodes.words[target]):
            bits = columns[own + word]
            while bits != _0:
                pattern = base + word * 64 + lowest(bits)
                if windows[pattern, 0] <= target < windows[pattern, 1]:
                    pairs[target] += effort
                bits &= bits - _1


@compiled
def choose_largest(
    nodes: Nodes,
    columns: NDArray[np.uint64],
    reach: int,
    larger: int,
    worth: NDArray[np.bool_],
    windows: NDArray[np.int64],
) -> None:
    """Write for each pattern that is *worth* it where the *reach* largest targets lie in whose columns it is.

    Those more than so many times *larger* than the pattern are passed over: a search there takes long.
    """
    met = np.zeros(len(worth), dtype=np.int64)
    for back in range(len(nodes.sizes)):
        target = len(nodes.sizes) - 1 - back
        own, base = nodes.starts[target], nodes.bases[target]
        for word in range(nodes.words[target]):
            bits = columns[own + word]
            while bits != _0:
                pattern = base + word * 64 + lowest(bits)
                bits &= bits - _1
                if worth[pattern] and met[pattern] < reach and nodes.sizes[target] <= larger * nodes.sizes[pattern]:
                    if met[pattern] == 0:
                        windows[pattern, 1] = target + 1
                    met[pattern] += 1
                    windows[pattern, 0] = target
