"""What clusters lose: the distance of each member to the aggregated profile, in whole numbers.

The profile is that of the release (`aggregated` in `contract.py`): the closest common place and the topics that Borda's
rule elects. A step of the place counts the weight of the place, another topic seven times that of its rank, so that
with weights of 1 the sum over all users is DBIL in 28ths.

An unknown place is a leaf right below `world` here, after all other places: the closest common place is then found in
one way for all users.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.places import TOP, UNKNOWN
from graphpriv.topics import EMPTY, RANKS
from tabular.kernels import compiled, lean

#: What is added to the loss of a cluster whose place is too high, and for each first topic that it lacks. It is more
#: than all users of a graph can lose, and sums of it still fit.
FORBIDDEN = 1 << 58
LACKING = 1 << 48

#: The votes for a topic in one number: the points stand above the first places, and these above the second ones.
POINT, FIRST, SECOND = 1 << 42, 1 << 21, 1

#: Where `Losses.terms` has what else than weights.
HIGHEST, DISTINCT = RANKS + 1, RANKS + 2

#: A vote for a rank: 3, 2 or 1 points.
VOTES = np.array([3 * POINT + FIRST, 2 * POINT + SECOND, POINT], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a loss counts, and what no cluster may do."""

    #: For the place and each rank of topics.
    weights: tuple[int, int, int, int] = (1, 1, 1, 1)
    #: The highest level that a place may be generalised to.
    highest: int = TOP
    #: How many distinct first topics a cluster has at least; an empty one is none.
    distinct: int = 0

    @property
    def whole(self) -> int:
        """What a user loses at most."""
        return TOP * sum(self.weights)


class Losses(NamedTuple):
    """The profiles of users, and all that the loss of a cluster of them depends on."""

    #: For each user its node, and its topics; an empty one has the code after all others.
    place: NDArray[np.int32]
    topics: NDArray[np.int32]
    #: The tree of the places, the unknown one last in it.
    parents: NDArray[np.int32]
    levels: NDArray[np.int64]
    ends: NDArray[np.int32]
    #: `Terms.weights`, and after them `highest` and `distinct`.
    terms: NDArray[np.int64]
    names: int

    @classmethod
    def of(cls, graph: SocialGraph, terms: Terms) -> Losses:
        """The losses of the users of a *graph*."""
        places, names = graph.places, len(graph.topic_names)
        ends = np.append(places.ends, len(places) + 1).astype(np.int32)
        ends[0] += 1
        return cls(
            place=np.where(graph.location == UNKNOWN, len(places), graph.location).astype(np.int32),
            topics=np.where(graph.topics == EMPTY, names, graph.topics).astype(np.int32),
            parents=np.append(places.parents, 0).astype(np.int32),
            levels=np.append(places.levels, 0).astype(np.int64),
            ends=ends,
            terms=np.array([*terms.weights, terms.highest, terms.distinct], dtype=np.int64),
            names=names,
        )

    def among(self, users: NDArray[np.int64]) -> Losses:
        """The same for some of the *users*."""
        return self._replace(place=self.place[users], topics=self.topics[users])


class Votes(NamedTuple):
    """Room in which the votes of one cluster are counted; it is empty between two of them."""

    #: For each topic its votes.
    counted: NDArray[np.int64]
    #: The topics that got any.
    touched: NDArray[np.int64]
    #: The elected topics, and how many members have each at its rank.
    elected: NDArray[np.int64]
    agreeing: NDArray[np.int64]

    @classmethod
    def room(cls, names: int) -> Votes:
        """Room for so many topics."""
        return cls(
            np.zeros(names + 1, dtype=np.int64),
            np.zeros(names + 1, dtype=np.int64),
            np.zeros(RANKS, dtype=np.int64),
            np.zeros(RANKS, dtype=np.int64),
        )


