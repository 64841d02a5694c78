"""What no other dominates: the front of several objectives, its boxes, and how near another front comes to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidParameter
from tabular.kernels import compiled, inlined

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Ranks = NDArray[np.int64]

#: The side of a box of an objective that is a share, where none is given.
_OF_SHARES = 1e-6

#: So many members of an archive are held against the front at once.
_AT_ONCE = 256


def non_dominated(costs: Floats) -> Booleans:
    """Which rows of *costs* no other row dominates: none is as low in all objectives and lower in one.

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
    objectives = distinct.shape[1]
    stays = np.arange(len(distinct)) == 0
    if objectives == 2:
        stays[1:] = distinct[1:, 1] < np.minimum.accumulate(distinct[:-1, 1])
    elif objectives > 2:
        ranks = [np.unique(column, return_inverse=True)[1].reshape(-1).astype(np.int64) for column in distinct.T[1:]]
        if objectives == 3:
            stays = _sweep(*ranks)
        elif objectives == 4:
            stays = _merge(*ranks)
        else:
            stays = _filter(np.stack(ranks, axis=1))
    found = np.empty(len(costs), dtype=np.bool_)
    found[order] = stays[np.cumsum(first) - 1]
    return found


def checked_epsilon(epsilon: object, objectives: Sequence[str]) -> Floats:
    """The sides of a box, one for each of the *objectives*: numbers above 0, or text as in `5,100`.

    If None they are 1; but of precision, all of which lies from 0 to 1, a millionth.

    >>> checked_epsilon("5, 100", ("k", "glm")).tolist(), checked_epsilon(None, ("k", "glm")).tolist()
    ([5.0, 100.0], [1.0, 1.0])
    """
    if epsilon is None:
        return np.array([_OF_SHARES if name == "precision" else 1.0 for name in objectives])
    parts = epsilon.split(",") if isinstance(epsilon, str) else epsilon
    try:
        sides = [float(part) for part in parts]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise InvalidParameter(f"epsilon must be numbers, as in '5,100', not {epsilon!r}.") from None
    names = ",".join(objectives)
    if len(sides) != len(objectives):
        raise InvalidParameter(f"epsilon must be one number for each of {names}; there are {len(sides)}: {epsilon!r}.")
    for name, side in zip(objectives, sides, strict=True):
        if not (isfinite(side) and side > 0):
            raise InvalidParameter(f"epsilon of {name} must be above 0 and finite, not {side:g}.")
    return np.array(sides)


def boxes(values: Floats, epsilon: Floats) -> Floats:
    """The box of each row of *values*, more being better: losses are negative, and so are their boxes.

    >>> boxes(np.array([[7.0, -250.0]]), np.array([5.0, 100.0])).tolist()
    [[1.0, -3.0]]
    """
    return np.floor(np.asarray(values, dtype=np.float64) / epsilon)


def representation_ratio(exact: Floats, found: Floats, epsilon: Floats) -> float:
    """RR: of the boxes of the *exact* front that no other of its boxes dominates, the share that *found* occupies.

    Both are values, more being better (Dewri and others 2010, section 7).
    """
    marked = boxes(exact, epsilon)
    marked = np.unique(marked[non_dominated(-marked)], axis=0)
    occupied = {row.tobytes() for row in boxes(found, epsilon) + 0.0}
    # Added to 0, a negative zero has the bytes of the other one.
    return sum(row.tobytes() in occupied for row in marked + 0.0) / len(marked)


@dataclass(frozen=True)
class ConvergenceError:
    """CE of an archive: how far its members are from the nearest of the exact front, together and on average."""

    total: float
    mean: float


def convergence_error(exact: Floats, found: Floats) -> ConvergenceError:
    """How far *found* is from the *exact* front, each objective divided by its largest absolute value there.

    The formula of Dewri and others (2010, section 7) is a sum over the archive; what they print has the size of a mean.
    """
    scale = np.abs(exact).max(axis=0)
    scale[scale == 0] = 1
    nearest = np.empty(len(found))
    for place in range(0, len(found), _AT_ONCE):
        some = slice(place, place + _AT_ONCE)
        gaps = (exact / scale)[np.newaxis] - (found[some] / scale)[:, np.newaxis]
        nearest[some] = np.sqrt((gaps**2).sum(axis=2)).min(axis=1)
    return ConvergenceError(float(nearest.sum()), float(nearest.mean()))


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
def _sweep(second: Ranks, third: Ranks) -> Booleans:
    """Which points no earlier one matches or undercuts in both ranks."""
    stays = np.ones(len(second), dtype=np.bool_)
    tree = np.full(len(second) + 1, len(second))
    for point in range(len(second)):
        if _is_matched(tree, second[point], third[point]):
            stays[point] = False
        else:
            _enter(tree, second[point], third[point])
    return stays


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
    points, objectives = ranks.shape
    stays = np.ones(points, dtype=np.bool_)
    kept = np.empty(points, dtype=np.int64)
    count = 0
    for point in range(points):
        for place in range(count):
            other = kept[place]
            lower = True
            for objective in range(objectives):
                if ranks[other, objective] > ranks[point, objective]:
                    lower = False
                    break
            if lower:
                stays[point] = False
                # What dominated once is likely to dominate again: look at it earlier next time.
                ahead = place // 2
                kept[place], kept[ahead] = kept[ahead], other
                break
        if stays[point]:
            kept[count] = point
            count += 1
    return stays
