"""The exact optimum of one metric, with pruning and a proven bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidParameter, named
from tabular.kernels import compiled
from tabular.lattice.metrics import ADDITIVE, Readings
from tabular.lattice.optimal.branched_optimum import BranchedOptimum
from tabular.lattice.searches.contract import Search, count_in_words, searches
from tabular.lattice.searching import Course, Finds, Question
from tabular.lattice.space import Flags, Nodes, Numbers
from tabular.registry import option

#: So many nodes of the lattice are worth one more node in each round.
_A_ROUND = 4_000

#: Where bounds of a metric are weak, most nodes are looked at anyway: then many at once, which is quicker.
_AT_ONCE = 512


@searches.add(
    "optimal",
    cites="Land and Doig (1960); El Emam and others (2009)",
    limits="of lattices too large to list it takes glm, precision and non_uniform_entropy",
)
@dataclass(frozen=True, kw_only=True)
class Optimal(Search):
    """Find the best node by one metric and prove that none is better; stopped early, it says how far off it can be.

    *What closes parts of the lattice.* The rows that k and l suppress at a node are suppressed at every node below it
    (see `Limits`): where they are more than may be, so they are at all nodes below. With t and suppression this is
    all that is used, and each node that keeps k and l is looked at. Where each node has a k of its own nothing is.

    *The bound of a sum.* For glm, precision and non-uniform entropy let G(n) be what the labels of a node n cost, were
    no row suppressed. A higher level costs at least what a lower one does, so G never falls upwards; and a suppressed
    cell costs at least what any label would. So the metric of n, and of all above it, is at least G(n), also where the
    metric itself falls from a node to one above it because rows come back.

    *The bound of the others.* Let n be above m, under k. All rows kept at m are kept at n, in classes no smaller; of
    the s rows suppressed at m each costs discernibility at least k, be it kept (in a class of k or more) or not. So at
    n it is at least that of m less s x (rows - k). Classes kept at m only merge, so their rows outside the majorities
    are no fewer: CM at n is at least that of m less s. And classes at n hold classes of m, or s rows of which each
    needs k: with c classes and r rows kept at m, the mean size at n is at least r / (c + s / k). Where earlier releases
    decide, too, which rows go, none of the three is used.

    *A lattice that can be listed.* Of the open nodes (bound less than the best, not known to break the limits) a few
    are asked for that decide most, whatever is found: those below them, if they break them, or those that are as dear.
    When none is open the best is the optimum, of equal ones the first by its levels; until then no node is less than
    the least bound of an open one.

    *Larger ones.* A part is all nodes between two; at its finest node G is least. It is cut in two by one attribute,
    which goes further down, or not at all; a part is left out whole when G at its finest node is no less than what is
    sought. Before that, each attribute is tried by itself from the coarsest node: levels that break the limits there
    break them in the whole part. Levels without which nothing is gained are gone down to at once; an attribute that
    splits no class in which rows can be lost goes down for nothing: the same rows are lost, and G falls. Sets of up to
    13 attributes are first solved by themselves, all others at their highest level: no node gains more on a set than
    that, for it would satisfy with those others at their highest level, too. In large parts the same sets are solved
    anew, with the others where they are at the part's coarsest node: what holds for the lattice holds for the part.
    Then pass follows on pass, each of which seeks nodes with G less than some figure between the bound and the
    best. Once it ends that figure is a proven bound; the last pass ends at the best. Of several nodes as good as the
    optimum it is one, which the seed decides.
    """

    most: int = option(
        200_000, low=0, help="nodes of a lattice that is listed; of a larger one parts are left out whole"
    )

    def check(self, question: Question) -> None:
        """Refuse a front, and a large lattice by a metric of which the levels alone say nothing."""
        super().check(question)
        if question.lattice.size > self.most and question.metric not in ADDITIVE:
            raise InvalidParameter(
                f"The lattice has {count_in_words(question.lattice.size)} nodes, and the levels alone say nothing of "
                f"{question.metric}: optimal takes {', '.join(ADDITIVE)} there. Use one of them, or raise "
                f"{named('most')} from {count_in_words(self.most)} if time and memory allow."
            )

    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """List the nodes of a small lattice; branch and bound in a large one."""
        if question.lattice.size <= self.most:
            yield from _listed(question, finds)
        else:
            yield from BranchedOptimum.of(question, finds, rng).course()


def _listed(question: Question, finds: Finds) -> Course:
    """Ask for the node of which most is to be learnt, until no open node can be better than the best."""
    known = _OpenNodes(question)
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


class _OpenNodes:
    """Which nodes can still be the optimum: a lower bound of the metric for each, and those known to break limits."""

    def __init__(self, question: Question) -> None:
        self._question, self._lattice, self.best = question, question.lattice, np.inf
        self._nodes = np.ascontiguousarray(self._lattice.everything())
        self._levels = np.array(self._lattice.shape, dtype=np.int64)
        self._bounds = np.zeros(len(self._nodes))
        if question.metric in ADDITIVE:
            priced = question.evaluator.loss_without_suppression(question.metric, self._nodes)
            # What is added up in another order may differ in the last digits.
            self._bounds = priced * (1 - 1e-12)
        self._order = np.argsort(self._bounds, kind="stable")
        self._open = np.ones(len(self._nodes), dtype=np.bool_)

    def lower_bound(self) -> float | None:
        """No node that satisfies the limits has less of the metric."""
        least = float(self._bounds[self._open].min()) if self._open.any() else np.inf
        least = min(least, self.best)
        return least if np.isfinite(least) else None

    def learn(self, readings: Readings) -> None:
        """Take in what was found of nodes, and what follows for others."""
        values = readings[self._question.metric]
        lattice, is_open = self._lattice, self._open.reshape(self._lattice.shape)
        for place, node in enumerate(readings.nodes.tolist()):
            is_open[lattice.box(node, node)] = False
            if readings.satisfying[place]:
                self.best = min(self.best, float(values[place]))
            if not self._question.limits.are_fixed:
                continue
            breaks = int(readings["suppressed"][place]) > self._question.suppressible
            if breaks or (self._question.limits.are_monotone and not readings.satisfying[place]):
                is_open[lattice.box(lattice.bottom, node)] = False
            # Where others decide, too, which rows go, those kept at a node need not be kept above it.
            if self._question.evaluator.judged_by_classes:
                above = self._bounds.reshape(lattice.shape)[lattice.box(node, lattice.top)]
                for least in _least_above(readings, place, self._question):
                    np.maximum(above, least, out=above)
        # One as good with lower levels may be among the open, and ties go by level: so those that may be equal stay.
        self._open &= self._bounds <= self.best

    def most_telling(self, count: int) -> Nodes:
        """The open nodes of which a look decides most, whatever is seen: those below it, or those that are dearer."""
        worth = _worth(self._open, self._levels, self._order)
        places = np.flatnonzero(worth)
        # Of equals the first, so that the course is the same with any sort.
        chosen: list[int] = np.sort(places[np.argsort(-worth[places], kind="stable")[:count]]).tolist()
        return self._nodes[chosen]


@compiled
def _worth(is_open: Flags, levels: Numbers, order: Numbers) -> NDArray[np.int32]:
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


def _least_above(readings: Readings, place: int, question: Question) -> Iterator[float]:
    """What no node above that at *place* can be less than, where the metric is no sum over the levels."""
    suppressed, rows = int(readings["suppressed"][place]), question.evaluator.rows
    k, metric = question.limits.k or 1, question.metric
    if metric == "discernibility":
        # Rounded as the metric itself is.
        yield float(int(readings[metric][place]) - suppressed * (rows - k))
    elif metric == "cm":
        yield float(readings[metric][place]) - suppressed
    elif metric == "normalized_average_class_size" and suppressed < rows:
        classes = round((rows - suppressed) / (float(readings[metric][place]) * k))
        yield (rows - suppressed) / (classes + suppressed // k) / k * (1 - 1e-12)
