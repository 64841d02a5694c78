"""Rolling classes up: those of a node are unions of those of any finer node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled, inlined
from tabular.lattice.layout import Classes, Coding, Pairs

#: Odd and without pattern, so that products with it mix the bits of a key.
_MIX = -7046029254386353131


@inlined
def _slots(most: int) -> int:
    """The size of a hash table for up to *most* entries: a power of two, at least half of it empty."""
    size = 8
    while size < 2 * most:
        size *= 2
    return size


@compiled
def bound_of(coding: Coding, node: NDArray[np.int16], most: int) -> int:
    """How many classes a node can have, and no more than *most*."""
    bound = 1
    for place in range(len(node)):
        bound *= coding.groups[place, node[place]]
        if bound >= most:
            return most
    return bound


@compiled
def roll_up(
    source: Classes,
    fine: NDArray[np.int16],
    coarse: NDArray[np.int16],
    coding: Coding,
    table: NDArray[np.int32],
    target: Classes,
    owners: NDArray[np.int32],
) -> int:
    """Put the classes of node *coarse* into *target*, given those of node *fine*; how many there are is given back.

    `owners` says of each class of the source which one it is in; *table* is room for hashing.
    """
    words = source.keys.shape[1]
    changed = np.empty(len(fine), dtype=np.int64)
    changes = 0
    for place in range(len(fine)):
        if coarse[place] != fine[place]:
            changed[changes] = place
            changes += 1
    number = len(source.sizes)
    slots = _slots(bound_of(coding, coarse, number))
    table[:slots] = -1
    with_values = len(source.present) > 0
    count = 0
    for row in range(number):
        # The key is made where it will stay, if no class has it yet.
        for word in range(words):
            target.keys[count, word] = source.keys[row, word]
        for change in range(changes):
            place = changed[change]
            word, shift, mask = coding.word[place], coding.shift[place], coding.mask[place]
            before = target.keys[count, word]
            group = (before >> shift) & mask
            after = np.int64(coding.maps[coding.offsets[place, fine[place], coarse[place]] + group])
            target.keys[count, word] = (before & ~(mask << shift)) | (after << shift)
        mixed = np.int64(0)
        for word in range(words):
            mixed = (mixed ^ target.keys[count, word]) * _MIX
            mixed ^= (mixed >> 31) & 0x1FFFFFFFF
        slot = mixed & (slots - 1)
        while True:
            found = table[slot]
            if found < 0:
                table[slot] = found = count
                target.sizes[found] = source.sizes[row]
                if with_values:
                    target.present[found] = source.present[row]
                count += 1
                break
            same = True
            for word in range(words):
                if target.keys[found, word] != target.keys[count, word]:
                    same = False
                    break
            if same:
                target.sizes[found] += source.sizes[row]
                if with_values:
                    target.present[found] |= source.present[row]
                break
            slot = (slot + 1) & (slots - 1)
        owners[row] = found
    return count


@compiled
def roll_pairs_up(source: Pairs, owners: NDArray[np.int32], size: int, table: NDArray[np.int32], target: Pairs) -> int:
    """Put the pairs of the coarser classes into *target*; *size* is how many values there are."""
    number = len(source.rows)
    slots = _slots(number)
    table[:slots] = -1
    count = 0
    for row in range(number):
        owner, value = owners[source.classes[row]], source.values[row]
        mixed = (np.int64(owner) * size + value) * _MIX
        slot = ((mixed >> 31) ^ mixed) & (slots - 1)
        while True:
            found = table[slot]
            if found < 0:
                table[slot] = count
                target.classes[count], target.values[count] = owner, value
                target.rows[count] = source.rows[row]
                count += 1
                break
            if target.classes[found] == owner and target.values[found] == value:
                target.rows[found] += source.rows[row]
                break
            slot = (slot + 1) & (slots - 1)
    return count
