"""The originals that cost a masked combination least, found in the tree of their prefixes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import lean
from tabular.measures.contract import Pairs
from tabular.measures.linkage.nearest import Labels, PrefixTree

#: Dearer than anything; costs and prices stay below 2**54, so that a rank fits beside them.
FAR = 1 << 54

#: Bits of the rank that orders originals of equal cost: one for those that are used up, the others at random.
RANK = 8

#: So many originals are listed for each masked combination, and so many are looked at together.
LISTED, ROOM = 64, 256


class Space(NamedTuple):
    """Both files and what a link between them costs: a sum over the attributes, which agree or differ.

    The attributes stand in the order in which the tree has them, the originals in the order of the tree: its row r is
    the original at `rows[r]`.
    """

    tree: PrefixTree
    rows: NDArray[np.int64]
    masked: NDArray[np.int32]
    labels: Labels
    agreeing: NDArray[np.int64]
    differing: NDArray[np.int64]


class Walk(NamedTuple):
    """A walk through the tree: the cost of each value against the labels *held*, the cost of each prefix, and what was
    found: originals, their costs, the keys that rank them. `visited` counts the rows seen."""

    costs: NDArray[np.int64]
    held: NDArray[np.int64]
    prefix: NDArray[np.int64]
    originals: NDArray[np.int64]
    found: NDArray[np.int64]
    keys: NDArray[np.int64]
    sorted: NDArray[np.int64]
    visited: NDArray[np.int64]


class Lists(NamedTuple):
    """The cheapest originals of each masked combination, and their costs; -1 of `sizes` is not listed yet.

    All others cost `beyond` or more, their price included, whatever prices rise later.
    """

    originals: NDArray[np.int32]
    costs: NDArray[np.int64]
    sizes: NDArray[np.int64]
    beyond: NDArray[np.int64]


def space_of(pairs: Pairs, labels: Labels, gains: NDArray[np.int64], shares: NDArray[np.float64]) -> Space:
    """The space of two files by the *gains* of agreement; attributes that rule out most, by *shares*, come first."""
    order = np.argsort(-np.abs(gains) * (1 - shares), kind="stable")
    codes = pairs.original.codes[:, order]
    rows = np.lexsort(codes.T[::-1])
    tree = PrefixTree.of(np.ascontiguousarray(codes[rows]), pairs.original.counts[rows])
    ordered = labels._replace(firsts=labels.firsts[order], sizes=labels.sizes[order])
    masked = np.ascontiguousarray(pairs.masked.codes[:, order])
    return Space(tree, rows, masked, ordered, np.maximum(-gains, 0)[order], np.maximum(gains, 0)[order])


def walk_of(space: Space) -> Walk:
    """A walk that has seen nothing."""
    attributes = len(space.differing)
    costs = np.repeat(space.differing[:, None], max(int(space.labels.sizes.max()), 1), axis=1)
    held = np.full(attributes, -1, dtype=np.int64)
    return Walk(costs, held, *(np.zeros(size, dtype=np.int64) for size in (attributes + 1, ROOM, ROOM, ROOM, ROOM, 1)))


def lists_of(space: Space) -> Lists:
    """Lists for all masked combinations, still empty."""
    masked, length = len(space.masked), min(LISTED, len(space.tree.codes))
    shape = (masked, length)
    return Lists(
        np.zeros(shape, dtype=np.int32),
        np.zeros(shape, dtype=np.int64),
        np.full(masked, -1, dtype=np.int64),
        np.zeros(masked, dtype=np.int64),
    )


@lean
def hold(space: Space, walk: Walk, result: int) -> None:
    """Set the costs of all values to those against masked combination *result*."""
    for column in range(len(walk.held)):
        place = space.labels.firsts[column] + space.masked[result, column]
        if walk.held[column] != place:
            if walk.held[column] >= 0:
                _mark(space, walk, column, walk.held[column], space.differing[column])
            _mark(space, walk, column, place, space.agreeing[column])
            walk.held[column] = place


@lean
def _mark(space: Space, walk: Walk, column: int, place: int, cost: int) -> None:
    """Write the cost of the values that agree with a label."""
    first, end = space.labels.starts[place], space.labels.starts[place + 1]
    for member in range(first, end):
        walk.costs[column, space.labels.members[member]] = cost
    if first == end:
        for value in range(space.labels.lows[place], space.labels.highs[place]):
            walk.costs[column, value] = cost


@lean
def collect(space: Space, walk: Walk, prices: NDArray[np.int64], row: int, found: int, limit: int) -> tuple[int, int]:
    """Find, from a *row* of the tree on, originals that with their price cost at most *limit*, until there is no room.

    The row to go on from, and how many are *found* now. No price is negative, so a prefix over the limit ends a branch.
    """
    rows, columns = space.tree.codes.shape
    visited = 0
    while row < rows and found < len(walk.originals):
        visited += 1
        column = space.tree.depth[row]
        while column < columns:
            walk.prefix[column + 1] = walk.prefix[column] + walk.costs[column, space.tree.codes[row, column]]
            if walk.prefix[column + 1] > limit:
                break
            column += 1
        if column < columns:
            row = space.tree.past[row, column]
            continue
        if walk.prefix[columns] + prices[row] <= limit:
            walk.originals[found], walk.found[found] = row, walk.prefix[columns]
            found += 1
        row += 1
    walk.visited[0] += visited
    return row, found


@lean
def list_cheapest(
    space: Space, walk: Walk, lists: Lists, prices: NDArray[np.int64], supply: NDArray[np.int64], result: int
) -> None:
    """List the originals that cost masked combination *result* least; of equal ones first those with supply left."""
    hold(space, walk, result)
    row, found, limit = 0, 0, FAR
    while row < len(prices):
        row, found = collect(space, walk, prices, row, found, limit)
        if found == len(walk.originals) or row == len(prices):
            found, limit = _keep_cheapest(walk, prices, supply, result, found, limit, lists.costs.shape[1])
    for place in range(found):
        lists.originals[result, place], lists.costs[result, place] = walk.originals[place], walk.found[place]
    lists.sizes[result], lists.beyond[result] = found, limit


@lean
def _keep_cheapest(
    walk: Walk, prices: NDArray[np.int64], supply: NDArray[np.int64], result: int, found: int, limit: int, length: int
) -> tuple[int, int]:
    """Keep at most *length* of those found; how many were kept, and what all others cost at least."""
    if found <= length:
        return found, limit
    for place in range(found):
        original = walk.originals[place]
        used = np.int64(supply[original] == 0) << (RANK - 1)
        walk.keys[place] = (walk.found[place] + prices[original]) << RANK | used | _rank(original, result)
        walk.sorted[place] = walk.keys[place]
    end = _smallest(walk.sorted, found, length)
    kept = 0
    for place in range(found):
        if walk.keys[place] < end:
            walk.originals[kept], walk.found[kept] = walk.originals[place], walk.found[place]
            kept += 1
    return kept, end >> RANK


@lean
def _rank(original: int, result: int) -> int:
    """A number that looks drawn at random, another for each pair."""
    mixed = np.uint64(original) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(result) * np.uint64(0xD1B54A32D192ED03)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x94D049BB133111EB)
    return int(np.int64(mixed >> np.uint64(64 - RANK + 1)))


@lean
def _smallest(values: NDArray[np.int64], count: int, place: int) -> int:
    """The value that would stand at *place* if the first *count* values were sorted (quickselect)."""
    low, high = 0, count - 1
    while low < high:
        pivot, left, right = values[(low + high) >> 1], low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left, right = left + 1, right - 1
        if place <= right:
            high = right
        elif place >= left:
            low = left
        else:
            break
    return int(values[place])
