"""Dominance: which points no other is as good as in all objectives and better than in one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled, inlined

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Ranks = NDArray[np.int64]


def dominates(costs: Floats, others: Floats) -> Booleans:
    """By row of *costs* and row of *others* whether the first dominates: as low in all objectives and lower in one.

    >>> dominates(np.array([[1.0, 3.0]]), np.array([[1.0, 4.0], [1.0, 3.0], [0.0, 9.0]])).tolist()
    [[True, False, False]]
    """
    ours = costs[:, np.newaxis]
    return np.asarray((ours <= others).all(axis=2) & (ours < others).any(axis=2))


@inlined
def nowhere_above(ones: NDArray[Any], one: int, others: NDArray[Any], other: int) -> bool:
    """Whether a row of *ones* exceeds a row of *others* in no column."""
    found = True
    for column in range(ones.shape[1]):
        if ones[one, column] > others[other, column]:
            found = False
            break
    return found


def non_dominated(costs: Floats) -> Booleans:
    """Which rows of *costs* no other row dominates.

    Rows that are equal dominate neither each other: all of them stay, or none.

    >>> non_dominated(np.array([[1.0, 3.0], [2.0, 2.0], [2.0, 3.0], [2.0, 2.0]])).tolist()
    [True, True, False, True]
    """
    costs = np.asarray(costs, dtype=np.float64)
    if not len(costs):
        return np.zeros(0, dtype=np.bool_)
    order = np.lexsort(costs.T[::-1])
    sorted_costs = costs[order]
    first = np.ones(len(costs), dtype=np.bool_)
    first[1:] = (sorted_costs[1:] != sorted_costs[:-1]).any(axis=1)
    distinct = sorted_costs[first]
    # In this order a row can be dominated by earlier rows alone, and their first objective need not be looked at.
    ranks = [np.unique(column, return_inverse=True)[1].reshape(-1).astype(np.int64) for column in distinct.T[1:]]
    if len(ranks) <= _MERGED:
        none = np.zeros(len(distinct), dtype=np.int64)
        stays = _merge(*[none] * (_MERGED - len(ranks)), *ranks)
    else:
        stays = _filter(np.stack(ranks, axis=1))
    found = np.empty(len(costs), dtype=np.bool_)
    found[order] = stays[np.cumsum(first) - 1]
    return found


#: So many objectives beside the first are merged; of more each row is held against those that stayed.
_MERGED = 3


@inlined
def _enter(tree: Ranks, place: int, number: int) -> None:
    """Put a *number* into a Fenwick tree of the least numbers up to each place."""
    place += 1
    while place < len(tree):
        tree[place] = min(tree[place], number)
        place += place & -place


@inlined
def _is_matched(tree: Ranks, place: int, number: int) -> bool:
    """Whether a number up to *number* was put in at a place up to *place*."""
    place += 1
    while place > 0 and tree[place] > number:
        place -= place & -place
    return place > 0


@compiled
def _merge(second: Ranks, third: Ranks, fourth: Ranks) -> Booleans:
    """Which points no earlier one matches or undercuts in all three ranks: divide and conquer (Kung and others 1975).

    Neighbouring blocks, each in the order of the second rank, are merged: in that order points of the earlier block
    enter the tree, and those of the later one are held against it. What goes is not looked at again: what it dominates
    is dominated by what dominates it, too.
    """
    number = len(second)
    stays = np.ones(number, dtype=np.bool_)
    tree = np.full(number + 1, number)
    order, merged = np.arange(number), np.empty(number, dtype=np.int64)
    starts, blocks = np.arange(number + 1), number
    while blocks > 1:
        written = 0
        for block in range(0, blocks, 2):
            low, middle, high = starts[block], starts[block + 1], starts[min(block + 2, blocks)]
            starts[block // 2] = written
            early = low
            for late in range(middle, high):
                point = order[late]
                while early < middle and second[order[early]] <= second[point]:
                    _enter(tree, third[order[early]], fourth[order[early]])
                    merged[written] = order[early]
                    written, early = written + 1, early + 1
                if _is_matched(tree, third[point], fourth[point]):
                    stays[point] = False
                else:
                    merged[written] = point
                    written += 1
            for place in range(low, early):
                # The tree is emptied by the paths that were written.
                node = third[order[place]] + 1
                while node <= number:
                    tree[node] = number
                    node += node & -node
            for place in range(early, middle):
                merged[written] = order[place]
                written += 1
        blocks = (blocks + 1) // 2
        starts[blocks] = written
        order, merged = merged, order
    return stays


@compiled
def _filter(ranks: Ranks) -> Booleans:
    """Which points no earlier one matches or undercuts in all ranks: each is held against those that stayed."""
    points = len(ranks)
    stays = np.ones(points, dtype=np.bool_)
    kept = np.empty(points, dtype=np.int64)
    count = 0
    for point in range(points):
        for place in range(count):
            other = kept[place]
            if nowhere_above(ranks, other, ranks, point):
                stays[point] = False
                # What dominated once is likely to dominate again: look at it earlier next time.
                ahead = place // 2
                kept[place], kept[ahead] = kept[ahead], other
                break
        if stays[point]:
            kept[count] = point
            count += 1
    return stays
