"""The optimum of a lattice that nobody can list: good nodes first, then proof that there is nothing better."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from math import log

import numpy as np
from numpy.typing import NDArray

from tabular.lattice.evaluator.readings import Readings
from tabular.lattice.optimal.branch_and_bound import advance, narrow
from tabular.lattice.optimal.class_splits import COUNTED, WORK, Grid, Scratch, scratch_for
from tabular.lattice.optimal.greedy_descent import descended
from tabular.lattice.optimal.losses_by_level import LevelLosses
from tabular.lattice.optimal.parts import BEST, DONE, FULL, Blocks, parts_of, with_more_room
from tabular.lattice.optimal.table_grid import grid_of
from tabular.lattice.optimal.threads import SharedSearch
from tabular.lattice.searching import Finds, Question
from tabular.lattice.space import Node, Nodes

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


Asking = Generator[Sequence[Node] | Nodes, Readings, None]


@dataclass(eq=False)
class BranchedOptimum:
    """One search: the grid, what is found, and the bounds of blocks of attributes."""

    question: Question
    finds: Finds
    rng: np.random.Generator
    losses: LevelLosses
    grid: Grid
    scratch: Scratch
    most: NDArray[np.int64]
    #: The trees of blocks: for each block its attributes, its two halves and what it gains at most.
    members: list[list[int]] = field(default_factory=list)
    halves: list[tuple[int, int]] = field(default_factory=list)
    gains: list[int] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    best: int = -1
    #: Where descents go on from.
    start: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, question: Question, finds: Finds, rng: np.random.Generator) -> BranchedOptimum:
        """Lay the table out for the search."""
        losses = LevelLosses.of(
            question.metric,
            question.lattice.heights,
            lambda nodes: question.evaluator.loss_without_suppression(question.metric, nodes),
        )
        grid = grid_of(question, losses)
        most = np.array(grid.steps)
        return cls(question, finds, rng, losses, grid, scratch_for(grid), most)

    def course(self) -> Asking:
        """Good nodes, then bounds of blocks, then passes through all of the lattice."""
        top = yield [self.question.lattice.top]
        self.finds.offer(top, self.question.metric)
        if int(top["suppressed"][0]) > self.question.limits.suppressible(self.question.evaluator.rows):
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

    def _narrowed(self, grid: Grid) -> NDArray[np.int64]:
        """How far down each attribute can go by itself."""
        caps = np.full(len(self.most), _ANYTHING)
        parts = parts_of(grid, self.most, -1, judges=True, caps=caps)
        narrow(
            grid,
            parts.rows,
            parts.weights,
            parts.starts,
            1,
            0,
            parts.now[0],
            parts.most[0],
            parts.losing[0],
            -1,
            parts.caps[0],
            len(self.most) - 1,
            self._blocks([], _ANYTHING),
            parts.proof,
            self.scratch,
        )
        most: NDArray[np.int64] = parts.most[0].copy()
        return most

    def _plant(self) -> None:
        self.members = [[attribute] for attribute in range(len(self.most))]
        self.halves = [(-1, -1)] * len(self.most)
        self.gains = [int(self.grid.gains[attribute, step]) for attribute, step in enumerate(self.most)]
        self.roots = list(range(len(self.most)))

    def _blocks(self, joined: Sequence[tuple[int, int]], most: int) -> Blocks:
        """The blocks so far and those of *joined* above them; the last gains *most* at most."""
        halves = [*self.halves, *joined]
        gains = [*self.gains, *[_ANYTHING] * len(joined)]
        gains[-1] = min(gains[-1], most)
        return Blocks(
            np.array([left for left, _ in halves], dtype=np.int64),
            np.array([right for _, right in halves], dtype=np.int64),
            np.array(gains, dtype=np.int64),
            np.zeros(len(halves), dtype=np.int64),
            np.zeros(len(halves), dtype=np.int64),
            self._member_table(halves),
            np.array([gain < _ANYTHING for gain in gains[:-1]] + [False]),
            len(halves) - 1,
        )

    def _member_table(self, halves: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
        table = np.zeros((len(halves), len(self.most)), dtype=np.bool_)
        for which, (left, right) in enumerate(halves):
            if left < 0:
                table[which, which] = True
            else:
                table[which] = table[left] | table[right]
        return table

    def _tell(self) -> None:
        """Say what is proven, and count what was looked at."""
        bound = self.losses.bound(self.losses.most - max(self.bound, self.best))
        best = self.finds.best(self.question.metric)
        if best is not None:
            bound = min(bound, best)
        self.finds.lower_bound = max(bound, self.finds.lower_bound or 0.0)
        self.finds.counted = int(self.scratch.told[COUNTED])

    def _judge(self, steps: NDArray[np.int64]) -> Asking:
        """Have a node evaluated; remember what it gains if it is the best."""
        readings = yield [self._node(steps)]
        self.finds.offer(readings, self.question.metric)
        self._take_best()

    def _take_best(self) -> None:
        value = self.finds.best(self.question.metric)
        if value is not None:
            self.best = max(self.best, self.losses.most - self.losses.reaching(value))

    def _node(self, steps: NDArray[np.int64]) -> Node:
        return tuple((self.grid.steps - steps).tolist())

    def _descend(self) -> Asking:
        self._take_best()
        # Where a descent leads to depends on its first steps: many begin anew, the best go on.
        begun = [self._further(np.zeros_like(self.most), _DESCENTS) for _ in range(_BEGINNINGS)]
        for rounds in range(_ROUNDS):
            begun.sort(key=lambda steps: -self._gained(steps))
            self.start = begun[0]
            yield from self._judge(self.start)
            self._tell()
            begun = [
                self._further(steps, _DESCENTS << rounds + 1)
                for steps in begun[: max(1, _BEGINNINGS >> 2 * rounds + 2)]
            ]

    def _further(self, start: NDArray[np.int64], descents: int) -> NDArray[np.int64]:
        return descended(self.grid, self.most, start, descents, self.rng, self.scratch)

    def _gained(self, steps: NDArray[np.int64]) -> int:
        return int(self.grid.gains[np.arange(len(steps)), steps].sum())

    def _join_blocks(self) -> Asking:
        """Join attributes that hinder each other most, and bound what they gain together."""
        linked = yield from self._links()
        while True:
            pairs = [
                (self._link(one, other, linked), -one, -other)
                for place, one in enumerate(self.roots)
                for other in self.roots[:place]
                if len(self.members[one]) + len(self.members[other]) <= _WIDEST
            ]
            link, one, other = max(pairs, default=(0.0, 0, 0))
            if link <= 0:
                return
            most = yield from self._gain_together(-one, -other, self.grid)
            self._join(-one, -other, most)
            self._tell()

    def _links(self) -> Generator[Nodes, Readings, NDArray[np.float64]]:
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

    def _link(self, one: int, other: int, linked: NDArray[np.float64]) -> float:
        part = linked[np.ix_(self.members[one], self.members[other])]
        return float(part.sum() / np.sqrt(part.size))

    def _join(self, one: int, other: int, most: int) -> None:
        self.roots = [root for root in self.roots if root not in (one, other)] + [len(self.members)]
        self.members.append(self.members[one] + self.members[other])
        self.halves.append((one, other))
        self.gains.append(min(most, self.gains[one] + self.gains[other]))

    def _gain_together(self, one: int, other: int, grid: Grid) -> Generator[Nodes, Readings, int]:
        """What two blocks gain together at most, the other attributes at their top."""
        among = np.zeros(len(self.most), dtype=np.int64)
        chosen = self.members[one] + self.members[other]
        among[chosen] = self.most[chosen]
        start = descended(grid, among, np.zeros_like(among), 2 * len(chosen), self.rng, self.scratch)
        least = int(grid.gains[np.arange(len(start)), start].sum())
        blocks = self._blocks([(one, other)], _ANYTHING)
        parts = parts_of(grid, among, least, judges=True, caps=blocks.most)
        until = int(self.scratch.told[WORK]) + _A_BLOCK
        while True:
            budget = min(_SLICE, until - int(self.scratch.told[WORK]))
            outcome = advance(grid, parts, blocks, self.scratch, budget)
            if outcome == DONE:
                return int(parts.state[BEST])
            if outcome == FULL:
                parts = with_more_room(parts)
            elif int(self.scratch.told[WORK]) >= until:
                return self.gains[one] + self.gains[other]
            else:
                self._tell()
                yield self._none

    @property
    def _none(self) -> Nodes:
        return np.zeros((0, len(self.most)), dtype=np.int16)

    def _prove(self) -> Asking:
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
            began, height = int(self.scratch.told[WORK]), self.bound - aim
            ended = yield from self._pass(aim, began + _PATIENCE * max(began, _A_BLOCK) if step > unit else _ANYTHING)
            if not ended:
                # Too much at once.
                step = max(unit, step // 3 // unit * unit)
                continue
            self.gains[-1] = min(self.bound, max(aim, self.best))
            self._tell()
            work = int(self.scratch.told[WORK]) - began + 1
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
        yield self._none

    def _pass(self, aim: int, until: int) -> Generator[Sequence[Node] | Nodes, Readings, bool]:
        """Find all nodes that gain more than *aim* and than the best; say whether it came to its end."""
        blocks = self._blocks([], self.bound)
        parts = parts_of(self.grid, self.most, max(aim, self.best), judges=False, caps=blocks.most)
        shared = SharedSearch.of(self.grid, parts, blocks)
        for number, found in enumerate(shared.slices()):
            if number % _SLICES == _SLICES - 1:
                self.start = self._further(self.start, _DESCENTS)
                found.append(self.start)
            for steps in found:
                yield from self._judge(steps)
            shared.take_best(self.best)
            self.scratch.told[WORK] += shared.work
            self.scratch.told[COUNTED] += shared.counted
            shared.work = shared.counted = 0
            self._tell()
            yield self._none
            if int(self.scratch.told[WORK]) > until and shared.shares:
                return False
        return True
