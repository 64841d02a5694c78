"""What is hidden by renaming alone: who knows what labels came from reads it back, and no score counts that."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

#: A share beyond a limit by no more than this is one of rounded numbers.
ROUNDED = 1e-9

#: What knowing a matrix, or what labels came from, adds without a remark, as a share.
UNSEEN = 0.1


def added_by_labels(
    original: NDArray[np.integer], labels: NDArray[np.integer], size: int, sets: Sequence[Sequence[int]] = ()
) -> float:
    """What knowing the original values behind each label adds to taking labels as they stand, as a share.

    Of a column of *size* values; labels beyond them are *sets*. Who knows takes a label for the value that most often
    became it. Who does not takes a value for itself and a set for the most frequent of its members, or guesses the most
    frequent value without looking. The share is that of the records which the better of these two gets wrong. It is the
    greater of two: one counts every record alike, the other every value that occurs, and has all members as likely.

    >>> added_by_labels(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), 2)
    1.0
    >>> added_by_labels(np.array([0, 0, 1, 2]), np.array([3, 3, 3, 2]), 3, [(0, 1)])
    0.0
    """
    width = size + len(sets)
    cells = np.bincount(original.astype(np.int64) * width + labels, minlength=size * width)
    together = cells.reshape(size, width).astype(np.float64)
    counts = together.sum(axis=1)
    joint = together / counts.sum()
    evenly = np.divide(together, counts[:, None], out=np.zeros_like(together), where=counts[:, None] > 0)
    evenly /= np.count_nonzero(counts)
    frequent, likely = np.trace(joint[:, :size]), np.trace(evenly[:, :size])
    for place, members in enumerate(sets):
        of_set = np.asarray(members)
        frequent += joint[of_set[np.argmax(counts[of_set])], size + place]
        occurring = of_set[counts[of_set] > 0]
        likely += evenly[occurring, size + place].sum() / max(len(occurring), 1)
    return max(added(joint, frequent), added(evenly, likely))


def added(joint: NDArray[np.float64], standing: float) -> float:
    """What whoever knows the *joint* shares of values and labels finds of what others miss, as a share.

    Others take labels as they stand, and are right in a share *standing*, or guess the most frequent value.
    """
    without = max(float(standing), float(joint.sum(axis=1).max()))
    return share_of(float(joint.max(axis=0).sum()), without)


def share_of(found: float, without: float) -> float:
    """The share of what is *found* only now in all that was not found *without* it."""
    left = 1 - without
    return max(found - without, 0.0) / left if left > 1e-12 else 0.0


def remark(added: float) -> str | None:
    """What the owner of a file should know of which *added* is true."""
    if added <= UNSEEN + ROUNDED:
        return None
    return (
        f"Whoever knows what the labels of this file came from names {100 * added:.1f} % of the values of one column "
        "that others do not guess, rare values counted as well: a risk that the score does not count."
    )
