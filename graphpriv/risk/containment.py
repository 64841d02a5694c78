"""For each pattern the targets that contain it: candidates by their features, then a search for each that is left."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.features import Needs
from graphpriv.risk.isomorphism import OPEN, YES
from graphpriv.risk.search import Desk, lowest, search_inside
from graphpriv.risk.shapes import Shapes
from tabular.kernels import compiled

_0, _1, _ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)


@compiled
def candidates_into(
    patterns: Shapes,
    pattern: int,
    needs: Needs,
    low: int,
    high: int,
    base: int,
    words: NDArray[np.uint64],
    spare: NDArray[np.uint64],
) -> bool:
    """Mark the targets from *low* to *high* that have all the pattern needs, as bits counted from *base*."""
    size = (high - base + 63) >> 6
    first, last = needs.offsets[pattern], needs.offsets[pattern + 1]
    if low >= high:
        return False
    for word in range(size):
        words[word] = _0 if last > first else _ALL
    if last == first:
        for word in range(low - base >> 6):
            words[word] = _0
        words[(low - base) >> 6] &= _ALL << np.uint64((low - base) & 63)
        words[size - 1] &= _ALL >> np.uint64(63 - ((high - base - 1) & 63))
        return True
    rarest = first
    for need in range(first, last):
        feature, known = needs.features[need], needs.features[rarest]
        if needs.starts[feature + 1] - needs.starts[feature] < needs.starts[known + 1] - needs.starts[known]:
            rarest = need
    for turn in range(first - 1, last):
        need = rarest if turn < first else turn
        if turn == rarest:
            continue
        feature = needs.features[need]
        some = False
        if turn >= first:
            for word in range(size):
                spare[word] = _0
        for at in range(needs.starts[feature], needs.starts[feature + 1]):
            target = needs.targets[at]
            if low <= target < high:
                bit = target - base
                if turn < first:
                    words[bit >> 6] |= _1 << np.uint64(bit & 63)
                    some = True
                else:
                    spare[bit >> 6] |= _1 << np.uint64(bit & 63)
        if turn >= first:
            for word in range(size):
                words[word] &= spare[word]
                some = some or words[word] != _0
        if not some:
            return False
    return True


@compiled
def contain(
    patterns: Shapes,
    order: NDArray[np.int64],
    start: int,
    stop: int,
    targets: Shapes,
    needs: Needs,
    bits: NDArray[np.uint64],
    bit_starts: NDArray[np.int64],
    ways: int,
    bases: NDArray[np.int64],
    lows: NDArray[np.int64],
    highs: NDArray[np.int64],
    same: NDArray[np.int64],
    weights: NDArray[np.int64],
    seeker_offsets: NDArray[np.int64],
    seekers: NDArray[np.int64],
    desk: Desk,
    budget: int,
    candidates: NDArray[np.int64],
    open_: NDArray[np.bool_],
    found: NDArray[np.bool_],
) -> None:
    """Count the masked users around whom each pattern lies, and look for each user's own among them."""
    most = 1
    for at in range(start, stop):
        pattern = order[at]
        most = max(most, ((highs[pattern] - bases[pattern] + 63) >> 6))
    words, spare = np.empty(most, dtype=np.uint64), np.empty(most, dtype=np.uint64)
    for at in range(start, stop):
        pattern = order[at]
        base, low, high = bases[pattern], lows[pattern], highs[pattern]
        count = patterns.offsets[pattern + 1] - patterns.offsets[pattern]
        total = weights[same[pattern]] if same[pattern] >= 0 else 0
        some = candidates_into(patterns, pattern, needs, low, high, base, words, spare)
        size = (high - base + 63) >> 6 if some else 0
        for word in range(size):
            left = words[word]
            while left != _0:
                bit = left & (~left + _1)
                left ^= bit
                target = base + word * 64 + lowest(bit)
                if targets.labels[target] != patterns.labels[pattern]:
                    words[word] ^= bit
                    continue
                answer = YES
                if count > 1:
                    answer = search_inside(
                        patterns, pattern, targets, target, bits, bit_starts[target], ways, desk, budget
                    )
                if answer == YES:
                    total += weights[target]
                else:
                    words[word] ^= bit
                    open_[pattern] = open_[pattern] or answer == OPEN
        candidates[pattern] = total
        for seeker in range(seeker_offsets[pattern], seeker_offsets[pattern + 1]):
            target = seekers[seeker]
            if target == same[pattern]:
                found[seeker] = target >= 0
            elif size and low <= target < high:
                place = target - base
                found[seeker] = (words[place >> 6] >> np.uint64(place & 63)) & _1 != _0
