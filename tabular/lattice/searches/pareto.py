"""The exact front of several objectives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabular.lattice.searches.contract import ListingSearch, searches
from tabular.lattice.searches.exhaustive import every_node
from tabular.lattice.searching import Course, Finds, Question


@searches.add(
    "pareto",
    cites="Dewri, Ray, Ray and Whitley (2010), section 4.2: all minimal property-based generalisations",
    limits="lattices of up to `most` nodes; fronts only",
)
@dataclass(frozen=True, kw_only=True)
class Pareto(ListingSearch):
    """Find the exact front: all nodes that no other node dominates.

    Looks at every node, in the order of the levels, and uses no property of the limits or the objectives. It keeps only
    what no node so far dominates, so it needs memory for the front and one batch. Of nodes with equal values neither
    dominates the other: all of them are in the front.
    """

    seeks_front: ClassVar[bool] = True
    asks_once: ClassVar[bool] = True
    seeks_one: ClassVar[bool] = False

    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """Go from the bottom to the top."""
        yield from every_node(question, finds)
