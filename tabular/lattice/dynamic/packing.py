"""Rows of a node as packed keys with the trails of their persons, and how they are put together at a coarser node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.hierarchy import Hierarchy
from tabular.kernels import compiled

#: Bits of a word of a key; the sign stays free.
WORD = 62

#: Logarithms are kept as whole multiples of 1 over this, so that sums of them do not depend on their order.
UNIT = 1 << 28

#: Odd and without pattern, so that products with it mix the bits of a key.
_MIX = -7046029254386353131


class Packing(NamedTuple):
    """How the labels of attributes stand in keys, and what each stands for.

    The label that an attribute has at one level becomes, at another, `maps[offsets[attribute, from, to] + label]`.
    """

    words: int
    word: NDArray[np.int64]
    shift: NDArray[np.int64]
    mask: NDArray[np.int64]
    maps: NDArray[np.int32]
    offsets: NDArray[np.int64]
    #: By `starts[attribute, level] + label`: the leaves under it less one, and log2 of all rows over those it has.
    starts: NDArray[np.int64]
    leaves: NDArray[np.int64]
    bits: NDArray[np.int64]

    @classmethod
    def of(cls, hierarchies: Sequence[Hierarchy], counts: Sequence[NDArray[np.int64]]) -> Packing:
        """The packing for the *hierarchies*; *counts* are the rows of each value."""
        attributes, levels = len(hierarchies), max(each.height for each in hierarchies) + 1
        word, shift, mask = (np.zeros(attributes, dtype=np.int64) for _ in range(3))
        offsets = np.zeros((attributes, levels, levels), dtype=np.int64)
        starts = np.zeros((attributes, levels), dtype=np.int64)
        maps: list[NDArray[np.int32]] = []
        leaves, bits = [], []
        at, used, mapped, labelled = 0, 0, 0, 0
        for place, (hierarchy, rows) in enumerate(zip(hierarchies, counts, strict=True)):
            width = max(1, (len(hierarchy.domain) - 1).bit_length())
            if used + width > WORD:
                at, used = at + 1, 0
            word[place], shift[place], mask[place] = at, used, (1 << width) - 1
            used += width
            for low, level in enumerate(hierarchy.levels):
                for high in range(low, len(hierarchy.levels)):
                    offsets[place, low, high] = mapped
                    # Any value under a label leads to the label above.
                    joint = np.empty(len(level.labels), dtype=np.int32)
                    joint[level.groups] = hierarchy.levels[high].groups
                    maps.append(joint)
                    mapped += len(joint)
                starts[place, low] = labelled
                labelled += len(level.labels)
                occurring = np.bincount(level.groups, weights=rows, minlength=len(level.labels))
                leaves.append(level.leaves - 1)
                bits.append(np.rint(np.log2(rows.sum() / np.maximum(occurring, 1)) * UNIT).astype(np.int64))
        tables = (np.concatenate(maps), offsets, starts, np.concatenate(leaves), np.concatenate(bits))
        return cls(at + 1, word, shift, mask, *tables)

    def keys(self, columns: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
        """The keys of rows with these labels."""
        found = np.zeros((len(columns[0]), self.words), dtype=np.int64)
        for place, column in enumerate(columns):
            found[:, self.word[place]] |= column.astype(np.int64) << self.shift[place]
        return found


class Bucketed(NamedTuple):
    """Buckets: rows of one class and one trail. `present` has a bit for each sensitive value in a bucket, if any."""

    keys: NDArray[np.int64]
    trails: NDArray[np.int64]
    sizes: NDArray[np.int64]
    present: NDArray[np.int64]


@compiled
def put_together(
    source: Bucketed, fine: NDArray[np.int16], coarse: NDArray[np.int16], packing: Packing, by_trail: bool
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
                word, shift, mask = packing.word[place], packing.shift[place], packing.mask[place]
                label = (keys[count, word] >> shift) & mask
                joint = np.int64(packing.maps[packing.offsets[place, fine[place], coarse[place]] + label])
                keys[count, word] = (keys[count, word] & ~(mask << shift)) | (joint << shift)
        trail = source.trails[row] if by_trail else 0
        mixed = trail * _MIX
        for word in range(words):
            mixed ^= (mixed >> 31) & 0x1FFFFFFFF
            mixed = (mixed ^ keys[count, word]) * _MIX
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
    buckets: Bucketed, goes: NDArray[np.int64], node: NDArray[np.int16], packing: Packing, leaves: NDArray[np.int64]
) -> int:
    """Add to *leaves* what stands under the labels of rows that go, by attribute; their bits are given back."""
    bits = 0
    for row in range(len(goes)):
        if goes[row]:
            for place in range(len(node)):
                label = (buckets.keys[row, packing.word[place]] >> packing.shift[place]) & packing.mask[place]
                entry = packing.starts[place, node[place]] + label
                leaves[place] += goes[row] * packing.leaves[entry]
                bits += int(goes[row] * packing.bits[entry])
    return bits
