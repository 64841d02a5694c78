"""The distinct rows of a table as packed keys, and how classes are rolled up from one node to a coarser one.

The rows of a table, at most `MOST_ROWS` = 10^9, are also the most that a class, a group, a pair or a label can have:
32 bits hold them (up to 2.1 * 10^9). A code has the number of a group, below 2^30, before up to 31 bits of a label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.hierarchies.hierarchy import Hierarchy
from tabular.kernels import inlined, lean
from tabular.lattice.space import Floats, Levels, Numbers
from tabular.table import equivalence_classes

#: Bits of a word of a key; the sign stays free.
WORD = 62

#: Logarithms are kept as whole multiples of 1 over this, so that sums of them do not depend on their order.
UNIT = 1 << 28

#: The bits of all labels of a table come to no more than this many units.
_MOST_UNITS = 1 << 62

Counts = NDArray[np.int32]

#: Odd and without pattern, so that products with it mix the bits of a key.
MIX = -7046029254386353131

#: Bits of a word in which labels are marked.
_MARKS = 32


class Coding(NamedTuple):
    """How attributes stand in keys, and what each label stands for, in arrays that kernels take.

    Labels are numbered so that those under one label of a higher level follow one another. The label that an attribute
    has at one level becomes, at another, `maps[offsets[attribute, from, to] + label]`. Two attributes, the `inner` and
    the `second` one (-1 if there is none), stand in no key: they are kept beside it, in so many bits.
    """

    inner: int
    second: int
    width: int
    second_width: int
    #: How many words a key has.
    words: int
    word: Numbers
    shift: Numbers
    mask: Numbers
    maps: NDArray[np.int32]
    offsets: Numbers
    #: By `starts[attribute, level] + group`: the leaves under a label less one, and log2 of all rows over those it has.
    starts: Numbers
    leaves: Numbers
    bits: Numbers
    #: Both added up over all rows, by attribute and level. The bits are whole multiples of 1 over the unit.
    all_leaves: Numbers
    all_bits: Numbers
    unit: int
    #: The labels that occur, by attribute and level.
    groups: Numbers


class KeyedClasses(NamedTuple):
    """The classes of a node, by group: those that differ in the inner attributes only, in the order of their labels.

    The code of a class is the number of its group, followed by the label of the second and that of the inner attribute.
    """

    keys: Numbers
    codes: Numbers
    sizes: NDArray[np.int32]
    #: One bit for each sensitive value that occurs; empty where these are not asked for in this way.
    present: Numbers
    #: The values of one more attribute in the classes, by row: a class, a value, and how many of its rows have it.
    sensitive: Counts
    labels: Counts


@dataclass(frozen=True, eq=False)
class RankedColumn:
    """A quasi-identifier, its values ranked so that those that join stand together.

    *labels* are those of all ranks, by level; *ranks* those of all rows, and so many rows have each.
    """

    labels: tuple[Numbers, ...]
    ranks: Numbers
    counts: Numbers

    @classmethod
    def of(cls, hierarchy: Hierarchy, codes: NDArray[np.int32]) -> RankedColumn:
        """The column of these *codes*, whose domain is that of its *hierarchy*."""
        order = np.lexsort([level.groups for level in hierarchy.levels])
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        labels = (
            np.cumsum(np.diff(level.groups[order], prepend=level.groups[order[:1]]) != 0) for level in hierarchy.levels
        )
        return cls(tuple(labels), ranks[codes], np.bincount(ranks[codes], minlength=len(order)))

    @property
    def width(self) -> int:
        """The bits of a label."""
        return max(1, (len(self.counts) - 1).bit_length())


def labels_at(node: Sequence[int], columns: Sequence[RankedColumn]) -> list[Numbers]:
    """The labels of all rows at a *node*, by attribute."""
    return [each.labels[level][each.ranks] for each, level in zip(columns, node, strict=True)]


def bits_of(columns: Sequence[RankedColumn]) -> Floats:
    """By attribute and level the bits that tell the values of all rows from the others of their labels."""
    found = np.zeros((len(columns), max(len(each.labels) for each in columns)))
    for place, each in enumerate(columns):
        for number, labels in enumerate(each.labels):
            label_rows = np.bincount(labels, weights=each.counts)[labels]
            ratio = np.divide(label_rows, each.counts, where=each.counts > 0, out=np.ones(len(labels)))
            found[place, number] = float(np.dot(np.log2(ratio), each.counts))
    return found


def unit_for(columns: Sequence[RankedColumn]) -> int:
    """`UNIT`, or the largest fraction of it with which the bits of all labels of all rows are below 2^62 in all.

    The bits of a row's label are at most log2 of the domain on average over the rows, and half a unit more by rounding.
    For 10^9 rows and `UNIT` that is enough for attributes with 17 bits together; with 1,000 bits 22 places are left.
    """
    rows = int(columns[0].counts.sum())
    most = rows * sum(each.width + 1 for each in columns)
    unit = UNIT
    while unit > 1 and most * unit >= _MOST_UNITS:
        unit >>= 1
    return unit


def coding_of(columns: Sequence[RankedColumn], inner: int = -1, second: int = -1) -> Coding:
    """The coding of the attributes, of which the *inner* and the *second* one stand beside the keys."""
    attributes = len(columns)
    shape = (attributes, max(len(each.labels) for each in columns))
    word, shift, mask = (np.zeros(attributes, dtype=np.int64) for _ in range(3))
    offsets, starts = np.zeros((*shape, shape[1]), dtype=np.int64), np.zeros(shape, dtype=np.int64)
    all_leaves, all_bits = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    groups = np.ones(shape, dtype=np.int64)
    unit = unit_for(columns)
    maps, leaves, bits = [], [], []
    mapped = labelled = words = used = 0
    for place, each in enumerate(columns):
        if place not in (inner, second):
            width = each.width
            if used + width > WORD:
                words, used = words + 1, 0
            word[place], shift[place], mask[place] = words, used, (1 << width) - 1
            used += width
        for low, labels in enumerate(each.labels):
            firsts = np.flatnonzero(np.diff(labels, prepend=-1))
            for high, joint in enumerate(each.labels):
                offsets[place, low, high] = mapped
                if high >= low:
                    maps.append(joint[firsts])
                    mapped += len(firsts)
            starts[place, low] = labelled
            labelled += len(firsts)
            # Added up in 53 bits, which hold more than the rows of any table.
            occurring = np.bincount(labels, weights=each.counts).astype(np.int64)
            leaves.append(np.bincount(labels) - 1)
            bits.append(np.rint(np.log2(each.counts.sum() / np.maximum(occurring, 1)) * unit).astype(np.int64))
            all_leaves[place, low] = np.dot(occurring, leaves[-1])
            all_bits[place, low] = np.dot(occurring, bits[-1])
            groups[place, low] = np.count_nonzero(occurring)
    return Coding(
        inner=inner,
        second=second,
        width=columns[inner].width if inner >= 0 else 0,
        second_width=columns[second].width if second >= 0 else 0,
        words=words + 1,
        word=word,
        shift=shift,
        mask=mask,
        maps=np.concatenate(maps).astype(np.int32),
        offsets=offsets,
        starts=starts,
        leaves=np.concatenate(leaves),
        bits=np.concatenate(bits),
        all_leaves=all_leaves,
        all_bits=all_bits,
        unit=unit,
        groups=groups,
    )


def packed(columns: Sequence[NDArray[np.integer]], places: Sequence[int], coding: Coding) -> Numbers:
    """The keys of rows with these labels, of the attributes at *places*."""
    keys = np.zeros((len(columns[0]), coding.words), dtype=np.int64)
    for place in places:
        keys[:, coding.word[place]] |= columns[place].astype(np.int64) << coding.shift[place]
    return keys


def distinct_rows(
    columns: Sequence[Numbers],
    coding: Coding,
    *,
    sensitive: NDArray[np.int32] | None,
    values: int,
    labels: NDArray[np.int32] | None,
) -> KeyedClasses:
    """The classes of the node that keeps every value, given the *columns* as ranks.

    With up to as many *values* as a word has bits the sensitive ones are noted as bits, else, and where their counts
    are wanted, as pairs: *values* is 0 then.
    """
    inner, second = coding.inner, coding.second
    outer = [place for place in range(len(columns)) if place not in (inner, second)]
    inside = columns[inner] if second < 0 else columns[second] << coding.width | columns[inner]
    found = equivalence_classes([*(columns[place] for place in outer), inside])
    firsts = found.firsts
    keys = packed([column[firsts] for column in columns], outer, coding)
    begins = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
    present = np.zeros(len(firsts) if sensitive is not None and values else 0, dtype=np.int64)
    if sensitive is not None and values:
        np.bitwise_or.at(present, found.labels, np.int64(1) << sensitive.astype(np.int64))
    return KeyedClasses(
        keys[begins],
        np.cumsum(begins) - 1 << coding.width + coding.second_width | inside[firsts],
        found.sizes.astype(np.int32),
        present,
        _pairs(found.labels, None if values else sensitive),
        _pairs(found.labels, labels),
    )


def _pairs(classes: Numbers, codes: NDArray[np.int32] | None) -> NDArray[np.int32]:
    if codes is None:
        return np.zeros((0, 3), dtype=np.int32)
    size = int(codes.max()) + 1
    pairs, rows = np.unique(classes * size + codes, return_counts=True)
    return np.stack([pairs // size, pairs % size, rows], axis=1).astype(np.int32)


class Scratch(NamedTuple):
    """Room for one roll-up."""

    table: NDArray[np.int32]
    #: By class of the source the class it goes into; by group the group.
    owners: NDArray[np.int32]
    parents: NDArray[np.int32]
    #: Where the classes of each group of the source end.
    ends: NDArray[np.int32]
    #: The groups of the source by their new group, and where those of a new group begin.
    members: NDArray[np.int32]
    begins: NDArray[np.int32]
    #: By label of both inner attributes: rows, sensitive values, and the class; and marks of those that have rows.
    #: Rows, values and marks are all 0 between two groups.
    rows: NDArray[np.int32]
    values: Numbers
    places: NDArray[np.int32]
    marks: Numbers


@inlined
def ones(bits: int) -> int:
    """How many of 62 bits are set: added up in pairs, fours and eights at once."""
    bits -= (bits >> 1) & 0x5555555555555555
    bits = (bits & 0x3333333333333333) + ((bits >> 2) & 0x3333333333333333)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((bits * 0x0101010101010101) >> 56) & 0x7F


@inlined
def slots_for(most: int) -> int:
    """The size of a hash table for up to *most* entries: a power of two, at least half of it empty."""
    size = 8
    while size < 2 * most:
        size *= 2
    return size


@lean
def roll_up(
    source: KeyedClasses,
    fine: Levels,
    coarse: Levels,
    coding: Coding,
    scratch: Scratch,
    target: KeyedClasses,
    with_owners: bool,
) -> tuple[int, int]:
    """Put the classes of node *coarse* into *target*, given those of node *fine*: how many groups and classes.

    The owners say then of each class of the source which one it is in.
    """
    # Here and below: arrays are taken out of their tuples once, and set in loops. Otherwise it takes twice as long to
    # compile, and runs no faster.
    inner, second, maps, offsets = coding.inner, coding.second, coding.maps, coding.offsets
    same = True
    for place in range(len(fine)):
        if place != inner and place != second and fine[place] != coarse[place]:
            same = False
    joint = maps[offsets[inner, fine[inner], coarse[inner]] :]
    keys = source.keys
    groups, words = keys.shape
    if same:
        of_target, members, begins = target.keys, scratch.members, scratch.begins
        for group in range(groups):
            for word in range(words):
                of_target[group, word] = keys[group, word]
        if second < 0 or fine[second] == coarse[second]:
            return groups, _join_labels(source, joint, coding.width, scratch.owners, target, with_owners)
        for group in range(groups):
            members[group] = begins[group] = group
        begins[groups] = groups
    else:
        groups = _join_groups(keys, fine, coarse, coding, scratch, target.keys)
        _sort_members(len(keys), groups, scratch.parents, scratch.members, scratch.begins)
    other = maps[offsets[second, fine[second], coarse[second]] :] if second >= 0 else joint
    widths = (coding.width, coding.second_width)
    return groups, _join_classes(source, groups, joint, other, widths, scratch, target, with_owners)


@lean
def _join_labels(
    source: KeyedClasses,
    joint: NDArray[np.int32],
    width: int,
    owners: NDArray[np.int32],
    target: KeyedClasses,
    with_owners: bool,
) -> int:
    """Join neighbours whose inner labels become one; the groups stay."""
    codes, sizes, present = source.codes, source.sizes, source.present
    to_codes, to_sizes, to_present = target.codes, target.sizes, target.present
    # With as few branches as can be: which neighbours join is hard to foresee.
    with_values, mask = len(present) > 0, np.int64((1 << width) - 1)
    last, rows, values = np.int64(-1), np.int32(0), np.int64(0)
    count = -1
    for row in range(len(codes)):
        code = codes[row]
        code = (code & ~mask) | joint[code & mask]
        stays = np.int64(code == last)
        count += int(code != last)
        rows = rows * np.int32(stays) + sizes[row]
        last = code
        to_codes[count], to_sizes[count] = code, rows
        if with_values:
            values = (values & -stays) | present[row]
            to_present[count] = values
        if with_owners:
            owners[row] = count
    return count + 1


@inlined
def _join_groups(
    source: Numbers, fine: Levels, coarse: Levels, coding: Coding, scratch: Scratch, target: Numbers
) -> int:
    """Put the keys of the new groups into *target* and find the group of each group; how many there are."""
    number, words = source.shape
    inner, second, maps, offsets = coding.inner, coding.second, coding.maps, coding.offsets
    word_of, shift_of, mask_of = coding.word, coding.shift, coding.mask
    table, parents = scratch.table, scratch.parents
    slots = slots_for(number)
    for place in range(slots):
        table[place] = -1
    count = 0
    for row in range(number):
        # The key is made where it will stay, if no group has it yet.
        for word in range(words):
            target[count, word] = source[row, word]
        for place in range(len(fine)):
            if coarse[place] != fine[place] and place != inner and place != second:
                word, shift, mask = word_of[place], shift_of[place], mask_of[place]
                before = target[count, word]
                label = (before >> shift) & mask
                after = np.int64(maps[offsets[place, fine[place], coarse[place]] + label])
                target[count, word] = (before & ~(mask << shift)) | (after << shift)
        mixed = np.int64(0)
        for word in range(words):
            mixed = (mixed ^ target[count, word]) * MIX
            mixed ^= (mixed >> 31) & 0x1FFFFFFFF
        slot = mixed & (slots - 1)
        while True:
            found = table[slot]
            if found < 0:
                table[slot] = found = count
                count += 1
                break
            agree = True
            for word in range(words):
                if target[found, word] != target[count, word]:
                    agree = False
                    break
            if agree:
                break
            slot = (slot + 1) & (slots - 1)
        parents[row] = found
    return count


@inlined
def _sort_members(
    number: int, count: int, parents: NDArray[np.int32], members: NDArray[np.int32], begins: NDArray[np.int32]
) -> None:
    """Put the groups of the source in the order of their new groups."""
    for group in range(count + 1):
        begins[group] = 0
    for row in range(number):
        begins[parents[row] + 1] += 1
    for group in range(count):
        begins[group + 1] += begins[group]
    for row in range(number):
        parent = parents[row]
        members[begins[parent]] = row
        begins[parent] += 1
    # Each is now where the next one begins.
    for group in range(count, 0, -1):
        begins[group] = begins[group - 1]
    begins[0] = 0


@inlined
def _join_classes(
    source: KeyedClasses,
    groups: int,
    joint: NDArray[np.int32],
    other: NDArray[np.int32],
    widths: tuple[int, int],
    scratch: Scratch,
    target: KeyedClasses,
    with_owners: bool,
) -> int:
    """Add up the classes of the groups that became one, label by label of the inner attributes."""
    codes, sizes, present = source.codes, source.sizes, source.present
    to_codes, to_sizes, to_present = target.codes, target.sizes, target.present
    owners, ends, members, begins = scratch.owners, scratch.ends, scratch.members, scratch.begins
    rows, values, places, mark = scratch.rows, scratch.values, scratch.places, scratch.marks
    with_values = len(present) > 0
    width, both = widths[0], widths[0] + widths[1]
    low, high = np.int64((1 << width) - 1), np.int64((1 << widths[1]) - 1)
    for row in range(len(codes)):
        ends[codes[row] >> both] = row + 1
    count = 0
    for group in range(groups):
        first, last = np.int64(2**30), np.int64(-1)
        for place in range(begins[group], begins[group + 1]):
            member = members[place]
            for row in range(0 if member == 0 else ends[member - 1], ends[member]):
                code = codes[row]
                label = np.int64(joint[code & low])
                if high:
                    label |= np.int64(other[(code >> width) & high]) << width
                mark[label // _MARKS] |= np.int64(1) << (label % _MARKS)
                first, last = min(first, label), max(last, label)
                rows[label] += sizes[row]
                if with_values:
                    values[label] |= present[row]
                if with_owners:
                    # For now the label; when all are known, its class.
                    owners[row] = label
        for word in range(first // _MARKS, last // _MARKS + 1):
            marks = mark[word]
            mark[word] = 0
            while marks:
                lowest = marks & -marks
                marks ^= lowest
                label = np.int64(word * _MARKS + ones(lowest - 1))
                to_codes[count], to_sizes[count] = (np.int64(group) << both) | label, rows[label]
                rows[label] = 0
                places[label] = count
                if with_values:
                    to_present[count] = values[label]
                    values[label] = 0
                count += 1
        if with_owners:
            for place in range(begins[group], begins[group + 1]):
                member = members[place]
                for row in range(0 if member == 0 else ends[member - 1], ends[member]):
                    owners[row] = places[owners[row]]
    return count


@lean
def roll_pairs_up(source: Counts, owners: Counts, size: int, table: Counts, target: Counts) -> int:
    """Put the pairs of the coarser classes into *target*; *size* is how many values there are."""
    number = len(source)
    slots = slots_for(number)
    for place in range(slots):
        table[place] = -1
    count = 0
    for row in range(number):
        owner, value = owners[source[row, 0]], source[row, 1]
        mixed = (np.int64(owner) * size + value) * MIX
        slot = ((mixed >> 31) ^ mixed) & (slots - 1)
        while True:
            found = table[slot]
            if found < 0:
                table[slot] = count
                target[count, 0], target[count, 1], target[count, 2] = owner, value, source[row, 2]
                count += 1
                break
            if target[found, 0] == owner and target[found, 1] == value:
                target[found, 2] += source[row, 2]
                break
            slot = (slot + 1) & (slots - 1)
    return count
