"""Which patterns can lie in a target at all, by their neighbours alone: so that no more is laid out than is needed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.neighbourhoods import Neighbourhoods
from graphpriv.risk.refinement import mixed
from tabular.kernels import compiled

_0, _1, _2, _7, _15, _58 = (np.uint64(value) for value in (0, 1, 2, 7, 15, 58))
_FIELDS = np.uint64(0x8888888888888888)

#: For each entry of a neighbourhood so many pairs are looked at; with more, what they rule out is not worth it.
_PAIRS_AN_ENTRY = 32


def possible_pairs(
    around: Neighbourhoods,
    types: NDArray[np.int64],
    patterns: NDArray[np.int64],
    targets: NDArray[np.int64],
    lows: NDArray[np.int64],
    highs: NDArray[np.int64],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The patterns that may lie in one of the targets of their run, and the targets in which one may lie."""
    if (highs - lows).sum() <= _PAIRS_AN_ENTRY * len(types):
        return pairs_by_signs(around, types, patterns, targets, lows, highs)
    worth = lows < highs
    change = np.bincount(lows[worth], minlength=len(targets) + 1) - np.bincount(
        highs[worth], minlength=len(targets) + 1
    )
    return worth, np.cumsum(change)[:-1] > 0


@compiled
def pairs_by_signs(
    around: Neighbourhoods,
    types: NDArray[np.int64],
    patterns: NDArray[np.int64],
    targets: NDArray[np.int64],
    lows: NDArray[np.int64],
    highs: NDArray[np.int64],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Compare signs of the neighbours' types: what a pattern has, and how often, a target must have as well."""
    worth, wanted = np.zeros(len(patterns), dtype=np.bool_), np.zeros(len(targets), dtype=np.bool_)
    signs, tallies = np.zeros(len(targets), dtype=np.uint64), np.zeros(len(targets), dtype=np.uint64)
    for target in range(len(targets)):
        signs[target], tallies[target] = signs_of(around, types, targets[target])
    for pattern in range(len(patterns)):
        if lows[pattern] < highs[pattern]:
            sign, tally = signs_of(around, types, patterns[pattern])
            for target in range(lows[pattern], highs[pattern]):
                # No field of the target's tally may fall short: then no borrow clears its highest bit.
                if sign & ~signs[target] == _0 and ((tallies[target] | _FIELDS) - tally) & _FIELDS == _FIELDS:
                    worth[pattern] = True
                    wanted[target] = True
    return worth, wanted


@compiled
def signs_of(around: Neighbourhoods, types: NDArray[np.int64], centre: int) -> tuple[np.uint64, np.uint64]:
    """Which types occur around a centre, one of 64 bits each, and how often up to seven, in 16 fields of four bits."""
    sign, tally = _0, _0
    for entry in range(around.offsets[centre], around.offsets[centre + 1]):
        kind = mixed(np.uint64(types[entry]))
        sign |= _1 << (kind >> _58)
        shift = (kind & _15) << _2
        if (tally >> shift) & _7 < _7:
            tally += _1 << shift
    return sign, tally
