"""The exact front of several objectives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabular.lattice.refusals import refuse_larger, require_objectives
from tabular.lattice.searches.exhaustive import every_node
from tabular.lattice.searching import Course, Finds, Question, Search, searches
from tabular.registry import option


@searches.add(
    "pareto",
    cites="Dewri, Ray, Ray and Whitley (2010), section 4.2: all minimal property-based generalisations",
    limits="lattices of up to `most` nodes; fronts alone",
)
@dataclass(frozen=True, kw_only=True)
class Pareto(Search):
    """Find all nodes that no other dominates.

    Looks at every node, in the order of the levels, and uses no property of the limits or the objectives. Only what
    no node so far dominates is kept, so that memory is that of the front and of one batch. Nodes of equal values
    dominate neither each other: all of them are in the front.
    """

    seeks_front: ClassVar[bool] = True
    asks_once: ClassVar[bool] = True
    seeks_one: ClassVar[bool] = False

    most: int = option(5_000_000, low=1, help="nodes of a lattice, at most")

    def check(self, question: Question) -> None:
        """Refuse a question without objectives, and a lattice too large to go through."""
        require_objectives("pareto", question)
        refuse_larger("pareto", question.lattice.size, self.most)

    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """Go from the bottom to the top."""
        yield from every_node(question, finds)
