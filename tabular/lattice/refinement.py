"""Classes split by one more attribute, with the rows that are lost by it: the steps of the search by branch and bound.

A part of the lattice is all nodes from some levels down to others. Of the classes at its coarsest node only those are
kept that a finer node of it may break: a class too small stays so, and one in which all that can be told apart are
groups of rows that are large enough is safe. Rows that no node of the part tells apart stand as one, with a weight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled, inlined


class Grid(NamedTuple):
    """The table as the kernels take it: the steps an attribute goes down from its highest level count from 0."""

    #: By attribute, step and row: the label.
    codes: NDArray[np.int32]
    #: By attribute and step: the labels there are.
    labels: NDArray[np.int64]
    #: By attribute and step: what is gained by going so far down; by attribute: the steps there are.
    gains: NDArray[np.int64]
    steps: NDArray[np.int64]
    #: The sensitive value of each row, used where more than one is asked for.
    values: NDArray[np.int32]
    k: int
    l: int  # noqa: E741
    limit: int
    #: Rows that stand as one and are so many are safe by themselves.
    safe: int
    #: Whether nodes with the same classes and suppressed rows differ by their levels' losses alone.
    exact: bool


class Scratch(NamedTuple):
    """Room that every step uses and leaves as it was."""

    weights: NDArray[np.int64]
    numbers: NDArray[np.int64]
    places: NDArray[np.int64]
    seen: NDArray[np.int64]
    marks: NDArray[np.int64]
    distinct: NDArray[np.int64]
    segments: NDArray[np.int64]
    order: NDArray[np.int64]
    #: Work done, nodes counted, two results of the last step, and steps of a proof that are written.
    told: NDArray[np.int64]


#: Places in `Scratch.told`.
WORK, COUNTED, PAIRS, LOST, WRITTEN = 0, 1, 2, 3, 4


#: Work that every step takes, beside that for each row.
_A_CALL = 50


def scratch_for(grid: Grid) -> Scratch:
    """Room for all steps over *grid*."""
    labels, rows = int(grid.codes.max(initial=0)) + 2, grid.codes.shape[2]
    values = int(grid.values.max(initial=0)) + 1
    weights, numbers, places, seen, distinct = (np.zeros(labels, dtype=np.int64) for _ in range(5))
    return Scratch(
        weights=weights,
        numbers=numbers,
        places=places,
        seen=seen,
        marks=np.zeros(labels * values if grid.l > 1 else 1, dtype=np.int64),
        distinct=distinct,
        segments=np.zeros((4, rows + 2), dtype=np.int64),
        order=np.zeros(len(grid.codes), dtype=np.int64),
        told=np.zeros(5, dtype=np.int64),
    )


@inlined
def _diversity(
    grid: Grid, rows: NDArray[np.int32], low: int, high: int, column: NDArray[np.int32], scratch: Scratch
) -> None:
    # The distinct sensitive values of each label in one class; the marks are taken away again.
    size = scratch.marks.size // scratch.distinct.size
    for place in range(low, high):
        row = rows[place]
        mark = column[row] * size + grid.values[row]
        if scratch.marks[mark] == 0:
            scratch.marks[mark] = 1
            scratch.distinct[column[row]] += 1
    for place in range(low, high):
        row = rows[place]
        scratch.marks[column[row] * size + grid.values[row]] = 0


@compiled
def lost_rows(
    grid: Grid,
    rows: NDArray[np.int32],
    weights: NDArray[np.int32],
    starts: NDArray[np.int32],
    classes: int,
    column: NDArray[np.int32],
    base: int,
    scratch: Scratch,
) -> int:
    """The rows lost where the classes are split by *column*, *base* of them before; more than the limit is enough.

    Tells the number of classes after the split, too.
    """
    lost, pairs, counts = base, 0, scratch.weights
    for each in range(classes):
        low, high = starts[each], starts[each + 1]
        for place in range(low, high):
            counts[column[rows[place]]] += weights[place]
        if grid.l > 1:
            _diversity(grid, rows, low, high, column, scratch)
        for place in range(low, high):
            label = column[rows[place]]
            size = counts[label]
            if size > 0:
                pairs += 1
                if size < grid.k or (grid.l > 1 and scratch.distinct[label] < grid.l):
                    lost += size
                counts[label] = 0
                scratch.distinct[label] = 0
        if lost > grid.limit:
            break
    scratch.told[WORK] += starts[classes] + _A_CALL
    scratch.told[COUNTED] += 1
    scratch.told[PAIRS] = pairs
    return lost


@compiled
def refine(
    grid: Grid,
    rows: NDArray[np.int32],
    weights: NDArray[np.int32],
    starts: NDArray[np.int32],
    classes: int,
    column: NDArray[np.int32],
    base: int,
    to_rows: NDArray[np.int32],
    to_weights: NDArray[np.int32],
    to_starts: NDArray[np.int32],
    scratch: Scratch,
) -> int:
    """Split the classes by *column* and keep those that can still break; return how many."""
    counts, numbers, places, seen = scratch.weights, scratch.numbers, scratch.places, scratch.seen
    end, kept, pairs = 0, 0, 0
    to_starts[0] = 0
    for each in range(classes):
        low, high = starts[each], starts[each + 1]
        labels = 0
        for place in range(low, high):
            label = column[rows[place]]
            if numbers[label] == 0:
                seen[labels] = label
                labels += 1
            numbers[label] += 1
            counts[label] += weights[place]
            if weights[place] < grid.safe:
                places[label] = -1
        if grid.l > 1:
            _diversity(grid, rows, low, high, column, scratch)
        pairs += labels
        begin = end
        for which in range(labels):
            label = seen[which]
            if counts[label] < grid.k or (grid.l > 1 and scratch.distinct[label] < grid.l):
                base += counts[label]
                places[label] = -2
            elif places[label] == -1 and numbers[label] > 1:
                places[label] = begin
                begin += numbers[label]
                kept += 1
                to_starts[kept] = begin
            else:
                places[label] = -2
        for place in range(low, high):
            label = column[rows[place]]
            to = places[label]
            if to >= 0:
                to_rows[to] = rows[place]
                to_weights[to] = weights[place]
                places[label] = to + 1
        for which in range(labels):
            label = seen[which]
            numbers[label] = counts[label] = places[label] = scratch.distinct[label] = 0
        end = begin
    scratch.told[WORK] += 2 * starts[classes] + _A_CALL
    scratch.told[COUNTED] += 1
    scratch.told[PAIRS] = pairs
    scratch.told[LOST] = base
    return kept


@compiled
def _split_in_place(
    rows: NDArray[np.int32],
    weights: NDArray[np.int32],
    column: NDArray[np.int32],
    segments: NDArray[np.int64],
    count: int,
    end: int,
    to_segments: NDArray[np.int64],
    spare: NDArray[np.int64],
    scratch: Scratch,
) -> int:
    # Put rows of one label beside each other in each segment; return how many segments there are then.
    numbers, places, seen = scratch.numbers, scratch.places, scratch.seen
    found = 0
    for which in range(count):
        low, high = segments[which], segments[which + 1]
        labels = 0
        for place in range(low, high):
            label = column[rows[place]]
            if numbers[label] == 0:
                seen[labels] = label
                labels += 1
            numbers[label] += 1
        begin = low
        for each in range(labels):
            label = seen[each]
            places[label] = begin
            to_segments[found] = begin
            found += 1
            begin += numbers[label]
        if labels > 1:
            for place in range(low, high):
                label = column[rows[place]]
                spare[0, places[label]] = rows[place]
                spare[1, places[label]] = weights[place]
                places[label] += 1
            for place in range(low, high):
                rows[place] = spare[0, place]
                weights[place] = spare[1, place]
        for each in range(labels):
            numbers[seen[each]] = places[seen[each]] = 0
    to_segments[found] = end
    return found


@compiled
def join_alike(
    grid: Grid,
    rows: NDArray[np.int32],
    weights: NDArray[np.int32],
    starts: NDArray[np.int32],
    classes: int,
    now: NDArray[np.int64],
    most: NDArray[np.int64],
    scratch: Scratch,
) -> int:
    """Make one of the rows that nothing up to the steps *most* tells apart; keep the classes that can still break."""
    end, kept, low = 0, 0, starts[0]
    scratch.told[WORK] += 8 * starts[classes]
    for each in range(classes):
        high = starts[each + 1]
        segments, others = scratch.segments[0], scratch.segments[1]
        segments[0], segments[1], count = low, high, 1
        if grid.l > 1:
            count = _split_in_place(
                rows, weights, grid.values, segments, 1, high, others, scratch.segments[2:], scratch
            )
            segments, others = others, segments
        for attribute in range(grid.codes.shape[0]):
            if most[attribute] > now[attribute] and count < high - low:
                column = grid.codes[attribute, most[attribute]]
                count = _split_in_place(
                    rows, weights, column, segments, count, high, others, scratch.segments[2:], scratch
                )
                segments, others = others, segments
        begin, can_break = end, False
        for which in range(count):
            weight = 0
            for place in range(segments[which], segments[which + 1]):
                weight += weights[place]
            can_break = can_break or weight < grid.safe
            rows[begin] = rows[segments[which]]
            weights[begin] = weight
            begin += 1
        if can_break and count > 1:
            kept += 1
            starts[kept] = begin
            end = begin
        low = high
    return kept
