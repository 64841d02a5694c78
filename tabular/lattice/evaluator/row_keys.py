"""The distinct rows of a table as packed keys, and how a key is taken from one node to a coarser one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.classes import equivalence_classes
from tabular.hierarchy import Hierarchy
from tabular.table import Table

#: Bits of a word of a key; the sign stays free.
WORD = 62

#: Logarithms are kept as whole multiples of 1 over this, so that sums of them do not depend on their order.
UNIT = 1 << 28

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


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
    word: NDArray[np.int64]
    shift: NDArray[np.int64]
    mask: NDArray[np.int64]
    maps: NDArray[np.int32]
    offsets: NDArray[np.int64]
    #: By `starts[attribute, level] + group`: the leaves under a label less one, and log2 of all rows over those it has.
    starts: NDArray[np.int64]
    leaves: NDArray[np.int64]
    bits: NDArray[np.int64]
    #: Both added up over all rows, by attribute and level.
    all_leaves: NDArray[np.int64]
    all_bits: NDArray[np.int64]
    #: The labels that occur, by attribute and level.
    groups: NDArray[np.int64]


class Pairs(NamedTuple):
    """The values of one more attribute in the classes: so many rows of a class have a value."""

    classes: NDArray[np.int32]
    values: NDArray[np.int32]
    rows: NDArray[np.int32]


class KeyedClasses(NamedTuple):
    """The classes of a node, by group: those that differ in the inner attributes only, in the order of their labels.

    The code of a class is the number of its group, followed by the label of the second and that of the inner attribute.
    """

    keys: NDArray[np.int64]
    codes: NDArray[np.int64]
    sizes: NDArray[np.int32]
    #: One bit for each sensitive value that occurs; empty where these are not asked for in this way.
    present: NDArray[np.int64]
    sensitive: Pairs
    labels: Pairs


@dataclass(frozen=True, eq=False)
class Ranked:
    """The levels of one attribute, the labels of each numbered so that those that join stand together."""

    ranks: NDArray[np.int64]
    groups: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> Ranked:
        """The ranks of the values of a *hierarchy*, and by level the number of the label of each rank."""
        order = np.lexsort([level.groups for level in hierarchy.levels])
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        groups = [
            np.cumsum(np.diff(level.groups[order], prepend=level.groups[order[:1]]) != 0) for level in hierarchy.levels
        ]
        return cls(ranks, tuple(groups))

    @property
    def width(self) -> int:
        """The bits of a label."""
        return max(1, (len(self.ranks) - 1).bit_length())


@dataclass(frozen=True, eq=False)
class RankedColumns:
    """The quasi-identifiers of a table: their levels, the rank of each row's value, and the rows of each rank."""

    levels: tuple[Ranked, ...]
    columns: tuple[NDArray[np.int64], ...]
    counts: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, table: Table, hierarchies: Mapping[str, Hierarchy]) -> RankedColumns:
        """The columns of *table* that have *hierarchies*, which are over their domains."""
        levels = tuple(Ranked.of(each) for each in hierarchies.values())
        columns = tuple(each.ranks[table.columns[name]] for name, each in zip(hierarchies, levels, strict=True))
        counts = (np.bincount(column, minlength=len(each.ranks)) for column, each in zip(columns, levels, strict=True))
        return cls(levels, columns, tuple(counts))

    def labels(self, node: Sequence[int]) -> list[NDArray[np.int64]]:
        """The labels of all rows at a *node*, by attribute."""
        return [each.groups[level][column] for each, level, column in zip(self.levels, node, self.columns, strict=True)]

    def bits(self) -> NDArray[np.float64]:
        """By attribute and level the bits that tell the values of all rows from the others of their labels."""
        found = np.zeros((len(self.levels), max(len(each.groups) for each in self.levels)))
        for place, (each, rows) in enumerate(zip(self.levels, self.counts, strict=True)):
            for number, labels in enumerate(each.groups):
                label_rows = np.bincount(labels, weights=rows)[labels]
                ratio = np.divide(label_rows, rows, where=rows > 0, out=np.ones(len(rows)))
                found[place, number] = float(np.dot(np.log2(ratio), rows))
        return found


