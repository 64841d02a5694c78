"""Clusters of a random user and those with the closest profiles (Mares Soler 2013, Algorithm 14)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.places import TOP, UNKNOWN
from graphpriv.protections.contract import Protection, protections
from graphpriv.protections.profile_queues import (
    AT_PLACE,
    KINDS,
    PATTERNS,
    Queues,
    Surroundings,
    queues,
    surroundings,
)
from graphpriv.topics import RANKS
from tabular.kernels import compiled

#: The highest distance of two profiles, in 28ths: a step of the location counts one, a different topic seven.
FARTHEST = TOP * (RANKS + 1)
#: Comes after every user.
NOBODY = np.iinfo(np.int64).max


@protections.add(
    "closest-profiles",
    cites="Mares Soler (2013), Algorithms 13 and 14",
    limits="edges are left as they are; greedy, so the last clusters are the widest",
)
@dataclass(frozen=True, kw_only=True)
class ClosestProfiles(Protection):
    """Put a random user and the k-1 users with the closest profiles together until all are in a cluster."""

    def clusters(self, graph: SocialGraph, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """For each user the number of its cluster; where k does not divide the users, the rest is the last one."""
        return closest_profiles(graph, k, rng.permutation(len(graph)))


def closest_profiles(graph: SocialGraph, k: int, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Algorithm 14 with the random users taken in *order*, the visited ones passed over; ties by lower position."""
    users = len(graph)
    around = surroundings(graph.places, graph.location)
    index = queues(graph, around)
    # What is left after the clusters of k users has the last number.
    whole = users // k if users % k == 0 else users // k - 1
    clusters = np.full(users, whole, dtype=np.int64)
    # At one distance there are at most three patterns, each with all places above, its own and those below.
    found = np.empty((int(np.diff(around.offsets).max()) + 3) * RANKS, dtype=np.int64)
    _cluster(order, k, whole, clusters, index, around, found)
    return clusters


@compiled
def _front(queue: int, index: Queues, visited: NDArray[np.bool_]) -> int:
    """The first user of a queue who is in no cluster yet; the visited before it leave the queue."""
    while index.fronts[queue] < index.ends[queue]:
        user = index.users[index.fronts[queue]]
        if not visited[user]:
            return int(user)
        index.fronts[queue] += 1
    return NOBODY


@compiled
def _find(pattern: int, key: int, index: Queues) -> int:
    """The queue of *key* in a pattern, or -1."""
    first, end = index.first[pattern], index.first[pattern + 1]
    place = first + np.searchsorted(index.keys[first:end], key)
    return int(place) if place < end and index.keys[place] == key else -1


@compiled
def _collect(
    distance: int,
    profile: int,
    index: Queues,
    around: Surroundings,
    visited: NDArray[np.bool_],
    found: NDArray[np.int64],
) -> int:
    """Put the queues of all users at *distance* from a profile into *found*; returns how many there are."""
    count = 0
    mismatches, steps = distance // TOP, distance % TOP
    row = index.place[profile] if index.place[profile] != UNKNOWN else len(around.levels) - 1
    level = around.levels[row]
    for pattern in range(PATTERNS):
        equal = (pattern & 1) + (pattern >> 1 & 1) + (pattern >> 2 & 1)
        own = index.slots[profile]
        if steps == 0 and equal == RANKS + 1 - mismatches:
            # All that is left of the group lies off the branch, which counts as much as one more topic.
            found[count] = index.member[pattern, own]
            count += 1
        if equal != RANKS - mismatches or _front(index.member[pattern, own], index, visited) == NOBODY:
            continue
        if steps == 0:
            found[count] = index.member[pattern, own + 1]
            count += 1
        base = index.group[pattern, profile] * (len(around.levels) * KINDS)
        for position in range(around.offsets[row], around.offsets[row + 1]):
            upper = around.above[position]
            if around.levels[upper] - level == steps:
                found[count] = _find(pattern, base + upper * KINDS + AT_PLACE, index)
                count += found[count] >= 0
        if level >= steps and around.below[row] >> (level - steps) & 1:
            found[count] = _find(pattern, base + row * KINDS + level - steps, index)
            count += found[count] >= 0
    return count


@compiled
def _cluster(
    order: NDArray[np.int64],
    k: int,
    whole: int,
    clusters: NDArray[np.int64],
    index: Queues,
    around: Surroundings,
    found: NDArray[np.int64],
) -> None:
    """Number the *whole* clusters of k users each; who is in none of them keeps what *clusters* says."""
    visited = np.zeros(len(order), dtype=np.bool_)
    turn = 0
    for cluster in range(whole):
        while visited[order[turn]]:
            turn += 1
        visited[order[turn]] = True
        clusters[order[turn]] = cluster
        missing = k - 1
        for distance in range(FARTHEST + 1):
            if missing == 0:
                break
            count = _collect(distance, index.profile[order[turn]], index, around, visited, found)
            while missing > 0:
                closest = NOBODY
                for position in range(count):
                    closest = min(closest, _front(found[position], index, visited))
                if closest == NOBODY:
                    break
                visited[closest] = True
                clusters[closest] = cluster
                missing -= 1
