"""Users change places between near clusters for as long as that lowers the loss, and now and then though it does not.

A step draws a user and another one who has something in common with it, and so a cluster that is near. Either the user
moves there, or changes places with the member of it for whom that is best. What the two clusters lose before and after
decides; at first something may be lost by it, and less and less of that is allowed. All of it is in whole numbers.

Large graphs are done in blocks of clusters that lie near each other, by place in one round and by topics in the next.
Blocks share nothing, so what comes out does not depend on how many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphpriv.places import TOP
from graphpriv.protections.bottom_up import EVERY, numbered, shared
from graphpriv.protections.losses import LACKING, Losses, Votes, cluster_loss, common_place, elect
from graphpriv.topics import RANKS
from tabular.kernels import compiled, lean
from tabular.loop import Report, on_threads

#: What a user and another one have in common that is drawn: a level of the place above theirs, and topics that are
#: equal, as bits. TOP is every place.
COMMON = (*((level, equal) for level in (TOP, 5, 1) for equal in range(1, EVERY + 1)), (5, 0), (4, 0), (1, 0))

#: So many users are in one block; what it needs is then near the processor.
BLOCK = 16_384

#: So many steps are taken before somebody is asked whether to stop.
STRETCH = 1 << 21


#: The users of each block.
Parts: TypeAlias = "Sequence[NDArray[np.int64]]"


class Clusters(NamedTuple):
    """Clusters of some users, and what each of them is worth."""

    #: For each user its cluster, and where it stands there.
    of: NDArray[np.int32]
    position: NDArray[np.int32]
    members: NDArray[np.int32]
    sizes: NDArray[np.int32]
    loss: NDArray[np.int64]
    #: The profile of each cluster: the place and the topics.
    profile: NDArray[np.int32]

    @classmethod
    def of_numbers(cls, losses: Losses, numbers: NDArray[np.int64], most: int) -> Clusters:
        """Clusters by their *numbers*, which run from 0 without a gap; none may grow to more than *most* users."""
        sizes = np.bincount(numbers)
        order = np.argsort(numbers, kind="stable")
        position = np.empty(len(numbers), dtype=np.int32)
        position[order] = np.arange(len(numbers)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        members = np.zeros((len(sizes), max(most, int(sizes.max()))), dtype=np.int32)
        members[numbers, position] = np.arange(len(numbers))
        found = cls(
            of=numbers.astype(np.int32),
            position=position,
            members=members,
            sizes=sizes.astype(np.int32),
            loss=np.zeros(len(sizes), dtype=np.int64),
            profile=np.zeros((len(sizes), RANKS + 1), dtype=np.int32),
        )
        _weigh(losses, found, Votes.room(losses.names))
        return found


class Near(NamedTuple):
    """For each way of having something in common the users in order of that, and who has the same as each user."""

    users: NDArray[np.int32]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]

    @classmethod
    def among(cls, losses: Losses, above: NDArray[np.int32]) -> Near:
        """What the users of *losses* have in common; *above* is what `ancestors` gives."""
        every = np.arange(len(losses.place))
        users = np.empty((len(COMMON), len(every)), dtype=np.int32)
        starts, ends = users.copy(), users.copy()
        for row, (level, equal) in enumerate(COMMON):
            key = numbered(shared(losses, every, above[level], equal))
            users[row] = np.argsort(key, kind="stable")
            first = np.flatnonzero(np.append(True, np.diff(key[users[row]]) != 0))
            sizes = np.diff(np.append(first, len(every)))
            starts[row, users[row]] = np.repeat(first, sizes)
            ends[row, users[row]] = np.repeat(first + sizes, sizes)
        return cls(users, starts, ends)


class Schedule(NamedTuple):
    """How steps go: those from one number to another of so many, at a heat that falls to 0 with the last one."""

    start: int
    end: int
    of: int
    #: What a lucky step may lose at first, in 64ths.
    hot: int
    #: How far a guess at a loss may be off.
    doubt: int
    #: The sizes that clusters keep: at least, and at most. Where they are equal, nobody moves.
    least: int
    most: int


@lean
def _draw(state: NDArray[np.uint64]) -> np.uint64:
    """The next number of SplitMix64 (Steele, Lea and Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(mixed ^ (mixed >> np.uint64(31)))


@lean
def _below(state: NDArray[np.uint64], count: int) -> int:
    """A random number below *count*."""
    # int() would be unsigned in a kernel.
    return np.int64((_draw(state) >> np.uint64(32)) * np.uint64(count) >> np.uint64(32))  # type: ignore[return-value]


@lean
def _guess(losses: Losses, user: int, profile: NDArray[np.int32]) -> int:
    """What a *user* would lose in a cluster of that *profile*, if no more changed than its place."""
    place, top = losses.place[user], profile[0]
    levels, terms = losses.levels, losses.terms
    while not (top <= place < losses.ends[top]):
        top = losses.parents[top]
    apart = terms[0] * (2 * levels[top] - levels[place] - levels[profile[0]])
    for rank in range(RANKS):
        if losses.topics[user, rank] != profile[rank + 1]:
            apart += TOP * terms[rank + 1]
    return int(apart)


@lean
def _profile(losses: Losses, clusters: Clusters, cluster: int, votes: Votes) -> None:
    """Bring the profile of a *cluster* up to date."""
    members, size = clusters.members[cluster], clusters.sizes[cluster]
    elect(losses, members, size, votes)
    clusters.profile[cluster, 0] = common_place(losses, members, size)
    for rank in range(RANKS):
        clusters.profile[cluster, rank + 1] = votes.elected[rank]


@compiled
def _weigh(losses: Losses, clusters: Clusters, votes: Votes) -> None:
    """Bring the losses and profiles of all clusters up to date."""
    for cluster in range(len(clusters.sizes)):
        clusters.loss[cluster] = cluster_loss(losses, clusters.members[cluster], clusters.sizes[cluster], votes)
        _profile(losses, clusters, cluster, votes)


@lean
def _put(clusters: Clusters, user: int, cluster: int, position: int) -> None:
    clusters.of[user] = cluster
    clusters.position[user] = position
    clusters.members[cluster, position] = user


@lean
def _try_move(losses: Losses, clusters: Clusters, user: int, there: int, allowed: int, votes: Votes) -> None:
    """Move a *user* to the cluster *there*, if no more than what is *allowed* is lost by it."""
    here, position = clusters.of[user], clusters.position[user]
    size, room = clusters.sizes[here], clusters.sizes[there]
    last = clusters.members[here, size - 1]
    clusters.members[here, position] = last
    clusters.members[there, room] = user
    one = cluster_loss(losses, clusters.members[here], size - 1, votes)
    other = cluster_loss(losses, clusters.members[there], room + 1, votes)
    if one + other - clusters.loss[here] - clusters.loss[there] > allowed:
        clusters.members[here, position] = user
        return
    clusters.position[last] = position
    _put(clusters, user, there, room)
    clusters.sizes[here], clusters.sizes[there] = size - 1, room + 1
    clusters.loss[here], clusters.loss[there] = one, other
    _profile(losses, clusters, here, votes)
    _profile(losses, clusters, there, votes)


@lean
def _try_swap(losses: Losses, clusters: Clusters, user: int, other: int, allowed: int, votes: Votes) -> None:
    """Let two users change places, if no more than what is *allowed* is lost by it."""
    here, there = clusters.of[user], clusters.of[other]
    position, place = clusters.position[user], clusters.position[other]
    clusters.members[here, position] = other
    clusters.members[there, place] = user
    one = cluster_loss(losses, clusters.members[here], clusters.sizes[here], votes)
    another = cluster_loss(losses, clusters.members[there], clusters.sizes[there], votes)
    if one + another - clusters.loss[here] - clusters.loss[there] > allowed:
        clusters.members[here, position] = user
        clusters.members[there, place] = other
        return
    _put(clusters, other, here, position)
    _put(clusters, user, there, place)
    clusters.loss[here], clusters.loss[there] = one, another
    _profile(losses, clusters, here, votes)
    _profile(losses, clusters, there, votes)


@lean
def anneal(
    losses: Losses, clusters: Clusters, near: Near, schedule: Schedule, state: NDArray[np.uint64], votes: Votes
) -> None:
    """Take the steps of a *schedule*, with random numbers from *state* on."""
    users, ways = len(clusters.of), len(near.users)
    for step in range(schedule.start, schedule.end):
        user, way = _below(state, users), _below(state, ways)
        start, end = near.starts[way, user], near.ends[way, user]
        if end - start < 2:
            continue
        here, there = clusters.of[user], clusters.of[near.users[way, start + _below(state, int(end - start))]]
        if here == there:
            continue
        # Each further coin that shows heads allows as much again.
        coins, heads = _draw(state), 0
        while coins & np.uint64(1):
            heads += 1
            coins >>= np.uint64(1)
        allowed = (schedule.hot * (schedule.of - step) // schedule.of * heads) >> 6
        # Where first topics are lacking, no guess says what a swap is worth.
        doubt = schedule.doubt if clusters.loss[here] + clusters.loss[there] < LACKING else LACKING
        profile, own = clusters.profile[there], clusters.profile[here]
        change = _guess(losses, user, profile) - _guess(losses, user, own)
        size, room = clusters.sizes[here], clusters.sizes[there]
        if size > schedule.least and room < schedule.most and (coins >> np.uint64(1)) & np.uint64(1):
            if change <= allowed + doubt:
                _try_move(losses, clusters, user, int(there), allowed, votes)
            continue
        best, least = 0, LACKING
        turn = _below(state, room)
        for _ in range(room):
            other = clusters.members[there, turn]
            worth = _guess(losses, other, own) - _guess(losses, other, profile)
            if worth < least:
                best, least = int(other), worth
            turn = turn + 1 if turn + 1 < room else 0
        if change + least <= allowed + doubt:
            if doubt == LACKING:
                best = int(clusters.members[there, turn])
            _try_swap(losses, clusters, user, best, allowed, votes)


def annealed(
    losses: Losses,
    numbers: NDArray[np.int64],
    above: NDArray[np.int32],
    *,
    least: int,
    most: int,
    steps: int,
    seed: int,
    report: Report,
    stop: Callable[[], bool],
    workers: int | None = None,
) -> NDArray[np.int64]:
    """The clusters *numbers* after about so many *steps*; when *stop* says so, as they are by then.

    Each has *least* to *most* users, or as many as it has now.
    """
    users = len(numbers)
    whole = int(losses.terms[: RANKS + 1].sum())
    blocks = -(-users // BLOCK)
    rounds = max(4 if blocks > 1 else 1, -(-steps // (STRETCH * blocks)))
    hot = whole * (32 if steps >= 2000 * users else 16 if steps >= 200 * users else 6)
    schedule = Schedule(0, 0, max(steps, 1), hot, TOP * whole // (RANKS + 1), least, most)
    numbers = numbers.copy()
    for turn in range(rounds if steps and numbers.max() > 0 else 0):
        parts = _parts(losses, numbers, by_place=turn % 2 == 0)

        def better(
            number: int, turn: int = turn, parts: Sequence[NDArray[np.int64]] = parts
        ) -> NDArray[np.int64] | None:
            if stop():
                return None
            part = parts[number]
            own = schedule._replace(
                start=steps * turn // rounds * len(part) // users,
                end=steps * (turn + 1) // rounds * len(part) // users,
                of=max(steps * len(part) // users, 1),
            )
            return _annealed_part(losses.among(part), numbers[part], above, own, _seed(seed, turn, number))

        for number, found in enumerate(on_threads(better, range(len(parts)), workers)):
            report("Clustering", turn * len(parts) + number + 1, rounds * len(parts))
            if found is not None:
                numbers[parts[number]] = found
        if stop():
            break
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def _seed(seed: int, turn: int, number: int) -> NDArray[np.uint64]:
    """Where the random numbers of one part begin."""
    return np.array(np.random.SeedSequence([seed, turn, number]).generate_state(1, np.uint64), dtype=np.uint64)


def _annealed_part(
    losses: Losses, numbers: NDArray[np.int64], above: NDArray[np.int32], schedule: Schedule, state: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """The clusters of one block after the steps of a *schedule*."""
    names, local = np.unique(numbers, return_inverse=True)
    clusters = Clusters.of_numbers(losses, local, schedule.most)
    anneal(losses, clusters, Near.among(losses, above), schedule, state, Votes.room(losses.names))
    return names[clusters.of]


def _parts(losses: Losses, numbers: NDArray[np.int64], *, by_place: bool) -> list[NDArray[np.int64]]:
    """The users in blocks of whole clusters that lie near each other."""
    users = len(numbers)
    if users <= BLOCK:
        return [np.arange(users)]
    sizes = np.bincount(numbers)
    profile = Clusters.of_numbers(losses, numbers, 1).profile
    place, *topics = profile.T
    ranked = np.lexsort((*reversed(topics), place) if by_place else (place, *reversed(topics)))
    begins = np.cumsum(sizes[ranked]) - sizes[ranked]
    block = np.empty(len(sizes), dtype=np.int64)
    block[ranked] = begins * -(-users // BLOCK) // users
    of = block[numbers]
    order = np.argsort(of, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(of[order])) + 1)
