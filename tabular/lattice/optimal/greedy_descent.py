"""Good nodes quickly: go down wherever the limits allow, step back at some attributes, go down anew."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled
from tabular.lattice.optimal.class_splits import Scratch, Splits, lost_rows, refine
from tabular.lattice.optimal.grid import Grid

#: Attributes that step back before a descent, at most; of many attributes a quarter.
_KICKS = 5


@compiled
def _descend(
    grid: Grid,
    most: NDArray[np.int64],
    node: NDArray[np.int64],
    ways: NDArray[np.int64],
    draws: NDArray[np.float64],
    splits: Splits,
    scratch: Scratch,
) -> None:
    # Split by what the node has, then go down one attribute at a time, drawn at random, while the limits are kept.
    attributes, size = node.size, grid.codes.shape[2]
    for row in range(size):
        splits.rows[row], splits.weights[row] = row, 1
    splits.starts[0], splits.starts[1], splits.classes[0], splits.lost[0] = 0, size, 1, 0
    here = 0
    for attribute in range(attributes):
        if node[attribute] > 0:
            refine(grid, splits, here, 1 - here, grid.codes[attribute, node[attribute]], scratch)
            here = 1 - here
    count = 0
    for attribute in range(attributes):
        if node[attribute] < most[attribute]:
            ways[count] = attribute
            count += 1
    draw = 0
    while count > 0:
        which = int(draws[draw % draws.size] * count)
        draw += 1
        attribute = ways[which]
        column = grid.codes[attribute, node[attribute] + 1]
        fits = lost_rows(grid, splits, here, column, scratch)[0] <= grid.limit
        if fits:
            refine(grid, splits, here, 1 - here, column, scratch)
            here = 1 - here
            node[attribute] += 1
        if not fits or node[attribute] == most[attribute]:
            count -= 1
            ways[count], ways[which] = ways[which], ways[count]


@compiled
def gained(grid: Grid, node: NDArray[np.int64]) -> int:
    """What the steps of a node gain."""
    gain = 0
    for attribute in range(node.size):
        gain += grid.gains[attribute, node[attribute]]
    return gain


@compiled
def _go_down_often(
    grid: Grid,
    most: NDArray[np.int64],
    draws: NDArray[np.float64],
    kicks: int,
    best: NDArray[np.int64],
    splits: Splits,
    scratch: Scratch,
) -> None:
    attributes = best.size
    ways = np.zeros(attributes, dtype=np.int64)
    now = best.copy()
    gain_now = gain_best = gained(grid, best)
    for each in range(draws.shape[0]):
        node = now.copy()
        # Mostly few attributes step back, now and then many.
        for change in range(1 + int(draws[each, 0] ** 2 * kicks)):
            attribute = int(draws[each, 2 * change + 1] * attributes)
            node[attribute] = int(draws[each, 2 * change + 2] * (node[attribute] + 1))
        _descend(grid, most, node, ways, draws[each, 2 * kicks + 1 :], splits, scratch)
        gain = gained(grid, node)
        if gain >= gain_now:
            now[:] = node
            gain_now = gain
        if gain > gain_best:
            gain_best = gain
            best[:] = node


def descended(
    grid: Grid,
    most: NDArray[np.int64],
    start: NDArray[np.int64],
    rounds: int,
    rng: np.random.Generator,
    scratch: Scratch,
) -> NDArray[np.int64]:
    """The best of the nodes, in steps down from the top, of *rounds* descents from *start*; none exceeds *most*."""
    best = np.array(start, dtype=np.int64)
    kicks, rows = max(_KICKS, len(best) // 4), grid.codes.shape[2]
    draws = rng.random((rounds, 2 * kicks + 1 + 2 * int(most.sum()) + 8))
    # Two depths by turns.
    splits = Splits.of(rows, 2, 2 * rows + 2)
    splits.row_at[1], splits.start_at[1] = rows, rows + 2
    _go_down_often(grid, most, draws, kicks, best, splits, scratch)
    return best
