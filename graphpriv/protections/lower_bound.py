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
keeps (*). Where there are too many users for all pairs, their distances are taken from below: two users whose places
have no common one up to some level are at least as many steps apart as the first of them is below the next level.

**Raising.** Where shares keep (*), the slack of S and c, the right side less the left side, is never negative. Add to
each share the least slack / |S| of all S that the user is in. What is added for the users of an S is then at most |S|
times slack / |S|, so (*) still holds. For a given c and a size, an S with u in it has the least slack if the others are
those below the place of c with the least d(v, c) - a(v). This is repeated over all profiles c that matter: every place
with k users below it, and at each rank every topic that one of them has there (another one only loses more).

Shares are whole numbers in units of which there are many in one of the losses, and are rounded down.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpriv.places import TOP
from graphpriv.protections.bottom_up import EVERY, ancestors, numbered, shared
from graphpriv.protections.losses import Losses
from graphpriv.topics import RANKS
from tabular.kernels import compiled, lean

#: So many units are in one of the losses.
UNITS = 1 << 20

#: All pairs of so many distinct profiles are looked at; of more, what they have in common is counted.
PAIRS = 6_000

#: How many distances raising may compute.
WORK = 600_000_000

#: Raising ends when it adds less than this part of the bound.
LITTLE = 500

#: More than any distance of two users.
FAR = np.iinfo(np.int64).max // 4


