"""Classes split by one more attribute, with the rows that are lost by it: the steps of branch and bound.

A part of the lattice is all nodes from some levels down to others. Of the classes at its coarsest node only those are
kept that a finer node of it may break: a class too small stays so, and one in which all that can be told apart are
groups of rows that are large enough is safe. Rows that no node of the part tells apart stand as one, with a weight.

Rows, and weights and losses of rows, are at most `MOST_ROWS` = 10^9: 32 bits hold weights, whose sums are of 64. Losses
of levels come to 2^50 in all. A stamp grows by 10^9 + 1 for each class of two rows or more, by up to 5 * 10^17 in a
step, and begins anew from 2^61 on.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import inlined, lean
from tabular.lattice.searching import Question
from tabular.lattice.space import MOST_ROWS, Numbers

#: All losses together come to no more than this, so that sums stay far from the end of the numbers.
_SCALE = 2.0**50

#: Between the stamps of two classes there is room for the rows of any class.
_APART = MOST_ROWS + 1

#: From here on stamps begin anew.
_LAST_STAMP = 1 << 61

#: Places in `Scratch.totals`: work done, nodes counted, steps of a proof that are recorded, and the latest stamp.
WORK, COUNTED, RECORDED, STAMP = 0, 1, 2, 3

#: Multiplied by this, a difference in any bit of a key is one in its upper half.
_SPREAD = 0x9E3779B97F4A7C15 - (1 << 64)

#: Work that every step takes, beside that for each row.
_A_CALL = 50


class Grid(NamedTuple):
    """The table as the kernels take it: the steps an attribute goes down from its highest level count from 0."""

    #: By attribute, step and row: the label.
    codes: NDArray[np.uint32]
    #: By attribute and step: the labels there are.
    labels: Numbers
    #: By attribute and step: what is gained by going so far down; by attribute: the steps there are.
    gains: Numbers
    steps: Numbers
    #: The sensitive value of each row, used where more than one is asked for.
    values: NDArray[np.int32]
    k: int
    l: int  # noqa: E741
    limit: int
    #: Rows that stand as one and are so many are safe by themselves.
    safe: int
    #: Whether nodes with the same classes and suppressed rows differ by their levels' losses alone.
    exact: bool


@dataclass(frozen=True, eq=False)
class LevelLosses:
    """For each attribute a loss a level, rounded down to multiples of 1 / `scale`; a level costs no less than a lower.

    The sum over the attributes, over `scale`, is a lower bound of the metric on a node and on all above it. Of
    precision nothing is rounded, unless the heights have no common denominator of 50 bits.
    """

    losses: tuple[Numbers, ...]
    scale: float

    @classmethod
    def of(cls, question: Question) -> LevelLosses:
        """What the levels of a question's lattice cost, by its metric."""
        heights, metric, evaluator = question.lattice.heights, question.metric, question.evaluator
        if metric == "precision" and question.lattice.precision_parts <= _SCALE:
            return cls(question.lattice.precision_shares, float(question.lattice.precision_parts))
        single = []
        bottom = np.zeros((1, len(heights)), dtype=np.int16)
        least = float(evaluator.loss_without_suppression(metric, bottom)[0])
        for place, height in enumerate(heights):
            nodes = np.zeros((height + 1, len(heights)), dtype=np.int16)
            nodes[:, place] = np.arange(height + 1)
            priced = evaluator.loss_without_suppression(metric, nodes)
            single.append(np.maximum.accumulate(np.maximum(priced - least, 0.0)))
        total = sum(float(each[-1]) for each in single)
        scale = _SCALE / total if total > 0 else 1.0
        # A little is taken off, so that the rounding of what was priced cannot lift a bound.
        return cls(tuple(np.floor(each * scale * (1 - 1e-12)).astype(np.int64) for each in single), scale)

    @property
    def most(self) -> int:
        """The loss of the top."""
        return int(sum(int(each[-1]) for each in self.losses))

    def reaching(self, value: float) -> int:
        """The least loss whose bound is no better than a metric of *value*."""
        scaled = value * self.scale
        # Whole numbers come back whole.
        return round(scaled) if abs(scaled - round(scaled)) < 1e-6 and scaled < 2**40 else ceil(scaled)

    def bound(self, loss: int) -> float:
        """The metric of a node whose levels cost *loss* is at least this."""
        return loss / self.scale


