"""Good nodes quickly: go down wherever the limits allow, step back at some attributes, go down anew."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled
from tabular.lattice.optimal.class_splits import LOST, Grid, Scratch, lost_rows, refine

#: Attributes that step back before a descent, at most; of many attributes a quarter.
_KICKS = 5


@compiled
def _descend(
    grid: Grid,
    most: NDArray[np.int64],
    node: NDArray[np.int64],
    ways: NDArray[np.int64],
    draws: NDArray[np.float64],
    rows: NDArray[np.uint32],
    weights: NDArray[np.int32],
    starts: NDArray[np.int32],
    scratch: Scratch,
) -> None:
    # Split by what the node has, then go down one attribute at a time, drawn at random, while the limits are kept.
    attributes, size = node.size, grid.codes.shape[2]
    for row in range(size):
        rows[0, row], weights[0, row] = row, 1
    starts[0, 0], starts[0, 1] = 0, size
    classes, lost, here = 1, 0, 0
    for attribute in range(attributes):
        if node[attribute] > 0:
            column = grid.codes[attribute, node[attribute]]
            classes = refine(
                grid,
                rows[here],
                weights[here],
                starts[here],
                classes,
                column,
                lost,
                rows[1 - here],
                weights[1 - here],
                starts[1 - here],
                scratch,
            )
            lost, here = scratch.told[LOST], 1 - here
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
        fits = lost_rows(grid, rows[here], weights[here], starts[here], classes, column, lost, scratch) <= grid.limit
        if fits:
            classes = refine(
                grid,
                rows[here],
                weights[here],
                starts[here],
                classes,
                column,
                lost,
                rows[1 - here],
                weights[1 - here],
                starts[1 - here],
                scratch,
            )
            lost, here = scratch.told[LOST], 1 - here
            node[attribute] += 1
        if not fits or node[attribute] == most[attribute]:
            count -= 1
            ways[count], ways[which] = ways[which], ways[count]


@compiled
def _rounds(
    grid: Grid,
    most: NDArray[np.int64],
    draws: NDArray[np.float64],
    kicks: int,
    best: NDArray[np.int64],
    scratch: Scratch,
) -> int:
    attributes, size = best.size, grid.codes.shape[2]
    rows, weights = np.zeros((2, size), dtype=np.uint32), np.zeros((2, size), dtype=np.int32)
    starts = np.zeros((2, size + 2), dtype=np.int32)
    ways = np.zeros(attributes, dtype=np.int64)
    now = best.copy()
    gain_now = gain_best = 0
    for attribute in range(attributes):
        gain_best += grid.gains[attribute, best[attribute]]
    gain_now = gain_best
    for each in range(draws.shape[0]):
        node = now.copy()
        # Mostly few attributes step back, now and then many.
        for change in range(1 + int(draws[each, 0] ** 2 * kicks)):
            attribute = int(draws[each, 2 * change + 1] * attributes)
            node[attribute] = int(draws[each, 2 * change + 2] * (node[attribute] + 1))
        _descend(grid, most, node, ways, draws[each, 2 * kicks + 1 :], rows, weights, starts, scratch)
        gain = 0
        for attribute in range(attributes):
            gain += grid.gains[attribute, node[attribute]]
        if gain >= gain_now:
            now[:] = node
            gain_now = gain
        if gain > gain_best:
            gain_best = gain
            best[:] = node
    return gain_best


def descended(
    grid: Grid,
    most: NDArray[np.int64],
    start: NDArray[np.int64],
    rounds: int,
    rng: np.random.Generator,
    scratch: Scratch,
) -> NDArray[np.int64]:
    """The best of the nodes, in steps down from the top, of *rounds* descents from *start*; none exceeds *most*."""
    best = np.ascontiguousarray(start, dtype=np.int64)
    kicks = max(_KICKS, len(best) // 4)
    draws = rng.random((rounds, 2 * kicks + 1 + 2 * int(most.sum()) + 8))
    _rounds(grid, most, draws, kicks, best, scratch)
    return best