def lower_bound(losses: Losses, k: int, *, stop: Callable[[], bool] = lambda: False) -> int:
    """What all clusters of *k* users or more lose at least; when *stop* says so, the bound as it is by then."""
    if k < 2:
        return 0
    shares = pair_shares(losses, k)
    order = np.argsort(losses.place, kind="stable")
    sorted_losses, shares = losses.among(order), shares[order]
    work = _raising_work(sorted_losses, k)
    for _ in range(min(WORK // max(work, 1), 40)):
        before = int(shares.sum())
        if stop():
            break
        shares = shares + raised(sorted_losses, k, shares)
        if int(shares.sum()) - before < before // LITTLE + 1:
            break
    return max(-(-int(shares.sum()) // UNITS), 0)


def pair_shares(losses: Losses, k: int) -> NDArray[np.int64]:
    """For each user half the mean distance to the k-1 nearest others, in units."""
    above = ancestors(losses)
    every = np.arange(len(losses.place))
    identity = np.arange(len(losses.parents), dtype=np.int32)
    _, example, profile, sizes = np.unique(
        numbered(shared(losses, every, identity, EVERY)), return_index=True, return_inverse=True, return_counts=True
    )
    distinct = losses.among(example)
    if len(example) <= PAIRS:
        sums = np.zeros(len(example), dtype=np.int64)
        _nearest(distinct, sizes, k - 1, sums, np.empty(k - 1, dtype=np.int64))
    else:
        sums = _nearest_by_level(distinct, sizes, k - 1, above)
    return (sums * UNITS // (2 * (k - 1)))[profile]


@compiled
def _nearest(
    losses: Losses, sizes: NDArray[np.int64], count: int, sums: NDArray[np.int64], nearest: NDArray[np.int64]
) -> None:
    """For each profile the sum of the distances to the *count* nearest users beside one that has it."""
    terms, levels = losses.terms, losses.levels
    for one in range(len(sums)):
        nearest[:] = FAR
        for other in range(len(sums)):
            apart = 0
            for rank in range(RANKS):
                if losses.topics[one, rank] != losses.topics[other, rank]:
                    apart += TOP * terms[rank + 1]
            if apart >= nearest[count - 1]:
                continue
            first = min(losses.place[one], losses.place[other])
            last = max(losses.place[one], losses.place[other])
            while losses.ends[first] <= last:
                first = losses.parents[first]
            apart += terms[0] * (2 * levels[first] - levels[losses.place[one]] - levels[losses.place[other]])
            _insert(nearest, count, apart, sizes[other] - (1 if one == other else 0))
        total = 0
        for position in range(count):
            total += nearest[position]
        sums[one] = total


@lean
def _insert(least: NDArray[np.int64], count: int, value: int, times: int) -> None:
    """Put a *value* so many *times* among the *count* least ones, which stand in order."""
    for _ in range(min(times, count)):
        if value >= least[count - 1]:
            return
        position = count - 1
        while position > 0 and least[position - 1] > value:
            least[position] = least[position - 1]
            position -= 1
        least[position] = value


def _nearest_by_level(
    losses: Losses, sizes: NDArray[np.int64], count: int, above: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The same from below, from how many users share what."""
    every = np.arange(len(sizes))
    # How many users are below the same place at a level and have the same topics at some ranks at least.
    sharing = np.empty((TOP + 1, EVERY + 1, len(sizes)), dtype=np.int64)
    for level in range(TOP + 1):
        for equal in range(EVERY + 1):
            key = np.unique(numbered(shared(losses, every, above[level], equal)), return_inverse=True)[1]
            sharing[level, equal] = np.bincount(key, weights=sizes).astype(np.int64)[key]
    # At those ranks and no others.
    for rank in range(RANKS):
        for equal in range(EVERY + 1):
            if not equal >> rank & 1:
                sharing[:, equal] -= sharing[:, equal | 1 << rank]
    # At that level and none below.
    sharing[1:] -= sharing[:-1].copy()
    own = losses.levels[losses.place]
    apart = np.empty(((TOP + 1) * (EVERY + 1), len(sizes)), dtype=np.int64)
    for level in range(TOP + 1):
        for equal in range(EVERY + 1):
            other = sum(int(losses.terms[rank + 1]) for rank in range(RANKS) if not equal >> rank & 1)
            steps = int(losses.terms[0]) * np.maximum(level - own, 0)
            apart[level * (EVERY + 1) + equal] = steps + TOP * other
    counts = sharing.reshape(apart.shape)
    # A user is not its own neighbour.
    counts[EVERY] -= 1
    order = np.argsort(apart, axis=0, kind="stable")
    missing, sums = np.full(len(sizes), count, dtype=np.int64), np.zeros(len(sizes), dtype=np.int64)
    for row in order:
        taken = np.minimum(missing, counts[row, every])
        sums += taken * apart[row, every]
        missing -= taken
    return sums


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


def _raising_work(losses: Losses, k: int) -> int:
    """How many distances one round of raising computes."""
    work = 0
    for _, start, end in _below(losses, k):
        profiles = 1
        for rank in range(RANKS):
            profiles *= int(np.count_nonzero(np.bincount(losses.topics[start:end, rank])))
        work += profiles * (end - start)
    return work


def raised(losses: Losses, k: int, shares: NDArray[np.int64]) -> NDArray[np.int64]:
    """What can be added to each of the *shares* of users, who are in the order of their places."""
    added = np.full(len(shares), FAR, dtype=np.int64)
    for node, start, end in _below(losses, k):
        own = losses.levels[node] - losses.levels[losses.place[start:end]]
        base = own * losses.terms[0] * UNITS - shares[start:end]
        firsts, seconds, thirds = (np.unique(losses.topics[start:end, rank]) for rank in range(RANKS))
        most = min(2 * k - 1, end - start)
        room = np.empty((RANKS, end - start), dtype=np.int64)
        _raise_below(
            losses.topics[start:end],
            losses.terms,
            base,
            firsts,
            seconds,
            thirds,
            k,
            added[start:end],
            np.empty(most, np.int64),
            room,
        )
    return np.maximum(added, 0)


@compiled
def _raise_below(
    topics: NDArray[np.int32],
    terms: NDArray[np.int64],
    base: NDArray[np.int64],
    firsts: NDArray[np.int32],
    seconds: NDArray[np.int32],
    thirds: NDArray[np.int32],
    k: int,
    added: NDArray[np.int64],
    least: NDArray[np.int64],
    room: NDArray[np.int64],
) -> None:
    """Lower *added* to the least mean slack of the users below one place, by way of all topics of its profile."""
    users, most = len(base), len(least)
    one, two, slack = room[0], room[1], room[2]
    apart1, apart2, apart3 = TOP * UNITS * terms[1], TOP * UNITS * terms[2], TOP * UNITS * terms[3]
    for first in firsts:
        for user in range(users):
            one[user] = base[user] + (apart1 if topics[user, 0] != first else 0)
        for second in seconds:
            for user in range(users):
                two[user] = one[user] + (apart2 if topics[user, 1] != second else 0)
            for third in thirds:
                least[:] = FAR
                for user in range(users):
                    slack[user] = two[user] + (apart3 if topics[user, 2] != third else 0)
                    if slack[user] < least[most - 1]:
                        _insert(least, most, slack[user], 1)
                # From here on `least` has sums: of the least one, of the two least ones, and so on.
                bottom = least[most - 1]
                for position in range(1, most):
                    least[position] += least[position - 1]
                lowest = FAR
                for size in range(k, most + 1):
                    lowest = min(lowest, least[size - 2])
                for user in range(users):
                    own = slack[user]
                    # A guess from below tells for most users that nothing comes of this profile.
                    if (own + lowest) // most >= added[user]:
                        continue
                    if own <= bottom:
                        _lower_within(added, user, own, least, k, most)
                    else:
                        for size in range(k, most + 1):
                            added[user] = min(added[user], (least[size - 2] + own) // size)


@lean
def _lower_within(added: NDArray[np.int64], user: int, own: int, sums: NDArray[np.int64], k: int, most: int) -> None:
    """Lower what is *added* to a *user* whose slack may be among the least ones."""
    for size in range(k, most + 1):
        # Whose slack is not among the least of this size takes the place of the last of them.
        is_among = own <= sums[size - 1] - sums[size - 2]
        total = sums[size - 1] if is_among else sums[size - 2] + own
        added[user] = min(added[user], total // size)
