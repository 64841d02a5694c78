"""Nodes at random: the baseline that every search that draws has to beat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabular.lattice.searches.contract import Search, searches
from tabular.lattice.searching import Course, Finds, Question
from tabular.lattice.space import Lattice, Node, Nodes, as_nodes, as_tuples
from tabular.registry import option

#: How many nodes are asked for at once.
_BATCH = 1000


@searches.add(
    "random",
    cites="De Pascale, Cascavilla, Tamburri and van den Heuvel (2023), section 4.3",
    limits="proves that its node is the best only where it has seen all nodes",
)
@dataclass(frozen=True, kw_only=True)
class RandomNodes(Search):
    """Look at distinct nodes at random, each with the same chance, and keep the best.

    Uses no property of the limits or the metric. With objectives it keeps what no other of its nodes dominates. Where
    the lattice has no more nodes than it may look at, it ends when all were seen: then its answer is exact.
    """

    seeks_front: ClassVar[bool] = True
    draws: ClassVar[bool] = True
    asks_once: ClassVar[bool] = True

    evaluations: int = option(5000, low=1, help="most distinct nodes to evaluate")

    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """Draw until so many distinct nodes were seen."""
        satisfying = 0
        for nodes in distinct_nodes(question.lattice, self.evaluations, rng):
            readings = yield nodes
            satisfying += int(readings.satisfying.sum())
            finds.take_in(readings, question)
        if self.evaluations >= question.lattice.size:
            finds.satisfying = satisfying
            if not question.objectives:
                finds.lower_bound = finds.best(question.metric)


def distinct_nodes(lattice: Lattice, count: int, rng: np.random.Generator) -> Iterator[Nodes]:
    """*count* distinct nodes, or all if there are no more, in batches, each in the order of the levels."""
    if lattice.size <= 2 * count:
        places = rng.permutation(lattice.size)[:count]
        for start in range(0, len(places), _BATCH):
            yield lattice.at(np.sort(places[start : start + _BATCH]))
        return
    # More than half of the nodes are never seen, so that most draws are new; the lattice may be of any size.
    seen: set[Node] = set()
    while len(seen) < count:
        wanted = min(_BATCH, count - len(seen))
        fresh = sorted(set(as_tuples(lattice.drawn(rng, wanted))) - seen)
        seen.update(fresh)
        if fresh:
            yield as_nodes(fresh, len(lattice.heights))
