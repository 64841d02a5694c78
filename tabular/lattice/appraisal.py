"""What is said of a node by its classes, in whole numbers, so that the order of the classes does not show."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled, inlined
from tabular.lattice.layout import UNIT, Classes, Coding, Pairs


class Wanted(NamedTuple):
    """What is asked of a node, as kernels take it; 0 stands for what is not given."""

    #: Whether k and l are given; else each node has a k of its own.
    fixed: bool
    k: int
    l: int  # noqa: E741
    suppressible: int
    rows: int
    #: Whether bits of suppressed rows are wanted, and of the sensitive values more than how many there are.
    bits: bool
    values: bool
    #: The sensitive domain, whether it has an order, and the l of recursive diversity.
    size: int
    ordered: bool
    recursive: int
    label_size: int


#: The whole numbers said of a node, by their places in a row; those of the attributes follow.
K, SUPPRESSED, CLASSES, S_K, DISTINCT, S_L, MAJORITIES, LOST = range(8)

#: The other numbers.
ENTROPY, RECURSIVE, CLOSENESS = range(3)


@compiled
def own_k(sizes: NDArray[np.int32], suppressible: int, rows_by_size: NDArray[np.int64]) -> int:
    """The smallest size s such that more rows than may be suppressed lie in classes of up to s rows.

    `rows_by_size` has a place for each size up to one above *suppressible*, and is all 0 before and after.
    """
    larger = 2**62
    for each in sizes:
        size = int(each)
        if size <= suppressible:
            rows_by_size[size] += size
        elif size < larger:
            larger = size
    found, gone = larger, 0
    for size in range(1, suppressible + 1):
        gone += rows_by_size[size]
        if gone > suppressible:
            found = size
            break
    for each in sizes:
        if each <= suppressible:
            rows_by_size[each] = 0
    return found


@inlined
def _distinct(bits: int) -> int:
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@compiled
def appraise(
    classes: Classes,
    node: NDArray[np.int16],
    coding: Coding,
    wanted: Wanted,
    logs: NDArray[np.int64],
    scratch: NDArray[np.int64],
    whole: NDArray[np.int64],
    other: NDArray[np.float64],
) -> None:
    """Write what is said of a node into *whole* and *other*; `logs` has n log2 n in units for each number of rows."""
    number = len(classes.sizes)
    distinct = np.zeros(number if wanted.size else 0, dtype=np.int64)
    if len(classes.present):
        for row in range(number):
            distinct[row] = _distinct(classes.present[row])
    elif wanted.size:
        for row in range(len(classes.sensitive.rows)):
            distinct[classes.sensitive.classes[row]] += 1
    least = wanted.k if wanted.fixed else own_k(classes.sizes, wanted.suppressible, scratch)
    goes = np.zeros(number, dtype=np.bool_)
    whole[:] = 0
    whole[K] = whole[DISTINCT] = 2**62
    for row in range(number):
        size = np.int64(classes.sizes[row])
        if size < least or (wanted.l and distinct[row] < wanted.l):
            goes[row] = True
            whole[SUPPRESSED] += size
        else:
            whole[CLASSES] += 1
            whole[S_K] += size * size
            whole[K] = min(whole[K], size)
            if wanted.size:
                whole[DISTINCT] = min(whole[DISTINCT], distinct[row])
    if not whole[CLASSES]:
        whole[K] = whole[DISTINCT] = 0
    if whole[SUPPRESSED]:
        _suppressed_labels(classes, goes, node, coding, wanted.bits, whole)
    if wanted.values:
        _sensitive_values(classes, goes, wanted, logs, whole, other)
    if wanted.label_size:
        _majorities(classes.labels, goes, whole)


@compiled
def _suppressed_labels(
    classes: Classes,
    goes: NDArray[np.bool_],
    node: NDArray[np.int16],
    coding: Coding,
    with_bits: bool,
    whole: NDArray[np.int64],
) -> None:
    """Add up the leaves under the labels of suppressed rows, by attribute, and then their bits."""
    attributes = len(node)
    for row in range(len(goes)):
        if goes[row]:
            size = np.int64(classes.sizes[row])
            for place in range(attributes):
                group = (classes.keys[row, coding.word[place]] >> coding.shift[place]) & coding.mask[place]
                label = coding.starts[place, node[place]] + group
                whole[LOST + place] += size * coding.leaves[label]
                if with_bits:
                    whole[LOST + attributes] += size * coding.bits[label]


@compiled
def _majorities(labels: Pairs, goes: NDArray[np.bool_], whole: NDArray[np.int64]) -> None:
    """Add up the rows of each class's commonest label."""
    most = np.zeros(len(goes), dtype=np.int64)
    for row in range(len(labels.rows)):
        most[labels.classes[row]] = max(most[labels.classes[row]], labels.rows[row])
    for row in range(len(goes)):
        if not goes[row]:
            whole[MAJORITIES] += most[row]


