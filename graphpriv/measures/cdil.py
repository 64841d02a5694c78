"""CDIL: what became of the frequencies of values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import ATTRIBUTES
from graphpriv.measures.contract import Measure, Reading, measures
from graphpriv.pair import Pair


@measures.add(
    "cdil",
    cites="Mares Soler (2013), eq 6.5 and 6.6",
    limits="needs no mapping; sees how often a value occurs, not where",
)
@dataclass(frozen=True, kw_only=True)
class DistributionLoss(Measure):
    """Share of users that moved between values, as the frequencies of the values show it."""

    def measure(self, pair: Pair) -> Reading:
        """Eq 6.6 for each attribute."""
        pair = pair.shared
        return Reading.of(
            {name: distribution_loss(pair.original.attribute(name), pair.masked.attribute(name)) for name in ATTRIBUTES}
        )


def distribution_loss(before: NDArray[np.int32], after: NDArray[np.int32]) -> float:
    """Eq 6.6 for two columns of codes; -1, unknown or empty, is a value of its own.

    >>> distribution_loss(np.array([0, 0, 1]), np.array([0, 0, 0]))
    0.3333333333333333
    """
    if not len(before):
        return 0.0
    values = int(max(before.max(), after.max(initial=-1))) + 2
    difference = np.bincount(before + 1, minlength=values) - np.bincount(after + 1, minlength=values)
    return int(np.abs(difference).sum()) / (2 * len(before))
