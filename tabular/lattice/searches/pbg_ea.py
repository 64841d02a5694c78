"""PBG-EA: representatives of the nodes that no other dominates, from few nodes looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tabular.lattice.evaluator.readings import Readings
from tabular.lattice.fronts.archive import Archive
from tabular.lattice.fronts.candidates import Place, Prospects
from tabular.lattice.fronts.front import checked_epsilon
from tabular.lattice.fronts.recombination import crossed, dominance_fitness, stepped, tournaments
from tabular.lattice.refusals import require_objectives
from tabular.lattice.searching import Course, Finds, Question, Search, gathered, searches
from tabular.lattice.space import Lattice, Nodes
from tabular.registry import option


@searches.add(
    "pbg-ea",
    cites="Dewri, Ray, Ray and Whitley (2010)",
    limits="representatives of the front, without proof that none is missing",
)
@dataclass(frozen=True, kw_only=True)
class PbgEa(Search):
    """Seek nodes that no other dominates, and keep one for each box of the objectives.

    An archive (Algorithm 1) keeps what was found; a generator proposes nodes to it, from the bottom, the top and nodes
    at random on. The generator `paper` is the one of the paper: tournaments by dominance counts in population and
    archive, single-point crossover, single-step mutation.

    The generator `local` is ours. Fronts hang together: most of their nodes lie a step or two from another one. So it
    looks at neighbours of what nothing dominates so far, a third of the population in each generation, and of these
    first at such as lie farthest before the front by an estimate, which is a regression on the levels of all nodes
    looked at. It passes over nodes that cannot enter the archive, without computing their classes: of GLM and precision
    the levels alone say how low they can be, of k and the sums S_k and S_l any coarser node says how large, of CM any
    finer one how low. That is proven but for l, for k where k or l is given, and for S_k, S_l and CM where earlier
    releases decide which rows go: these are taken to be monotone, which they nearly are, and a node can be missed by
    it. Where nothing is left to look at, it goes on through the nodes it passed over, and ends when all of a lattice of
    up to 250,000 nodes is known to hold no more.
    """

    seeks_front: ClassVar[bool] = True
    seeks_one: ClassVar[bool] = False
    draws: ClassVar[bool] = True

    generator: str = option("local", choices=("local", "paper"), help="what proposes nodes: ours, or the paper's")
    population: int = option(25, low=2, help="nodes of a generation; of them the bottom and the top at first")
    iterations: int = option(100, low=0, help="generations after the first one")
    crossover: float = option(0.8, low=0, high=1, help="chance that a pair is crossed (paper)")
    mutation: float | None = option(
        None, low=0, high=1, help="chance that a level is moved (paper); 1 over the quasi-identifiers if not given"
    )
    epsilon: Any = option(None, help="sides of a box, one an objective, as in '5,100'; ones if not given")  # noqa: RUF009

    def check(self, question: Question) -> None:
        """Refuse a question without objectives, and an epsilon that does not fit them."""
        require_objectives("pbg-ea", question)
        checked_epsilon(self.epsilon, question.objectives)

    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """Algorithm 2, with one of two generators."""
        archive: Archive[Place] = Archive(checked_epsilon(self.epsilon, question.objectives))
        readings = yield first_population(question.lattice, self.population, rng)
        update(archive, readings, question, finds)
        generate = self._recombining if self.generator == "paper" else self._looking_around
        yield from generate(readings, archive, question, finds, rng)

    def _recombining(
        self, readings: Readings, archive: Archive[Place], question: Question, finds: Finds, rng: np.random.Generator
    ) -> Course:
        """The generator of the paper: tournaments in population and archive, crossover, mutation."""
        heights = np.array(question.lattice.heights, dtype=np.int16)
        mutation = 1 / len(heights) if self.mutation is None else self.mutation
        for _ in range(self.iterations):
            pool = distinct([*((readings, place) for place in range(len(readings))), *archive.items])
            costs = pool.costs(question.objectives)
            # The paper knows no limits: what breaks them is dominated by all that does not.
            costs[~pool.satisfying] = np.inf
            winners = tournaments(dominance_fitness(costs), self.population, rng)
            readings = yield stepped(crossed(pool.nodes[winners], self.crossover, rng), heights, mutation, rng)
            update(archive, readings, question, finds)

    def _looking_around(
        self, readings: Readings, archive: Archive[Place], question: Question, finds: Finds, rng: np.random.Generator
    ) -> Course:
        """Our generator: the most promising neighbours."""
        prospects = Prospects(question)
        prospects.learn(distinct([(readings, place) for place in range(len(readings))]))
        for _ in range(self.iterations):
            nodes = prospects.promising(archive, max(1, self.population // 3), rng)
            if not len(nodes):
                return
            readings = yield nodes
            update(archive, readings, question, finds)
            prospects.learn(readings)


def first_population(lattice: Lattice, count: int, rng: np.random.Generator) -> Nodes:
    """*count* nodes: the bottom, the top, and nodes at random."""
    return np.vstack([np.array([lattice.bottom, lattice.top], dtype=np.int16), lattice.drawn(rng, count - 2)])


def update(archive: Archive[Place], readings: Readings, question: Question, finds: Finds) -> None:
    """Offer the nodes that satisfy the limits to the archive, one after the other; it is the answer so far."""
    values = -readings.costs(question.objectives)
    for place in np.flatnonzero(readings.satisfying).tolist():
        archive.offer(values[place], (readings, place))
    if archive.items:
        finds.solutions = gathered(archive.items)


def distinct(places: list[Place]) -> Readings:
    """Single readings put together, each node once."""
    by_node = {readings.nodes[place].tobytes(): (readings, place) for readings, place in places}
    return gathered(list(by_node.values()))
