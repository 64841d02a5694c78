"""Algorithm 14 as it stands in the thesis: slow, obvious, and what the fast version must agree with exactly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.places import LEVELS, UNKNOWN


def distance(graph: SocialGraph, one: int, other: int) -> int:
    """Mean of the four attribute distances, in 28ths, by the words of the thesis (eq 6.1 and 6.2)."""
    topics = sum(int(a != b) for a, b in zip(graph.topics[one], graph.topics[other], strict=True))
    return 7 * topics + _location_distance(graph, int(graph.location[one]), int(graph.location[other]))


def _location_distance(graph: SocialGraph, one: int, other: int) -> int:
    if one == other:
        return 0
    if UNKNOWN in (one, other):
        return 7
    first, second = graph.places.path(one), graph.places.path(other)
    on_one_branch = first[-len(second) :] == second or second[-len(first) :] == first
    return abs(LEVELS[first[0][1]] - LEVELS[second[0][1]]) if on_one_branch else 7


def all_pairs(graph: SocialGraph, k: int, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Clusters by Algorithm 14, with the distances of all pairs computed first."""
    users = range(len(graph))
    distances = [[distance(graph, one, other) for other in users] for one in users]
    return _clusters(lambda seed: distances[seed], len(graph), k, order)


def all_pairs_by_rows(graph: SocialGraph, k: int, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same, a row of distances at a time, for graphs whose table of all pairs is too large to keep."""

    def distances_of(seed: int) -> list[int]:
        topics = (graph.topics != graph.topics[seed]).sum(axis=1)
        here = np.full(len(graph), graph.location[seed])
        row: list[int] = (7 * topics + graph.places.steps(here, graph.location)).tolist()
        return row

    return _clusters(distances_of, len(graph), k, order)


def _clusters(
    distances_of: Callable[[int], list[int]], users: int, k: int, order: NDArray[np.int64]
) -> NDArray[np.int64]:
    count = users // k if users % k == 0 else users // k - 1
    clusters = np.full(users, count, dtype=np.int64)
    unvisited = dict.fromkeys(range(users))
    candidates = iter(order.tolist())
    for cluster in range(count):
        seed = next(user for user in candidates if user in unvisited)
        del unvisited[seed]
        row = distances_of(seed)
        closest = sorted(unvisited, key=lambda user: (row[user], user))[: k - 1]
        for user in closest:
            del unvisited[user]
        clusters[[seed, *closest]] = cluster
    return clusters
