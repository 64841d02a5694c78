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
_WORD = 62

#: Logarithms are kept as whole multiples of 1 over this, so that sums of them do not depend on their order.
UNIT = 1 << 28


class Coding(NamedTuple):
    """How attributes stand in keys, and what each label stands for, in arrays that kernels take.

    The group that an attribute has at one level becomes, at another, `maps[offsets[attribute, from, to] + group]`.
    """

    word: NDArray[np.int64]
    shift: NDArray[np.int64]
    mask: NDArray[np.int64]
    maps: NDArray[np.int32]
    offsets: NDArray[np.int64]
    #: By `starts[attribute, level] + group`: the leaves under a label less one, and log2 of all rows over those it has.
    starts: NDArray[np.int64]
    leaves: NDArray[np.int64]
    bits: NDArray[np.int64]
    #: The labels that occur, by attribute and level.
    groups: NDArray[np.int64]


class Pairs(NamedTuple):
    """The values of one more attribute in the classes: so many rows of a class have a value."""

    classes: NDArray[np.int32]
    values: NDArray[np.int32]
    rows: NDArray[np.int32]


class Classes(NamedTuple):
    """The classes of a node: their keys, their rows, and the values in them."""

    keys: NDArray[np.int64]
    sizes: NDArray[np.int32]
    #: One bit for each sensitive value that occurs; empty where these are not asked for in this way.
    present: NDArray[np.int64]
    sensitive: Pairs
    labels: Pairs


@dataclass(frozen=True, eq=False)
class Levels:
    """What the levels cost when nothing is suppressed: whole numbers, by attribute and level."""

    covered: NDArray[np.int64]
    others: NDArray[np.int64]
    bits: NDArray[np.float64]


def coding_of(hierarchies: Sequence[Hierarchy], counts: Sequence[NDArray[np.int64]]) -> tuple[Coding, int]:
    """The coding of the *hierarchies*, and how many words a key has; *counts* are the rows of each value."""
    top = max(each.height for each in hierarchies)
    shape = (len(hierarchies), top + 1)
    word, shift, mask = (np.zeros(len(hierarchies), dtype=np.int64) for _ in range(3))
    offsets, starts = np.zeros((*shape, top + 1), dtype=np.int64), np.zeros(shape, dtype=np.int64)
    groups = np.ones(shape, dtype=np.int64)
    maps, leaves, bits = [], [], []
    mapped = labelled = words = used = 0
    for place, (hierarchy, rows) in enumerate(zip(hierarchies, counts, strict=True)):
        width = max(1, (len(hierarchy.domain) - 1).bit_length())
        if used + width > _WORD:
            words, used = words + 1, 0
        word[place], shift[place], mask[place] = words, used, (1 << width) - 1
        used += width
        for low, level in enumerate(hierarchy.levels):
            firsts = np.array([members[0] for members in level.sets], dtype=np.int64)
            for high in range(low + 1, hierarchy.height + 1):
                offsets[place, low, high] = mapped
                maps.append(hierarchy.levels[high].groups[firsts])
                mapped += len(firsts)
            starts[place, low] = labelled
            labelled += len(firsts)
            leaves.append(level.leaves - 1)
            occurring = np.bincount(level.groups, weights=rows, minlength=len(firsts))
            bits.append(np.rint(np.log2(rows.sum() / np.maximum(occurring, 1)) * UNIT))
            groups[place, low] = np.count_nonzero(occurring)
    return Coding(
        word,
        shift,
        mask,
        np.concatenate([*maps, np.zeros(1, dtype=np.int32)]),
        offsets,
        starts,
        np.concatenate(leaves).astype(np.int64),
        np.concatenate(bits).astype(np.int64),
        groups,
    ), words + 1


def costs_of(hierarchies: Sequence[Hierarchy], counts: Sequence[NDArray[np.int64]]) -> Levels:
    """What each level of each attribute costs over all rows."""
    top = max(each.height for each in hierarchies)
    covered = np.zeros((len(hierarchies), top + 1), dtype=np.int64)
    bits = np.zeros((len(hierarchies), top + 1))
    others = np.array([max(len(each.domain) - 1, 1) for each in hierarchies], dtype=np.int64)
    for place, (hierarchy, rows) in enumerate(zip(hierarchies, counts, strict=True)):
        occurs = rows > 0
        for number, level in enumerate(hierarchy.levels):
            covered[place, number] = int(np.dot(level.leaves[level.groups] - 1, rows))
            label_rows = np.bincount(level.groups, weights=rows)[level.groups]
            ratio = np.divide(label_rows, rows, where=occurs, out=np.ones(len(rows)))
            bits[place, number] = float(np.dot(np.log2(ratio), rows))
    return Levels(covered, others, bits)


def distinct_rows(
    table: Table,
    hierarchies: Mapping[str, Hierarchy],
    coding: Coding,
    words: int,
    *,
    sensitive: NDArray[np.int32] | None,
    values: int,
    labels: NDArray[np.int32] | None,
) -> Classes:
    """The classes of the node that keeps every value.

    With up to as many *values* as a word has bits the sensitive ones are noted as bits, else, and where their counts
    are wanted, as pairs: *values* is 0 then.
    """
    columns = [table.columns[name] for name in hierarchies]
    found = equivalence_classes(columns)
    firsts = np.zeros(len(found.sizes), dtype=np.int64)
    firsts[found.labels[::-1]] = np.arange(len(table))[::-1]
    keys = np.zeros((len(firsts), words), dtype=np.int64)
    for place, column in enumerate(columns):
        keys[:, coding.word[place]] |= column[firsts].astype(np.int64) << coding.shift[place]
    present = np.zeros(len(firsts) if sensitive is not None and values else 0, dtype=np.int64)
    if sensitive is not None and values:
        np.bitwise_or.at(present, found.labels, np.int64(1) << sensitive.astype(np.int64))
    return Classes(
        keys,
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
