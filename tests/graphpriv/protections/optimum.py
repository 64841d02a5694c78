"""What a release loses, by the words of the thesis, and the least there is: all clusters of a small graph are tried."""

from __future__ import annotations

from collections import Counter

import numpy as np

from graphpriv.graph import SocialGraph
from graphpriv.places import LEVELS, UNKNOWN


def loss(graph: SocialGraph, members: list[int], weights: tuple[int, int, int, int] = (1, 1, 1, 1)) -> int:
    """The distances of *members* to their common profile, in sevenths of an attribute times its weight."""
    places = [int(graph.location[user]) for user in members]
    ballots = [graph.topics[user].tolist() for user in members]
    points, firsts, seconds = Counter[int](), Counter[int](), Counter[int]()
    for ballot in ballots:
        for rank, topic in enumerate(ballot):
            if topic >= 0:
                points[topic] += 3 - rank
                firsts[topic] += rank == 0
                seconds[topic] += rank == 1
    best = sorted(points, key=lambda topic: (-points[topic], -firsts[topic], -seconds[topic], topic))
    elected = [*best, -1, -1, -1][:3]
    total = weights[0] * _steps(graph, places)
    for rank in range(3):
        total += 7 * weights[rank + 1] * sum(ballot[rank] != elected[rank] for ballot in ballots)
    return total


def _steps(graph: SocialGraph, places: list[int]) -> int:
    if set(places) == {UNKNOWN}:
        return 0
    unknown = places.count(UNKNOWN)
    paths = [tuple(reversed(graph.places.path(place))) for place in places if place != UNKNOWN]
    common = paths[0]
    for path in paths:
        while path[: len(common)] != common:
            common = common[:-1]
    top = 7 if unknown else LEVELS[common[-1][1]]
    return 7 * unknown + sum(top - LEVELS[path[-1][1]] for path in paths)


def least(graph: SocialGraph, k: int, weights: tuple[int, int, int, int] = (1, 1, 1, 1)) -> int:
    """The loss of the best clusters of *k* users or more, of whatever size."""
    users = len(graph)
    lost: dict[int, int] = {}
    for subset in range(1, 1 << users):
        members = [user for user in range(users) if subset >> user & 1]
        if len(members) >= k:
            lost[subset] = loss(graph, members, weights)
    best = np.full(1 << users, np.iinfo(np.int64).max // 2)
    best[0] = 0
    clusters = np.array(list(lost))
    losses = np.array(list(lost.values()))
    lowest = clusters & -clusters
    by_first = {1 << user: lowest == 1 << user for user in range(users)}
    choices = {first: (clusters[own], losses[own]) for first, own in by_first.items()}
    for subset in range(1, 1 << users):
        # The cluster of the first user; the others are what is left.
        own, theirs = choices[subset & -subset]
        inside = (own & ~subset) == 0
        if inside.any():
            best[subset] = (best[subset ^ own[inside]] + theirs[inside]).min()
    return int(best[-1])