def grid_of(question: Question, losses: LevelLosses) -> Grid:
    """The table of a question, by attribute and step down from the highest level."""
    evaluator, limits = question.evaluator, question.limits
    table, hierarchies = evaluator.table, evaluator.hierarchies
    heights = np.array(question.lattice.heights, dtype=np.int64)
    size = int(heights.max(initial=0)) + 1
    codes = np.zeros((len(heights), size, evaluator.rows), dtype=np.uint32)
    labels = np.ones((len(heights), size), dtype=np.int64)
    gains = np.zeros((len(heights), size), dtype=np.int64)
    for place, (name, each) in enumerate(hierarchies.items()):
        for step in range(heights[place] + 1):
            level = int(heights[place]) - step
            found, codes[place, step] = np.unique(each.levels[level].groups[table.columns[name]], return_inverse=True)
            labels[place, step] = len(found)
            gains[place, step] = losses.losses[place][-1] - losses.losses[place][level]
        gains[place, heights[place] :] = gains[place, heights[place]]
    exact = limits.are_fixed and limits.t is None and evaluator.judged_by_classes
    values = np.zeros(evaluator.rows, dtype=np.int32)
    if limits.l is not None and evaluator.sensitive is not None:
        values = np.unique(table.columns[evaluator.sensitive], return_inverse=True)[1].astype(np.int32)
    least, diverse = limits.k or 1, limits.l or 1
    return Grid(
        codes=codes,
        labels=labels,
        gains=gains,
        steps=heights,
        values=values,
        k=least,
        l=diverse,
        limit=limits.suppressible(evaluator.rows),
        safe=least if exact and diverse == 1 else np.iinfo(np.int32).max,
        exact=exact,
    )


class Splits(NamedTuple):
    """The classes of several parts in one room; at each depth those of one part.

    At a depth there are so many `classes`, and `lost` rows that no node of the part keeps. The rows and the beginnings
    of the classes are in `rows`, `weights` and `starts`, from `row_at` and `start_at` on.
    """

    rows: NDArray[np.uint32]
    weights: NDArray[np.int32]
    starts: NDArray[np.int32]
    row_at: Numbers
    start_at: Numbers
    classes: Numbers
    lost: Numbers

    @classmethod
    def of(cls, rows: int, depths: int, room: int) -> Splits:
        """One class of all *rows* at depth 0, with *room* for so many rows at all *depths* together."""
        row_at, start_at, classes, lost = (np.zeros(depths, dtype=np.int64) for _ in range(4))
        starts = np.zeros(room + depths, dtype=np.int32)
        starts[1], classes[0] = rows, 1
        numbers = np.zeros(room, dtype=np.uint32)
        numbers[:rows] = np.arange(rows)
        return cls(numbers, np.ones(room, dtype=np.int32), starts, row_at, start_at, classes, lost)


class Scratch(NamedTuple):
    """Room that every step uses and leaves as it was."""

    weights: Numbers
    #: Counts that are left as they are: those of a class begin at its own stamp.
    stamped: Numbers
    numbers: Numbers
    places: Numbers
    seen: Numbers
    marks: Numbers
    distinct: Numbers
    keys: Numbers
    table: Numbers
    order: Numbers
    #: What was done so far: see the places below.
    totals: Numbers


