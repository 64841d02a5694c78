"""The exact optimum of one metric, with pruning and a proven bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabular.errors import InvalidParameter
from tabular.lattice.branched_optimum import BranchedOptimum
from tabular.lattice.enumerated_optimum import enumerated
from tabular.lattice.losses_by_level import ADDITIVE
from tabular.lattice.refusals import refuse_objectives, written
from tabular.lattice.searching import Course, Finds, Question, Search, searches
from tabular.registry import option


@searches.add(
    "optimal",
    cites="Land and Doig (1960); El Emam and others (2009)",
    limits="of lattices too large to list it takes glm, precision and non_uniform_entropy",
)
@dataclass(frozen=True, kw_only=True)
class Optimal(Search):
    """Find the best node by one metric and prove that none is better; stopped early, it says how far off it can be."""

    most: int = option(
        200_000, low=0, help="nodes of a lattice that is listed; of a larger one parts are left out whole"
    )

    def check(self, question: Question) -> None:
        """Refuse a front, and a large lattice by a metric of which the levels alone say nothing."""
        refuse_objectives("optimal", question)
        if question.lattice.size > self.most and question.metric not in ADDITIVE:
            raise InvalidParameter(
                f"The lattice has {written(question.lattice.size)} nodes, and of {question.metric} the levels alone say "
                f"nothing: optimal takes {', '.join(ADDITIVE)} there. Use one of these metrics, or raise `most` from "
                f"{written(self.most)} if there is the time and the memory."
            )

    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """List the nodes of a small lattice; branch and bound in a large one."""
        if question.lattice.size <= self.most:
            yield from enumerated(question, finds)
        else:
            yield from BranchedOptimum.of(question, finds, rng).course()
