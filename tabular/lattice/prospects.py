"""Which nodes beside those looked at are worth a look: what each can cost at least, and what it will likely cost."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled
from tabular.lattice.archive import Archive, Floats
from tabular.lattice.metrics import METRICS
from tabular.lattice.optimism import least_above, least_below, least_by_levels
from tabular.lattice.readings import Readings
from tabular.lattice.searching import Question
from tabular.lattice.space import Node, Nodes, as_nodes, as_tuples

#: A reading among others.
Place = tuple[Readings, int]

#: How much more the members of the archive weigh where costs are estimated: it is among them that estimates decide.
_WEIGHT = 3.0
_RIDGE = 0.3


class Prospects:
    """The neighbours of the nodes looked at, as far as they could still enter the archive."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._heights = np.array(question.lattice.heights, dtype=np.int16)
        self._known: set[Node] = set()
        #: The nodes looked at, what they cost, and what nodes below and above them cost at least.
        self._seen = self._no_nodes()
        self._costs, self._below, self._above = self._no_costs(), self._no_costs(), self._no_costs()
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
        self._costs = np.vstack([self._costs, readings.costs(objectives)])
        self._below = np.vstack([self._below, below])
        self._above = np.vstack([self._above, least_above(readings, objectives)])
        self._narrow(slice(0, len(self._next)), slice(old, None))
        nodes = as_tuples(readings.nodes)
        self._known.update(nodes)
        fresh = as_nodes(list(self._unknown_neighbours(nodes)), len(self._heights))
        number = len(self._next)
        self._next = np.vstack([self._next, fresh])
        self._least = np.vstack([self._least, least_by_levels(question.evaluator, objectives, fresh)])
        self._most = np.vstack([self._most, np.full((len(fresh), len(objectives)), np.inf)])
        self._narrow(slice(number, None), slice(0, None))

    def promising(self, archive: Archive[Place], count: int, rng: np.random.Generator) -> Nodes:
        """Up to *count* nodes that could enter *archive*: neighbours of its members first, then by their estimates."""
        if not len(archive):
            # The top was looked at and breaks the limits, so all nodes do: of what is asked, it has the most.
            return self._no_nodes()
        # What cannot enter now never can: members give way to better ones alone, and bounds only rise.
        self._keep(~archive.bars(-self._least) & (self._least < np.inf).all(axis=1))
        members = np.array([readings.nodes[place] for readings, place in archive.items])
        near = _are_near(self._next, members)
        advance = advances(self._estimates(members), -archive.values)
        order = np.lexsort([rng.random(len(near)), -advance, ~near])[:count]
        chosen = self._next[order]
        stays = np.ones(len(near), dtype=np.bool_)
        stays[order] = False
        self._keep(stays)
        return chosen

    def _unknown_neighbours(self, nodes: list[Node]) -> Iterator[Node]:
        lattice = self._question.lattice
        for node in nodes:
            for neighbour in (*lattice.predecessors(node), *lattice.successors(node)):
                if neighbour not in self._known:
                    self._known.add(neighbour)
                    yield neighbour

    def _narrow(self, candidates: slice, seen: slice) -> None:
        """Bring the bounds of *candidates* up to date with nodes looked at."""
        is_gain = np.array([not METRICS[name].is_loss for name in self._question.objectives])
        _narrow(
            self._next[candidates],
            self._least[candidates],
            self._most[candidates],
            self._seen[seen],
            self._costs[seen],
            self._below[seen],
            self._above[seen],
            is_gain,
        )

    def _estimates(self, members: Nodes) -> Floats:
        """What the candidates will likely cost: the levels' part, and a regression of the logarithm of the rest."""
        objectives, evaluator = self._question.objectives, self._question.evaluator
        at_seen = np.maximum(least_by_levels(evaluator, objectives, self._seen), 0)
        at_next = np.maximum(least_by_levels(evaluator, objectives, self._next), 0)
        kept = {node.tobytes() for node in members}
        weights = np.array([_WEIGHT if node.tobytes() in kept else 1.0 for node in self._seen])[:, np.newaxis]
        known = self._steps(self._seen) * weights
        rest = np.log1p(np.abs(self._costs - at_seen)) * weights
        effects = np.linalg.solve(known.T @ known + _RIDGE * np.eye(known.shape[1]), known.T @ rest)
        sizes = np.expm1(np.clip(self._steps(self._next) @ effects, 0, 700))
        signs = np.array([1.0 if METRICS[name].is_loss else -1.0 for name in objectives])
        likely: Floats = at_next + signs * sizes
        return np.maximum(np.minimum(likely, self._most), self._least)

    def _steps(self, nodes: Nodes) -> Floats:
        """One column for each step of each attribute, 1 where the node has taken it; and one of ones."""
        columns = [nodes[:, [place]] >= np.arange(1, height + 1) for place, height in enumerate(self._heights)]
        return np.hstack([np.ones((len(nodes), 1)), *columns]).astype(np.float64)

    def _keep(self, which: NDArray[np.bool_]) -> None:
        self._next, self._least, self._most = self._next[which], self._least[which], self._most[which]

    def _no_nodes(self) -> Nodes:
        return np.zeros((0, len(self._heights)), dtype=np.int16)

    def _no_costs(self) -> Floats:
        return np.zeros((0, len(self._question.objectives)))


@compiled
def _narrow(
    candidates: Nodes,
    least: Floats,
    most: Floats,
    seen: Nodes,
    costs: Floats,
    below: Floats,
    above: Floats,
    is_gain: NDArray[np.bool_],
) -> None:
    """Raise what *candidates* cost at *least*, and lower the *most*, by each node *seen* above or below them."""
    for place in range(len(candidates)):
        for node in range(len(seen)):
            is_lower, is_higher = True, True
            for attribute in range(candidates.shape[1]):
                is_lower &= candidates[place, attribute] <= seen[node, attribute]
                is_higher &= candidates[place, attribute] >= seen[node, attribute]
            for objective in range(least.shape[1]):
                if is_lower:
                    least[place, objective] = max(least[place, objective], below[node, objective])
                if is_higher:
                    least[place, objective] = max(least[place, objective], above[node, objective])
                    # Privacy grows upwards, or nearly so: good enough for an estimate.
                    if is_gain[objective]:
                        most[place, objective] = min(most[place, objective], costs[node, objective])


@compiled
def _are_near(candidates: Nodes, members: Nodes) -> NDArray[np.bool_]:
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
