"""Groups of k to 2k - 1 records that lose no more than groups of k.

Records are put in a row, group after neighbouring group, and the row is cut where that loses least: the best cut of a
row is found exactly by dynamic programming (Hansen and Mukherjee 2003; for several columns Domingo-Ferrer et al.
2006). The given groups are one of the cuts looked at, so the result never loses more than they do. Of one ordered
column the sorted row holds the best groups there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.grouping.points import MEAN, MEDIAN, Points
from tabular.grouping.record_blocks import NEAREST, RecordBlocks, find, take
from tabular.kernels import compiled


def with_varied_sizes(points: Points, groups: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Groups of *k* to 2k - 1 records that lose no more than *groups*, which have as many."""
    if points.values.shape[1] == 1 and points.ordered:
        order = np.lexsort((np.arange(len(groups)), points.values[:, 0]))
    else:
        order = _in_a_row(points, groups)
    cuts = _best_cuts(points, order, k, _Kept.of(points))
    varied = np.empty_like(groups)
    varied[order] = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
    return varied if loss_of(points, varied) < loss_of(points, groups) else groups


def loss_of(points: Points, groups: NDArray[np.int64]) -> float:
    """The squared distances of all records to the middles of their groups, summed; of numbers alone this is the SSE."""
    order = np.argsort(groups, kind="stable")
    cuts = np.append(0, np.cumsum(np.bincount(groups)))
    return float(_loss(points, order, cuts, _Kept.of(points)))


class _Kept(NamedTuple):
    """The state of a growing group for each coordinate, which gives its loss after every record.

    Of means the mean and the sum of squares around it; of medians the sums of the codes and of their squares, and a
    code `at` with the records `below` it; of modes the highest count. The counts of a coordinate stand from
    `offsets[c]`.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    at: NDArray[np.int64]
    below: NDArray[np.int64]
    counts: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, points: Points) -> _Kept:
        width = len(points.sizes)
        return cls(
            first=np.zeros(width),
            second=np.zeros(width),
            at=np.zeros(width, dtype=np.int64),
            below=np.zeros(width, dtype=np.int64),
            counts=np.zeros(int(points.sizes.sum()), dtype=np.int64),
            offsets=np.cumsum(points.sizes) - points.sizes,
        )


@compiled
def _begin(points: Points, order: NDArray[np.int64], start: int, end: int, kept: _Kept) -> None:
    """Forget the records from *start* to *end* of the row."""
    kept.first[:] = 0.0
    kept.second[:] = 0.0
    kept.at[:] = 0
    kept.below[:] = 0
    for column in range(len(points.sizes)):
        if points.sizes[column]:
            for place in range(start, end):
                kept.counts[kept.offsets[column] + np.int64(points.values[order[place], column])] = 0


@compiled
def _enter(points: Points, row: int, held: int, kept: _Kept) -> float:
    """Add a record, the *held*-th; the loss of the group with it."""
    loss = 0.0
    for column in range(len(points.sizes)):
        value, part = points.values[row, column], 0.0
        if points.middles[column] == MEAN:
            step = value - kept.first[column]
            kept.first[column] += step / held
            kept.second[column] += step * (value - kept.first[column])
            part = kept.second[column]
        else:
            offset, code = kept.offsets[column], np.int64(value)
            kept.counts[offset + code] += 1
            if points.middles[column] == MEDIAN:
                kept.first[column] += value
                kept.second[column] += value * value
                at, below, rank = kept.at[column], kept.below[column], (held - 1) // 2
                below += code < at
                while below > rank:
                    at -= 1
                    below -= kept.counts[offset + at]
                while below + kept.counts[offset + at] <= rank:
                    below += kept.counts[offset + at]
                    at += 1
                kept.at[column], kept.below[column] = at, below
                part = kept.second[column] - 2.0 * at * kept.first[column] + held * np.float64(at) * at
            else:
                kept.first[column] = max(kept.first[column], kept.counts[offset + code])
                part = held - kept.first[column]
        loss += points.weights[column] * part
    return loss


@compiled
def _loss(points: Points, order: NDArray[np.int64], cuts: NDArray[np.int64], kept: _Kept) -> float:
    total = 0.0
    for group in range(len(cuts) - 1):
        loss = 0.0
        for place in range(cuts[group], cuts[group + 1]):
            loss = _enter(points, order[place], place - cuts[group] + 1, kept)
        total += loss
        _begin(points, order, cuts[group], cuts[group + 1], kept)
    return total


@compiled
def _best_cuts(points: Points, order: NDArray[np.int64], k: int, kept: _Kept) -> NDArray[np.int64]:
    """The cuts of the row into pieces of *k* to 2k - 1 that lose least; of equal ones the first found."""
    count = len(order)
    least, before = np.full(count + 1, np.inf), np.zeros(count + 1, dtype=np.int64)
    least[0] = 0.0
    for start in range(count):
        if least[start] == np.inf:
            continue
        end = min(start + 2 * k - 1, count)
        for place in range(start, end):
            loss = least[start] + _enter(points, order[place], place - start + 1, kept)
            rest = count - place - 1
            # The rest must be long enough for a group.
            if place - start + 1 >= k and (rest == 0 or rest >= k) and loss < least[place + 1]:
                least[place + 1], before[place + 1] = loss, start
        _begin(points, order, start, end, kept)
    pieces, place = 0, count
    while place:
        place = before[place]
        pieces += 1
    cuts = np.empty(pieces + 1, dtype=np.int64)
    place = count
    for piece in range(pieces, -1, -1):
        cuts[piece] = place
        place = before[place]
    return cuts


def _in_a_row(points: Points, groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """The records group after group, from the first group always to the nearest one left.

    Within a group those come first that are nearer to the group before than to the one after.
    """
    order = np.argsort(groups, kind="stable")
    starts = np.cumsum(np.bincount(groups)) - np.bincount(groups)
    middles = np.empty((len(starts), points.values.shape[1]))
    for column in range(middles.shape[1]):
        if points.middles[column] == MEAN:
            middles[:, column] = np.add.reduceat(points.values[order, column], starts) / np.bincount(groups)
        else:
            # The lower median, also of nominal codes: precise enough for a path from group to group.
            held = order[np.lexsort((points.values[order, column], groups[order]))]
            middles[:, column] = points.values[held[starts + (np.bincount(groups) - 1) // 2], column]
    way = _way(RecordBlocks.of(points._replace(values=middles)), middles)
    places = np.argsort(way)[groups]
    neighbours = [way[np.clip(places + step, 0, len(way) - 1)] for step in (-1, 1)]
    before, after = (_squared(points, middles[each]) for each in neighbours)
    return np.lexsort((np.arange(len(groups)), before - after, places))


def _squared(points: Points, targets: NDArray[np.float64]) -> NDArray[np.float64]:
    apart = (points.values - targets) ** 2
    apart[:, points.ordered :] = apart[:, points.ordered :] > 0
    return np.asarray(apart @ points.weights)


@compiled
def _way(blocks: RecordBlocks, middles: NDArray[np.float64]) -> NDArray[np.int64]:
    """The path from the first point always to the nearest one left."""
    way, keys = np.zeros(len(middles), dtype=np.int64), np.empty(1)
    take(blocks, 0)
    for step in range(1, len(middles)):
        find(blocks, middles[way[step - 1]], NEAREST, way[step : step + 1], keys)
        take(blocks, way[step])
    return way
