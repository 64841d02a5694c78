"""The originals nearest to each masked record, found over the distinct combinations of both files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tabular.intervals import Span, first_and_last
from tabular.kernels import compiled
from tabular.measures.contract import (
    Column,
    Measure,
    Pairs,
    Reading,
    checked_matrix,
    deviations,
    measures,
    numbers_of,
    paired_columns,
)
from tabular.table import Table

#: Distances that differ by less are equal: sums of fractions with denominators up to the sizes of the domains.
TOLERANCE = 1e-9
#: Numbers, and their distances, that differ by no more than this share are equal.
ROUNDING = 1e-9


class PrefixTree(NamedTuple):
    """Sorted combinations as a tree of common prefixes.

    `depth[i]` is the first column in which row i differs from the row before; `past[i, a]` is the next row that
    differs from row i in one of the columns up to a.
    """

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    depth: NDArray[np.int64]
    past: NDArray[np.int64]

    @classmethod
    def of(cls, codes: NDArray[np.int32], counts: NDArray[np.int64]) -> PrefixTree:
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

    The members of label l of column a, at place p = firsts[a] + l, are `members[starts[p] : starts[p + 1]]`, or where
    none are listed all values from `lows[p]` to before `highs[p]`. Values outside `nearest` to `farthest` of the label
    are out of reach. Where there are `costs`, one for each member, they stand for the distances, and what is no
    member is out of reach.
    """

    members: NDArray[np.int32]
    starts: NDArray[np.int64]
    firsts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    ordered: NDArray[np.bool_]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    nearest: NDArray[np.int64]
    farthest: NDArray[np.int64]
    costs: NDArray[np.float64]

    @classmethod
    def of(cls, columns: Sequence[Column]) -> Labels:
        """The labels of *columns*."""
        ends = [first_and_last(column.sets) for column in columns]
        listed = [
            np.array([0] * column.size + [_listed(each) for each in column.sets], dtype=np.int64) for column in columns
        ]
        counts = [column.size + len(column.sets) for column in columns]
        sizes = np.array([column.size for column in columns], dtype=np.int64)
        return cls(
            members=np.fromiter(
                (code for column in columns for each in column.sets if _listed(each) for code in each), dtype=np.int32
            ),
            starts=np.append(0, np.cumsum(np.concatenate(listed))),
            firsts=np.cumsum([0, *counts], dtype=np.int64)[:-1],
            sizes=sizes,
            ordered=np.array([column.ordered for column in columns], dtype=np.bool_),
            lows=_by_label(sizes, [first for first, _ in ends]),
            highs=_by_label(sizes, [last for _, last in ends]) + 1,
            nearest=np.zeros(sum(counts), dtype=np.int64),
            farthest=np.repeat(sizes, counts),
            costs=np.zeros(0),
        )


