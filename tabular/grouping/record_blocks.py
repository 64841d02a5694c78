"""Points in a tree of blocks, which finds the nearest and the farthest of the points not yet taken.

The bound of a node's box says whether its points need a look. Bounds are computed as the distances are, coordinate
by coordinate in the same order, and rounding keeps the order of numbers: so no bound is ever wrong by rounding, and
what is found equals what a look at all points would find, to the last tie. The inner loops run over the slots of a
block or the children of a node, many of which the processor takes at once; that is why nodes have many children.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.grouping.points import Points
from tabular.kernels import compiled, inlined, lean

#: Points in a block and children of a node, at most.
SLOTS, CHILDREN = 64, 16

#: The points to find.
NEAREST, FARTHEST = 1.0, -1.0


class RecordBlocks(NamedTuple):
    """`values[block, coordinate, slot]` are the points, those left in the first slots.

    `rows[block, slot]` are their rows, `block_of` and `slot_of` say where each row stands. The blocks are the first
    nodes of the tree; `levels` says where the nodes of each level begin, and where the last ends. Of a node `left`
    counts the points left, `first` is the lowest row among them, `low` and `high[coordinate, node]` are the ends of
    their box. The other arrays are room for a search.
    """

    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    ordered: int
    rows: NDArray[np.int64]
    block_of: NDArray[np.int64]
    slot_of: NDArray[np.int64]
    levels: NDArray[np.int64]
    left: NDArray[np.int64]
    first: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    distances: NDArray[np.float64]
    waiting: NDArray[np.int64]
    bounds: NDArray[np.float64]

    @classmethod
    def of(cls, points: Points) -> RecordBlocks:
        """The blocks of all *points*."""
        count, width = points.values.shape
        halvings = max(-(-count // SLOTS) - 1, 0).bit_length()
        levels = _levels(1 << halvings)
        blocks, nodes = 1 << halvings, int(levels[-1])
        found = cls(
            values=np.zeros((blocks, width, SLOTS)),
            weights=points.weights,
            ordered=points.ordered,
            rows=np.zeros((blocks, SLOTS), dtype=np.int64),
            block_of=np.empty(count, dtype=np.int64),
            slot_of=np.empty(count, dtype=np.int64),
            levels=levels,
            left=np.zeros(nodes, dtype=np.int64),
            first=np.full(nodes, count),
            low=np.full((width, nodes), np.inf),
            high=np.full((width, nodes), -np.inf),
            distances=np.empty(SLOTS),
            waiting=np.empty(len(levels) * CHILDREN, dtype=np.int64),
            bounds=np.empty(len(levels) * CHILDREN + CHILDREN),
        )
        _fill(found, points.values, np.arange(count), halvings)
        return found


def _levels(blocks: int) -> NDArray[np.int64]:
    """Where the nodes of each level begin, from the blocks to the root, and where the last ends."""
    sizes = [blocks]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // CHILDREN))
    return np.cumsum([0, *sizes])


@compiled
def _fill(blocks: RecordBlocks, values: NDArray[np.float64], order: NDArray[np.int64], halvings: int) -> None:
    """Put the rows of *order* into blocks, halved again and again along the coordinate in which they lie farthest."""
    count, width = values.shape
    keys = np.empty(count)
    for halving in range(halvings):
        for part in range(1 << halving):
            start, end = (count * part) >> halving, (count * (part + 1)) >> halving
            # As the halves of a half are cut by the next step.
            middle = (count * (2 * part + 1)) >> (halving + 1)
            widest, extent = 0, -1.0
            for column in range(width):
                low, high = np.inf, -np.inf
                for place in range(start, end):
                    value = values[order[place], column]
                    low, high = min(low, value), max(high, value)
                apart = high - low if column < blocks.ordered or high <= low else 1.0
                if blocks.weights[column] * (apart * apart) > extent:
                    widest, extent = column, blocks.weights[column] * (apart * apart)
            for place in range(start, end):
                keys[place] = values[order[place], widest] if width else 0.0
            _part(keys, order, start, end - 1, middle)
    for block in range(1 << halvings):
        start, end = (count * block) >> halvings, (count * (block + 1)) >> halvings
        blocks.left[block] = end - start
        for place in range(start, end):
            row, slot = order[place], place - start
            blocks.rows[block, slot] = row
            blocks.block_of[row], blocks.slot_of[row] = block, slot
            blocks.first[block] = min(blocks.first[block], row)
            for column in range(width):
                value = values[row, column]
                blocks.values[block, column, slot] = value
                blocks.low[column, block] = min(blocks.low[column, block], value)
                blocks.high[column, block] = max(blocks.high[column, block], value)
    for level in range(len(blocks.levels) - 2):
        for node in range(blocks.levels[level], blocks.levels[level + 1]):
            parent = blocks.levels[level + 1] + (node - blocks.levels[level]) // CHILDREN
            blocks.left[parent] += blocks.left[node]
            blocks.first[parent] = min(blocks.first[parent], blocks.first[node])
            for column in range(width):
                blocks.low[column, parent] = min(blocks.low[column, parent], blocks.low[column, node])
                blocks.high[column, parent] = max(blocks.high[column, parent], blocks.high[column, node])


@inlined
def _part(keys: NDArray[np.float64], order: NDArray[np.int64], low: int, high: int, middle: int) -> None:
    """Put the lower *keys* from *low* to *high*, and what belongs to them, before *middle*, of equals the lower rows.

    Blocks of records that are alike then differ by their lowest row, which decides between them.
    """
    while low < high:
        pivot, row, i, j = keys[(low + high) // 2], order[(low + high) // 2], low, high
        while i <= j:
            while keys[i] < pivot or (keys[i] == pivot and order[i] < row):
                i += 1
            while keys[j] > pivot or (keys[j] == pivot and order[j] > row):
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            break


@lean
def take(blocks: RecordBlocks, row: int) -> None:
    """Take the point of a *row* out."""
    block, slot = blocks.block_of[row], blocks.slot_of[row]
    last = blocks.left[block] - 1
    other = blocks.rows[block, last]
    blocks.rows[block, slot], blocks.rows[block, last] = other, row
    blocks.slot_of[other], blocks.slot_of[row] = slot, last
    blocks.left[block] = last
    if blocks.first[block] == row:
        blocks.first[block] = len(blocks.block_of)
        for each in range(last):
            blocks.first[block] = min(blocks.first[block], blocks.rows[block, each])
    for column in range(blocks.values.shape[1]):
        values = blocks.values[block, column]
        value = values[slot]
        values[slot], values[last] = values[last], value
        # Only a point at an end of the box can change it.
        if value == blocks.low[column, block] or value == blocks.high[column, block]:
            low, high = np.inf, -np.inf
            for each in range(last):
                low, high = min(low, values[each]), max(high, values[each])
            blocks.low[column, block], blocks.high[column, block] = low, high
    _take_above(blocks, row, block, last)


@inlined
def _take_above(blocks: RecordBlocks, row: int, block: int, slot: int) -> None:
    """Bring the nodes above a *block* up to date, of which the point of a *row*, in a *slot*, was taken."""
    node = block
    for level in range(1, len(blocks.levels) - 1):
        node = blocks.levels[level] + (node - blocks.levels[level - 1]) // CHILDREN
        start = blocks.levels[level - 1] + (node - blocks.levels[level]) * CHILDREN
        end = min(start + CHILDREN, blocks.levels[level])
        blocks.left[node] -= 1
        if blocks.first[node] == row:
            first = blocks.first[start]
            for child in range(start + 1, end):
                first = min(first, blocks.first[child])
            blocks.first[node] = first
        for column in range(blocks.values.shape[1]):
            value = blocks.values[block, column, slot]
            if value == blocks.low[column, node] or value == blocks.high[column, node]:
                low, high = np.inf, -np.inf
                for child in range(start, end):
                    low, high = min(low, blocks.low[column, child]), max(high, blocks.high[column, child])
                blocks.low[column, node], blocks.high[column, node] = low, high


@lean
def find(
    blocks: RecordBlocks, target: NDArray[np.float64], sign: float, rows: NDArray[np.int64], keys: NDArray[np.float64]
) -> None:
    """Write the rows left that are nearest to *target*, or with the other *sign* farthest from it, ties by row.

    As many as *rows* and *keys* have room for, in order; no more than are left. The keys are the squared distances,
    times *sign*.
    """
    last = len(rows) - 1
    rows[:] = len(blocks.block_of)
    keys[:] = np.inf
    level = len(blocks.levels) - 2
    # The most promising node waits last, at the top.
    blocks.waiting[0], blocks.bounds[0], waiting = blocks.levels[level], -np.inf, 1
    while waiting:
        waiting -= 1
        node, bound = blocks.waiting[waiting], blocks.bounds[waiting]
        if bound > keys[last] or (bound == keys[last] and blocks.first[node] > rows[last]):
            continue
        if node >= blocks.levels[1]:
            waiting = _look_into(blocks, node, target, sign, keys[last], rows[last], waiting)
        elif _measure(blocks, node, target, sign, keys[last]):
            for slot in range(blocks.left[node]):
                key, row = blocks.distances[slot], blocks.rows[node, slot]
                if key < keys[last] or (key == keys[last] and row < rows[last]):
                    at = last
                    while at and (key < keys[at - 1] or (key == keys[at - 1] and row < rows[at - 1])):
                        keys[at], rows[at] = keys[at - 1], rows[at - 1]
                        at -= 1
                    keys[at], rows[at] = key, row


@inlined
def _look_into(
    blocks: RecordBlocks, node: int, target: NDArray[np.float64], sign: float, limit: float, row: int, waiting: int
) -> int:
    """Put the children of a *node* that may hold better than *row* at *limit* among the nodes *waiting*; how many."""
    level = 1
    while node >= blocks.levels[level + 1]:
        level += 1
    start = blocks.levels[level - 1] + (node - blocks.levels[level]) * CHILDREN
    count = min(CHILDREN, blocks.levels[level] - start)
    room = len(blocks.waiting)
    blocks.bounds[room : room + count] = 0.0
    for column in range(len(target)):
        weight, at = sign * blocks.weights[column], target[column]
        if column >= blocks.ordered:
            for child in range(count):
                low, high = blocks.low[column, start + child], blocks.high[column, start + child]
                outside, several = (at < low) | (at > high), (low != at) | (high != at)
                blocks.bounds[room + child] += weight if (outside if sign > 0 else several) else 0.0
        elif sign > 0:
            for child in range(count):
                under, over = blocks.low[column, start + child] - at, at - blocks.high[column, start + child]
                outside = under if under > over else over
                outside = outside if outside > 0.0 else 0.0
                blocks.bounds[room + child] += weight * (outside * outside)
        else:
            for child in range(count):
                under, over = at - blocks.low[column, start + child], blocks.high[column, start + child] - at
                reach = under if under > over else over
                blocks.bounds[room + child] += weight * (reach * reach)
    beginning = waiting
    for child in range(count):
        bound, lowest = blocks.bounds[room + child], blocks.first[start + child]
        if blocks.left[start + child] and (bound < limit or (bound == limit and lowest <= row)):
            at = waiting
            while at > beginning and (
                bound > blocks.bounds[at - 1]
                or (bound == blocks.bounds[at - 1] and lowest > blocks.first[blocks.waiting[at - 1]])
            ):
                blocks.waiting[at], blocks.bounds[at] = blocks.waiting[at - 1], blocks.bounds[at - 1]
                at -= 1
            blocks.waiting[at], blocks.bounds[at] = start + child, bound
            waiting += 1
    return waiting


@inlined
def _measure(blocks: RecordBlocks, block: int, target: NDArray[np.float64], sign: float, limit: float) -> int:
    """Write the squared distances of the points of a block, times *sign*; the number within *limit*."""
    distances, left = blocks.distances, blocks.left[block]
    distances[:left] = 0.0
    for column in range(len(target)):
        weight, at = sign * blocks.weights[column], target[column]
        values = blocks.values[block, column]
        if column < blocks.ordered:
            for slot in range(left):
                apart = values[slot] - at
                distances[slot] += weight * (apart * apart)
        else:
            for slot in range(left):
                distances[slot] += weight if values[slot] != at else 0.0
    within = 0
    for slot in range(left):
        within += distances[slot] <= limit
    return within
