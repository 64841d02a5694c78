"""KGEN: a genetic algorithm for lattices too large for exact search (De Pascale and others 2023).

The operators (section 3.5) take and give nodes as rows of arrays; the least and the greatest level of each attribute
are arrays of one row.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from tabular.lattice.metrics import Readings
from tabular.lattice.searches.contract import Search, searches
from tabular.lattice.searching import Course, Finds, Question
from tabular.lattice.space import Flags, Floats, Lattice, Nodes, Numbers, as_nodes, as_tuples
from tabular.registry import option

#: How many nodes are asked for at once where all that are left are looked at.
_PORTION = 1024

#: The age from which a node is no parent any more.
OLD = 10


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

    evaluations: int = option(5000, low=1, help="most distinct nodes to evaluate")
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
    ages: Numbers


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

    def lowest_holds(self, parents: tuple[Nodes, Nodes], both: Flags) -> Generator[Nodes, Readings, Flags]:
        """Of which pairs the lowest node satisfies the limits, too: asked where *both* parents do."""
        holds = np.zeros(len(both), dtype=bool)
        nodes = np.minimum(*parents)[both]
        if len(nodes):
            readings = yield from self.ask(nodes)
            holding = {node for node, good in zip(readings.tuples(), readings.satisfying, strict=True) if good}
            holds[both] = [node in holding for node in as_tuples(nodes)]
        return holds

    def shares(self, readings: Readings) -> Floats:
        """The metric of each node as a share of the top's."""
        losses = readings[self.question.metric].astype(np.float64)
        return np.minimum(losses / self.worst, 1.0) if self.worst > 0 else np.zeros(len(losses))

    def survivors(self, readings: Readings, ages: Numbers) -> _Members:
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


def weights(shares: Floats, ages: Numbers) -> Floats:
    """How readily each node is taken as a parent: by the *shares* that it keeps, less with every generation it is old.

    *shares* are of loss, 0 to 1. KGEN's eq 3 has the loss itself for a weight, which would prefer the worst.

    >>> weights(np.array([0.2, 0.2, 0.2]), np.array([0, 5, 10])).tolist()
    [0.8, 0.4, 0.0]
    """
    return (1 - shares) * np.maximum(OLD - ages, 0) / OLD


def pairs(weight: Floats, count: int, rounds: int, rng: np.random.Generator) -> tuple[Numbers, Numbers]:
    """*count* pairs of parents: each the heaviest of *rounds* drawn by weight, the second other than the first.

    With one round the chances are those of KGEN's eq 3. Where nothing that can be drawn has a weight, all are alike.
    """
    table = np.tile(weight, (count, 1))
    first = _heaviest(table, weight, rounds, rng)
    if len(weight) == 1:
        return first, first
    places = np.arange(count)
    table[places, first] = 0
    without = ~table.any(axis=1)
    table[without] = 1
    table[places, first] = 0
    return first, _heaviest(table, weight, rounds, rng)


def _heaviest(table: Floats, weight: Floats, rounds: int, rng: np.random.Generator) -> Numbers:
    """For each row of *table* the heaviest of so many places drawn by the weights in it."""
    table = np.where(table.any(axis=1, keepdims=True), table, 1.0)
    sums = np.cumsum(table, axis=1)
    marks = rng.random((len(table), rounds)) * sums[:, -1:]
    # The place whose weight reaches over the mark; one without weight never does.
    drawn = (sums[:, None, :] <= marks[:, :, None]).sum(axis=2)
    best = np.argmax(weight[drawn], axis=1)
    found: Numbers = drawn[np.arange(len(table)), best]
    return found


def between(low: Nodes, high: Nodes, rng: np.random.Generator) -> Nodes:
    """A random node from each of *low* up to each of *high*, both included."""
    return rng.integers(low, high, endpoint=True, dtype=np.int16)


def crossed(
    parents: tuple[Nodes, Nodes], hold: tuple[Flags, Flags], lowest_holds: Flags, rng: np.random.Generator
) -> Nodes:
    """The children of pairs, by whether both parents, neither or one of them *hold* the limits.

    Both: their lowest node if that holds, too, else one random node from the lowest up to each of the parents.
    Neither: their highest node. One: a random node from the lowest up to the parent that holds.
    """
    (first, second), low = parents, np.minimum(*parents)
    both = hold[0] & hold[1]
    found, open_pairs, one = both & lowest_holds, both & ~lowest_holds, hold[0] ^ hold[1]
    holder = np.where(hold[0][:, None], first, second)
    return np.concatenate(
        [
            low[found],
            between(low[open_pairs], first[open_pairs], rng),
            between(low[open_pairs], second[open_pairs], rng),
            np.maximum(first, second)[~hold[0] & ~hold[1]],
            between(low[one], holder[one], rng),
        ]
    )


def mutated(nodes: Nodes, low: Nodes, high: Nodes, rate: float, rng: np.random.Generator) -> Nodes:
    """*nodes* of which each had, at a chance of *rate*, one attribute that has several levels put to another one."""
    changed = nodes.copy()
    free = np.flatnonzero(high > low)
    for place in np.flatnonzero(rng.random(len(nodes)) < rate):
        if len(free):
            gene = rng.choice(free)
            level = rng.integers(low[gene], high[gene])
            # The levels but the present one: those from it on are one further.
            changed[place, gene] = level + (level >= nodes[place, gene])
    return changed


def moved_sideways(
    nodes: Nodes, low: Nodes, high: Nodes, *, rate: float, share: float, rng: np.random.Generator
) -> Nodes:
    """*nodes* of which each had, at a chance of *rate*, a *share* of its attributes moved up and down by turns.

    At random the one goes up from its level to its greatest, the next down to its least, and so on. The share is
    rounded down, but at least two are moved, so that the node leaves the paths it is on; one alone is not moved.
    """
    changed = nodes.copy()
    attributes = nodes.shape[1]
    count = max(2, int(share * attributes))
    for place in np.flatnonzero(rng.random(len(nodes)) < rate):
        if attributes > 1:
            genes = rng.choice(attributes, size=count, replace=False)
            up, down = genes[0::2], genes[1::2]
            changed[place, up] = rng.integers(nodes[place, up], high[up], endpoint=True)
            changed[place, down] = rng.integers(low[down], nodes[place, down], endpoint=True)
    return changed
