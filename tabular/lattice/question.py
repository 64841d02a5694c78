"""What is sought in a lattice, and what a search has found so far."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tabular.lattice.evaluator.readings import Readings
from tabular.lattice.fronts.dominance import non_dominated
from tabular.lattice.limits import Limits
from tabular.lattice.metrics import checked_loss, checked_objectives
from tabular.lattice.space import Lattice, Node, Nodes

if TYPE_CHECKING:
    from tabular.lattice.evaluator.evaluator import Evaluator

#: What a search is while it runs: it yields nodes and gets their readings; it ends by returning.
Course = Generator[Sequence[Node] | Nodes, Readings, None]


@dataclass(frozen=True, eq=False)
class Question:
    """What is sought: the best node by one *metric*, or a front of *objectives*; with the evaluator to ask."""

    evaluator: Evaluator
    metric: str = "glm"
    objectives: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checked_loss(self.metric)
        if self.objectives:
            checked_objectives(self.objectives)

    @property
    def lattice(self) -> Lattice:
        """The lattice that is searched."""
        return self.evaluator.lattice

    @property
    def limits(self) -> Limits:
        """What a node must satisfy."""
        return self.evaluator.limits

    @property
    def suppressible(self) -> int:
        """How many rows may be suppressed."""
        return self.limits.suppressible(self.evaluator.rows)

    @property
    def ranks(self) -> tuple[str, ...]:
        """By what solutions are put in order."""
        return self.objectives or (self.metric,)


@dataclass(eq=False)
class Finds:
    """What a search has so far: it can be stopped at any time, and this is its answer."""

    solutions: Readings | None = None
    #: No node that satisfies the limits has less of the metric; proven, whatever is still open.
    lower_bound: float | None = None
    #: How many nodes satisfy the limits, where all were looked at or follow from those that were.
    satisfying: int | None = None
    #: Of the nodes that do not satisfy the limits, the one that breaks them by the fewest rows.
    nearest: Readings | None = None
    #: Nodes whose classes the search computed itself, as often as it did; those it yields are counted for it.
    counted: int = 0
    #: What else a search has to say of its course, as plain values.
    remarks: dict[str, Any] = field(default_factory=dict)

    def offer(self, readings: Readings, metric: str) -> None:
        """Keep the best of *readings* that satisfies the limits, if it is better than what there is; ties go by level.

        For searches that seek one node; the others put their `solutions` themselves.
        """
        good = readings.take(readings.satisfying)
        if len(good):
            both = good if self.solutions is None else Readings.together([self.solutions, good])
            self.solutions = both.ordered((metric,)).take([0])

    def keep(self, readings: Readings, question: Question) -> None:
        """Add what satisfies the limits to the solutions; of a front only what no other dominates stays."""
        good = readings.take(readings.satisfying)
        if not len(good):
            return
        found = good if self.solutions is None else Readings.together([self.solutions, good])
        if question.objectives:
            found = found.take(non_dominated(found.costs(question.objectives)))
        self.solutions = found

    def take_in(self, readings: Readings, question: Question) -> None:
        """Keep the front of several objectives, or the best node by one metric."""
        if question.objectives:
            self.keep(readings, question)
        else:
            self.offer(readings, question.metric)

    def note_nearest(self, readings: Readings) -> None:
        """Keep the node that comes nearest to satisfying the limits."""
        bad = np.flatnonzero(~readings.satisfying)
        if not len(bad):
            return
        # As a rule a look at the rows that would have to go settles it.
        if self.nearest is not None and readings["suppressed"][bad].min() > self.nearest["suppressed"][0]:
            return
        both = readings.take(bad)
        both = both if self.nearest is None else Readings.together([self.nearest, both])
        # Of two that break t alone, the one with the lesser t.
        beyond = [both["t"]] if "t" in both else []
        order = np.lexsort([*both.nodes.T[::-1], *beyond, both["suppressed"]])
        self.nearest = both.take(order[:1])

    def best(self, metric: str) -> float | None:
        """The least of the *metric* among the solutions."""
        if self.solutions is None or not len(self.solutions):
            return None
        return float(self.solutions[metric].min())
