"""An archive of bounded size that keeps representatives of what was found so far (Dewri and others 2010)."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np

from tabular.kernels import compiled
from tabular.lattice.fronts.dominance import Booleans, Floats, dominates, nowhere_above
from tabular.lattice.fronts.front import boxes

T = TypeVar("T")


class Archive(Generic[T]):
    """Keeps of what it is offered the non-dominated boxes, one member in each (Algorithm 1).

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

    def bars(self, values: Floats) -> Booleans:
        """Which of *values* could not enter now, nor could anything that is in no objective better than they are."""
        return _barred(np.ascontiguousarray(values), boxes(values, self.epsilon), self.values, self.boxes)


@compiled
def _barred(values: Floats, theirs: Floats, members: Floats, occupied: Floats) -> Booleans:
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
