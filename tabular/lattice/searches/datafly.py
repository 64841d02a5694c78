"""Datafly: one attribute a step, always that of the most values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabular.lattice.searches.contract import Search, searches
from tabular.lattice.searching import Course, Finds, Question


@searches.add(
    "datafly",
    cites="Sweeney (1997)",
    limits="finds one node, which may be neither the best nor minimal",
)
@dataclass(frozen=True, kw_only=True)
class Datafly(Search):
    """Generalise the attribute with the most distinct values, step by step, until the limits are satisfied.

    It counts the values that the rows have at the level reached; of attributes with equally many it takes the first. It
    stops at the first node that satisfies the limits, so the answer is sound for all limits, also those that a coarser
    node may break. At the top all rows are one class, and where that breaks the limits it finds nothing.
    """

    asks_once: ClassVar[bool] = True

    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """Climb one path from the bottom."""
        distinct, heights = question.evaluator.distinct_values, question.lattice.heights
        node = question.lattice.bottom
        while True:
            finds.offer((yield [node]), question.metric)
            lower = [place for place, level in enumerate(node) if level < heights[place]]
            if finds.solutions is not None or not lower:
                return
            # The first of those with the most values, as `max` has it.
            place = max(lower, key=lambda each: distinct[each][node[each]])
            node = (*node[:place], node[place] + 1, *node[place + 1 :])
