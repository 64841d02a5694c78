"""The classes of equal neighbourhoods in the order in which containment is looked for: by label, then by size.

A node is a pattern where original users are in its class, a target where masked ones are, and often both. Only a
smaller node can lie in a larger one of its label, so for each target what may lie in it is one run of nodes; what is
known of these is kept as bits, a column for each target.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Room for the columns, in words of 64 bits.
_ROOM = 1 << 25


class Nodes(NamedTuple):
    """Classes by label, then by the number of neighbours."""

    #: Where the run of each node's label starts and ends, and in it those of its size.
    bases: NDArray[np.int64]
    ends: NDArray[np.int64]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    sizes: NDArray[np.int64]
    #: How many original users and how many masked ones are in each.
    users: NDArray[np.int64]
    weights: NDArray[np.int64]
    #: Where the column of each target starts, and how many words it has; it holds the nodes from the base, as far as
    #: there is room.
    starts: NDArray[np.int64]
    words: NDArray[np.int64]


def nodes_of(
    labels: NDArray[np.int32], sizes: NDArray[np.int64], users: NDArray[np.int64], weights: NDArray[np.int64]
) -> Nodes:
    """The nodes of some classes that are sorted by label, then by size."""
    bases, ends = _runs(labels)
    lows, highs = _runs(labels.astype(np.int64) * (int(sizes.max(initial=0)) + 1) + sizes)
    words = _within(np.where(weights > 0, (lows - bases + 63) >> 6, 0), _ROOM)
    starts = np.concatenate([[0], np.cumsum(words)]).astype(np.int64)
    return Nodes(bases, ends, lows, highs, sizes, users, weights, starts, words)


def _within(words: NDArray[np.int64], room: int) -> NDArray[np.int64]:
    """Cut the longest columns down until all fit into the *room*: it is the largest patterns that are left out."""
    if words.sum() <= room:
        return words
    low, high = 0, int(words.max())
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(words, middle).sum() <= room else (low, middle - 1)
    return np.minimum(words, low)


def _runs(values: NDArray[np.generic]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each of some values whose equal ones are side by side the first place of these, and the end."""
    firsts = np.flatnonzero(np.append(True, values[1:] != values[:-1])) if len(values) else np.zeros(0, dtype=np.int64)
    lengths = np.diff(np.append(firsts, len(values)))
    return np.repeat(firsts, lengths), np.repeat(firsts + lengths, lengths)
