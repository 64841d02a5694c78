"""What evolution draws: who is selected, where two files are crossed, which gene mutates (Mares Soler 2013, 3.3, 3.4).

A file's genes are its values record by record.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def selection_weights(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """How likely each is to be selected: worst + best - score, so that low scores are the likelier.

    Equation 3.3 as printed weighs by the score itself and would prefer the worst.

    >>> selection_weights(np.array([10.0, 40.0, 20.0])).tolist()
    [40.0, 10.0, 30.0]
    """
    weights = np.asarray(scores.max() + scores.min() - scores, dtype=np.float64)
    return weights if weights.sum() > 0 else np.ones(len(scores))


def selected(weights: NDArray[np.float64], rng: np.random.Generator) -> int:
    """The place of one, drawn in proportion to its weight."""
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))


def leaders(scores: NDArray[np.float64], size: int, among: Sequence[int] = ()) -> NDArray[np.intp]:
    """The places of the *size* best, the best first; equal ones in their order. *among* which, if that is said.

    >>> leaders(np.array([3.0, 1.0, 2.0, 1.0]), 2).tolist()
    [1, 3]
    """
    order = np.argsort(scores, kind="stable")
    if len(among):
        order = order[np.isin(order, among)]
    return order[:size]


def two_points(genes: int, rng: np.random.Generator) -> tuple[int, int]:
    """The first and the last gene that two files exchange: one anywhere, the other from there to the end."""
    first = int(rng.integers(genes))
    return first, int(rng.integers(first, genes))


def mutable_columns(sizes: Sequence[int]) -> NDArray[np.intp]:
    """The columns in which a value can change: those whose domain has two values or more."""
    return np.flatnonzero(np.asarray(sizes) > 1)


def another_value(value: int, size: int, rng: np.random.Generator) -> int:
    """A random value of a domain of *size* other than *value*: a mutation that changes nothing is none."""
    drawn = int(rng.integers(size - 1))
    return drawn + (drawn >= value)
