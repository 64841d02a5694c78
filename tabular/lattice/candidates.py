"""Candidates for the next look: what each node can cost at least, and what it will likely cost.

Costs are as in `Readings.costs`: lower is better, and what is wanted large is negative. Of the nodes below and above
only those that satisfy the limits are meant. Sums of squares are floats here, with bounds that are as exact: up to 2^53
as whole numbers are, and to 16 digits beyond."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tabular.kernels import compiled
from tabular.lattice.front import Archive, non_dominated, nowhere_above
from tabular.lattice.metrics import ADDITIVE, METRICS, Readings
from tabular.lattice.searching import Question
from tabular.lattice.space import Flags, Floats, Limits, Node, Nodes, Numbers, as_nodes, as_tuples

if TYPE_CHECKING:
    from tabular.lattice.evaluator.evaluator import Evaluator

#: A reading among others.
Place = tuple[Readings, int]

#: How much more nodes weigh that nothing dominates where costs are estimated: it is among them that estimates decide.
_WEIGHT = 3.0
_RIDGE = 0.3

#: Through nodes that cannot enter it is gone on until so many are known.
_MOST = 250_000


def least_by_levels(evaluator: Evaluator, objectives: Sequence[str], nodes: Sequence[Node] | Nodes) -> Floats:
    """What the levels of *nodes* cost when nothing is suppressed; minus infinity where they say nothing."""
    found = np.full((len(nodes), len(objectives)), -np.inf)
    for place, name in enumerate(objectives):
        if name in ADDITIVE:
            found[:, place] = evaluator.loss_without_suppression(name, nodes)
    return found


def least_below(
    readings: Readings, objectives: Sequence[str], limits: Limits, rows: int, *, proven: bool = True
) -> Floats:
    """For each of *readings* what the nodes below it cost at least.

    A class of a coarser node is parted on a finer one. So neither the sum of squares of all classes grows, nor that of
    the sensitive values in them; of those that are suppressed, whose squares the readings lack, no class has more rows
    than are suppressed, nor, where k alone decides, than the smallest class that is kept.

    The k of property-based generalisation does not grow: on the finer node no fewer rows lie in classes up to any
    size. With k or l given, the rows of a small class of the coarser node may all be suppressed on the finer one,
    whose smallest class is then another. More rows than may go cannot be: where all classes kept on the coarser node
    are that large, neither k nor l grows. Unless it is to be *proven* they are taken not to grow anywhere, which is
    so but for few nodes.
    """
    gone = readings["suppressed"].astype(np.float64)
    kept_k = readings["k"].astype(np.float64)
    largest = gone if limits.l is not None else np.where(kept_k > 0, np.minimum(gone, kept_k - 1), gone)
    sure = kept_k > limits.suppressible(rows)
    found = np.full((len(readings), len(objectives)), -np.inf)
    for place, name in enumerate(objectives):
        if name in ("s_k", "s_l"):
            found[:, place] = -(readings[name] + gone * largest)
        elif name == "k":
            holds = sure | (not proven or not limits.are_fixed)
            found[:, place] = np.where(holds, -kept_k, -np.inf)
        elif name == "l":
            found[:, place] = np.where(sure | (not proven), -readings["l"].astype(np.float64), -np.inf)
    return found


def least_above(readings: Readings, objectives: Sequence[str]) -> Floats:
    """For each of *readings* what the nodes above it cost at least.

    Where classes merge, no fewer rows differ from the commonest label; and a suppressed row counts at least as much as
    it would in its class.
    """
    found = np.full((len(readings), len(objectives)), -np.inf)
    for place, name in enumerate(objectives):
        if name == "cm":
            found[:, place] = readings["cm"] - readings["suppressed"].astype(np.float64)
    return found


class Candidates:
    """The neighbours of the nodes looked at that could still enter the archive.

    A node that cannot enter is skipped without computing its classes. A lower bound of its costs follows from its
    levels, from the nodes above it that were looked at (privacy does not grow downwards), and from those below it. l,
    and k where k or l is given, can grow downwards where rows are suppressed; that is rare, and taken not to happen. So
    a node can be missed, but no node is ever kept that another dominates.
    """

    def __init__(self, question: Question) -> None:
        self._question = question
        self._heights = np.array(question.lattice.heights, dtype=np.int16)
        self._known: set[Node] = set()
        self._passed: list[Node] = []
        #: The nodes looked at, what they cost, and what nodes below and above them cost at least, and above at most.
        self._seen, self._costs = self._no_nodes(), self._no_costs()
        self._below, self._above, self._ceilings = self._no_costs(), self._no_costs(), self._no_costs()
        self._satisfying = np.zeros(0, dtype=np.bool_)
        #: The nodes that could be next, and between which bounds their costs are taken to lie.
        self._next = self._no_nodes()
        self._least, self._most = self._no_costs(), self._no_costs()

    def learn(self, readings: Readings) -> None:
        """Take in what was found of nodes, each new; their neighbours are candidates from now on."""
        question, old = self._question, len(self._seen)
        objectives, limits, rows = question.objectives, question.limits, question.evaluator.rows
        below = least_below(readings, objectives, limits, rows, proven=False)
        if limits.are_monotone:
            # Below a node that breaks the limits no other keeps them.
            below[~readings.satisfying] = np.inf
        self._seen = np.vstack([self._seen, readings.nodes])
        costs = readings.costs(objectives)
        self._costs = np.vstack([self._costs, costs])
        # Privacy grows upwards, or nearly so: good enough for an estimate.
        is_loss = np.array([METRICS[name].is_loss for name in objectives])
        self._ceilings = np.vstack([self._ceilings, np.where(is_loss, np.inf, costs)])
        self._below = np.vstack([self._below, below])
        self._above = np.vstack([self._above, least_above(readings, objectives)])
        self._satisfying = np.concatenate([self._satisfying, readings.satisfying])
        self._narrow(slice(0, len(self._next)), slice(old, None))
        nodes = as_tuples(readings.nodes)
        self._known.update(nodes)
        self._look_around(nodes)

    def _look_around(self, nodes: list[Node]) -> None:
        """Make the neighbours of *nodes* candidates."""
        question, objectives = self._question, self._question.objectives
        fresh = as_nodes(list(self._unknown_neighbours(nodes)), len(self._heights))
        number = len(self._next)
        self._next = np.vstack([self._next, fresh])
        self._least = np.vstack([self._least, least_by_levels(question.evaluator, objectives, fresh)])
        self._most = np.vstack([self._most, np.full((len(fresh), len(objectives)), np.inf)])
        self._narrow(slice(number, None), slice(0, None))

    def promising(self, archive: Archive[Place], count: int, rng: np.random.Generator) -> Nodes:
        """Up to *count* nodes that could enter *archive*, first those that are beside a node nothing dominates."""
        if not len(archive):
            # The top was looked at and breaks the limits, so all nodes do: of what is asked, it has the most.
            return self._no_nodes()
        self._pass_over(archive)
        while not len(self._next) and self._passed and len(self._known) < _MOST:
            passed, self._passed = self._passed, []
            self._look_around(passed)
            self._pass_over(archive)
        # With large boxes the archive has few members; the way to others leads along all that nothing dominates.
        leads = self._are_leading()
        near = _are_near(self._next, self._seen[leads])
        pool = np.flatnonzero(near) if near.sum() >= count else np.arange(len(near))
        advance = advances(self._estimates(pool, leads), self._costs[leads])
        chosen = pool[np.lexsort([rng.random(len(pool)), -advance, ~near[pool]])[:count]]
        nodes = self._next[chosen]
        self._keep(~np.isin(np.arange(len(near)), chosen))
        return nodes

    def _pass_over(self, archive: Archive[Place]) -> None:
        """Drop the candidates that cannot enter; never can they, for members give way to better ones and bounds rise.

        Theirs are the next neighbours when no other candidate is left: to pass through them costs nothing.
        """
        barred = archive.bars(-self._least) | np.isposinf(self._least).any(axis=1)
        self._passed += as_tuples(self._next[barred])
        self._keep(~barred)

    def _unknown_neighbours(self, nodes: list[Node]) -> Iterator[Node]:
        lattice = self._question.lattice
        for node in nodes:
            for neighbour in (*lattice.predecessors(node), *lattice.successors(node)):
                if neighbour not in self._known:
                    self._known.add(neighbour)
                    yield neighbour

    def _narrow(self, candidates: slice, seen: slice) -> None:
        """Bring the bounds of *candidates* up to date with nodes looked at."""
        bounds = (self._below, self._above, self._ceilings)
        ours = self._next[candidates], self._least[candidates], self._most[candidates]
        _narrow(*ours, self._seen[seen], *(each[seen] for each in bounds))

    def _are_leading(self) -> Flags:
        """Which of the nodes looked at satisfy the limits and are dominated by none that does."""
        found = self._satisfying.copy()
        found[self._satisfying] = non_dominated(self._costs[self._satisfying])
        return found

    def _estimates(self, pool: Numbers, leads: Flags) -> Floats:
        """What candidates will likely cost: the levels' part, and a regression of the logarithm of the rest."""
        objectives, evaluator = self._question.objectives, self._question.evaluator
        at_seen = np.maximum(least_by_levels(evaluator, objectives, self._seen), 0)
        at_next = np.maximum(least_by_levels(evaluator, objectives, self._next[pool]), 0)
        weights = np.where(leads, _WEIGHT, 1.0)[:, np.newaxis]
        known = self._steps(self._seen) * weights
        rest = np.log1p(np.abs(self._costs - at_seen)) * weights
        # Not by a library: it may add up in another order with another number of threads.
        effects = _fitted(known, rest, _RIDGE)
        sizes = np.expm1(np.clip(_applied(self._steps(self._next[pool]), effects), 0, 700))
        signs = np.array([1.0 if METRICS[name].is_loss else -1.0 for name in objectives])
        likely: Floats = at_next + signs * sizes
        return np.maximum(np.minimum(likely, self._most[pool]), self._least[pool])

    def _steps(self, nodes: Nodes) -> Floats:
        """One column for each step of each attribute, 1 where the node has taken it; and one of ones."""
        columns = [nodes[:, [place]] >= np.arange(1, height + 1) for place, height in enumerate(self._heights)]
        return np.hstack([np.ones((len(nodes), 1)), *columns]).astype(np.float64)

    def _keep(self, which: Flags) -> None:
        self._next, self._least, self._most = self._next[which], self._least[which], self._most[which]

    def _no_nodes(self) -> Nodes:
        return np.zeros((0, len(self._heights)), dtype=np.int16)

    def _no_costs(self) -> Floats:
        return np.zeros((0, len(self._question.objectives)))


