"""Sets of places as bits, 64 in a word."""

from __future__ import annotations

import numpy as np

from tabular.kernels import compiled

_0, _1, _2, _4, _56 = (np.uint64(value) for value in (0, 1, 2, 4, 56))
_M1, _M2 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_M4, _H = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@compiled
def ones(word: np.uint64) -> int:
    """How many bits of *word* are set."""
    word = word - ((word >> _1) & _M1)
    word = (word & _M2) + ((word >> _2) & _M2)
    word = (word + (word >> _4)) & _M4
    # Signed: a sum of signed and unsigned words is no whole number to the compiler.
    return np.int64((word * _H) >> _56)  # type: ignore[return-value]


@compiled
def lowest(word: np.uint64) -> int:
    """Which bit of *word* is the lowest that is set."""
    return ones((word & (~word + _1)) - _1)


@compiled
def highest(word: np.uint64) -> int:
    """Which bit of *word* is the highest that is set."""
    for shift in range(6):
        word |= word >> (_1 << np.uint64(shift))
    return ones(word) - 1


@compiled
def run_of(word: int, low: int, high: int) -> np.uint64:
    """The bits of a word that stand for places from *low* to *high*."""
    first, last = max(low - word * 64, 0), min(high - word * 64, 64)
    if first >= last:
        return _0
    return (ALL >> np.uint64(64 - (last - first))) << np.uint64(first)