@lean
def common_place(losses: Losses, members: NDArray[np.int32], size: int) -> int:
    """The closest place above the first *size* of *members*."""
    first = last = losses.place[members[0]]
    for position in range(1, size):
        place = losses.place[members[position]]
        first, last = min(first, place), max(last, place)
    while losses.ends[first] <= last:
        first = losses.parents[first]
    return int(first)


@lean
def elect(losses: Losses, members: NDArray[np.int32], size: int, votes: Votes) -> int:
    """Elect the topics of a cluster into *votes*; returns how many distinct first topics its members have."""
    names, counted, touched = losses.names, votes.counted, votes.touched
    found = 0
    empty0 = empty1 = empty2 = 0
    for position in range(size):
        user = members[position]
        for rank in range(RANKS):
            topic = losses.topics[user, rank]
            if topic == names:
                if rank == 0:
                    empty0 += 1
                elif rank == 1:
                    empty1 += 1
                else:
                    empty2 += 1
                continue
            if counted[topic] == 0:
                touched[found] = topic
                found += 1
            counted[topic] += VOTES[rank]
    distinct = 0
    one = two = three = np.int64(-1)
    for position in range(found):
        topic = touched[position]
        votes_of = counted[topic]
        if votes_of // FIRST % (POINT // FIRST):
            distinct += 1
        if one < 0 or _before(votes_of, topic, counted[one], one):
            one, two, three = topic, one, two
        elif two < 0 or _before(votes_of, topic, counted[two], two):
            two, three = topic, two
        elif three < 0 or _before(votes_of, topic, counted[three], three):
            three = topic
    votes.elected[0], votes.agreeing[0] = names, empty0
    votes.elected[1], votes.agreeing[1] = names, empty1
    votes.elected[2], votes.agreeing[2] = names, empty2
    if one >= 0:
        votes.elected[0], votes.agreeing[0] = one, counted[one] // FIRST % (POINT // FIRST)
    if two >= 0:
        votes.elected[1], votes.agreeing[1] = two, counted[two] % FIRST
    if three >= 0:
        cast = counted[three]
        firsts = cast // FIRST % (POINT // FIRST)
        votes.elected[2], votes.agreeing[2] = three, cast // POINT - 3 * firsts - 2 * (cast % FIRST)
    for position in range(found):
        counted[touched[position]] = 0
    return distinct


@lean
def _before(cast: np.int64, topic: np.int64, other_cast: np.int64, other: np.int64) -> np.bool_ | bool:
    """Whether a topic comes before another one: by its votes, then by its code."""
    return cast > other_cast or (cast == other_cast and topic < other)


@lean
def cluster_loss(losses: Losses, members: NDArray[np.int32], size: int, votes: Votes) -> int:
    """What the first *size* of *members* lose together as one cluster; too much where they must not be one."""
    terms, levels = losses.terms, losses.levels
    level = levels[common_place(losses, members, size)]
    if level > terms[HIGHEST]:
        return FORBIDDEN
    lacking = max(terms[DISTINCT] - elect(losses, members, size, votes), 0)
    steps = size * level
    for position in range(size):
        steps -= levels[losses.place[members[position]]]
    apart = 0
    for rank in range(RANKS):
        apart += terms[rank + 1] * (size - votes.agreeing[rank])
    return int(terms[0] * steps + TOP * apart + LACKING * lacking)


@compiled
def _losses_of(
    losses: Losses, order: NDArray[np.int32], offsets: NDArray[np.int64], votes: Votes, found: NDArray[np.int64]
) -> None:
    for cluster in range(len(offsets) - 1):
        members = order[offsets[cluster] : offsets[cluster + 1]]
        found[cluster] = cluster_loss(losses, members, len(members), votes)


def losses_of(losses: Losses, clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    """What each cluster loses; *clusters* are numbered from 0 without a gap."""
    order = np.argsort(clusters, kind="stable").astype(np.int32)
    offsets = np.append(0, np.cumsum(np.bincount(clusters)))
    found = np.zeros(len(offsets) - 1, dtype=np.int64)
    _losses_of(losses, order, offsets, Votes.room(losses.names), found)
    return found
