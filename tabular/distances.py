"""Distances between values of one attribute (Mares Soler 2013, eq 2.6 and 2.7).

Ordinal: the difference of the ranks over the size of the domain, so that a value is at 0 from itself (eq 2.6 counts
both ends and would give 1 over the size). Nominal: 0 if equal, else 1. A label that stands for a set: the mean
distance to its members. A missing value is a category like the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Members


def distances_to(members: Sequence[int], size: int, *, ordered: bool) -> NDArray[np.float64]:
    """The mean distance of each value of a domain of *size* to the *members* of a set.

    >>> distances_to((0, 1), 4, ordered=True).tolist()
    [0.125, 0.125, 0.375, 0.625]
    >>> distances_to((0, 1), 4, ordered=False).tolist()
    [0.5, 0.5, 1.0, 1.0]
    """
    held = np.zeros(size, dtype=np.int64)
    held[list(members)] = 1
    count = len(members)
    if not ordered:
        return (count - held) / count
    # From one value to the next the sum grows by 1 for each member passed and shrinks by 1 for each still ahead.
    passed = np.cumsum(held)
    steps = 2 * passed[:-1] - count
    sums = np.concatenate(([sum(members)], sum(members) + np.cumsum(steps)))
    return sums / (count * size)


def paired_distances(
    values: NDArray[np.integer],
    labels: NDArray[np.integer],
    sets: Sequence[Members],
    size: int,
    *,
    ordered: bool,
) -> NDArray[np.float64]:
    """The distance from each value to the label in the same row; labels from *size* on count the *sets*."""
    distances = np.abs(values.astype(np.int64) - labels) / size if ordered else (values != labels).astype(np.float64)
    if not sets:
        return distances
    # Rows by label, so that the distances to a set are computed once.
    rows = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[rows], np.arange(size, size + len(sets) + 1))
    for members, first, end in zip(sets, starts[:-1], starts[1:], strict=True):
        holders = rows[first:end]
        distances[holders] = distances_to(members, size, ordered=ordered)[values[holders]]
    return distances
