"""Rolling classes up: those of a node are unions of those of any finer node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled, inlined
from tabular.lattice.layout import Classes, Coding, Pairs

#: Odd and without pattern, so that products with it mix the bits of a key.
_MIX = -7046029254386353131

#: Up to so many labels of a group are put in order one by one; of more, all labels there could be are gone through.
_FEW = 24


class Bench(NamedTuple):
    """Room for one roll-up."""

    table: NDArray[np.int32]
    #: By class of the source the class it goes into; by group the group.
    owners: NDArray[np.int32]
    parents: NDArray[np.int32]
    #: The groups of the source by their new group, and where those of a new group begin.
    members: NDArray[np.int32]
    begins: NDArray[np.int32]
    #: By label of the inner attribute: rows, sensitive values, and the class; all 0 between two groups.
    rows: NDArray[np.int32]
    values: NDArray[np.int64]
    places: NDArray[np.int32]


@inlined
def _slots(most: int) -> int:
    """The size of a hash table for up to *most* entries: a power of two, at least half of it empty."""
    size = 8
    while size < 2 * most:
        size *= 2
    return size


@compiled
def groups_bound(coding: Coding, node: NDArray[np.int16], most: int) -> int:
    """How many groups a node can have, and no more than *most*."""
    bound = 1
    for place in range(len(node)):
        if place != coding.inner:
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
    bench: Bench,
    target: Classes,
    with_owners: bool,
) -> tuple[int, int]:
    """Put the classes of node *coarse* into *target*, given those of node *fine*: how many groups and classes.

    The owners say then of each class of the source which one it is in.
    """
    same = True
    for place in range(len(fine)):
        if place != coding.inner and fine[place] != coarse[place]:
            same = False
    joint = coding.maps[coding.offsets[coding.inner, fine[coding.inner], coarse[coding.inner]] :]
    if same:
        target.keys[: len(source.keys)] = source.keys
        return len(source.keys), _join_labels(source, joint, bench, target)
    groups = _join_groups(source, fine, coarse, coding, bench, target)
    return groups, _join_classes(source, groups, joint, bench, target, with_owners)


@compiled
def _join_labels(source: Classes, joint: NDArray[np.int32], bench: Bench, target: Classes) -> int:
    """Join neighbours whose inner labels become one; the groups stay."""
    with_values = len(source.present) > 0
    count, begin = -1, 0
    for group in range(len(source.ends)):
        last = np.int32(-1)
        rows, values = np.int32(0), np.int64(0)
        for row in range(begin, source.ends[group]):
            label = joint[source.inner[row]]
            # Without a branch: which neighbours join is hard to foresee.
            fresh = label != last
            count += fresh
            rows = rows * (not fresh) + source.sizes[row]
            target.inner[count] = last = label
            target.sizes[count] = rows
            if with_values:
                values = values * (not fresh) | source.present[row]
                target.present[count] = values
            bench.owners[row] = count
        begin = source.ends[group]
        target.ends[group] = count + 1
    return count + 1


@compiled
def _join_groups(
    source: Classes,
    fine: NDArray[np.int16],
    coarse: NDArray[np.int16],
    coding: Coding,
    bench: Bench,
    target: Classes,
) -> int:
    """Put the keys of the new groups into *target* and find the group of each group; how many there are."""
    words, number = source.keys.shape[1], len(source.ends)
    changed = np.empty(len(fine), dtype=np.int64)
    changes = 0
    for place in range(len(fine)):
        if place != coding.inner and coarse[place] != fine[place]:
            changed[changes] = place
            changes += 1
    slots = _slots(groups_bound(coding, coarse, number))
    bench.table[:slots] = -1
    count = 0
    for row in range(number):
        # The key is made where it will stay, if no group has it yet.
        for word in range(words):
            target.keys[count, word] = source.keys[row, word]
        for change in range(changes):
            place = changed[change]
            word, shift, mask = coding.word[place], coding.shift[place], coding.mask[place]
            before = target.keys[count, word]
            label = (before >> shift) & mask
            after = np.int64(coding.maps[coding.offsets[place, fine[place], coarse[place]] + label])
            target.keys[count, word] = (before & ~(mask << shift)) | (after << shift)
        mixed = np.int64(0)
        for word in range(words):
            mixed = (mixed ^ target.keys[count, word]) * _MIX
            mixed ^= (mixed >> 31) & 0x1FFFFFFFF
        slot = mixed & (slots - 1)
        while True:
            found = bench.table[slot]
            if found < 0:
                bench.table[slot] = found = count
                count += 1
                break
            agree = True
            for word in range(words):
                if target.keys[found, word] != target.keys[count, word]:
                    agree = False
                    break
            if agree:
                break
            slot = (slot + 1) & (slots - 1)
        bench.parents[row] = found
    _sort_members(number, count, bench)
    return count


@compiled
def _sort_members(number: int, count: int, bench: Bench) -> None:
    """Put the groups of the source in the order of their new groups."""
    bench.begins[: count + 1] = 0
    for row in range(number):
        bench.begins[bench.parents[row] + 1] += 1
    for group in range(count):
        bench.begins[group + 1] += bench.begins[group]
    for row in range(number):
        parent = bench.parents[row]
        bench.members[bench.begins[parent]] = row
        bench.begins[parent] += 1
    # Each is now where the next one begins.
    for group in range(count, 0, -1):
        bench.begins[group] = bench.begins[group - 1]
    bench.begins[0] = 0


@compiled
def _join_classes(
    source: Classes, groups: int, joint: NDArray[np.int32], bench: Bench, target: Classes, with_owners: bool
) -> int:
    """Add up the classes of the groups that became one, label by label of the inner attribute."""
    with_values = len(source.present) > 0
    count = 0
    labels = np.empty(_FEW, dtype=np.int32)
    for group in range(groups):
        found, low, high = 0, np.int32(2**30), np.int32(-1)
        for place in range(bench.begins[group], bench.begins[group + 1]):
            member = bench.members[place]
            for row in range(0 if member == 0 else source.ends[member - 1], source.ends[member]):
                label = joint[source.inner[row]]
                if bench.rows[label] == 0:
                    if found < _FEW:
                        # Members are in order themselves, so a label seldom moves far.
                        slot = found
                        while slot and labels[slot - 1] > label:
                            labels[slot] = labels[slot - 1]
                            slot -= 1
                        labels[slot] = label
                    found += 1
                    low, high = min(low, label), max(high, label)
                bench.rows[label] += source.sizes[row]
                if with_values:
                    bench.values[label] |= source.present[row]
        first = count
        for place in range(found if found <= _FEW else high + 1 - low):
            label = labels[place] if found <= _FEW else np.int32(low + place)
            if bench.rows[label]:
                target.inner[count], target.sizes[count] = label, bench.rows[label]
                bench.rows[label] = 0
                bench.places[label] = count
                if with_values:
                    target.present[count] = bench.values[label]
                    bench.values[label] = 0
                count += 1
        target.ends[group] = count
        if with_owners and count > first:
            for place in range(bench.begins[group], bench.begins[group + 1]):
                member = bench.members[place]
                for row in range(0 if member == 0 else source.ends[member - 1], source.ends[member]):
                    bench.owners[row] = bench.places[joint[source.inner[row]]]
    return count


@compiled
def roll_pairs_up(
    source: Pairs, owners: NDArray[np.int32], size: int, table: NDArray[np.int32], target: Pairs
) -> int:
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
