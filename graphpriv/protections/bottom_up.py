"""Clusters from the bottom up: users with equal profiles first, then those who are alike in less and less.

What users share is a key: the place above theirs at some level, and their topics at some ranks. A cluster of users who
share a key loses at most the steps to that place and the topics at the other ranks. Keys are taken in the order of that
loss; of those who are still free, whoever shares one with enough others gets into a cluster of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphpriv.places import TOP
from graphpriv.protections.losses import HIGHEST, Losses
from graphpriv.topics import RANKS

#: All ranks of topics, as bits.
EVERY = (1 << RANKS) - 1


def ancestors(losses: Losses) -> NDArray[np.int32]:
    """For each level and each place the farthest place above it whose level is not higher, or the place itself."""
    found = np.tile(np.arange(len(losses.parents), dtype=np.int32), (TOP + 1, 1))
    # Parents stand before their children, and levels do not fall on the way up.
    for level in range(TOP + 1):
        for node in np.flatnonzero(losses.levels[losses.parents] <= level).tolist():
            if node:
                found[level, node] = found[level, losses.parents[node]]
    return found


def numbered(columns: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
    """One number for each row of *columns*: equal ones for equal rows, in the order of the rows."""
    key = columns[0].astype(np.int64)
    for column in columns[1:]:
        span = int(column.max(initial=0)) + 1
        if int(key.max(initial=0)) > np.iinfo(np.int64).max // span - 1:
            key = np.unique(key, return_inverse=True)[1]
        key = key * span + column
    return key


def shared(losses: Losses, users: NDArray[np.int64], at: NDArray[np.int32], equal: int) -> list[NDArray[np.int32]]:
    """The columns of a key for *users*: the places that *at* has for theirs, and the topics at the *equal* ranks."""
    return [at[losses.place[users]], *(losses.topics[users, rank] for rank in range(RANKS) if equal >> rank & 1)]


def keys_by_loss(losses: Losses) -> list[tuple[int, int]]:
    """What can be shared, what loses least first: the level of the place, and the ranks that are equal, as bits."""
    typical = int(losses.levels[losses.place].sum()) // len(losses.place)
    found = []
    for level in range(min(TOP, int(losses.terms[HIGHEST])) + 1):
        for equal in range(EVERY + 1):
            apart = sum(int(losses.terms[rank + 1]) for rank in range(RANKS) if not equal >> rank & 1)
            steps = int(losses.terms[0]) * max(level - typical, 0)
            found.append((steps + TOP * apart, level, -equal))
    return [(level, -equal) for _, level, equal in sorted(found)]


def bottom_up(losses: Losses, k: int, above: NDArray[np.int32], *, exact: bool = False) -> NDArray[np.int64]:
    """Clusters of *k* to 2k-1 users, below the highest place that is allowed; *above* is what `ancestors` gives.

    There must be *k* users below each of those places that has any. *exact* clusters are of k, but for one below each
    such place.
    """
    clusters = np.full(len(losses.place), -1, dtype=np.int64)
    free, count = np.arange(len(clusters)), 0
    for level, equal in keys_by_loss(losses):
        if not len(free):
            break
        key = numbered(shared(losses, free, above[level], equal))
        # Within a key those who have more in common stand together.
        order = np.lexsort((numbered(shared(losses, free, above[0], EVERY)), key))
        starts = np.flatnonzero(np.append(True, np.diff(key[order]) != 0))
        sizes = np.diff(np.append(starts, len(free)))
        # Users who are equal in all stay together; of others the rest may find somebody closer than what this key has.
        together = equal == EVERY and level == 0 and not exact
        parts = sizes // k
        place = np.arange(len(free)) - np.repeat(starts, sizes)
        of = np.repeat(np.arange(len(sizes)), sizes)
        taken = (parts[of] > 0) & ((place < parts[of] * k) | together)
        part = np.minimum(place // k, parts[of] - 1)
        first = count + np.cumsum(parts) - parts
        clusters[free[order[taken]]] = (first[of] + part)[taken]
        count += int(parts.sum())
        free = np.sort(free[order[~taken]])
    return _with_the_rest(losses, clusters, above[int(losses.terms[HIGHEST])], k)


def _with_the_rest(losses: Losses, clusters: NDArray[np.int64], region: NDArray[np.int32], k: int) -> NDArray[np.int64]:
    """Put the few that are left below a highest place into the last cluster there, and part what is too large."""
    regions = region[losses.place]
    last = np.full(len(region), -1, dtype=np.int64)
    np.maximum.at(last, regions, clusters)
    clusters = np.where(clusters < 0, last[regions], clusters)
    count = int(clusters.max()) + 1
    for cluster in np.flatnonzero(np.bincount(clusters) >= 2 * k).tolist():
        members = np.flatnonzero(clusters == cluster)
        profile = [losses.place[members], *losses.topics[members].T]
        by_profile = members[np.argsort(numbered(profile), kind="stable")]
        clusters[by_profile[k:]] = count
        count += 1
    return clusters