@compiled
def _narrow(
    candidates: Nodes, least: Floats, most: Floats, seen: Nodes, below: Floats, above: Floats, ceilings: Floats
) -> None:
    """Raise what *candidates* cost at *least*, and lower the *most*, by each node *seen* above or below them."""
    for place in range(len(candidates)):
        for node in range(len(seen)):
            if nowhere_above(candidates, place, seen, node):
                for objective in range(least.shape[1]):
                    least[place, objective] = max(least[place, objective], below[node, objective])
            if nowhere_above(seen, node, candidates, place):
                for objective in range(least.shape[1]):
                    least[place, objective] = max(least[place, objective], above[node, objective])
                    most[place, objective] = min(most[place, objective], ceilings[node, objective])


@compiled
def _are_near(candidates: Nodes, members: Nodes) -> Flags:
    """Which *candidates* are one step from one of *members*."""
    found = np.zeros(len(candidates), dtype=np.bool_)
    for place in range(len(candidates)):
        for member in range(len(members)):
            steps = 0
            for attribute in range(candidates.shape[1]):
                steps += abs(candidates[place, attribute] - members[member, attribute])
            if steps == 1:
                found[place] = True
                break
    return found


def advances(costs: Floats, front: Floats) -> Floats:
    """How far each of *costs* lies before a *front*: by how much it would have to get worse to be dominated.

    In each objective the unit is the rank among the front, as a share of its members, so that no scale matters.

    >>> front = np.array([[1.0, 4.0], [2.0, 3.0], [3.0, 2.0], [4.0, 1.0]])
    >>> advances(np.array([[1.5, 2.5], [2.0, 3.0], [9.0, 9.0]]), front).tolist()
    [0.125, 0.0, -0.375]
    """
    theirs, ours = np.zeros_like(costs), np.zeros_like(front)
    for place in range(front.shape[1]):
        ordered = np.sort(front[:, place])
        for ranks, numbers in ((theirs, costs[:, place]), (ours, front[:, place])):
            sides = np.searchsorted(ordered, numbers, "left") + np.searchsorted(ordered, numbers, "right")
            ranks[:, place] = sides / (2 * len(ordered))
    return _advances(theirs, ours)


