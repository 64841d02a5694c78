"""Rows of a node as packed keys with the trails of their persons, and how they are put together at a coarser node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled
from tabular.lattice.evaluator.rollup import MIX
from tabular.lattice.evaluator.row_keys import Coding, Ranked, coding_of


class Packing(NamedTuple):
    """How the labels of attributes stand in keys of so many words, and what each stands for."""

    coding: Coding
    words: int

    @classmethod
    def of(cls, ranked: Sequence[Ranked], counts: Sequence[NDArray[np.int64]]) -> Packing:
        """The packing for the levels; *counts* are the rows of each value by rank."""
        # All attributes stand in the key, none beside it.
        return cls(*coding_of(ranked, counts, -1, -1))

    def keys(self, columns: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
        """The keys of rows with these labels."""
        found = np.zeros((len(columns[0]), self.words), dtype=np.int64)
        for place, column in enumerate(columns):
            found[:, self.coding.word[place]] |= column.astype(np.int64) << self.coding.shift[place]
        return found


class Bucketed(NamedTuple):
    """Buckets: rows of one class and one trail. `present` has a bit for each sensitive value in a bucket, if any."""

    keys: NDArray[np.int64]
    trails: NDArray[np.int64]
    sizes: NDArray[np.int64]
    present: NDArray[np.int64]


@compiled
def put_together(
    source: Bucketed, fine: NDArray[np.int16], coarse: NDArray[np.int16], coding: Coding, by_trail: bool
) -> Bucketed:
    """The buckets of node *coarse*, given those of node *fine*; not *by_trail*, the classes of it."""
    number, words, parts = len(source.sizes), source.keys.shape[1], source.present.shape[1]
    slots = 8
    while slots < 2 * number:
        slots *= 2
    table = np.full(slots, -1, dtype=np.int32)
    keys = np.empty((number + 1, words), dtype=np.int64)
    trails, sizes = np.empty(number, dtype=np.int64), np.empty(number, dtype=np.int64)
    present = np.empty((number, parts), dtype=np.int64)
    count = 0
    for row in range(number):
        if not source.sizes[row]:
            continue
        # The key is made where it will stay, if no bucket has it yet.
        keys[count] = source.keys[row]
        for place in range(len(fine)):
            if fine[place] != coarse[place]:
                word, shift, mask = coding.word[place], coding.shift[place], coding.mask[place]
                label = (keys[count, word] >> shift) & mask
                joint = np.int64(coding.maps[coding.offsets[place, fine[place], coarse[place]] + label])
                keys[count, word] = (keys[count, word] & ~(mask << shift)) | (joint << shift)
        trail = source.trails[row] if by_trail else 0
        mixed = trail * MIX
        for word in range(words):
            mixed ^= (mixed >> 31) & 0x1FFFFFFFF
            mixed = (mixed ^ keys[count, word]) * MIX
        mixed ^= (mixed >> 31) & 0x1FFFFFFFF
        slot = mixed & (slots - 1)
        while True:
            found = table[slot]
            if found < 0:
                table[slot] = count
                trails[count], sizes[count] = trail, source.sizes[row]
                present[count] = source.present[row]
                count += 1
                break
            same = trails[found] == trail
            for word in range(words):
                same = same and keys[found, word] == keys[count, word]
            if same:
                sizes[found] += source.sizes[row]
                for part in range(parts):
                    present[found, part] |= source.present[row, part]
                break
            slot = (slot + 1) & (slots - 1)
    return Bucketed(keys[:count].copy(), trails[:count].copy(), sizes[:count].copy(), present[:count].copy())


@compiled
def lost(
    buckets: Bucketed, goes: NDArray[np.int64], node: NDArray[np.int16], coding: Coding, leaves: NDArray[np.int64]
) -> int:
    """Add to *leaves* what stands under the labels of rows that go, by attribute; their bits are given back."""
    bits = 0
    for row in range(len(goes)):
        if goes[row]:
            for place in range(len(node)):
                label = (buckets.keys[row, coding.word[place]] >> coding.shift[place]) & coding.mask[place]
                entry = coding.starts[place, node[place]] + label
                leaves[place] += goes[row] * coding.leaves[entry]
                bits += int(goes[row] * coding.bits[entry])
    return bits
