"""Points in blocks of neighbours, which find the nearest and the farthest of the points not yet taken.

The bound of a block's box says whether its points need a look. Bounds are computed as the distances are, coordinate
by coordinate in the same order, and rounding keeps the order of numbers: so no bound is ever wrong by rounding, and
what is found equals what a look at all points would find, to the last tie. All loops run over slots or blocks, many
of which the processor takes at once; that is why there is no tree of boxes above the blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.grouping.points import Points
from tabular.kernels import compiled, inlined

#: Points in a block, at most.
SLOTS = 64

#: The points to find.
NEAREST, FARTHEST = 1.0, -1.0


class RecordBlocks(NamedTuple):
    """`values[block, coordinate, slot]` are the points, those left in the first slots.

    `rows[block, slot]` are their rows, `block_of` and `slot_of` say where each row stands. Of a block `left` counts
    the points left, `first` is the lowest row among them, `low` and `high[coordinate, block]` are the ends of their
    box. The other arrays are room for a search.
    """

    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    ordered: int
    rows: NDArray[np.int64]
    block_of: NDArray[np.int64]
    slot_of: NDArray[np.int64]
    left: NDArray[np.int64]
    first: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    bounds: NDArray[np.float64]
    distances: NDArray[np.float64]

    @classmethod
    def of(cls, points: Points) -> RecordBlocks:
        """The blocks of all *points*."""
        count, width = points.values.shape
        parts = [np.arange(count)]
        while len(parts[0]) > SLOTS:
            parts = [half for part in parts for half in _halves(points, part)]
        blocks = len(parts)
        values, rows = np.zeros((blocks, width, SLOTS)), np.zeros((blocks, SLOTS), dtype=np.int64)
        block_of, slot_of = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
        low, high = np.zeros((width, blocks)), np.zeros((width, blocks))
        for block, part in enumerate(parts):
            held = points.values[part].T
            values[block, :, : len(part)], rows[block, : len(part)] = held, part
            block_of[part], slot_of[part] = block, np.arange(len(part))
            low[:, block], high[:, block] = held.min(axis=1, initial=np.inf), held.max(axis=1, initial=-np.inf)
        return cls(
            values=values,
            weights=points.weights,
            ordered=points.ordered,
            rows=rows,
            block_of=block_of,
            slot_of=slot_of,
            left=np.array([len(part) for part in parts]),
            first=np.array([part[0] if part.size else count for part in parts]),
            low=low,
            high=high,
            bounds=np.empty(blocks),
            distances=np.empty(SLOTS),
        )


def _halves(points: Points, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """The rows in two parts by the coordinate in which they lie farthest apart; of many alike the lower rows first.

    The first part fills whole blocks, as many as the other or one more; a part that fits into one block stays.
    """
    middle = (-(-len(rows) // SLOTS) + 1) // 2 * SLOTS
    if len(rows) <= SLOTS:
        return (rows,)
    if not points.values.shape[1]:
        return rows[:middle], rows[middle:]
    held = points.values[rows]
    extent = (held.max(axis=0) - held.min(axis=0)) ** 2
    extent[points.ordered :] = extent[points.ordered :] > 0
    order = np.argsort(held[:, np.argmax(extent * points.weights)], kind="stable")
    return np.sort(rows[order[:middle]]), np.sort(rows[order[middle:]])


@compiled
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


@compiled
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
    best = _bound(blocks, target, sign)
    # The most promising block first, so that most others can be skipped.
    for step in range(-1, len(blocks.left)):
        block = best if step < 0 else step
        bound = blocks.bounds[block]
        if step == best or bound > keys[last] or (bound == keys[last] and blocks.first[block] > rows[last]):
            continue
        if not _measure(blocks, block, target, sign, keys[last]):
            continue
        for slot in range(blocks.left[block]):
            key, row = blocks.distances[slot], blocks.rows[block, slot]
            if key < keys[last] or (key == keys[last] and row < rows[last]):
                at = last
                while at and (key < keys[at - 1] or (key == keys[at - 1] and row < rows[at - 1])):
                    keys[at], rows[at] = keys[at - 1], rows[at - 1]
                    at -= 1
                keys[at], rows[at] = key, row


@inlined
def _bound(blocks: RecordBlocks, target: NDArray[np.float64], sign: float) -> int:
    """Write a lower bound on the keys of each block; the block with the least, and of equals the lowest row."""
    bounds, count = blocks.bounds, len(blocks.left)
    bounds[:] = 0.0
    for column in range(len(target)):
        weight, at = sign * blocks.weights[column], target[column]
        low, high = blocks.low[column], blocks.high[column]
        if column >= blocks.ordered:
            for block in range(count):
                outside = at < low[block] or at > high[block]
                several = low[block] != at or high[block] != at
                apart = outside if sign > 0 else several
                bounds[block] += weight if apart else 0.0
        elif sign > 0:
            for block in range(count):
                under, over = low[block] - at, at - high[block]
                outside = under if under > over else over
                outside = outside if outside > 0.0 else 0.0
                bounds[block] += weight * (outside * outside)
        else:
            for block in range(count):
                under, over = at - low[block], high[block] - at
                reach = under if under > over else over
                bounds[block] += weight * (reach * reach)
    best = 0
    for block in range(count):
        if not blocks.left[block]:
            bounds[block] = np.inf
        less = bounds[block] < bounds[best]
        if less or (bounds[block] == bounds[best] and blocks.first[block] < blocks.first[best]):
            best = block
    return best


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
