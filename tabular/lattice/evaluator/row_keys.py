"""The distinct rows of a table as packed keys, and how a key is taken from one node to a coarser one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.hierarchies.hierarchy import Hierarchy
from tabular.table import equivalence_classes

#: Bits of a word of a key; the sign stays free.
WORD = 62

#: Logarithms are kept as whole multiples of 1 over this, so that sums of them do not depend on their order.
UNIT = 1 << 28

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
Counts = NDArray[np.int32]


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
    #: Both added up over all rows, by attribute and level.
    all_leaves: Numbers
    all_bits: Numbers
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


def coding_of(columns: Sequence[RankedColumn], inner: int = -1, second: int = -1) -> Coding:
    """The coding of the attributes, of which the *inner* and the *second* one stand beside the keys."""
    attributes = len(columns)
    shape = (attributes, max(len(each.labels) for each in columns))
    word, shift, mask = (np.zeros(attributes, dtype=np.int64) for _ in range(3))
    offsets, starts = np.zeros((*shape, shape[1]), dtype=np.int64), np.zeros(shape, dtype=np.int64)
    all_leaves, all_bits = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    groups = np.ones(shape, dtype=np.int64)
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
            occurring = np.bincount(labels, weights=each.counts).astype(np.int64)
            leaves.append(np.bincount(labels) - 1)
            bits.append(np.rint(np.log2(each.counts.sum() / np.maximum(occurring, 1)) * UNIT).astype(np.int64))
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
