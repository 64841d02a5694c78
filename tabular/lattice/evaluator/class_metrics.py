"""The metrics of a node by its classes, in whole numbers, so that the order of the classes does not show.

Let N be the rows of the table, at most `MOST_ROWS` = 10^9. Every sum here stays below 2^63, which is about 9.2 * 10^18:

- rows, also of a label or a value: N;
- the squares of class sizes (S_k), those of the counts of values (S_l), and both with the suppressed rows (DM): N^2,
  which is 10^18;
- the leaves under labels, of one attribute: N * N, for no domain has more values than rows;
- the bits of labels, of all attributes: 2^62, for `coding_of` takes a unit in which they are no more;
- the logarithms n log2 n, in units of 1 / `UNIT`: N log2 N * 2^28, which is 8.03 * 10^18;
- the earth mover's distance, in units of 1 / (rows of the class * rows kept): N^2 where the values have no order. Where
  they have one it is N^2 for each step of the domain, and is counted in two words (`_moved`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled, inlined
from tabular.lattice.evaluator.rollup import UNIT, Coding, Counts, KeyedClasses, ones
from tabular.lattice.space import Flags, Floats, Levels, Numbers

#: The whole numbers of a node, by their places in a row; the leaves lost by attribute follow, and the bits lost.
K, SUPPRESSED, CLASSES, S_K, DISTINCT, S_L, MAJORITIES, LOST = range(8)

#: The bits of a word of a distance; what is more is carried to the next one.
_WORD = 61

#: The other numbers.
ENTROPY, RECURSIVE, CLOSENESS = range(3)


class KernelOptions(NamedTuple):
    """Limits and metrics as kernels take them; 0 stands for what is not given."""

    #: Whether k and l are given; else each node has a k of its own.
    fixed: bool
    k: int
    l: int  # noqa: E741
    suppressible: int
    rows: int
    #: Whether to count bits of suppressed rows, and of the sensitive values more than how many there are.
    bits: bool
    values: bool
    #: The sensitive domain, whether it has an order, and the l of recursive diversity.
    size: int
    ordered: bool
    recursive: int
    label_size: int


@compiled
def own_k(sizes: NDArray[np.int32], suppressible: int, rows_by_size: Numbers) -> int:
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


@compiled
def measure(
    classes: KeyedClasses,
    node: Levels,
    coding: Coding,
    options: KernelOptions,
    logs: Numbers,
    scratch: Numbers,
    whole: Numbers,
    other: Floats,
) -> None:
    """Write the metrics of a node into *whole* and *other*.

    `logs` has n log2 n in units for the first numbers of rows.
    """
    sizes, present, pairs = classes.sizes, classes.present, classes.sensitive
    number, attributes = len(sizes), len(node)
    by_bits, with_values, fewest_asked = len(present) > 0, options.size > 0, options.l
    distinct = np.zeros(number if with_values and not by_bits else 0, dtype=np.int64)
    for row in range(len(pairs)):
        distinct[pairs[row, 0]] += 1
    least = options.k if options.fixed else own_k(sizes, options.suppressible, scratch)
    goes = np.zeros(number, dtype=np.bool_)
    for place in range(len(whole)):
        whole[place] = 0
    smallest, fewest, squares, kept, gone = np.int64(2**62), np.int64(2**62), np.int64(0), np.int64(0), np.int64(0)
    for row in range(number):
        size = np.int64(sizes[row])
        found = np.int64(0)
        if size >= least and with_values:
            found = np.int64(ones(present[row])) if by_bits else distinct[row]
        if size < least or found < fewest_asked:
            goes[row] = True
            gone += size
        else:
            kept += 1
            squares += size * size
            smallest, fewest = min(smallest, size), min(fewest, found)
    whole[SUPPRESSED], whole[CLASSES], whole[S_K] = gone, kept, squares
    if kept:
        whole[K], whole[DISTINCT] = smallest, fewest
    if gone:
        # Whichever are fewer: of the others what all rows have is known.
        by_kept = 2 * kept < number
        _labels(classes, goes, not by_kept, node, coding, options.bits, whole)
        if by_kept:
            all_leaves, all_bits = coding.all_leaves, coding.all_bits
            whole[LOST + attributes] *= -1
            for place in range(attributes):
                whole[LOST + place] = all_leaves[place, node[place]] - whole[LOST + place]
                whole[LOST + attributes] += all_bits[place, node[place]]
    if options.values:
        _sensitive_values(sizes, pairs, goes, options, logs, whole, other)
    if options.label_size:
        _majorities(classes.labels, goes, whole)


@compiled
def _labels(
    classes: KeyedClasses, goes: Flags, which: bool, node: Levels, coding: Coding, with_bits: bool, whole: Numbers
) -> None:
    """Add up the leaves under the labels of the rows that go, or stay, by attribute, and then their bits."""
    attributes, inner, second = len(node), coding.inner, coding.second
    keys, sizes, codes, starts, leaves = classes.keys, classes.sizes, classes.codes, coding.starts, coding.leaves
    bits_of, word, shift, mask = coding.bits, coding.word, coding.shift, coding.mask
    labels = starts[inner, node[inner]]
    others = starts[second, node[second]] if second >= 0 else np.int64(0)
    width, both = coding.width, coding.width + coding.second_width
    low, high = np.int64((1 << width) - 1), np.int64((1 << coding.second_width) - 1)
    own, next_own, bits = np.int64(0), np.int64(0), np.int64(0)
    rows = np.zeros(len(keys), dtype=np.int64)
    for row in range(len(goes)):
        size = sizes[row] * np.int64(goes[row] == which)
        code = codes[row]
        rows[code >> both] += size
        own += size * leaves[labels + (code & low)]
        next_own += size * leaves[others + ((code >> width) & high)]
        if with_bits:
            bits += size * bits_of[labels + (code & low)]
            if second >= 0:
                bits += size * bits_of[others + ((code >> width) & high)]
    for group in range(len(rows)):
        if rows[group]:
            for place in range(attributes):
                if place != inner and place != second:
                    key = (keys[group, word[place]] >> shift[place]) & mask[place]
                    label = starts[place, node[place]] + key
                    whole[LOST + place] += rows[group] * leaves[label]
                    if with_bits:
                        bits += rows[group] * bits_of[label]
    whole[LOST + inner] = own
    if second >= 0:
        whole[LOST + second] = next_own
    whole[LOST + attributes] = bits


@inlined
def _majorities(labels: Counts, goes: Flags, whole: Numbers) -> None:
    """Add up the rows of each class's commonest label."""
    most = np.zeros(len(goes), dtype=np.int64)
    for row in range(len(labels)):
        most[labels[row, 0]] = max(most[labels[row, 0]], labels[row, 2])
    for row in range(len(goes)):
        if not goes[row]:
            whole[MAJORITIES] += most[row]


