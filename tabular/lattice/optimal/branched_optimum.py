"""The optimum of a lattice that nobody can list: good nodes first, then proof that there is nothing better."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from math import log

import numpy as np

from tabular.kernels import inlined, lean
from tabular.lattice.metrics import Readings
from tabular.lattice.optimal.branch_and_bound import BEST, DONE, FULL, Blocks, advance, narrow, parts_of
from tabular.lattice.optimal.class_splits import (
    COUNTED,
    WORK,
    Grid,
    LevelLosses,
    Scratch,
    Splits,
    grid_of,
    lost_rows,
    refine,
    scratch_for,
)
from tabular.lattice.optimal.shares import SharedSearch
from tabular.lattice.optimal.steps import Steps
from tabular.lattice.searching import Course, Finds, Question
from tabular.lattice.space import Flags, Floats, Node, Nodes, Numbers

#: Attributes that step back before a descent, at most; of many attributes a quarter.
_KICKS = 5

#: Work between two looks at the time: a fraction of a second.
_SLICE = 20_000_000

#: A block of attributes is left as it is when its bound takes more work than this.
_A_BLOCK = 400_000_000

#: Attributes of a block whose bound is sought for itself, at most.
_WIDEST = 13

#: By this the rows that may be suppressed are divided to see which attributes hinder each other.
_FEWER = 3

#: No set of attributes gains so much.
_ANYTHING = 1 << 62

#: Beginnings of descents before the proof begins, descents of each, and rounds, with ever fewer beginnings.
_BEGINNINGS, _DESCENTS, _ROUNDS = 32, 25, 4

#: Slices of a pass after which there are some descents more.
_SLICES = 8

#: A pass is given up that takes so many times the work of all before, and one for less is begun.
_PATIENCE = 20

#: Each pass of the proof is to take so many times the work of the one before.
_GROWTH = 8.0

#: The last pass may do so much more at once.
_LAST = 1.5


@inlined
def _descend(
    grid: Grid, most: Numbers, node: Numbers, ways: Numbers, draws: Floats, splits: Splits, scratch: Scratch
) -> None:
    # Split by what the node has, then go down one attribute at a time, drawn at random, while the limits are kept.
    attributes, size = node.size, grid.codes.shape[2]
    for row in range(size):
        splits.rows[row], splits.weights[row] = row, 1
    splits.starts[0], splits.starts[1], splits.classes[0], splits.lost[0] = 0, size, 1, 0
    # For a literal the steps would be compiled once more.
    here = int(np.int64(0))
    for attribute in range(attributes):
        if node[attribute] > 0:
            refine(grid, splits, here, 1 - here, grid.codes[attribute, node[attribute]], scratch)
            here = 1 - here
    count = 0
    for attribute in range(attributes):
        if node[attribute] < most[attribute]:
            ways[count] = attribute
            count += 1
    draw = 0
    while count > 0:
        which = int(draws[draw % draws.size] * count)
        draw += 1
        attribute = ways[which]
        column = grid.codes[attribute, node[attribute] + 1]
        fits = lost_rows(grid, splits, here, column, scratch)[0] <= grid.limit
        if fits:
            refine(grid, splits, here, 1 - here, column, scratch)
            here = 1 - here
            node[attribute] += 1
        if not fits or node[attribute] == most[attribute]:
            count -= 1
            ways[count], ways[which] = ways[which], ways[count]


@lean
def gained(grid: Grid, node: Numbers) -> int:
    """What the steps of a node gain."""
    gain = 0
    for attribute in range(node.size):
        gain += grid.gains[attribute, node[attribute]]
    return gain


@inlined
def _copy(source: Numbers, target: Numbers) -> None:
    for place in range(target.size):
        target[place] = source[place]


@lean
def _go_down_often(
    grid: Grid,
    most: Numbers,
    draws: Floats,
    kicks: int,
    best: Numbers,
    room: tuple[Numbers, Numbers, Numbers],
    splits: Splits,
    scratch: Scratch,
) -> None:
    attributes = best.size
    now, node, ways = room
    _copy(best, now)
    gain_now = gain_best = gained(grid, best)
    for each in range(draws.shape[0]):
        _copy(now, node)
        # Mostly few attributes step back, now and then many.
        for change in range(1 + int(draws[each, 0] ** 2 * kicks)):
            attribute = int(draws[each, 2 * change + 1] * attributes)
            node[attribute] = int(draws[each, 2 * change + 2] * (node[attribute] + 1))
        _descend(grid, most, node, ways, draws[each, 2 * kicks + 1 :], splits, scratch)
        gain = gained(grid, node)
        if gain >= gain_now:
            _copy(node, now)
            gain_now = gain
        if gain > gain_best:
            gain_best = gain
            _copy(node, best)


def descended(
    grid: Grid, most: Numbers, start: Numbers, rounds: int, rng: np.random.Generator, scratch: Scratch
) -> Numbers:
    """The best of the nodes, in steps down from the top, of *rounds* descents from *start*; none exceeds *most*.

    Each goes down wherever the limits allow; the next steps back at some attributes first.
    """
    best = np.array(start, dtype=np.int64)
    kicks, rows = max(_KICKS, len(best) // 4), grid.codes.shape[2]
    draws = rng.random((rounds, 2 * kicks + 1 + 2 * int(most.sum()) + 8))
    # Two depths by turns.
    splits = Splits.of(rows, 2, 2 * rows + 2)
    splits.row_at[1], splits.start_at[1] = rows, rows + 2
    room = (np.zeros_like(best), np.zeros_like(best), np.zeros_like(best))
    _go_down_often(grid, most, draws, kicks, best, room, splits, scratch)
    return best


@dataclass(eq=False)
class BranchedOptimum:
    """One search: the grid, what is found, and the bounds of blocks of attributes."""

    question: Question
    finds: Finds
    rng: np.random.Generator
    losses: LevelLosses
    grid: Grid
    scratch: Scratch
    most: Numbers
    #: What took long, which is not done again after a kill.
    steps: Steps
    #: The trees of blocks: for each block which attributes are its members, its two halves and what it gains at most.
    members: list[Flags] = field(default_factory=list)
    halves: list[tuple[int, int]] = field(default_factory=list)
    gains: list[int] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    best: int = -1
    #: Where descents go on from.
    start: Numbers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, question: Question, finds: Finds, rng: np.random.Generator) -> BranchedOptimum:
        """Lay the table out for the search."""
        losses = LevelLosses.of(question)
        grid = grid_of(question, losses)
        scratch = scratch_for(grid)
        steps = Steps(finds.kept, rng, scratch.totals)
        return cls(question, finds, rng, losses, grid, scratch, np.array(grid.steps), steps)

    def course(self) -> Course:
        """Good nodes, then bounds of blocks, then passes through all of the lattice."""
        top = yield [self.question.lattice.top]
        self.finds.offer(top, self.question.metric)
        if int(top["suppressed"][0]) > self.question.suppressible:
            # What the top breaks every node breaks.
            return
        self._plant()
        self.most = self._narrowed(self.grid)
        self._plant()
        self._tell()
        yield from self._descend()
        yield from self._join_blocks()
        yield from self._prove()

    @property
    def bound(self) -> int:
        """What any node gains at most."""
        return sum(self.gains[root] for root in self.roots)

    @property
    def work(self) -> int:
        """The work done so far."""
        return int(self.scratch.totals[WORK])

    def _narrowed(self, grid: Grid) -> Numbers:
        """How far down each attribute can go by itself."""
        blocks = self._blocks([], _ANYTHING)
        parts = parts_of(grid, self.most, -1, judges=True, caps=np.full(len(self.most), _ANYTHING))
        narrow(grid, parts, 0, blocks, self.scratch)
        most: Numbers = parts.most[0].copy()
        return most

    def _plant(self) -> None:
        """Begin the trees with a block for each attribute."""
        self.members = list(np.eye(len(self.most), dtype=np.bool_))
        self.halves = [(-1, -1)] * len(self.most)
        self.gains = [int(self.grid.gains[attribute, step]) for attribute, step in enumerate(self.most)]
        self.roots = list(range(len(self.most)))

    def _blocks(self, joined: Sequence[tuple[int, int]], most: int) -> Blocks:
        """The blocks so far and those of *joined* above them; the last gains *most* at most."""
        halves = np.array([*self.halves, *joined], dtype=np.int64)
        gains = [*self.gains, *[_ANYTHING] * len(joined)]
        gains[-1] = min(gains[-1], most)
        return Blocks(
            left=halves[:, 0].copy(),
            right=halves[:, 1].copy(),
            most=np.array(gains, dtype=np.int64),
            gains=np.zeros(len(gains), dtype=np.int64),
            needs=np.zeros(len(gains), dtype=np.int64),
            members=np.array([*self.members, *(self.members[one] | self.members[other] for one, other in joined)]),
            sought=np.array([gain < _ANYTHING for gain in gains[:-1]] + [False]),
        )

    def _tell(self) -> None:
        """Say what is proven, and count what was looked at."""
        bound = self.losses.bound(self.losses.most - max(self.bound, self.best))
        best = self.finds.best(self.question.metric)
        if best is not None:
            bound = min(bound, best)
        self.finds.lower_bound = max(bound, self.finds.lower_bound or 0.0)
        self.finds.counted = int(self.scratch.totals[COUNTED])

    def _judge(self, steps: Numbers) -> Course:
        """Have a node evaluated; remember what it gains if it is the best."""
        node: Node = tuple((self.grid.steps - steps).tolist())
        readings = yield [node]
        self.finds.offer(readings, self.question.metric)
        self._take_best()

    def _take_best(self) -> None:
        value = self.finds.best(self.question.metric)
        if value is not None:
            self.best = max(self.best, self.losses.most - self.losses.reaching(value))

    def _descend(self) -> Course:
        self._take_best()
        # Where a descent leads to depends on its first steps: many begin anew, the best go on.
        begun = [self._once_further(np.zeros_like(self.most), _DESCENTS) for _ in range(_BEGINNINGS)]
        for rounds in range(_ROUNDS):
            begun.sort(key=lambda steps: -gained(self.grid, steps))
            yield from self._judge(begun[0])
            self._tell()
            ahead = begun[: max(1, _BEGINNINGS >> 2 * rounds + 2)]
            begun = [self._once_further(steps, _DESCENTS << rounds + 1) for steps in ahead]
        self.start = begun[0]

    def _once_further(self, start: Numbers, descents: int) -> Numbers:
        return self.steps.once(lambda: self._further(start, descents))

    def _further(self, start: Numbers, descents: int) -> Numbers:
        return descended(self.grid, self.most, start, descents, self.rng, self.scratch)

    def _join_blocks(self) -> Course:
        """Join attributes that hinder each other most, and bound what they gain together."""
        linked = yield from self._links()
        while True:
            pairs = [
                (self._link(one, other, linked), -one, -other)
                for place, one in enumerate(self.roots)
                for other in self.roots[:place]
                if (self.members[one] | self.members[other]).sum() <= _WIDEST
            ]
            link, one, other = max(pairs, default=(0.0, 0, 0))
            if link <= 0:
                return
            most = yield from self._gain_together(-one, -other, self.grid)
            self._join(-one, -other, most)
            self._tell()

    def _links(self) -> Generator[Sequence[Node] | Nodes, Readings, Floats]:
        """How much less each two attributes gain together than each alone, were fewer rows to be suppressed.

        In most parts some of the rows that may be suppressed are gone: there attributes hinder each other that, by
        themselves, would not.
        """
        linked = np.zeros((len(self.most), len(self.most)))
        grid = self.grid._replace(limit=self.grid.limit // _FEWER)
        alone = self._narrowed(grid)
        gains = grid.gains[np.arange(len(alone)), alone]
        for one in range(len(alone)):
            for other in range(one):
                if gains[one] and gains[other]:
                    most = yield from self._gain_together(one, other, grid)
                    linked[one, other] = linked[other, one] = gains[one] + gains[other] - most
        return linked

    def _link(self, one: int, other: int, linked: Floats) -> float:
        part = linked[np.ix_(self.members[one], self.members[other])]
        return float(part.sum() / np.sqrt(part.size))

    def _join(self, one: int, other: int, most: int) -> None:
        self.roots = [root for root in self.roots if root not in (one, other)] + [len(self.members)]
        self.members.append(self.members[one] | self.members[other])
        self.halves.append((one, other))
        self.gains.append(min(most, self.gains[one] + self.gains[other]))

    def _gain_together(self, one: int, other: int, grid: Grid) -> Generator[Sequence[Node] | Nodes, Readings, int]:
        """What two blocks gain together at most, the other attributes at their top."""
        found = yield from self.steps.once_through(self._sought_together(one, other, grid))
        return int(found[0])

    def _sought_together(
        self, one: int, other: int, grid: Grid
    ) -> Generator[Sequence[Node] | Nodes, Readings, Sequence[int]]:
        chosen = self.members[one] | self.members[other]
        among = np.where(chosen, self.most, 0)
        start = descended(grid, among, np.zeros_like(among), 2 * int(chosen.sum()), self.rng, self.scratch)
        blocks = self._blocks([(one, other)], _ANYTHING)
        parts = parts_of(grid, among, gained(grid, start), judges=True, caps=blocks.most)
        until = self.work + _A_BLOCK
        while True:
            outcome = advance(grid, parts, blocks, self.scratch, min(_SLICE, until - self.work))
            if outcome == DONE:
                return [int(parts.state[BEST])]
            if outcome == FULL:
                parts = parts.with_more_room()
            elif self.work >= until:
                return [self.gains[one] + self.gains[other]]
            else:
                self._tell()
                yield []

    def _prove(self) -> Course:
        """Pass through the lattice for ever less than the bound, until it meets the best; each pass ends or is cut."""
        root = self.roots[0]
        for other in self.roots[1:]:
            self._join(root, other, _ANYTHING)
            root = self.roots[-1]
        unit = int(np.gcd.reduce(np.diff(self.grid.gains, axis=1).ravel())) or 1
        step = max(unit, (self.bound - self.best) // 8 // unit * unit)
        before = 0
        while self.bound > self.best:
            aim = max(self.best, self.bound - step)
            began, height = self.work, self.bound - aim
            ended = yield from self._pass(aim, began + _PATIENCE * max(began, _A_BLOCK) if step > unit else _ANYTHING)
            if not ended:
                # Too much at once.
                step = max(unit, step // 3 // unit * unit)
                continue
            self.gains[-1] = min(self.bound, max(aim, self.best))
            self._tell()
            work = self.work - began + 1
            if before:
                pace = log(max(work / before, 1.01)) / height
                step = max(unit, int(min(log(_GROWTH) / pace, 3 * step)) // unit * unit)
                if self.bound - self.best <= _LAST * step:
                    # What little would be left is gone through at once.
                    step = self.bound - self.best
            before = work
        best = self.finds.best(self.question.metric)
        if best is not None:
            # Where rows go at the top, too, it can cost more than any levels do.
            self.finds.lower_bound = max(best, self.finds.lower_bound or 0.0)
        yield []

    def _pass(self, aim: int, until: int) -> Generator[Sequence[Node] | Nodes, Readings, bool]:
        """Find all nodes that gain more than *aim* and than the best; say whether it came to its end."""
        blocks = self._blocks([], self.bound)
        parts = parts_of(self.grid, self.most, max(aim, self.best), judges=False, caps=blocks.most)
        shared, width, number = SharedSearch.of(self.grid, parts, blocks), len(self.most), 0
        # What came of it: whether it ended, where descents go on from, and the nodes that were judged.
        came_of_it = self.steps.recalled()
        if came_of_it is not None:
            self.start = came_of_it[1 : 1 + width]
            for steps in came_of_it[1 + width :].reshape(-1, width):
                yield from self._judge(steps)
            found_open = self.steps.take_open()
            if found_open is None:
                return bool(came_of_it[0])
            number = shared.resume(found_open)
        else:
            came_of_it = np.zeros(1 + width, dtype=np.int64)
        for found in shared.slices(self.scratch.totals):
            number += 1
            if number % _SLICES == 0:
                self.start = self._further(self.start, _DESCENTS)
                found.append(self.start)
            for steps in found:
                yield from self._judge(steps)
            shared.take_best(self.best)
            came_of_it = np.concatenate([[not shared.shares], self.start, came_of_it[1 + width :], *found])
            self._tell()
            if self.steps.is_due:
                self.steps.keep_open(came_of_it, shared.values(number))
            yield []
            if self.work > until and shared.shares:
                break
        self.steps.add(came_of_it)
        return not shared.shares