@compiled
def _advances(theirs: Floats, ours: Floats) -> Floats:
    found = np.full(len(theirs), np.inf)
    for place in range(len(theirs)):
        for member in range(len(ours)):
            most = -np.inf
            for objective in range(theirs.shape[1]):
                most = max(most, ours[member, objective] - theirs[place, objective])
            found[place] = min(found[place], most)
    return found


@compiled
def _fitted(known: Floats, rest: Floats, ridge: float) -> Floats:
    """The effects of a ridge regression of each column of *rest* on those of *known*, by Cholesky's method."""
    rows, size = known.shape
    factor = np.zeros((size, size))
    effects = np.zeros((size, rest.shape[1]))
    for row in range(rows):
        for one in range(size):
            weight = known[row, one]
            if weight != 0.0:
                for other in range(one + 1):
                    factor[one, other] += weight * known[row, other]
                for column in range(rest.shape[1]):
                    effects[one, column] += weight * rest[row, column]
    for one in range(size):
        factor[one, one] += ridge
    for one in range(size):
        for other in range(one + 1):
            total = factor[one, other]
            for place in range(other):
                total -= factor[one, place] * factor[other, place]
            factor[one, other] = np.sqrt(total) if one == other else total / factor[other, other]
    for column in range(rest.shape[1]):
        for one in range(size):
            for place in range(one):
                effects[one, column] -= factor[one, place] * effects[place, column]
            effects[one, column] /= factor[one, one]
        for one in range(size - 1, -1, -1):
            for place in range(one + 1, size):
                effects[one, column] -= factor[place, one] * effects[place, column]
            effects[one, column] /= factor[one, one]
    return effects


@compiled
def _applied(known: Floats, effects: Floats) -> Floats:
    """What the effects make of the rows of *known*."""
    found = np.zeros((known.shape[0], effects.shape[1]))
    for row in range(known.shape[0]):
        for one in range(known.shape[1]):
            weight = known[row, one]
            if weight != 0.0:
                for column in range(effects.shape[1]):
                    found[row, column] += weight * effects[one, column]
    return found
