"""KGEN: a genetic algorithm for lattices too large for exact search (De Pascale and others 2023)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tabular.lattice.evaluator.readings import Readings
from tabular.lattice.question import Course, Finds, Question
from tabular.lattice.searches.contract import Search, searches
from tabular.lattice.searches.kgen_operators import crossed, moved_sideways, mutated, pairs, weights
from tabular.lattice.space import Lattice, Nodes, as_nodes, as_tuples
from tabular.registry import option

#: How many nodes are asked for at once where all that are left are looked at.
_PORTION = 1024


@searches.add(
    "kgen",
    cites="De Pascale, Cascavilla, Tamburri and van den Heuvel (2023), Algorithm 1",
    limits="proves that its node is the best only where the evaluations cover all nodes above the attributes' bounds",
)
@dataclass(frozen=True, kw_only=True)
class Kgen(Search):
    """Evolve nodes with a genetic algorithm, from the lowest level up that each attribute allows by itself.

    The bound of an attribute is its lowest level at which no more rows lie in classes below k than may be suppressed.
    A row in a small class on one attribute is in one on any combination. So no node with a lower level satisfies the
    limits, and leaving those nodes out loses nothing, whatever the metric. KGEN computes the bound as if no row could
    be suppressed; that bound does not hold (its section 7).

    What the paper leaves open:

    - The top is looked at first and is in the first population. It satisfies the limits if any node does, so there is
      an answer whatever chance brings.
    - A parent's weight is what it keeps times its youth. A node loses its metric as a share of the top's, 1 at most;
      for precision that is the precision itself. The paper speaks of a tournament and prints the chances of a wheel
      (eq 3): here two nodes are drawn by these chances, and the heavier is the parent; a `tournament` of 1 is the wheel
      alone.
    - The best survive, each node once: first those that satisfy the limits, by their loss, then the others by how many
      rows too many they suppress, and by their loss. So the others lead to where the limits hold, but never displace a
      node that satisfies them.
    - Nodes that are looked at only to cross others (the lowest nodes of pairs) count, and can be the answer.
    - Where the evaluations cover all nodes above the bounds, the search ends with those that no generation brought.
      Then the answer is the optimum, with proof.
    """

    draws: ClassVar[bool] = True

    evaluations: int = option(5000, low=1, help="distinct nodes to look at, at most")
    population: int = option(100, low=2, help="nodes of a generation")
    crossover: float = option(0.9, low=0, high=1, help="chance that two parents are crossed; else both are copied")
    mutation: float = option(0.2, low=0, high=1, help="chance that one attribute of a child is put to another level")
    horizontal: float = option(0.4, low=0, high=1, help="chance that attributes of a child move up and down by turns")
    share: float = option(0.5, low=0, high=1, help="share of the attributes that such a move takes")
    tournament: int = option(2, low=1, help="draws by weight for a parent, of which the heaviest is taken")
    patience: int = option(50, low=1, help="generations without a new node after which it ends")

    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """Look at the node of one class, then go from generation to generation, then at what is left if it is few."""
        evolution = _Evolution(self, question, finds, rng)
        yield from evolution.top()
        if finds.solutions is None:
            # Where one class of all rows breaks the limits every node does.
            finds.satisfying = 0
            return
        generations = idle = 0
        members = yield from evolution.beginning()
        # Where all can be looked at there is no use in waiting for chance to bring the last of them.
        patience = 1 if evolution.is_covered else self.patience
        while evolution.room and idle < patience:
            before = len(evolution.seen)
            members = yield from evolution.generation(members)
            generations += 1
            idle = 0 if len(evolution.seen) > before else idle + 1
            finds.remarks["generations"] = generations
        yield from evolution.rest()


@dataclass(frozen=True, eq=False)
class _Members:
    """A population: distinct nodes with their readings and for how many generations each was among the parents."""

    readings: Readings
    ages: NDArray[np.int64]


class _Evolution:
    """What goes on from generation to generation: the nodes seen, and what was found."""

    def __init__(self, options: Kgen, question: Question, finds: Finds, rng: np.random.Generator) -> None:
        self.options, self.question, self.finds, self.rng = options, question, finds, rng
        self.low = as_nodes([question.evaluator.lower_levels()], len(question.lattice.heights))[0]
        self.high = as_nodes([question.lattice.top], len(question.lattice.heights))[0]
        #: How many nodes there are above the bounds.
        self.size: int = prod((self.high.astype(int) - self.low + 1).tolist())
        self.limit = question.suppressible
        self.seen: set[bytes] = set()
        self.satisfying = 0
        self.worst = 0.0
        self.nothing: Readings | None = None
        finds.remarks["bounds"] = self.low.tolist()
        if question.metric == "precision":
            # It never falls from a node to one above it, and no node satisfies that is not above this one.
            self.raise_bound(float(question.evaluator.loss_without_suppression("precision", self.low[None])[0]))

    @property
    def room(self) -> int:
        """How many new nodes can still be looked at."""
        return min(self.options.evaluations, self.size) - len(self.seen)

    @property
    def is_covered(self) -> bool:
        """Whether the evaluations suffice for all nodes above the bounds."""
        return self.size <= self.options.evaluations

    def ask(self, nodes: Nodes) -> Generator[Nodes, Readings, Readings]:
        """Look at *nodes* but for those that are new when there is no room any more."""
        kept: list[int] = []
        fresh: list[int] = []
        for place, node in enumerate(nodes):
            key = node.tobytes()
            if key not in self.seen:
                if not self.room:
                    continue
                self.seen.add(key)
                fresh.append(len(kept))
            kept.append(place)
        if self.nothing is not None and not kept:
            return self.nothing
        readings = yield nodes[kept]
        self.finds.offer(readings, self.question.metric)
        self.satisfying += int(readings.satisfying[fresh].sum())
        if len(self.seen) == self.size:
            self.finds.satisfying = self.satisfying
            self.raise_bound(self.finds.best(self.question.metric))
        return readings

    def raise_bound(self, bound: float | None) -> None:
        """Take a *bound* that holds for all nodes, unless one that says more is known already."""
        known = (each for each in (bound, self.finds.lower_bound) if each is not None)
        self.finds.lower_bound = max(known, default=None)

    def top(self) -> Generator[Nodes, Readings, None]:
        """Look at the node of one class."""
        readings = yield from self.ask(self.high[None])
        self.worst = float(readings[self.question.metric][0])
        self.nothing = readings.take([])

    def beginning(self) -> Generator[Nodes, Readings, _Members]:
        """The first population: the top and nodes drawn at random from the bounds up."""
        shape = (self.options.population - 1, len(self.low))
        drawn = self.rng.integers(self.low, self.high, size=shape, endpoint=True, dtype=np.int16)
        readings = yield from self.ask(np.concatenate([self.high[None], drawn]))
        return self.survivors(readings, np.zeros(len(readings), dtype=np.int64))

    def generation(self, members: _Members) -> Generator[Nodes, Readings, _Members]:
        """Cross and change parents, and let the best of them and their children live."""
        options, rng = self.options, self.rng
        weight = weights(self.shares(members.readings), members.ages)
        nodes, holds = members.readings.nodes, members.readings.satisfying
        first, second = pairs(weight, (options.population + 1) // 2, options.tournament, rng)
        is_crossed = rng.random(len(first)) < options.crossover
        one, two = first[is_crossed], second[is_crossed]
        parents, hold = (nodes[one], nodes[two]), (holds[one], holds[two])
        lowest_holds = yield from self.lowest_holds(parents, hold[0] & hold[1])
        copies = nodes[np.concatenate([first[~is_crossed], second[~is_crossed]])]
        children = np.concatenate([crossed(parents, hold, lowest_holds, rng), copies])
        children = mutated(children, self.low, self.high, options.mutation, rng)
        children = moved_sideways(children, self.low, self.high, rate=options.horizontal, share=options.share, rng=rng)
        readings = yield from self.ask(children)
        ages = np.concatenate([members.ages + 1, np.zeros(len(readings), dtype=np.int64)])
        return self.survivors(Readings.together([members.readings, readings]), ages)

    def lowest_holds(
        self, parents: tuple[Nodes, Nodes], both: NDArray[np.bool_]
    ) -> Generator[Nodes, Readings, NDArray[np.bool_]]:
        """Of which pairs the lowest node satisfies the limits, too: asked where *both* parents do."""
        holds = np.zeros(len(both), dtype=bool)
        nodes = np.minimum(*parents)[both]
        if len(nodes):
            readings = yield from self.ask(nodes)
            holding = {node for node, good in zip(readings.tuples(), readings.satisfying, strict=True) if good}
            holds[both] = [node in holding for node in as_tuples(nodes)]
        return holds

    def shares(self, readings: Readings) -> NDArray[np.float64]:
        """The metric of each node as a share of the top's."""
        losses = readings[self.question.metric].astype(np.float64)
        return np.minimum(losses / self.worst, 1.0) if self.worst > 0 else np.zeros(len(losses))

    def survivors(self, readings: Readings, ages: NDArray[np.int64]) -> _Members:
        """The best distinct nodes: those that satisfy the limits by their loss, then the others.

        Nodes that do not come by the rows that are too many, and then by their loss: they live only while there are
        fewer others than a population has, and draw it to where the limits hold.
        """
        first = np.unique(readings.nodes, axis=0, return_index=True)[1]
        readings, ages = readings.take(first), ages[first]
        holds = readings.satisfying
        excess = np.where(holds, 0, np.maximum(readings["suppressed"] - self.limit, 0))
        order = np.lexsort([*readings.nodes.T[::-1], readings[self.question.metric], excess, ~holds])
        kept = order[: self.options.population]
        return _Members(readings.take(kept), ages[kept])

    def rest(self) -> Generator[Nodes, Readings, None]:
        """Look at all nodes above the bounds that were not seen, where the evaluations cover them."""
        if self.is_covered:
            above = Lattice(self.question.lattice.names, tuple((self.high - self.low).tolist()))
            nodes = np.ascontiguousarray(above.everything() + self.low)
            left = nodes[[node.tobytes() not in self.seen for node in nodes]]
            for start in range(0, len(left), _PORTION):
                yield from self.ask(left[start : start + _PORTION])
