"""MDAV-generic: groups of k records around the records farthest from the middle (Domingo-Ferrer and Torra 2005).

Alg. 4 of Mares Soler (2013), with searches in a tree of blocks and at the outskirts instead of over all records, to the
same groups. What it leaves open:
the group around the second record is formed of what the first has left, which says the same wherever distances
differ; of several records equally far or equally near the one of the lowest row is taken; of two medians, or of
several modes, the lower one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.grouping.outskirts import Outskirts, farthest_outside
from tabular.grouping.points import MEAN, MEDIAN, Points
from tabular.grouping.record_blocks import FARTHEST, NEAREST, RecordBlocks, find, take
from tabular.kernels import compiled

#: How much is spent on the outskirts, in looks at a record for each record left, before they are found anew.
EFFORT = 1


def mdav(points: Points, k: int) -> NDArray[np.int64]:
    """The group of each record, numbered in the order they are formed; each has *k* records, the last up to 2k - 1.

    >>> from tabular.table import Table
    >>> from tabular.grouping.points import points_of
    >>> mdav(points_of(Table.from_columns({"size": [1, 9, 2, 5, 8, 4]}), ["size"]), 2).tolist()
    [1, 0, 1, 2, 0, 2]
    """
    count = len(points.values)
    groups = np.full(count, -1, dtype=np.int64)
    middle, rows, formed = _middle_of(points), np.arange(count), 0
    while len(rows) >= 2 * k:
        found = np.full(len(rows), -1, dtype=np.int64)
        # New blocks whenever half of the records are gone: few and full ones are searched faster.
        formed = _halved(points.rows(rows), middle, k, found, formed)
        groups[rows], rows = found, rows[found < 0]
    groups[rows] = formed
    return groups


def _halved(points: Points, middle: _Middle, k: int, groups: NDArray[np.int64], formed: int) -> int:
    """Form groups until fewer than half of the *points*, or than two groups need, are left; the number of groups."""
    blocks, left, target, helps = RecordBlocks.of(points), len(groups), np.empty(points.values.shape[1]), True
    while left >= 2 * k and left >= len(groups) // 2:
        _write_middle(middle, left, target)
        outer = Outskirts.of(points, np.flatnonzero(groups < 0) if helps else np.arange(0), target)
        before = formed
        formed, misses = _mdav(blocks, outer, middle, k, left, len(groups) // 2, groups, formed)
        left -= (formed - before) * k
        # Where many records are equally far, or the middle jumps as modes do, the blocks alone are faster.
        helps = 4 * misses <= formed - before
    return formed


class _Middle(NamedTuple):
    """The middle of the records left, kept up to date: sums for means, counts of the codes for medians and modes.

    The counts of a coordinate stand from `offsets[c]`. For a median, `at` is a code and `below` counts the records
    with lower ones. For a mode, the codes are the leaves of a tree, in which each node holds the code that wins.
    """

    middles: NDArray[np.int64]
    sums: NDArray[np.int64]
    counts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    at: NDArray[np.int64]
    below: NDArray[np.int64]
    winners: NDArray[np.int64]
    leaves: NDArray[np.int64]
    starts: NDArray[np.int64]


def _middle_of(points: Points) -> _Middle:
    width = len(points.sizes)
    counts = [np.zeros(0, dtype=np.int64)]
    winners = [np.zeros(0, dtype=np.int64)]
    leaves = np.zeros(width, dtype=np.int64)
    sums = np.zeros(width, dtype=np.int64)
    for column in range(width):
        whole = points.values[:, column].astype(np.int64)
        if points.middles[column] == MEAN:
            sums[column] = whole.sum()
        counts.append(np.bincount(whole, minlength=points.sizes[column]) if points.sizes[column] else counts[0])
        if column >= points.ordered:
            leaves[column] = 1 << max(int(points.sizes[column]) - 1, 0).bit_length()
            winners.append(_tournament(counts[-1], int(leaves[column])))
        else:
            winners.append(winners[0])
    return _Middle(
        middles=points.middles,
        sums=sums,
        counts=np.concatenate(counts),
        offsets=np.cumsum([len(each) for each in counts])[:width],
        at=np.zeros(width, dtype=np.int64),
        below=np.zeros(width, dtype=np.int64),
        winners=np.concatenate(winners),
        leaves=leaves,
        starts=np.cumsum([len(each) for each in winners])[:width],
    )


def _tournament(counts: NDArray[np.int64], leaves: int) -> NDArray[np.int64]:
    """For each node of a tree over the codes the code with the highest count, the lowest of equals; -1: none."""
    winners = np.full(2 * leaves, -1, dtype=np.int64)
    winners[leaves : leaves + len(counts)] = np.arange(len(counts))
    padded = np.append(counts, -1)
    first = leaves
    while first > 1:
        left, right = winners[first : 2 * first : 2], winners[first + 1 : 2 * first : 2]
        winners[first // 2 : first] = np.where(padded[right] > padded[left], right, left)
        first //= 2
    return winners


@compiled
def _mdav(
    blocks: RecordBlocks,
    outer: Outskirts,
    middle: _Middle,
    k: int,
    left: int,
    enough: int,
    groups: NDArray[np.int64],
    formed: int,
) -> tuple[int, int]:
    """Form groups until the outskirts are spent, or fewer than *enough* records, or than two groups need, are left.

    Gives the number of groups, and how often the record sought did not lie in the outskirts.
    """
    width = blocks.values.shape[1]
    targets = np.empty((3, width))
    rows, keys = np.empty(k, dtype=np.int64), np.empty(k)
    spent, misses = 0, 0
    while left >= 2 * k and left >= enough and spent <= EFFORT * left:
        _write_middle(middle, left, targets[0])
        # With fewer than 3k one group is formed, and the rest is the last.
        for each in range(2 if left >= 3 * k else 1):
            rows[0] = -1
            if each == 0 and len(outer.rows):
                rows[0], looks = farthest_outside(outer, blocks.weights, blocks.ordered, targets[0], groups)
                missed = rows[0] < 0
                misses += missed
                spent += looks + (left // 4 if missed else 0)
            if rows[0] < 0:
                find(blocks, targets[each], FARTHEST, rows[:1], keys[:1])
            # A copy, since taking points moves others in their place.
            targets[each + 1] = blocks.values[blocks.block_of[rows[0]], :, blocks.slot_of[rows[0]]]
            find(blocks, targets[each + 1], NEAREST, rows, keys)
            for place in range(k):
                row = int(rows[place])
                groups[row] = formed
                for column in range(width):
                    _leave(middle, column, int(blocks.values[blocks.block_of[row], column, blocks.slot_of[row]]))
                take(blocks, row)
            formed += 1
            left -= k
    return formed, misses


@compiled
def _leave(middle: _Middle, column: int, value: int) -> None:
    """Remove a record that has *value*."""
    if middle.middles[column] == MEAN:
        middle.sums[column] -= value
        return
    offset, start = middle.offsets[column], middle.starts[column]
    middle.counts[offset + value] -= 1
    if middle.middles[column] == MEDIAN:
        if value < middle.at[column]:
            middle.below[column] -= 1
        return
    node = (middle.leaves[column] + value) // 2
    while node:
        left, right = middle.winners[start + 2 * node], middle.winners[start + 2 * node + 1]
        right_wins = right >= 0 and middle.counts[offset + right] > middle.counts[offset + left]
        middle.winners[start + node] = right if right_wins else left
        node //= 2


@compiled
def _write_middle(middle: _Middle, left: int, target: NDArray[np.float64]) -> None:
    """Write the middle of the *left* records: mean, lower median or lowest mode of each coordinate."""
    for column in range(len(target)):
        if middle.middles[column] == MEAN:
            target[column] = middle.sums[column] / left
        elif middle.middles[column] == MEDIAN:
            offset, at, below = middle.offsets[column], middle.at[column], middle.below[column]
            rank = (left - 1) // 2
            while below > rank:
                at -= 1
                below -= middle.counts[offset + at]
            while below + middle.counts[offset + at] <= rank:
                below += middle.counts[offset + at]
                at += 1
            middle.at[column], middle.below[column] = at, below
            target[column] = at
        else:
            target[column] = middle.winners[middle.starts[column] + 1]
