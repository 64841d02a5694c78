"""The originals nearest to each masked record, found over the distinct combinations of both files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled
from tabular.measures.comparison import Column, Pairs

#: Distances that differ by less are equal: sums of fractions with denominators up to the sizes of the domains.
TOLERANCE = 1e-9


class Tree(NamedTuple):
    """Sorted combinations as a tree of their common beginnings.

    `depth[i]` is the first column in which row i differs from the row before; `past[i, a]` is the next row that
    differs from row i in one of the columns up to a.
    """

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    depth: NDArray[np.int64]
    past: NDArray[np.int64]

    @classmethod
    def of(cls, codes: NDArray[np.int32], counts: NDArray[np.int64]) -> Tree:
        """The tree of combinations that stand in the order of their codes."""
        rows, columns = codes.shape
        differs = np.ones((rows + 1, columns), dtype=bool)
        differs[1:-1] = codes[1:] != codes[:-1]
        changed = np.maximum.accumulate(differs, axis=1)
        starts = np.where(changed[1:], np.arange(1, rows + 1)[:, None], rows)
        past = np.minimum.accumulate(starts[::-1], axis=0)[::-1]
        return cls(codes, counts, np.argmax(changed[:-1], axis=1), np.ascontiguousarray(past))


class Labels(NamedTuple):
    """The masked labels of all columns one after the other.

    The members of label l of column a are `members[starts[firsts[a] + l] : starts[firsts[a] + l + 1]]`.
    """

    members: NDArray[np.int32]
    starts: NDArray[np.int64]
    firsts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    ordered: NDArray[np.bool_]

    @classmethod
    def of(cls, columns: Sequence[Column]) -> Labels:
        """The labels of *columns*."""
        labels = [column.members(label) for column in columns for label in range(column.size + len(column.sets))]
        counts = [column.size + len(column.sets) for column in columns]
        return cls(
            members=np.fromiter((member for members in labels for member in members), dtype=np.int32),
            starts=np.cumsum([0, *(len(members) for members in labels)], dtype=np.int64),
            firsts=np.cumsum([0, *counts], dtype=np.int64)[:-1],
            sizes=np.array([column.size for column in columns], dtype=np.int64),
            ordered=np.array([column.ordered for column in columns], dtype=np.bool_),
        )


class Links(NamedTuple):
    """The true pairs by masked combination: those of combination m stand from starts[m] to starts[m + 1]."""

    masked: NDArray[np.int32]
    starts: NDArray[np.int64]
    origins: NDArray[np.int64]
    records: NDArray[np.int64]

    @classmethod
    def of(cls, pairs: Pairs) -> Links:
        """The true pairs of two files."""
        order = np.argsort(pairs.results, kind="stable")
        starts = np.searchsorted(pairs.results[order], np.arange(len(pairs.masked) + 1))
        return cls(pairs.masked.codes, starts, pairs.origins[order], pairs.records[order])


def linked_by_distance(columns: Sequence[Column]) -> float:
    """The number of masked records whose original is nearest to them; of several nearest each counts its share."""
    # Nominal columns first: they rule out most, and few values make long common beginnings.
    columns = sorted(columns, key=lambda column: (column.ordered, column.size))
    pairs = Pairs.of(columns)
    tree = Tree.of(pairs.original.codes, pairs.original.counts)
    return float(_linked(tree, Links.of(pairs), Labels.of(columns)))


@compiled
def _linked(tree: Tree, links: Links, labels: Labels) -> float:
    columns = tree.codes.shape[1]
    distance = np.zeros((columns, labels.sizes.max()))
    held = np.full(columns, -1, dtype=np.int64)
    reached = np.zeros(columns + 1)
    right = 0.0
    for result in range(len(links.masked)):
        for column in range(columns):
            label = np.int64(links.masked[result, column])
            if held[column] != label:
                held[column] = label
                place = labels.firsts[column] + label
                members = labels.members[labels.starts[place] : labels.starts[place + 1]]
                _distances_to(members, labels.sizes[column], labels.ordered[column], distance[column])
        first, end = links.starts[result], links.starts[result + 1]
        # The true originals bound the search: whatever is nearest is no farther than they are.
        own = np.zeros(end - first)
        for pair in range(first, end):
            for column in range(columns):
                own[pair - first] += distance[column, tree.codes[links.origins[pair], column]]
        best, tied = _nearest(tree, distance, reached, own.min())
        for pair in range(first, end):
            if own[pair - first] <= best + TOLERANCE:
                right += links.records[pair] / tied
    return right


@compiled
def _nearest(tree: Tree, distance: NDArray[np.float64], reached: NDArray[np.float64], best: float) -> tuple[float, int]:
    """The least distance, which is no more than *best*, and how many originals are that near."""
    rows, columns = tree.codes.shape
    tied = 0
    row = 0
    while row < rows:
        column = tree.depth[row]
        while column < columns:
            reached[column + 1] = reached[column] + distance[column, tree.codes[row, column]]
            if reached[column + 1] > best + TOLERANCE:
                break
            column += 1
        if column < columns:
            # No row that begins like this one is near enough.
            row = tree.past[row, column]
            continue
        if reached[columns] < best - TOLERANCE:
            best = float(reached[columns])
            tied = 0
        tied += tree.counts[row]
        row += 1
    return best, tied


@compiled
def _distances_to(members: NDArray[np.int32], size: int, ordered: bool, distance: NDArray[np.float64]) -> None:
    """Write the mean distance of each value to the members of a set, as `tabular.distances` has it."""
    count = len(members)
    if ordered:
        total = 0
        for member in members:
            total += member
        passed = 0
        for value in range(size):
            distance[value] = total / (count * size)
            if passed < count and members[passed] == value:
                passed += 1
            total += 2 * passed - count
    else:
        distance[:size] = 1.0
        for member in members:
            distance[member] = (count - 1) / count
