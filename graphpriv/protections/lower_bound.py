"""What every release loses at least: a proven lower bound, in the units of `losses.py`.

It holds for clusters of k users or more, of any size, however they are chosen.

**Relaxed losses.** A cluster S with the profile c loses the sum of d(u, c) over its users u: the steps from the place
of u up to that of c, and a topic for each rank at which theirs differ. The bound lets c be *any* profile whose place
lies above those of S, so all that a release does is allowed here. A cluster of 2k users or more can then be parted,
both parts with c, and loses no more; so clusters of k to 2k-1 users are all there is to look at.

**Shares.** Let each user u have a share a(u), so that for every S and c

    (*)   the sum of a(u) over S  <=  the sum of d(u, c) over S.

Summed over the clusters of a release, the right side is what it loses (or less), and the left side is the sum of all
shares, which is the same for all releases: a lower bound.

**Pairs.** Let d(u, v) be what u and v lose together at least in any cluster: the steps of both to their closest common
place, and one topic for each rank at which they differ. In a cluster of m users each user is in m-1 pairs. So m-1
times its loss is at least the sum of d over its pairs, and its loss is at least half the sum over its users of the mean
of d to the others, which is not less than the mean to the k-1 nearest of all users. Half of that mean is a share that
keeps (*). The nearest are found without looking at pairs: d depends on the level of the common place, the ranks at
which the topics are the same, and the levels of both users' places, and users who have these in common are counted.

**Raising.** Let a(u) be any numbers, and the slack of S and c the right side of (*) less the left side. Add to each
number the least slack / |S| of all S that the user is in, which may be negative. What is added for the users of an S is
then at most |S| times slack / |S|, so (*) holds. For a given c and a size, an S with u in it has the least slack if the
others are those below the place of c with the least d(v, c) - a(v). This is done over all profiles c that matter: every
place with k users below it, and at each rank every topic that one of them has there (another one only loses more). What
(*) allows is more than the shares of pairs in most places and less in some, so it begins with more than these shares,
and is repeated with what came of it.

**Single attributes** have a bound of their own, in `single_attributes.py`. Bounds for some weights and for others add
up to one for the sums of the weights: no release can lose less of either. So a part of the weight of the place may
count by itself, and the rest in pairs.

Shares are whole numbers in units of which there are many in one of the losses, and are rounded down.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.places import TOP
from graphpriv.protections.bottom_up import EVERY, ancestors, numbered, shared
from graphpriv.protections.losses import DISTINCT, Losses
from graphpriv.protections.single_attributes import fewest_steps, single_attributes_bound
from graphpriv.topics import RANKS
from tabular.kernels import compiled, lean
from tabular.loop import on_threads

#: So many units are in one of the losses.
UNITS = 1 << 20

#: So many ways there are of having a place at some level, and the topics at some ranks, in common.
WAYS = (TOP + 1) * (EVERY + 1)

#: The weight of the place is parted into so many parts.
PARTS = 4

#: How many distances raising may compute.
WORK = 2_500_000_000

#: Raising begins with the shares of pairs times this fraction.
FIRST = (8, 5)

#: Raising ends when it adds less than this part of the bound.
LITTLE = 1_000

#: More than any distance of two users.
FAR = np.iinfo(np.int64).max // 4


def lower_bound(losses: Losses, k: int, *, stop: Callable[[], bool] = lambda: False) -> int:
    """What all clusters of *k* users or more lose at least; when *stop* says so, the bound as it is by then."""
    # A cluster of so many first topics has as many users.
    k = max(k, int(losses.terms[DISTINCT]))
    if k < 2:
        return 0
    alike = Alike.among(losses)
    shares = pair_shares(alike, losses.terms[: RANKS + 1], k)
    sums = [single_attributes_bound(losses, k) * UNITS, *_partly_by_place(losses, k, alike), int(shares.sum())]
    order = np.argsort(losses.place, kind="stable")
    sums.append(_after_raising(losses.among(order), k, shares[order], stop))
    return max(-(-max(sums) // UNITS), 0)


def _partly_by_place(losses: Losses, k: int, alike: Alike) -> list[int]:
    """Bounds in units, for which a part of the weight of the place counts by itself."""
    weights = losses.terms[: RANKS + 1] * PARTS
    steps, sums = fewest_steps(losses, k), [0]
    for part in range(1, PARTS + 1 if steps else 1):
        alone = part * int(losses.terms[0])
        shares = pair_shares(alike, weights - np.array([alone] + [0] * RANKS), k)
        sums.append((alone * steps * UNITS + int(shares.sum())) // PARTS)
        # Nearest distances are concave in the weights, so after the first fall comes no rise.
        if sums[-1] < sums[-2]:
            break
    return sums


def _after_raising(losses: Losses, k: int, shares: NDArray[np.int64], stop: Callable[[], bool]) -> int:
    """The sum of *shares* of users, who are in the order of their places, after raising."""
    best = int(shares.sum())
    numbers = shares * FIRST[0] // FIRST[1]
    for _ in range(min(WORK // max(_raising_work(losses, k), 1), 40)):
        if stop():
            break
        numbers = raised(losses, k, numbers)
        reached = int(numbers.sum())
        if reached - best < best // LITTLE + 1:
            break
        best = reached
    return best


class Alike(NamedTuple):
    """How many users have what in common with each distinct profile."""

    #: The profile of each user, how many have each, and the level of its place.
    profile: NDArray[np.int64]
    sizes: NDArray[np.int64]
    own: NDArray[np.int64]
    #: For each level and some ranks, and each profile, the row that counts by their levels the users who have the same
    #: place at that level, and the same topics at those ranks; the row 0 stands for nobody else.
    of: NDArray[np.int32]
    rows: NDArray[np.int64]

    @classmethod
    def among(cls, losses: Losses) -> Alike:
        """Those of the users of *losses*."""
        above, every = ancestors(losses), np.arange(len(losses.place))
        identity = np.arange(len(losses.parents), dtype=np.int32)
        _, example, profile, sizes = np.unique(
            numbered(shared(losses, every, identity, EVERY)), return_index=True, return_inverse=True, return_counts=True
        )
        distinct, every = losses.among(example), np.arange(len(example))
        own = losses.levels[distinct.place]
        of = np.empty((WAYS, len(example)), dtype=np.int32)
        rows, begin = [np.zeros((1, TOP + 1), dtype=np.int64)], 1
        for way in range(WAYS):
            level, equal = divmod(way, EVERY + 1)
            key = numbered(shared(distinct, every, above[level], equal))
            _, group, profiles = np.unique(key, return_inverse=True, return_counts=True)
            is_shared = profiles > 1
            number = np.cumsum(is_shared) - 1
            of[way] = np.where(is_shared, begin + number, 0)[group]
            found = np.zeros((int(is_shared.sum()), TOP + 1), dtype=np.int64)
            among = is_shared[group]
            np.add.at(found, (number[group[among]], own[among]), sizes[among])
            rows.append(found)
            begin += len(found)
        return cls(profile, sizes, own, of, np.concatenate(rows))


def pair_shares(alike: Alike, weights: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """For each user half the mean distance to the k-1 nearest others, in units."""
    # By the level of a user the distances to others, by what both have in common and the level of the other.
    apart = np.empty((TOP + 1, WAYS, TOP + 1), dtype=np.int64)
    for own in range(TOP + 1):
        for way in range(WAYS):
            level, equal = divmod(way, EVERY + 1)
            other = sum(int(weights[rank + 1]) for rank in range(RANKS) if not equal >> rank & 1)
            steps = max(level - own, 0) + np.maximum(level - np.arange(TOP + 1), 0)
            apart[own, way] = weights[0] * steps + TOP * other
    sorts = apart.reshape(TOP + 1, -1)
    sums = np.zeros(len(alike.own), dtype=np.int64)
    _nearest(alike, k - 1, sorts, np.argsort(sorts, axis=1, kind="stable"), sums)
    return (sums * UNITS // (2 * (k - 1)))[alike.profile]


@compiled
def _nearest(
    alike: Alike, count: int, apart: NDArray[np.int64], order: NDArray[np.int64], sums: NDArray[np.int64]
) -> None:
    """For each profile the sum of the distances to the *count* nearest users beside one that has it."""
    ways, levels = alike.of.shape[0], alike.rows.shape[1]
    equals = ways // levels
    others = np.zeros((ways, levels), dtype=np.int64)
    for one in range(len(sums)):
        own = alike.own[one]
        for way in range(ways):
            row = alike.of[way, one]
            others[way] = alike.rows[row]
            if row == 0:
                others[way, own] = alike.sizes[one]
            others[way, own] -= 1
        # At those ranks and no others.
        bit = 1
        while bit < equals:
            for way in range(ways):
                if not way & bit:
                    others[way] -= others[way | bit]
            bit <<= 1
        # At that level and none below.
        for way in range(ways - 1, equals - 1, -1):
            others[way] -= others[way - equals]
        missing, total = count, 0
        for sort in order[own]:
            taken = min(missing, others[sort // levels, sort % levels])
            if taken:
                total += taken * apart[own, sort]
                missing -= taken
                if missing == 0:
                    break
        sums[one] = total


@lean
def _insert(least: NDArray[np.int64], value: int) -> None:
    """Put a *value* among the *least* ones, which stand in order."""
    position = len(least) - 1
    if value >= least[position]:
        return
    while position > 0 and least[position - 1] > value:
        least[position] = least[position - 1]
        position -= 1
    least[position] = value


def _below(losses: Losses, k: int) -> list[tuple[int, int, int]]:
    """The places that matter, each with where the users below it begin and end; users are in the order of places."""
    nodes = np.arange(len(losses.parents))
    starts = np.searchsorted(losses.place, nodes)
    ends = np.searchsorted(losses.place, losses.ends[nodes])
    ends[0] = len(losses.place)
    sizes = ends - starts
    # A place with the same users as one below it only loses more.
    closest = np.ones(len(nodes), dtype=np.bool_)
    same = (nodes > 0) & (sizes == sizes[losses.parents])
    closest[losses.parents[same]] = False
    chosen = np.flatnonzero(closest & (sizes >= k))
    return [(int(node), int(starts[node]), int(ends[node])) for node in chosen]


def _topics_below(losses: Losses, start: int, end: int) -> list[NDArray[np.int32]]:
    """At each rank the topics that the profiles have which matter for these users; one will do where none counts."""
    found = [np.unique(losses.topics[start:end, rank]) for rank in range(RANKS)]
    return [topics if losses.terms[rank + 1] else topics[:1] for rank, topics in enumerate(found)]


def _raising_work(losses: Losses, k: int) -> int:
    """How many distances one round of raising computes."""
    work = 0
    for _, start, end in _below(losses, k):
        # Of the users with the least slack each is looked at in clusters of all sizes.
        most = min(2 * k - 1, end - start)
        work += prod(map(len, _topics_below(losses, start, end))) * (end - start + most * (most - k + 1))
    return work


def raised(losses: Losses, k: int, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Shares made of any *numbers* of the users, who are in the order of their places, as raising does."""
    added = np.full(len(numbers), FAR, dtype=np.int64)
    for node, start, end in _below(losses, k):
        steps = losses.levels[node] - losses.levels[losses.place[start:end]]
        base = steps * losses.terms[0] * UNITS - numbers[start:end]
        topics, (firsts, *others) = losses.topics[start:end], _topics_below(losses, start, end)
        apart = TOP * UNITS * losses.terms[1 : RANKS + 1]

        def by_first(
            first: np.int32,
            topics: NDArray[np.int32] = topics,
            others: list[NDArray[np.int32]] = others,
            apart: NDArray[np.int64] = apart,
            base: NDArray[np.int64] = base,
            known: NDArray[np.int64] = added[start:end],
        ) -> NDArray[np.int64]:
            found = known.copy()
            least = np.empty(min(2 * k - 1, len(base)), dtype=np.int64)
            room = np.empty((3, len(base)), dtype=np.int64)
            _raise_below(topics, apart, base, first, others[0], others[1], k, found, least, room)
            return found

        for found in on_threads(by_first, firsts):
            np.minimum(added[start:end], found, out=added[start:end])
    return numbers + added


