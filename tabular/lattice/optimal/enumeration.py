"""The exact optimum of a lattice whose nodes can be listed: each look decides as many others as it can."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled
from tabular.lattice.evaluator.readings import Readings
from tabular.lattice.optimal.level_losses import ADDITIVE
from tabular.lattice.question import Course, Finds, Question
from tabular.lattice.space import Nodes

#: So many nodes of the lattice are worth one more node in each round.
_A_ROUND = 4_000

#: Where bounds of a metric are weak, most nodes are looked at anyway: then many at once, which is quicker.
_AT_ONCE = 512


def enumerated(question: Question, finds: Finds) -> Course:
    """Ask for the node of which most is to be learnt, until no open node can be better than the best."""
    known = OpenNodes(question)
    count = 1 + question.lattice.size // _A_ROUND if question.metric in ADDITIVE else _AT_ONCE
    while True:
        finds.lower_bound = known.lower_bound()
        chosen = known.most_telling(count)
        if not len(chosen):
            break
        readings = yield chosen
        finds.offer(readings, question.metric)
        known.learn(readings)
    if finds.solutions is not None:
        finds.lower_bound = finds.best(question.metric)


class OpenNodes:
    """Which nodes can still be the optimum: a lower bound of the metric for each, and those known to break limits."""

    def __init__(self, question: Question) -> None:
        self._question, self.best = question, np.inf
        self._nodes = np.ascontiguousarray(question.lattice.everything())
        # Attributes without a level to go up to need no dimension, of which arrays have 64 at most.
        self._free = [place for place, height in enumerate(question.lattice.heights) if height]
        self._shape = tuple(question.lattice.heights[place] + 1 for place in self._free)
        self._levels = np.array(self._shape, dtype=np.int64)
        self._bounds = np.zeros(len(self._nodes))
        if question.metric in ADDITIVE:
            priced = question.evaluator.loss_without_suppression(question.metric, self._nodes)
            # What is added up in another order may differ in the last digits.
            self._bounds = priced * (1 - 1e-12)
        self._order = np.argsort(self._bounds, kind="stable")
        self._open = np.ones(len(self._nodes), dtype=np.bool_)
        self._suppressible = question.suppressible

    def lower_bound(self) -> float | None:
        """No node that satisfies the limits has less of the metric."""
        least = float(self._bounds[self._open].min()) if self._open.any() else np.inf
        least = min(least, self.best)
        return least if np.isfinite(least) else None

    def learn(self, readings: Readings) -> None:
        """Take in what was found of nodes, and what follows for others."""
        values = readings[self._question.metric]
        for place, node in enumerate(readings.nodes.tolist()):
            box = tuple(node[each] for each in self._free)
            self._grid(self._open)[box] = False
            if readings.satisfying[place]:
                self.best = min(self.best, float(values[place]))
            if not self._decides_below():
                continue
            breaks = int(readings["suppressed"][place]) > self._suppressible
            if breaks or (self._question.limits.are_monotone and not readings.satisfying[place]):
                self._grid(self._open)[tuple(slice(level + 1) for level in box)] = False
            # Where others decide, too, which rows go, those kept at a node need not be kept above it.
            if self._question.evaluator.judged_by_classes:
                self._lift(readings, place, tuple(slice(level, None) for level in box))
        # One as good with lower levels may be among the open, and ties go by level: so those that may be equal stay.
        self._open &= self._bounds <= self.best

    def most_telling(self, count: int) -> Nodes:
        """The open nodes of which a look decides most, whatever is seen: those below it, or those that are dearer."""
        worth = _worth(self._open, self._levels, self._order)
        places = np.flatnonzero(worth)
        # Of equals the first, so that the course is the same with any sort.
        chosen: list[int] = np.sort(places[np.argsort(-worth[places], kind="stable")[:count]]).tolist()
        return self._nodes[chosen]

    def _decides_below(self) -> bool:
        return self._question.limits.are_fixed

    def _grid(self, array: NDArray[np.generic]) -> NDArray[np.generic]:
        return array.reshape(self._shape)

    def _lift(self, readings: Readings, place: int, above: tuple[slice, ...]) -> None:
        """Raise the bounds of the nodes above one: see `optimal` for why they hold."""
        for least in _above(readings, place, self._question):
            part = self._grid(self._bounds)[above]
            np.maximum(part, least, out=part)


@compiled
def _worth(is_open: NDArray[np.bool_], levels: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int32]:
    """For each open node the open ones below it or those that are as dear as it, whichever are fewer; else 0."""
    below = np.empty(is_open.size, dtype=np.int32)
    for node in range(is_open.size):
        below[node] = is_open[node]
    stride = is_open.size
    for axis in range(levels.size):
        block, stride = stride, stride // levels[axis]
        # Added up along one axis after the other.
        for begin in range(0, is_open.size, block):
            for node in range(begin + stride, begin + block):
                below[node] += below[node - stride]
    dearer = 0
    for place in range(is_open.size - 1, -1, -1):
        node = order[place]
        if is_open[node]:
            dearer += 1
            below[node] = min(below[node], dearer)
        else:
            below[node] = 0
    return below


def _above(readings: Readings, place: int, question: Question) -> Iterator[float]:
    """What no node above that at *place* can be less than, where the metric is no sum over the levels."""
    suppressed, rows = int(readings["suppressed"][place]), question.evaluator.rows
    k, metric = question.limits.k or 1, question.metric
    if metric == "discernibility":
        yield float(readings[metric][place]) - suppressed * (rows - k)
    elif metric == "cm":
        yield float(readings[metric][place]) - suppressed
    elif metric == "normalized_average_class_size" and suppressed < rows:
        classes = round((rows - suppressed) / (float(readings[metric][place]) * k))
        yield (rows - suppressed) / (classes + suppressed // k) / k * (1 - 1e-12)