def coding_of(ranked: RankedColumns, inner: int = -1, second: int = -1) -> tuple[Coding, int]:
    """The coding of the attributes, and how many words a key has."""
    attributes = len(ranked.levels)
    shape = (attributes, max(len(each.groups) for each in ranked.levels))
    word, shift, mask = (np.zeros(attributes, dtype=np.int64) for _ in range(3))
    offsets, starts = np.zeros((*shape, shape[1]), dtype=np.int64), np.zeros(shape, dtype=np.int64)
    all_leaves, all_bits = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    groups = np.ones(shape, dtype=np.int64)
    maps, leaves, bits = [], [], []
    mapped = labelled = words = used = 0
    for place, (each, rows) in enumerate(zip(ranked.levels, ranked.counts, strict=True)):
        if place not in (inner, second):
            width = each.width
            if used + width > WORD:
                words, used = words + 1, 0
            word[place], shift[place], mask[place] = words, used, (1 << width) - 1
            used += width
        for low, labels in enumerate(each.groups):
            firsts = np.flatnonzero(np.diff(labels, prepend=-1))
            for high, joint in enumerate(each.groups):
                offsets[place, low, high] = mapped
                if high >= low:
                    maps.append(joint[firsts])
                    mapped += len(firsts)
            starts[place, low] = labelled
            labelled += len(firsts)
            occurring = np.bincount(labels, weights=rows).astype(np.int64)
            leaves.append(np.bincount(labels) - 1)
            bits.append(np.rint(np.log2(rows.sum() / np.maximum(occurring, 1)) * UNIT).astype(np.int64))
            all_leaves[place, low] = np.dot(occurring, leaves[-1])
            all_bits[place, low] = np.dot(occurring, bits[-1])
            groups[place, low] = np.count_nonzero(occurring)
    return Coding(
        inner,
        second,
        ranked.levels[inner].width if inner >= 0 else 0,
        ranked.levels[second].width if second >= 0 else 0,
        word,
        shift,
        mask,
        np.concatenate(maps).astype(np.int32),
        offsets,
        starts,
        np.concatenate(leaves),
        np.concatenate(bits),
        all_leaves,
        all_bits,
        groups,
    ), words + 1


def packed(columns: Sequence[NDArray[np.integer]], places: Sequence[int], coding: Coding, words: int) -> Numbers:
    """The keys of rows with these labels, of the attributes at *places*."""
    keys = np.zeros((len(columns[0]), words), dtype=np.int64)
    for place in places:
        keys[:, coding.word[place]] |= columns[place].astype(np.int64) << coding.shift[place]
    return keys


def distinct_rows(
    columns: Sequence[NDArray[np.int64]],
    coding: Coding,
    words: int,
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
    keys = packed([column[firsts] for column in columns], outer, coding, words)
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


def _pairs(classes: NDArray[np.int64], codes: NDArray[np.int32] | None) -> Pairs:
    if codes is None:
        return Pairs(*(np.zeros(0, dtype=np.int32) for _ in range(3)))
    size = int(codes.max()) + 1
    pairs, rows = np.unique(classes * size + codes, return_counts=True)
    return Pairs((pairs // size).astype(np.int32), (pairs % size).astype(np.int32), rows.astype(np.int32))


def copied(classes: KeyedClasses, end: NDArray[np.int64]) -> KeyedClasses:
    """The classes up to a mark, in arrays of their own."""
    groups, many, of_values, of_labels = end.tolist()
    return KeyedClasses(
        classes.keys[:groups].copy(),
        classes.codes[:many].copy(),
        classes.sizes[:many].copy(),
        classes.present[:many].copy(),
        Pairs(*(array[:of_values].copy() for array in classes.sensitive)),
        Pairs(*(array[:of_labels].copy() for array in classes.labels)),
    )
