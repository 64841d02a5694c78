"""The front of several objectives: what no other dominates, its boxes, an archive of it, and how near another comes.

Nothing is added up in kernels here: costs are compared, which are exact floats up to 2^53. For those that can be larger
`Readings.places` stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidParameter, named
from tabular.kernels import compiled, inlined
from tabular.lattice.space import Flags, Floats

#: The side of a box of an objective that is a share, where none is given.
_OF_SHARES = 1e-6

#: So many members of an archive are held against the front at once.
_AT_ONCE = 256

T = TypeVar("T")


def dominates(costs: Floats, others: Floats) -> Flags:
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


def non_dominated(costs: Floats) -> Flags:
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
def _filter(costs: Floats) -> Flags:
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
        raise InvalidParameter.wrong("epsilon", must="be numbers, as in '5,100'", was=epsilon) from None
    names = ",".join(objectives)
    if len(sides) != len(objectives):
        raise InvalidParameter.wrong("epsilon", must=f"be one number for each of {names}", was=epsilon)
    for name, side in zip(objectives, sides, strict=True):
        if not (isfinite(side) and side > 0):
            raise InvalidParameter(f"{named('epsilon')} of {name} must be above 0 and finite, not {side:g}.")
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


def convergence_error(exact: Floats, found: Floats) -> tuple[float, float]:
    """CE: how far the members of *found* are from the nearest of the *exact* front, together and on average.

    Each objective is divided by its largest absolute value there. The formula of Dewri and others (2010, section 7) is
    a sum over the archive; what they print has the size of a mean.
    """
    scale = np.abs(exact).max(axis=0)
    scale[scale == 0] = 1
    nearest = np.empty(len(found))
    for place in range(0, len(found), _AT_ONCE):
        some = slice(place, place + _AT_ONCE)
        gaps = (exact / scale)[np.newaxis] - (found[some] / scale)[:, np.newaxis]
        nearest[some] = np.sqrt((gaps**2).sum(axis=2)).min(axis=1)
    return float(nearest.sum()), float(nearest.mean())


class Archive(Generic[T]):
    """Keeps of what it is offered the non-dominated boxes, one member in each (Dewri and others 2010, Algorithm 1).

    A box dominates another as values do; between two of one box their values decide. Two theorems hold at any time:

    1. No member is dominated by anything that was offered: what dominates by values has the same box or a dominating
       one, for rounding down keeps an order.
    2. No two members agree in the boxes of all objectives but one, for one of the two would dominate. So there are at
       most as many members as ways to choose these: the product, over any r - 1 of the r objectives, of the boxes from
       the least to the greatest value offered, floor(greatest / side) - floor(least / side) + 1 each. The paper counts
       the greatest over the side, of values above 0; losses are below, and a value on the edge opens one box more.
    """

    def __init__(self, epsilon: Floats) -> None:
        """The sides of a box are *epsilon*, one for each objective."""
        self.epsilon = epsilon
        self.items: list[T] = []
        self.values = np.zeros((0, len(epsilon)))
        self.boxes = np.zeros((0, len(epsilon)))

    def __len__(self) -> int:
        return len(self.items)

    def offer(self, value: Floats, item: T) -> bool:
        """Take *item* in if its *value*, more being better, is not dominated and its box is free; say whether it is.

        What it dominates goes.
        """
        box = boxes(value, self.epsilon)
        same = (self.boxes == box).all(axis=1)
        better = dominates(-value[np.newaxis], -self.values)[0]
        goes = np.where(same, better, (box >= self.boxes).all(axis=1))
        # What is left in the same box bars it, whether or not it dominates.
        enters = not ((self.boxes >= box).all(axis=1) & ~goes).any()
        if goes.any() or enters:
            kept = np.flatnonzero(~goes)
            self.items = [self.items[place] for place in kept.tolist()]
            self.values, self.boxes = self.values[kept], self.boxes[kept]
        if enters:
            self.items.append(item)
            self.values = np.vstack([self.values, value])
            self.boxes = np.vstack([self.boxes, box])
        return enters

    def bars(self, values: Floats) -> Flags:
        """Which of *values* could not enter now, nor could anything that is in no objective better than they are."""
        return _barred(np.ascontiguousarray(values), boxes(values, self.epsilon), self.values, self.boxes)


@compiled
def _barred(values: Floats, theirs: Floats, members: Floats, occupied: Floats) -> Flags:
    found = np.zeros(len(values), dtype=np.bool_)
    for place in range(len(values)):
        for member in range(len(members)):
            if nowhere_above(theirs, place, occupied, member):
                in_box = nowhere_above(occupied, member, theirs, place)
                no_worse = nowhere_above(members, member, values, place)
                if not (in_box and no_worse and not nowhere_above(values, place, members, member)):
                    found[place] = True
                    break
    return found
