"""The table of a question, laid out for branch and bound, and what each level costs by itself."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.lattice.question import Question

#: All losses together come to no more than this, so that sums stay far from the end of the numbers.
_SCALE = 2.0**50


class Grid(NamedTuple):
    """The table as the kernels take it: the steps an attribute goes down from its highest level count from 0."""

    #: By attribute, step and row: the label.
    codes: NDArray[np.uint32]
    #: By attribute and step: the labels there are.
    labels: NDArray[np.int64]
    #: By attribute and step: what is gained by going so far down; by attribute: the steps there are.
    gains: NDArray[np.int64]
    steps: NDArray[np.int64]
    #: The sensitive value of each row, used where more than one is asked for.
    values: NDArray[np.int32]
    k: int
    l: int  # noqa: E741
    limit: int
    #: Rows that stand as one and are so many are safe by themselves.
    safe: int
    #: Whether nodes with the same classes and suppressed rows differ by their levels' losses alone.
    exact: bool


@dataclass(frozen=True, eq=False)
class LevelLosses:
    """For each attribute a loss a level, rounded down to multiples of 1 / `scale`; a level costs no less than a lower.

    The sum over the attributes, over `scale`, is a lower bound of the metric on a node and on all above it. Of
    precision nothing is rounded.
    """

    losses: tuple[NDArray[np.int64], ...]
    scale: float

    @classmethod
    def of(cls, question: Question) -> LevelLosses:
        """What the levels of a question's lattice cost, by its metric."""
        heights, metric, evaluator = question.lattice.heights, question.metric, question.evaluator
        if metric == "precision":
            parts = lcm(*(height for height in heights if height), 1)
            return cls(
                tuple(np.arange(height + 1, dtype=np.int64) * (parts // max(height, 1)) for height in heights),
                float(parts * len(heights)),
            )
        single = []
        bottom = np.zeros((1, len(heights)), dtype=np.int16)
        least = float(evaluator.loss_without_suppression(metric, bottom)[0])
        for place, height in enumerate(heights):
            nodes = np.zeros((height + 1, len(heights)), dtype=np.int16)
            nodes[:, place] = np.arange(height + 1)
            priced = evaluator.loss_without_suppression(metric, nodes)
            single.append(np.maximum.accumulate(np.maximum(priced - least, 0.0)))
        total = sum(float(each[-1]) for each in single)
        scale = _SCALE / total if total > 0 else 1.0
        # A little is taken off, so that the rounding of what was priced cannot lift a bound.
        return cls(tuple(np.floor(each * scale * (1 - 1e-12)).astype(np.int64) for each in single), scale)

    @property
    def most(self) -> int:
        """The loss of the top."""
        return int(sum(int(each[-1]) for each in self.losses))

    def reaching(self, value: float) -> int:
        """The least loss whose bound is no better than a metric of *value*."""
        scaled = value * self.scale
        # Whole numbers come back whole.
        return round(scaled) if abs(scaled - round(scaled)) < 1e-6 and scaled < 2**40 else ceil(scaled)

    def bound(self, loss: int) -> float:
        """The metric of a node whose levels cost *loss* is at least this."""
        return loss / self.scale


def grid_of(question: Question, losses: LevelLosses) -> Grid:
    """The table of a question, by attribute and step down from the highest level."""
    evaluator, limits = question.evaluator, question.limits
    table, hierarchies = evaluator.table, evaluator.hierarchies
    heights = np.array(question.lattice.heights, dtype=np.int64)
    size = int(heights.max(initial=0)) + 1
    codes = np.zeros((len(heights), size, evaluator.rows), dtype=np.uint32)
    labels = np.ones((len(heights), size), dtype=np.int64)
    gains = np.zeros((len(heights), size), dtype=np.int64)
    for place, (name, each) in enumerate(hierarchies.items()):
        for step in range(heights[place] + 1):
            level = int(heights[place]) - step
            found, codes[place, step] = np.unique(each.levels[level].groups[table.columns[name]], return_inverse=True)
            labels[place, step] = len(found)
            gains[place, step] = losses.losses[place][-1] - losses.losses[place][level]
        gains[place, heights[place] :] = gains[place, heights[place]]
    exact = limits.are_fixed and limits.t is None and evaluator.judged_by_classes
    values = np.zeros(evaluator.rows, dtype=np.int32)
    if limits.l is not None and evaluator.sensitive is not None:
        values = np.unique(table.columns[evaluator.sensitive], return_inverse=True)[1].astype(np.int32)
    least, diverse = limits.k or 1, limits.l or 1
    return Grid(
        codes=codes,
        labels=labels,
        gains=gains,
        steps=heights,
        values=values,
        k=least,
        l=diverse,
        limit=limits.suppressible(evaluator.rows),
        safe=least if exact and diverse == 1 else np.iinfo(np.int32).max,
        exact=exact,
    )
