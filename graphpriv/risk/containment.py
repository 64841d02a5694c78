"""For each pattern the targets that contain it: candidates by their features, then a search for each that is left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.constraint_search import Workspace, lowest, ones, search_inside
from graphpriv.risk.filters import Needs
from graphpriv.risk.isomorphism import NO, OPEN, YES
from graphpriv.risk.shapes import BitRows, Shapes
from tabular.kernels import compiled, inlined

_0, _1 = np.uint64(0), np.uint64(1)


@inlined
def mark(needs: Needs, feature: int, low: int, high: int, base: int, size: int, words: NDArray[np.uint64]) -> int:
    """Mark the targets from *low* to *high* that have a feature, and no other; how many they are."""
    words[:size] = _0
    count = 0
    for at in range(needs.starts[feature], needs.starts[feature + 1]):
        target = needs.targets[at]
        # A feature includes the centre's label, so that others come up by accident only.
        if low <= target < high:
            words[(target - base) >> 6] |= _1 << np.uint64((target - base) & 63)
            count += 1
    return count


@compiled
def candidates_into(
    pattern: int,
    needs: Needs,
    low: int,
    high: int,
    base: int,
    words: NDArray[np.uint64],
    spare: NDArray[np.uint64],
) -> int:
    """Mark the targets from *low* to *high* that have all the pattern needs, as bits from *base*; how many they are."""
    size = (high - base + 63) >> 6
    first, last = needs.offsets[pattern], needs.offsets[pattern + 1]
    if low >= high:
        return 0
    if first == last:
        words[:size] = _0
        for target in range(low, high):
            words[(target - base) >> 6] |= _1 << np.uint64((target - base) & 63)
        return high - low
    rarest, fewest = first, 1 << 60
    for need in range(first, last):
        feature = needs.features[need]
        length = needs.starts[feature + 1] - needs.starts[feature]
        if length < fewest:
            rarest, fewest = need, length
    left = mark(needs, needs.features[rarest], low, high, base, size, words)
    for need in range(first, last):
        if need != rarest and left:
            mark(needs, needs.features[need], low, high, base, size, spare)
            left = 0
            for word in range(size):
                words[word] &= spare[word]
                left += ones(words[word])
    return left


class SearchSpace(NamedTuple):
    """For each pattern where to look, and what is known already."""

    #: The run of targets with its label, and where in it those with more neighbours start.
    bases: NDArray[np.int64]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    #: For each target the pattern of its class, -1 where there is none.
    pattern_of: NDArray[np.int64]
    #: How many masked users each target stands for.
    weights: NDArray[np.int64]
    #: Who wants to know whether a target is found: for each pattern a run of users, and for each of these the target.
    seeker_starts: NDArray[np.int64]
    seeker_ends: NDArray[np.int64]
    seekers: NDArray[np.int64]
    sought: NDArray[np.int64]
    #: Where the targets found for a pattern are kept, as bits from its base; -1 where they are not.
    kept_starts: NDArray[np.int64]
    kept: NDArray[np.uint64]


@compiled
def contain(
    patterns: Shapes,
    order: NDArray[np.int64],
    start: int,
    stop: int,
    targets: Shapes,
    needs: Needs,
    rows: BitRows,
    where: SearchSpace,
    space: Workspace,
    budget: int,
    candidates: NDArray[np.int64],
    open_: NDArray[np.bool_],
    found: NDArray[np.bool_],
) -> None:
    """Count the masked users with more neighbours around whom each pattern lies, and look for each user's own.

    What lies in a target lies wherever that target lies: where the target is a pattern as well, and was looked for
    before, all it was found in is known at once.
    """
    most = 1
    for at in range(start, stop):
        most = max(most, ((where.highs[order[at]] - where.bases[order[at]] + 63) >> 6))
    words, spare = np.empty(most, dtype=np.uint64), np.empty(most, dtype=np.uint64)
    sure = np.empty(most, dtype=np.uint64)
    for at in range(start, stop):
        pattern = order[at]
        base, low, high = where.bases[pattern], where.lows[pattern], where.highs[pattern]
        count = patterns.offsets[pattern + 1] - patterns.offsets[pattern]
        total = 0
        some = candidates_into(pattern, needs, low, high, base, words, spare)
        size = (high - base + 63) >> 6 if some else 0
        sure[:size] = _0
        for word in range(size):
            left = words[word]
            while left != _0:
                bit = left & (~left + _1)
                left ^= bit
                target = base + word * 64 + lowest(bit)
                answer = YES
                if targets.labels[target] != patterns.labels[pattern]:
                    answer = NO
                elif count > 1 and sure[word] & bit == _0:
                    answer = search_inside(patterns, pattern, targets, target, rows, space, budget)
                    larger = where.pattern_of[target]
                    if answer == YES and larger >= 0 and where.kept_starts[larger] >= 0:
                        for later in range(word, size):
                            sure[later] |= where.kept[where.kept_starts[larger] + later]
                if answer == YES:
                    total += where.weights[target]
                else:
                    words[word] ^= bit
                    open_[pattern] = open_[pattern] or answer == OPEN
        candidates[pattern] = total
        if where.kept_starts[pattern] >= 0:
            for word in range(size):
                where.kept[where.kept_starts[pattern] + word] = words[word]
        for seeker in range(where.seeker_starts[pattern], where.seeker_ends[pattern]):
            target = where.sought[seeker]
            if size and low <= target < high:
                place = target - base
                found[seeker] = (words[place >> 6] >> np.uint64(place & 63)) & _1 != _0
