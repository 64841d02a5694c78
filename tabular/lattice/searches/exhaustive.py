"""Every node of the lattice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabular.lattice.searches.contract import ListingSearch, searches
from tabular.lattice.searching import Course, Finds, Question

#: How many nodes are asked for at once: long batches are fast, and between two of them it can be stopped.
BATCH = 8_192


@searches.add(
    "exhaustive",
    cites="by definition",
    limits="lattices of up to `most` nodes",
)
@dataclass(frozen=True, kw_only=True)
class Exhaustive(ListingSearch):
    """Look at every node, in the order of the levels.

    Uses no property of the limits or the metric, so that its answer holds for all of them: the nodes that satisfy the
    limits, best first, or with objectives those of them that no other dominates.
    """

    seeks_front: ClassVar[bool] = True
    asks_once: ClassVar[bool] = True

    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """Go from the bottom to the top."""
        yield from every_node(question, finds)
        if not question.objectives:
            finds.lower_bound = finds.best(question.metric)


def every_node(question: Question, finds: Finds) -> Course:
    """Go through all nodes in the order of their levels, and count those that satisfy the limits."""
    size, satisfying = question.lattice.size, 0
    for start in range(0, size, BATCH):
        readings = yield question.lattice.at(np.arange(start, min(start + BATCH, size)))
        satisfying += int(readings.satisfying.sum())
        finds.keep(readings, question)
    finds.satisfying = satisfying
