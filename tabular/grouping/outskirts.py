"""The points farthest from a place, which hold the point farthest from any other place near by.

Among points that are left of a ball nearly all blocks of neighbours lie about as far from its middle as the farthest
point does, so that bounds of boxes help little. But the middle hardly moves: by the triangle inequality no point's
distance from it changes by more than it moved. So what is farthest is sought among the points in the order of their
distances from where the middle was, until no other can be as far.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.grouping.points import Points
from tabular.kernels import compiled

#: One in so many points is among the farthest that are kept, but these at least.
SHARE, LEAST = 16, 256

#: Far more than the rounding of distances, as a share of them.
ROUNDING = 1e-9


class Outskirts(NamedTuple):
    """The *rows* and *values* of the points farthest from *place*, the farthest first, and how far that is.

    No other point is farther than *within*. `begin[0]` is the first one that may not be taken yet.
    """

    place: NDArray[np.float64]
    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    reach: NDArray[np.float64]
    within: float
    begin: NDArray[np.int64]

    @classmethod
    def of(cls, points: Points, rows: NDArray[np.int64], place: NDArray[np.float64]) -> Outskirts:
        """The outskirts of the points in *rows*, seen from *place*."""
        apart = points.values[rows] - place
        apart[:, points.ordered :] = apart[:, points.ordered :] != 0
        reach = np.sqrt((apart * apart) @ points.weights)
        kept, within = np.arange(len(rows)), -np.inf
        count = max(len(rows) // SHARE, LEAST)
        if count < len(rows):
            kept = np.argpartition(-reach, count)
            within, kept = float(reach[kept[count]]), kept[:count]
        kept = kept[np.lexsort((kept, -reach[kept]))]
        return cls(
            place=place.copy(),
            rows=rows[kept],
            values=points.values[rows[kept]],
            reach=reach[kept],
            within=within,
            begin=np.zeros(1, dtype=np.int64),
        )


@compiled
def farthest_outside(
    outer: Outskirts, weights: NDArray[np.float64], ordered: int, target: NDArray[np.float64], taken: NDArray[np.int64]
) -> tuple[int, int]:
    """The row that is farthest from *target*, the lowest of equals, and how many points were looked at.

    -1 if it may lie elsewhere. Where *taken* is not negative the point is gone.
    """
    moved = 0.0
    for column in range(len(target)):
        apart = target[column] - outer.place[column]
        apart = apart if column < ordered else np.float64(apart != 0.0)
        moved += weights[column] * (apart * apart)
    moved = np.sqrt(moved)
    best, row, looks = -1.0, -1, 0
    begin = outer.begin[0]
    while begin < len(outer.rows) and taken[outer.rows[begin]] >= 0:
        begin += 1
    outer.begin[0] = begin
    for place in range(begin, len(outer.rows)):
        looks += 1
        if (outer.reach[place] + moved) * (1.0 + ROUNDING) < np.sqrt(max(best, 0.0)):
            return row, looks
        if taken[outer.rows[place]] >= 0:
            continue
        distance = 0.0
        for column in range(len(target)):
            apart = outer.values[place, column] - target[column]
            apart = apart if column < ordered else np.float64(apart != 0.0)
            distance += weights[column] * (apart * apart)
        if distance > best or (distance == best and outer.rows[place] < row):
            best, row = distance, int(outer.rows[place])
    if best < 0.0 or (outer.within + moved) * (1.0 + ROUNDING) >= np.sqrt(best):
        row = -1
    return row, looks