def _by_label(sizes: NDArray[np.int64], of_sets: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """For all labels one after the other: of a value the value itself, of a set what is given."""
    return np.concatenate(
        [part for size, given in zip(sizes, of_sets, strict=True) for part in (np.arange(size), given)]
    )


def _listed(members: Sequence[int]) -> int:
    """How many members of a set must be listed: none where the first and the last say it."""
    return 0 if isinstance(members, Span) or members[-1] - members[0] + 1 == len(members) else len(members)


class TruePairs(NamedTuple):
    """The true pairs by masked combination: those of combination m stand from starts[m] to starts[m + 1]."""

    masked: NDArray[np.int32]
    starts: NDArray[np.int64]
    origins: NDArray[np.int64]
    records: NDArray[np.int64]

    @classmethod
    def of(cls, pairs: Pairs) -> TruePairs:
        """The true pairs of two files."""
        order = np.argsort(pairs.results, kind="stable")
        starts = np.searchsorted(pairs.results[order], np.arange(len(pairs.masked) + 1))
        return cls(pairs.masked.codes, starts, pairs.origins[order], pairs.records[order])


@dataclass(frozen=True, kw_only=True)
class NearestLinkage(Measure):
    """Link each masked record with the nearest original."""

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """The expected number of records linked rightly, and their share."""
        return Reading.share(linked(paired_columns(original, masked, attributes), self.labels), of=len(original))

    def labels(self, columns: Sequence[Column]) -> Labels:
        """The labels of the masked *columns*, and what can have become them."""
        return Labels.of(columns)


@measures.add(
    "dbrl",
    cites="Mares Soler (2013), section 2.4.2; Domingo-Ferrer and Torra (2002)",
    limits="all attributes have the same weight; n originals that are equally near count 1/n each",
)
@dataclass(frozen=True, kw_only=True)
class DistanceLinkage(NearestLinkage):
    """Share of masked records whose nearest original is their own."""


@measures.add(
    "informed",
    cites="Fellegi and Sunter (1969), with weights by value",
    limits="without matrices it uses those that the two files show, which is more than an attacker can know",
)
@dataclass(frozen=True, kw_only=True)
class InformedLinkage(NearestLinkage):
    """Share of masked records that an attacker links who knows the probability of every change of a value.

    A masked record is linked with the original that most probably became it; of equally probable ones each counts
    its share. *matrices* are transition matrices by attribute, rows by original value; an attribute that has none is
    judged by the two files.
    """

    matrices: Mapping[str, NDArray[np.float64]] | None = None

    def labels(self, columns: Sequence[Column]) -> Labels:
        """The members of a label are its possible originals, at the cost -log P(V' = label | V = member)."""
        known = self.matrices or {}
        found = [
            _from_matrix(column, known[column.name]) if column.name in known else _from_files(column)
            for column in columns
        ]
        counts = [
            np.bincount(labels, minlength=column.size + len(column.sets))
            for column, (labels, _, _) in zip(columns, found, strict=True)
        ]
        return Labels.of(columns)._replace(
            members=np.concatenate([members for _, members, _ in found]).astype(np.int32),
            starts=np.concatenate([[0], np.cumsum(np.concatenate(counts))]),
            costs=np.concatenate([costs for _, _, costs in found]),
        )


def _from_files(column: Column) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    keys, together = np.unique(column.masked.astype(np.int64) * column.size + column.original, return_counts=True)
    labels, members = keys // column.size, keys % column.size
    frequencies = np.bincount(column.original, minlength=column.size)
    return labels, members, np.log(frequencies[members] / together)


def _from_matrix(
    column: Column, matrix: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    transitions = checked_matrix(column, matrix).T
    labels, members = np.nonzero(transitions)
    return labels, members, -np.log(transitions[labels, members])


@measures.add(
    "dbrl-numbers",
    cites="Domingo-Ferrer and Torra (2001)",
    limits="numbers only; n originals that are equally near count 1/n each",
)
@dataclass(frozen=True, kw_only=True)
class EuclideanLinkage(Measure):
    """Share of masked records whose nearest original is their own, by standardised numbers."""

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """The expected number of records linked rightly, and their share."""
        before, after = numbers_of(original, masked, attributes)
        scale = deviations(before)
        before, after = before / scale, after / scale
        tree = cKDTree(before)
        nearest, _ = tree.query(after)
        reach = nearest * (1 + ROUNDING) + ROUNDING
        tied = tree.query_ball_point(after, reach, return_length=True)
        own = np.sqrt(((before - after) ** 2).sum(axis=1))
        raw = float(np.sum(np.sort(np.where(own <= reach, 1 / tied, 0.0))))
        return Reading.share(raw, of=len(before))


def linked(columns: Sequence[Column], labels_of: Callable[[Sequence[Column]], Labels] = Labels.of) -> float:
    """The number of masked records whose original is nearest; n originals that are equally near count 1/n each."""
    # Nominal columns first: they rule out most, and few values make long common prefixes.
    columns = sorted(columns, key=lambda column: (column.ordered, column.size))
    pairs = Pairs.of(columns)
    tree = PrefixTree.of(pairs.original.codes, pairs.original.counts)
    return float(_linked(tree, TruePairs.of(pairs), labels_of(columns)))


@compiled
def _linked(tree: PrefixTree, true: TruePairs, labels: Labels) -> float:
    columns = tree.codes.shape[1]
    distance = np.zeros((columns, labels.sizes.max()))
    held = np.full(columns, -1, dtype=np.int64)
    reached = np.zeros(columns + 1)
    right = 0.0
    for result in range(len(true.masked)):
        for column in range(columns):
            place = labels.firsts[column] + true.masked[result, column]
            if held[column] != place:
                held[column] = place
                _distances_to(labels, place, column, distance[column])
        first, end = true.starts[result], true.starts[result + 1]
        # The true originals bound the search: the nearest one is no farther than they are.
        own = np.zeros(end - first)
        for pair in range(first, end):
            for column in range(columns):
                own[pair - first] += distance[column, tree.codes[true.origins[pair], column]]
        if own.min() == np.inf:
            continue
        best, tied = _nearest(tree, distance, reached, own.min())
        for pair in range(first, end):
            if own[pair - first] <= best + TOLERANCE:
                right += true.records[pair] / tied
    return right


@compiled
def _nearest(
    tree: PrefixTree, distance: NDArray[np.float64], reached: NDArray[np.float64], best: float
) -> tuple[float, int]:
    """The least distance, at most *best*, and the number of originals at that distance."""
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
            # No row with this prefix is near enough.
            row = tree.past[row, column]
            continue
        if reached[columns] < best - TOLERANCE:
            best = float(reached[columns])
            tied = 0
        tied += tree.counts[row]
        row += 1
    return best, tied


@compiled
def _distances_to(labels: Labels, place: int, column: int, distance: NDArray[np.float64]) -> None:
    """Write the distance of each value to a label: the mean over its members, as `tabular.attributes` has it."""
    first, end = labels.starts[place], labels.starts[place + 1]
    members, size = labels.members[first:end], labels.sizes[column]
    begin, listed = labels.lows[place], first < end
    count = end - first if listed else labels.highs[place] - begin
    if len(labels.costs):
        distance[:size] = np.inf
        for number in range(end - first):
            distance[members[number]] = labels.costs[first + number]
    elif labels.ordered[column]:
        total = 0 if listed else count * (2 * begin + count - 1) // 2
        for member in members:
            total += member
        passed = 0
        for value in range(size):
            distance[value] = total / (count * size)
            if passed < count and (members[passed] if listed else begin + passed) == value:
                passed += 1
            total += 2 * passed - count
    else:
        distance[:size] = 1.0
        for number in range(count):
            distance[members[number] if listed else begin + number] = (count - 1) / count
    distance[: labels.nearest[place]] = np.inf
    distance[labels.farthest[place] : size] = np.inf
