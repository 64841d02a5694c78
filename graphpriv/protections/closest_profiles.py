"""Clusters of a random user and those with the closest profiles (Mares Soler 2013, Algorithm 14).

Queues of users by what they have in common let the closest ones be found without looking at all pairs.

A pattern says which of the three topics must be equal; users equal in those form a group. A group has a queue of all
its users, one of those at each place, and one of those at each level below each place. All hold users by position, so
the front of a queue is the user that a tie goes to. Whoever is closer is always taken first, so a queue may hold users
who agree in more than its pattern says: by the time it is asked, they are gone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.places import TOP, UNKNOWN, PlaceTree
from graphpriv.protections.contract import Protection, protections
from graphpriv.topics import RANKS
from tabular.kernels import compiled
from tabular.loop import Report, silent
from tabular.table import equivalence_classes

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

    def clusters(
        self,
        graph: SocialGraph,
        k: int,
        rng: np.random.Generator,
        *,
        report: Report = silent,
        stop: Callable[[], bool] = lambda: False,
    ) -> NDArray[np.int64]:
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
    keys = index.keys
    low, end = index.first[pattern], index.first[pattern + 1]
    high = end
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return int(low) if low < end and keys[low] == key else -1


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


#: All subsets of the topics, as bits.
PATTERNS = 1 << RANKS
#: Keys of the queues of a place: one a level below it, one of those at the place itself.
KINDS = TOP + 2
AT_PLACE = TOP + 1


class Surroundings(NamedTuple):
    """The places above and below each place; the last row is the unknown place, which index -1 finds."""

    levels: NDArray[np.int8]
    #: Rows of the places above that users are at, and where the row of each place begins and ends.
    above: NDArray[np.int32]
    offsets: NDArray[np.int64]
    #: For each place, as bits, at which levels there are users below it.
    below: NDArray[np.uint8]


class Queues(NamedTuple):
    """The queues of all groups, one after the other in `users`, and how to find those of a profile."""

    #: For each user its profile, and for each profile its place.
    profile: NDArray[np.int64]
    place: NDArray[np.int32]
    #: For each pattern and profile its group.
    group: NDArray[np.int64]
    #: For each pattern, sorted, the keys of its queues; those of pattern p stand from first[p] to first[p + 1].
    keys: NDArray[np.int64]
    first: NDArray[np.int64]
    #: For each pattern the queues that a user of a profile stands in; a profile's own begin at slots[profile].
    member: NDArray[np.int32]
    slots: NDArray[np.int64]
    #: Where each queue ends in `users`, and where its front is; the search moves the fronts on.
    ends: NDArray[np.int64]
    fronts: NDArray[np.int64]
    users: NDArray[np.int32]


def surroundings(places: PlaceTree, location: NDArray[np.int32]) -> Surroundings:
    """What the search needs to know about places, given where users are."""
    count = len(places) + 1
    occupied = np.unique(location[location != UNKNOWN])
    levels = np.append(places.levels, np.int8(TOP))
    is_occupied = np.zeros(count, dtype=np.bool_)
    is_occupied[occupied] = True
    below = np.zeros(count, dtype=np.uint8)
    froms, tos = [], []
    lower, upper = occupied, places.parents[occupied]
    while len(lower):
        lower, upper = lower[upper >= 0], upper[upper >= 0]
        np.bitwise_or.at(below, upper, np.left_shift(1, levels[lower]).astype(np.uint8))
        kept = is_occupied[upper]
        froms.append(lower[kept])
        tos.append(upper[kept])
        upper = places.parents[upper]
    rows = np.concatenate(froms) if froms else np.zeros(0, dtype=np.int32)
    above = np.concatenate(tos) if tos else np.zeros(0, dtype=np.int32)
    by_row = np.argsort(rows, kind="stable")
    offsets = np.append(0, np.cumsum(np.bincount(rows, minlength=count)))
    return Surroundings(levels=levels, above=above[by_row].astype(np.int32), offsets=offsets, below=below)


def queues(graph: SocialGraph, around: Surroundings) -> Queues:
    """Put every user into the queues of its profile."""
    classes = equivalence_classes(list(graph.profiles().T))
    _, example = np.unique(classes.labels, return_index=True)
    place, topics = graph.location[example], graph.topics[example]
    own, slots = _own_keys(place, around)
    group = np.empty((PATTERNS, len(place)), dtype=np.int64)
    member = np.empty((PATTERNS, len(own)), dtype=np.int32)
    keys, first = [], np.zeros(PATTERNS + 1, dtype=np.int64)
    for pattern in range(PATTERNS):
        chosen = [topics[:, rank] for rank in range(RANKS) if pattern >> rank & 1]
        group[pattern] = equivalence_classes(chosen).labels if chosen else 0
        wanted = np.repeat(group[pattern], np.diff(slots)) * (len(around.levels) * KINDS) + own
        found, queue = np.unique(wanted, return_inverse=True)
        member[pattern] = queue + first[pattern]
        keys.append(found)
        first[pattern + 1] = first[pattern] + len(found)
    lengths = _lengths(member, np.repeat(classes.sizes, np.diff(slots)), int(first[-1]))
    ends = np.cumsum(lengths)
    fronts = ends - lengths
    users = np.empty(int(ends[-1]), dtype=np.int32)
    _fill(classes.labels, member, slots, fronts.copy(), users)
    return Queues(
        profile=classes.labels,
        place=place,
        group=group,
        keys=np.concatenate(keys),
        first=first,
        member=member,
        slots=slots,
        ends=ends,
        fronts=fronts,
        users=users,
    )


def _own_keys(place: NDArray[np.int32], around: Surroundings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each profile the keys of its queues: of its whole group, at its place, below each place above it."""
    unknown = len(around.levels) - 1
    place = np.where(place == UNKNOWN, unknown, place).astype(np.int64)
    above = np.diff(around.offsets)[place]
    slots = np.append(0, np.cumsum(above + 2))
    keys = np.empty(int(slots[-1]), dtype=np.int64)
    # No user is below the unknown place, which leaves that key for the whole group.
    keys[slots[:-1]] = unknown * KINDS
    keys[slots[:-1] + 1] = place * KINDS + AT_PLACE
    others = np.ones(len(keys), dtype=np.bool_)
    others[slots[:-1]] = others[slots[:-1] + 1] = False
    ranks = np.arange(int(above.sum())) - np.repeat(np.cumsum(above) - above, above)
    uppers = around.above[np.repeat(around.offsets[place], above) + ranks].astype(np.int64)
    keys[others] = uppers * KINDS + np.repeat(around.levels[place], above)
    return keys, slots


def _lengths(member: NDArray[np.int32], sizes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    lengths = np.zeros(count, dtype=np.int64)
    for row in member:
        lengths += np.bincount(row, weights=sizes, minlength=count).astype(np.int64)
    return lengths


@compiled
def _fill(
    profile: NDArray[np.int64],
    member: NDArray[np.int32],
    slots: NDArray[np.int64],
    ends: NDArray[np.int64],
    users: NDArray[np.int32],
) -> None:
    for pattern in range(len(member)):
        for user in range(len(profile)):
            for slot in range(slots[profile[user]], slots[profile[user] + 1]):
                queue = member[pattern, slot]
                users[ends[queue]] = user
                ends[queue] += 1