@compiled
def _sensitive_values(
    classes: Classes,
    goes: NDArray[np.bool_],
    wanted: Wanted,
    logs: NDArray[np.int64],
    whole: NDArray[np.int64],
    other: NDArray[np.float64],
) -> None:
    """Entropy and recursive l, t, and S_l, of the classes that stay, one after the other."""
    pairs, number = classes.sensitive, len(goes)
    ends = np.zeros(number + 1, dtype=np.int64)
    everything = np.zeros(wanted.size, dtype=np.int64)
    for row in range(len(pairs.rows)):
        if not goes[pairs.classes[row]]:
            everything[pairs.values[row]] += pairs.rows[row]
        ends[pairs.classes[row] + 1] += 1
    ends[:] = np.cumsum(ends)
    filled = ends[:-1].copy()
    by_class = np.empty(len(pairs.rows), dtype=np.int64)
    for row in range(len(pairs.rows)):
        owner = pairs.classes[row]
        by_class[filled[owner]] = row
        filled[owner] += 1
    kept = wanted.rows - int(whole[SUPPRESSED])
    counts = np.zeros(wanted.size, dtype=np.int64)
    other[ENTROPY], other[RECURSIVE], other[CLOSENESS] = np.inf, 0.0, 0.0
    for row in range(number):
        if goes[row]:
            continue
        size, own = int(classes.sizes[row]), by_class[ends[row] : ends[row + 1]]
        bits = logs[size]
        for place in own:
            count = np.int64(pairs.rows[place])
            counts[pairs.values[place]] = count
            whole[S_L] += count * count
            bits -= logs[count]
        other[ENTROPY] = min(other[ENTROPY], 2.0 ** (bits / UNIT / size))
        other[RECURSIVE] = max(other[RECURSIVE], _ratio(pairs.rows, own, size, wanted.recursive))
        moved = _moved(counts, everything, pairs.values, own, size, kept, wanted.ordered)
        other[CLOSENESS] = max(other[CLOSENESS], moved)
        for place in own:
            counts[pairs.values[place]] = 0
    if not whole[CLASSES]:
        other[ENTROPY], other[RECURSIVE] = 0.0, np.inf


@compiled
def _ratio(rows: NDArray[np.int32], own: NDArray[np.int64], size: int, values: int) -> float:
    """The rows of a class's commonest value over those of all from the *values*-th commonest on."""
    ranked = np.sort(rows[own])[::-1]
    rest = size
    for place in range(min(values - 1, len(ranked))):
        rest -= ranked[place]
    return ranked[0] / rest if rest > 0 else np.inf


@compiled
def _moved(
    counts: NDArray[np.int64],
    everything: NDArray[np.int64],
    values: NDArray[np.int32],
    own: NDArray[np.int64],
    size: int,
    kept: int,
    ordered: bool,
) -> float:
    """The earth mover's distance between a class's values and those of all rows that stay."""
    total = np.int64(0)
    if not ordered:
        # What a class has more of than all rows have to be moved; it has it of values that occur in it.
        for place in own:
            value = values[place]
            total += max(counts[value] * kept - everything[value] * size, 0)
        return total / size / kept
    below = np.int64(0)
    for value in range(len(counts)):
        below += counts[value] * kept - everything[value] * size
        total += abs(below)
    return total / size / kept / max(len(counts) - 1, 1)
