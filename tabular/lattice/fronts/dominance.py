"""Dominance: which points no other is as good as in all objectives and better than in one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled, inlined

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


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
    found = np.empty(len(costs), dtype=np.bool_)
    found[order] = _filter(np.ascontiguousarray(distinct[:, 1:]))[np.cumsum(first) - 1]
    return found


@compiled
def _filter(costs: Floats) -> Booleans:
    """Which points no earlier one matches or undercuts in all *costs*: each is held against those that stayed."""
    points = len(costs)
    stays = np.ones(points, dtype=np.bool_)
    kept = np.empty(points, dtype=np.int64)
    count = 0
    for point in range(points):
        for place in range(count):
            other = kept[place]
            if nowhere_above(costs, other, costs, point):
                stays[point] = False
                # What dominated once is likely to dominate again: look at it earlier next time.
                ahead = place // 2
                kept[place], kept[ahead] = kept[ahead], other
                break
        if stays[point]:
            kept[count] = point
            count += 1
    return stays