def scratch_for(grid: Grid) -> Scratch:
    """Room for all steps over *grid*."""
    labels, rows = int(grid.codes.max(initial=0)) + 2, grid.codes.shape[2]
    values = int(grid.values.max(initial=0)) + 1
    weights, stamped, numbers, places, seen, distinct = (np.zeros(labels, dtype=np.int64) for _ in range(6))
    return Scratch(
        weights=weights,
        stamped=stamped,
        numbers=numbers,
        places=places,
        seen=seen,
        marks=np.zeros(labels * values if grid.l > 1 else 1, dtype=np.int64),
        distinct=distinct,
        keys=np.zeros(rows, dtype=np.int64),
        table=np.zeros(4 * rows, dtype=np.int64),
        order=np.zeros(len(grid.codes), dtype=np.int64),
        totals=np.zeros(4, dtype=np.int64),
    )


@lean
def rewind(scratch: Scratch) -> None:
    """Let stamps begin anew before they leave 64 bits; what is stamped so far counts for nothing."""
    if scratch.totals[STAMP] >= _LAST_STAMP:
        for label in range(scratch.stamped.size):
            scratch.stamped[label] = 0
        for slot in range(scratch.table.size):
            scratch.table[slot] = 0
        scratch.totals[STAMP] = 0


@inlined
def _diversity(
    grid: Grid, rows: NDArray[np.uint32], low: int, high: int, column: NDArray[np.uint32], scratch: Scratch
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


@inlined
def _with_few_values(
    grid: Grid, rows: NDArray[np.uint32], low: int, high: int, column: NDArray[np.uint32], stamp: int, scratch: Scratch
) -> int:
    # The rows of one class whose labels are frequent enough, but have too few sensitive values.
    _diversity(grid, rows, low, high, column, scratch)
    few = 0
    for place in range(low, high):
        label = column[rows[place]]
        if scratch.distinct[label] > 0:
            size = scratch.stamped[label] - stamp
            few += size if size >= grid.k and scratch.distinct[label] < grid.l else 0
            scratch.distinct[label] = 0
    return few


@lean
def lost_rows(grid: Grid, splits: Splits, depth: int, column: NDArray[np.uint32], scratch: Scratch) -> tuple[int, int]:
    """The rows lost where the classes at *depth* are split by *column*, and how many classes there are then.

    More rows than the limit are not counted to the end.
    """
    classes, lost = splits.classes[depth], splits.lost[depth]
    rows, starts = splits.rows[splits.row_at[depth] :], splits.starts[splits.start_at[depth] :]
    weights = splits.weights[splits.row_at[depth] :]
    pairs, counts = 0, scratch.stamped
    rewind(scratch)
    stamp = scratch.totals[STAMP]
    for each in range(classes):
        low, high = starts[each], starts[each + 1]
        # What is counted of the classes before is no more than the stamp.
        stamp += _APART
        for place in range(low, high):
            label = column[rows[place]]
            weight = weights[place]
            before = max(counts[label] - stamp, 0)
            after = before + weight
            counts[label] = stamp + after
            pairs += before == 0
            lost += (after if after < grid.k else 0) - (before if before < grid.k else 0)
        if grid.l > 1:
            lost += _with_few_values(grid, rows, low, high, column, stamp, scratch)
        if lost > grid.limit:
            break
    scratch.totals[STAMP] = stamp
    scratch.totals[WORK] += starts[classes] + _A_CALL
    scratch.totals[COUNTED] += 1
    return lost, pairs


@lean
def refine(grid: Grid, splits: Splits, depth: int, to: int, column: NDArray[np.uint32], scratch: Scratch) -> None:
    """Split the classes at *depth* by *column* and put those that can still break at the depth *to*."""
    classes, lost = splits.classes[depth], splits.lost[depth]
    rows, starts = splits.rows[splits.row_at[depth] :], splits.starts[splits.start_at[depth] :]
    weights = splits.weights[splits.row_at[depth] :]
    to_rows, to_starts = splits.rows[splits.row_at[to] :], splits.starts[splits.start_at[to] :]
    to_weights = splits.weights[splits.row_at[to] :]
    counts, numbers, places, seen = scratch.weights, scratch.numbers, scratch.places, scratch.seen
    end, kept = 0, 0
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
        begin = end
        for which in range(labels):
            label = seen[which]
            if counts[label] < grid.k or (grid.l > 1 and scratch.distinct[label] < grid.l):
                lost += counts[label]
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
            target = places[label]
            if target >= 0:
                to_rows[target] = rows[place]
                to_weights[target] = weights[place]
                places[label] = target + 1
        for which in range(labels):
            label = seen[which]
            numbers[label] = counts[label] = places[label] = scratch.distinct[label] = 0
        end = begin
    splits.classes[to], splits.lost[to] = kept, lost
    scratch.totals[WORK] += 2 * starts[classes] + _A_CALL
    scratch.totals[COUNTED] += 1


@lean
def join_alike(grid: Grid, splits: Splits, depth: int, now: Numbers, most: Numbers, scratch: Scratch) -> None:
    """Make one of the rows that nothing up to the steps *most* tells apart; keep the classes that can still break."""
    classes, starts = splits.classes[depth], splits.starts[splits.start_at[depth] :]
    rows, weights = splits.rows[splits.row_at[depth] :], splits.weights[splits.row_at[depth] :]
    keys, order, count = scratch.keys, scratch.order, 0
    for attribute in range(grid.codes.shape[0]):
        if most[attribute] > now[attribute]:
            order[count] = attribute
            count += 1
    size = starts[classes]
    for place in range(size):
        keys[place] = grid.values[rows[place]] if grid.l > 1 else 0
    for which in range(count):
        column = grid.codes[order[which], most[order[which]]]
        for place in range(size):
            keys[place] = (keys[place] ^ column[rows[place]]) * _SPREAD
    scratch.totals[WORK] += 8 * size
    rewind(scratch)
    end, kept, low = 0, 0, 0
    for each in range(classes):
        high = starts[each + 1]
        begin = end
        end = _join_class(grid, rows, weights, low, high, begin, most, count, scratch)
        can_break = False
        for place in range(begin, end):
            can_break = can_break or weights[place] < grid.safe
        if can_break and end > begin + 1:
            kept += 1
            starts[kept] = end
        else:
            end = begin
        low = high
    splits.classes[depth] = kept


@inlined
def _join_class(
    grid: Grid,
    rows: NDArray[np.uint32],
    weights: NDArray[np.int32],
    low: int,
    high: int,
    begin: int,
    most: Numbers,
    count: int,
    scratch: Scratch,
) -> int:
    # Put the rows of one class that are told apart, with what they weigh together, at *begin*; return their end.
    # They are found by their keys, by stepping on from the place a key is sent to.
    mask = 1
    while mask < 2 * (high - low):
        mask *= 2
    mask -= 1
    stamp = scratch.totals[STAMP] + 1
    scratch.totals[STAMP] = stamp + grid.codes.shape[2]
    end = begin
    for place in range(low, high):
        row, key, weight = rows[place], scratch.keys[place], weights[place]
        slot = (key >> 32) & mask
        while True:
            other = scratch.table[slot] - stamp
            if other < 0:
                scratch.table[slot] = stamp + end
                rows[end] = row
                weights[end] = weight
                scratch.keys[end] = key
                end += 1
                break
            if scratch.keys[other] == key and _alike(grid, row, rows[other], most, count, scratch.order):
                weights[other] += weight
                break
            slot = (slot + 1) & mask
    return end


@inlined
def _alike(grid: Grid, one: int, other: int, most: Numbers, count: int, order: Numbers) -> bool:
    # Rows with the same key that are told apart after all stay apart.
    if grid.l > 1 and grid.values[one] != grid.values[other]:
        return False
    for which in range(count):
        column = grid.codes[order[which], most[order[which]]]
        if column[one] != column[other]:
            return False
    return True
