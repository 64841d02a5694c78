"""Samarati's binary search: the least height of a node that satisfies the limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabular.lattice.metrics import Readings
from tabular.lattice.searches.contract import ListingSearch, searches
from tabular.lattice.searching import Course, Finds, Question
from tabular.lattice.space import Lattice, Nodes

#: How many nodes of a height are asked for at once; one that satisfies is enough to go lower.
_BATCH = 1024


@searches.add(
    "samarati",
    cites="Samarati (2001)",
    limits="the best node by a metric can have another height; takes t only without suppression",
)
@dataclass(frozen=True, kw_only=True)
class Samarati(ListingSearch):
    """Find the lowest height at which a node satisfies the limits, by binary search, and all such nodes of that height.

    The height of a node is the sum of its levels. If a node satisfies the limits, all nodes above it do, and one of
    these is a step higher unless it is the top: so the heights that have such a node are those from the least one up,
    and halving finds it. The metric alone puts the nodes of that height in order.
    """

    needs_monotone: ClassVar[bool] = True

    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """Ask for the top, then height by height until one is left."""
        lattice = question.lattice
        readings = yield [lattice.top]
        if not readings.satisfying[0]:
            return
        finds.solutions = readings
        low, high = 0, sum(lattice.heights)
        while low < high:
            middle = (low + high) // 2
            for nodes in _of_height(lattice, middle):
                readings = yield nodes
                if readings.satisfying.any():
                    finds.solutions = readings.take(readings.satisfying)
                    high = middle
                    break
            else:
                low = middle + 1
        finds.remarks["height"] = high
        found: list[Readings] = []
        for nodes in _of_height(lattice, high):
            readings = yield nodes
            if readings.satisfying.any():
                found.append(readings.take(readings.satisfying))
                finds.solutions = Readings.together(found)


def _of_height(lattice: Lattice, height: int) -> Iterator[Nodes]:
    """The nodes of a *height* in the order of the levels, some at a time."""
    places = np.flatnonzero(lattice.node_heights == height)
    for start in range(0, len(places), _BATCH):
        yield lattice.at(places[start : start + _BATCH])