@inlined
def _by_logarithm(rows: int, logs: Numbers) -> int:
    """n log2 n of a number of rows, in units."""
    return int(logs[rows]) if rows < len(logs) else int(np.rint(np.log2(rows) * rows * UNIT))


@compiled
def _sensitive_values(
    sizes: NDArray[np.int32],
    pairs: Counts,
    goes: Flags,
    options: KernelOptions,
    logs: Numbers,
    whole: Numbers,
    other: Floats,
) -> None:
    """Entropy and recursive l, t, and S_l, of the classes that stay, one after the other."""
    number, recursive, ordered = len(goes), options.recursive, options.ordered
    ends = np.zeros(number + 1, dtype=np.int64)
    everything = np.zeros(options.size, dtype=np.int64)
    for row in range(len(pairs)):
        if not goes[pairs[row, 0]]:
            everything[pairs[row, 1]] += pairs[row, 2]
        ends[pairs[row, 0] + 1] += 1
    for owner in range(number):
        ends[owner + 1] += ends[owner]
    # The pairs by class; each class ends in the end where the next one begins.
    own = np.empty(len(pairs), dtype=np.int64)
    for row in range(len(pairs)):
        owner = pairs[row, 0]
        own[ends[owner]] = row
        ends[owner] += 1
    kept = options.rows - int(whole[SUPPRESSED])
    counts = np.zeros(options.size, dtype=np.int64)
    other[ENTROPY], other[RECURSIVE], other[CLOSENESS] = np.inf, 0.0, 0.0
    for row in range(number):
        if goes[row]:
            continue
        size, begin, end = int(sizes[row]), int(ends[row - 1]) if row else 0, int(ends[row])
        bits = _by_logarithm(size, logs)
        for place in range(begin, end):
            count = int(pairs[own[place], 2])
            counts[pairs[own[place], 1]] = count
            whole[S_L] += count * count
            bits -= _by_logarithm(count, logs)
        other[ENTROPY] = min(other[ENTROPY], 2.0 ** (bits / UNIT / size))
        other[RECURSIVE] = max(other[RECURSIVE], _ratio(pairs, own, begin, end, size, recursive))
        moved = _moved(counts, everything, pairs, own, begin, end, size, kept, ordered)
        other[CLOSENESS] = max(other[CLOSENESS], moved)
        for place in range(begin, end):
            counts[pairs[own[place], 1]] = 0
    if not whole[CLASSES]:
        other[ENTROPY], other[RECURSIVE] = 0.0, np.inf


@inlined
def _ratio(pairs: Counts, own: Numbers, begin: int, end: int, size: int, values: int) -> float:
    """The rows of a class's commonest value over those of all from the *values*-th commonest on."""
    commonest, rest = 0, size
    for place in range(begin, end):
        commonest = max(commonest, int(pairs[own[place], 2]))
    # The commonest that are left, one after the other: of those as common, the one that comes first.
    last, last_place = size + 1, begin
    for _ in range(min(values - 1, end - begin)):
        most, most_place = 0, begin
        for place in range(begin, end):
            count = int(pairs[own[place], 2])
            if count > most and (count < last or (count == last and place > last_place)):
                most, most_place = count, place
        rest -= most
        last, last_place = most, most_place
    return commonest / rest if rest > 0 else np.inf


@compiled
def _moved(
    counts: Numbers,
    everything: Numbers,
    pairs: Counts,
    own: Numbers,
    begin: int,
    end: int,
    size: int,
    kept: int,
    ordered: bool,
) -> float:
    """The earth mover's distance between a class's values and those of all rows that stay.

    At each value the surplus is at most `size * kept`, so up to 10^18. Values without an order have no more in all. Of
    those that have one each step of the domain adds as much: `total` holds the lower `_WORD` bits of the sum and `high`
    the others, so that it is exact for any domain.
    """
    high, total, below = np.int64(0), np.int64(0), np.int64(0)
    if not ordered:
        # What a class has more of than all rows have to be moved; it has it of values that occur in it.
        for place in range(begin, end):
            value = pairs[own[place], 1]
            total += max(counts[value] * kept - everything[value] * size, 0)
        return total / size / kept
    for value in range(len(counts)):
        below += counts[value] * kept - everything[value] * size
        total += abs(below)
        high += total >> _WORD
        total &= (1 << _WORD) - 1
    moved = total + high * 2.0**_WORD
    return moved / size / kept / max(len(counts) - 1, 1)
