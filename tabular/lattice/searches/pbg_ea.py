"""PBG-EA: representatives of the nodes that no other dominates, from few nodes looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tabular.lattice.candidates import Candidates, Place
from tabular.lattice.front import Archive, checked_epsilon, dominates
from tabular.lattice.metrics import Readings
from tabular.lattice.searches.contract import Search, searches
from tabular.lattice.searching import Course, Finds, Question
from tabular.lattice.space import Floats, Lattice, Levels, Nodes, Numbers
from tabular.registry import option


@searches.add(
    "pbg-ea",
    cites="Dewri, Ray, Ray and Whitley (2010)",
    limits="finds representatives of the front, without proof that none is missing",
)
@dataclass(frozen=True, kw_only=True)
class PbgEa(Search):
    """Approximate the front from few nodes, keeping one node for each box of the objectives.

    An archive (Algorithm 1) keeps what was found; a generator proposes nodes to it, from the bottom, the top and nodes
    at random on. The generator `paper` is the one of the paper: tournaments by dominance counts in population and
    archive, single-point crossover, single-step mutation.

    The generator `local` is ours. Fronts hang together: most of their nodes lie a step or two from another one. So in
    each generation it looks at neighbours of the nodes that nothing dominates so far, a third of the population, first
    at those that an estimate puts farthest ahead of the front: a regression on the levels of all nodes looked at. It
    skips nodes that cannot enter the archive, without computing their classes: the levels alone bound GLM and precision
    from below, any coarser node bounds k and the sums S_k and S_l from above, and any finer one bounds CM from below.
    These bounds are proven except for l, for k where k or l is given, and for S_k, S_l and CM where earlier releases
    decide which rows go. Those are taken to be monotone, which they nearly are, so that a node can be missed. Where
    nothing is left to look at, it goes on through the nodes it skipped, and ends when all of a lattice of up to 250,000
    nodes is known to hold no more.
    """

    seeks_front: ClassVar[bool] = True
    seeks_one: ClassVar[bool] = False
    draws: ClassVar[bool] = True

    generator: str = option("local", choices=("local", "paper"), help="what proposes nodes: ours, or the paper's")
    population: int = option(25, low=2, help="nodes of a generation; the first one has the bottom and the top")
    iterations: int = option(100, low=0, help="generations after the first one")
    crossover: float = option(0.8, low=0, high=1, help="chance that a pair is crossed (paper)")
    mutation: float | None = option(
        None, low=0, high=1, help="chance that a level is moved (paper); 1 over the quasi-identifiers if not given"
    )
    epsilon: Any = option(None, help="sides of a box, one per objective, as in '5,100'; ones if not given")  # noqa: RUF009

    def check(self, question: Question) -> None:
        """Refuse a question without objectives, and an epsilon that does not fit them."""
        super().check(question)
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
        candidates = Candidates(question)
        candidates.learn(distinct([(readings, place) for place in range(len(readings))]))
        for _ in range(self.iterations):
            nodes = candidates.promising(archive, max(1, self.population // 3), rng)
            if not len(nodes):
                return
            readings = yield nodes
            update(archive, readings, question, finds)
            candidates.learn(readings)


def first_population(lattice: Lattice, count: int, rng: np.random.Generator) -> Nodes:
    """*count* nodes: the bottom, the top, and nodes at random."""
    return np.vstack([np.array([lattice.bottom, lattice.top], dtype=np.int16), lattice.drawn(rng, count - 2)])


def update(archive: Archive[Place], readings: Readings, question: Question, finds: Finds) -> None:
    """Offer the nodes that satisfy the limits to the archive, one after the other; it is the answer so far."""
    values = -readings.costs(question.objectives)
    for place in np.flatnonzero(readings.satisfying).tolist():
        archive.offer(values[place], (readings, place))
    if archive.items:
        finds.solutions = Readings.gathered(archive.items)


def distinct(places: list[Place]) -> Readings:
    """Single readings put together, each node once."""
    by_node = {readings.nodes[place].tobytes(): (readings, place) for readings, place in places}
    return Readings.gathered(list(by_node.values()))


def dominance_fitness(costs: Floats) -> Numbers:
    """For each row of *costs* the sum, over those that dominate it, of how many each of them dominates; 0 is best.

    >>> dominance_fitness(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 1.0], [3.0, 3.0]])).tolist()
    [0, 3, 3, 5]
    """
    dominating = dominates(costs, costs)
    fitness: Numbers = dominating.T.astype(np.int64) @ dominating.sum(axis=1)
    return fitness


def tournaments(fitness: Numbers, count: int, rng: np.random.Generator) -> Numbers:
    """The winners of *count* tournaments between two drawn at random: the lower fitness; a tie goes to the first."""
    rivals = rng.integers(len(fitness), size=(count, 2))
    winners: Numbers = np.where(fitness[rivals[:, 1]] < fitness[rivals[:, 0]], rivals[:, 1], rivals[:, 0])
    return winners


def crossed(nodes: Nodes, probability: float, rng: np.random.Generator) -> Nodes:
    """Pairs of *nodes*, drawn without replacement, exchange what lies behind a point at random, or stay as they are.

    Of an odd number one is left over and stays as it is.
    """
    children = nodes[rng.permutation(len(nodes))]
    attributes = nodes.shape[1]
    if attributes < 2:
        return children
    pairs = len(nodes) // 2
    points = rng.integers(1, attributes, size=pairs)
    points[rng.random(pairs) >= probability] = attributes
    behind = np.arange(attributes) >= points[:, np.newaxis]
    first, second = children[0 : 2 * pairs : 2].copy(), children[1 : 2 * pairs : 2].copy()
    children[0 : 2 * pairs : 2] = np.where(behind, second, first)
    children[1 : 2 * pairs : 2] = np.where(behind, first, second)
    return children


def stepped(nodes: Nodes, heights: Levels, probability: float, rng: np.random.Generator) -> Nodes:
    """Each level goes one up or one down with this *probability*; what would leave the hierarchy stays at its end."""
    steps = rng.choice(np.array([-1, 1], dtype=np.int16), size=nodes.shape)
    moved = nodes + np.where(rng.random(nodes.shape) < probability, steps, 0).astype(np.int16)
    return np.clip(moved, 0, heights).astype(np.int16)
