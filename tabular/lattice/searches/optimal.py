"""The exact optimum of one metric, with pruning and a proven bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabular.errors import InvalidParameter, named
from tabular.lattice.optimal.branched_optimum import BranchedOptimum
from tabular.lattice.optimal.enumeration import enumerated
from tabular.lattice.optimal.level_losses import ADDITIVE
from tabular.lattice.question import Course, Finds, Question
from tabular.lattice.searches.contract import Search, count_in_words, searches
from tabular.registry import option


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
                f"{named('most')} from {count_in_words(self.most)} if there is the time and the memory."
            )

    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """List the nodes of a small lattice; branch and bound in a large one."""
        if question.lattice.size <= self.most:
            yield from enumerated(question, finds)
        else:
            yield from BranchedOptimum.of(question, finds, rng).course()