@compiled
def _raise_below(
    topics: NDArray[np.int32],
    apart: NDArray[np.int64],
    base: NDArray[np.int64],
    first: np.int32,
    seconds: NDArray[np.int32],
    thirds: NDArray[np.int32],
    k: int,
    added: NDArray[np.int64],
    least: NDArray[np.int64],
    room: NDArray[np.int64],
) -> None:
    """Lower *added* to the least mean slack of the users below one place, over profiles with the *first* topic."""
    users, most = len(base), len(least)
    two, slack, bar = room[0], room[1], room[2]
    for user in range(users):
        bar[user] = min(added[user], FAR // most) * most
    for second in seconds:
        for user in range(users):
            two[user] = base[user]
            if topics[user, 0] != first:
                two[user] += apart[0]
            if topics[user, 1] != second:
                two[user] += apart[1]
        for third in thirds:
            for user in range(users):
                slack[user] = two[user] + (apart[2] if topics[user, 2] != third else 0)
            least[:] = FAR
            for user in range(users):
                if slack[user] < least[most - 1]:
                    _insert(least, slack[user])
            bottom = least[most - 1]
            # From here on `least` has sums: of the least one, of the two least ones, and so on.
            for position in range(1, most):
                least[position] += least[position - 1]
            # What a user may get whose slack is no less than that of all of these; for one with more slack it rises by
            # at least as much as is divided by `most`.
            there = FAR
            for size in range(k, most + 1):
                there = min(there, (least[size - 2] + bottom) // size)
            start = there * most - bottom
            for user in range(users):
                own = slack[user]
                if own < bottom:
                    _lower_within(added, user, own, least, k, most)
                elif own + start < bar[user]:
                    for size in range(k, most + 1):
                        added[user] = min(added[user], (least[size - 2] + own) // size)
                else:
                    continue
                bar[user] = added[user] * most


@lean
def _lower_within(added: NDArray[np.int64], user: int, own: int, sums: NDArray[np.int64], k: int, most: int) -> None:
    """Lower what is *added* to a *user* whose slack may be among the least ones."""
    for size in range(k, most + 1):
        # Whose slack is not among the least of this size takes the place of the last of them.
        is_among = own <= sums[size - 1] - sums[size - 2]
        total = sums[size - 1] if is_among else sums[size - 2] + own
        added[user] = min(added[user], total // size)
