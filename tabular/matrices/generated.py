"""Transition matrices made from the frequencies of a column (Mares Soler 2013, section 2.3.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def retaining(frequencies: NDArray[np.integer], retain: float) -> NDArray[np.float64]:
    """Keep each value with probability *retain*; the rarer another category, the sooner it is taken (eq 2.3).

    Where two categories are all, the other one takes what is left; where one alone occurs, nothing changes.

    >>> retaining(np.array([6, 3, 1]), 0.8).round(3).tolist()
    [[0.8, 0.05, 0.15], [0.029, 0.8, 0.171], [0.067, 0.133, 0.8]]
    """
    counts = np.asarray(frequencies, dtype=np.float64)
    size = len(counts)
    if np.count_nonzero(counts) < 2:
        return np.eye(size)
    others = counts.sum() - counts[:, None]
    # With two categories eq 2.3 is 0/0.
    weights = (others - counts) / ((size - 2) * others) if size > 2 else np.ones((2, 2))
    matrix = (1 - retain) * weights
    np.fill_diagonal(matrix, retain)
    return matrix


def by_frequency(frequencies: NDArray[np.integer], theta: float) -> NDArray[np.float64]:
    """Change each value of the rarest category with probability *theta*, of others the less the more there are.

    What is changed goes to all other categories alike (eq 2.4 and 2.5). A category that does not occur stays; where
    one alone occurs, nothing changes.

    >>> by_frequency(np.array([6, 3, 0]), 0.5).tolist()
    [[0.75, 0.125, 0.125], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]]
    """
    counts = np.asarray(frequencies, dtype=np.float64)
    size = len(counts)
    occurring = counts > 0
    if occurring.sum() < 2:
        return np.eye(size)
    changed = np.zeros(size)
    changed[occurring] = np.clip(theta * counts[occurring].min() / counts[occurring], 0, 1)
    matrix = np.repeat(changed[:, None] / (size - 1), size, axis=1)
    np.fill_diagonal(matrix, 1 - changed)
    return matrix
