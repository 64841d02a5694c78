"""What each level of each attribute costs by itself, in whole numbers that add up without rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, lcm

import numpy as np
from numpy.typing import NDArray

from tabular.lattice.question import Question

#: Metrics that are no less than a sum of what the levels cost, whatever is suppressed.
ADDITIVE = ("glm", "precision", "non_uniform_entropy")

#: All losses together come to no more than this, so that sums stay far from the end of the numbers.
_SCALE = 2.0**50


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

    def of_node(self, node: Sequence[int]) -> int:
        """The loss of a node's levels."""
        return int(sum(int(each[level]) for each, level in zip(self.losses, node, strict=True)))

    def reaching(self, value: float) -> int:
        """The least loss whose bound is no better than a metric of *value*."""
        scaled = value * self.scale
        # Whole numbers come back whole.
        return round(scaled) if abs(scaled - round(scaled)) < 1e-6 and scaled < 2**40 else ceil(scaled)

    def bound(self, loss: int) -> float:
        """The metric of a node whose levels cost *loss* is at least this."""
        return loss / self.scale
