"""Communities: groups of users with many links inside, few enough to draw one disc each.

From: Blondel, Guillaume, Lambiotte and Lefebvre (2008), Fast unfolding of communities in large networks; after a
move only the neighbours of who moved are looked at again, as Ozaki, Tezuka and Inaba (2016) do.

Limits: modularity merges communities that are small beside the whole graph; a community need not be connected
inside; the order of the users decides ties. Gains are whole numbers, so results are the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import Links
from graphpriv.structure import components
from tabular.kernels import compiled

Counts = NDArray[np.int64]
Codes = NDArray[np.int32]

#: At most so many communities.
MOST = 300

#: A community with a smaller share of all users than this is too small to be seen, and goes to another.
LEAST_SHARE = 1 / 2000

#: Users are gone through at most so often, and no longer once fewer than this share moved.
PASSES, MOVED = 20, 0.01


@dataclass(frozen=True, kw_only=True, eq=False)
class Communities:
    """A partition of the users, largest community first, and the links between the communities."""

    #: The community of each user.
    members: Codes
    #: How many users each has, and how many links inside.
    sizes: Counts
    inside: Counts
    #: Pairs of linked communities, the lower one first, in order, and how many links run between them.
    pairs: Codes
    between: Counts
    #: The community of all users in components that are too small to be drawn, or too many: they share no links.
    gathered: int | None = None

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class _Weighted:
    """Rows of neighbours with weights; the weight of a community with itself counts each link inside twice."""

    offsets: Counts
    targets: Codes
    weights: Counts

    def __len__(self) -> int:
        return len(self.offsets) - 1


def communities(links: Links, most: int = MOST) -> Communities:
    """At most *most* (two or more) communities of users; *links* stand in the rows of both their ends."""
    users = len(links.offsets) - 1
    graph = _Weighted(links.offsets, links.targets, np.ones(len(links.targets), dtype=np.int64))
    members = np.arange(users, dtype=np.int32)
    apart = _apart(links, most)
    if apart.any():
        members = np.where(apart, np.flatnonzero(apart)[0], members).astype(np.int32)
        _renumber(members)
        graph = _merged(graph, members)
    members, graph = _unfolded(members, graph, most)
    members, graph = _joined(members, graph, most)
    return _by_size(members, graph, int(members[apart][0]) if apart.any() else None)


def _apart(links: Links, most: int) -> NDArray[np.bool_]:
    """Which users are in components too small to be drawn, or beyond half as many as there may be communities.

    One such component alone can as well be drawn.
    """
    sizes = np.bincount(label := components(links))
    order = np.argsort(-sizes, kind="stable")
    large = np.zeros(len(sizes), dtype=np.bool_)
    large[order[: max(most // 2, 1)]] = True
    large &= sizes >= LEAST_SHARE * len(label)
    return np.asarray(~large[label] & ((~large).sum() > 1))


def _unfolded(members: Codes, graph: _Weighted, most: int) -> tuple[Codes, _Weighted]:
    """The finest partition with at most *most* communities that moves and merges by turns lead to, else the last."""
    while len(graph) > most:
        moved = np.arange(len(graph), dtype=np.int32)
        _move(graph.offsets, graph.targets, graph.weights, PASSES, int(MOVED * len(graph)), moved)
        if _renumber(moved) == len(graph):
            break
        members, graph = moved[members], _merged(graph, moved)
    return members, graph


def _joined(members: Codes, graph: _Weighted, most: int) -> tuple[Codes, _Weighted]:
    """Join communities to the one that most of their links lead to: the small ones, and more while there are many."""
    while True:
        sizes = np.bincount(members, minlength=len(graph))
        order = np.argsort(sizes, kind="stable")
        small = int((sizes < LEAST_SHARE * len(members)).sum())
        joined = np.arange(len(graph), dtype=np.int32)
        _join(graph.offsets, graph.targets, graph.weights, order, small, most, joined)
        if _renumber(joined) == len(graph):
            return members, graph
        members, graph = joined[members], _merged(graph, joined)


def _by_size(members: Codes, graph: _Weighted, gathered: int | None) -> Communities:
    sizes = np.bincount(members, minlength=len(graph))
    order = np.argsort(-sizes, kind="stable")
    place = np.empty(len(graph), dtype=np.int32)
    place[order] = np.arange(len(graph))
    sources = place[np.repeat(np.arange(len(graph)), np.diff(graph.offsets))]
    targets = place[graph.targets]
    loops, once = sources == targets, sources < targets
    inside = np.zeros(len(graph), dtype=np.int64)
    inside[sources[loops]] = graph.weights[loops] // 2
    ordered = np.lexsort((targets[once], sources[once]))
    return Communities(
        members=place[members],
        sizes=sizes[order],
        inside=inside,
        pairs=np.column_stack([sources[once], targets[once]])[ordered],
        between=graph.weights[once][ordered],
        gathered=None if gathered is None else int(place[gathered]),
    )


def _merged(graph: _Weighted, into: Codes) -> _Weighted:
    """The graph of the communities that *into* puts its nodes in."""
    return _Weighted(*_sum_up(graph.offsets, graph.targets, graph.weights, into, int(into.max()) + 1))


@compiled
def _move(offsets: Counts, targets: Codes, weights: Counts, passes: int, least: int, members: Codes) -> None:
    """Move nodes to the community of a neighbour while that raises modularity; *members* begins with one each."""
    nodes = len(offsets) - 1
    degrees, total = np.zeros(nodes, dtype=np.int64), 0
    for node in range(nodes):
        for at in range(offsets[node], offsets[node + 1]):
            degrees[node] += weights[at]
        total += degrees[node]
    sums = degrees.copy()
    shared, met = np.zeros(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int32)
    waiting = np.ones(nodes, dtype=np.bool_)
    for _ in range(passes):
        moved = 0
        for node in range(nodes):
            if not waiting[node]:
                continue
            waiting[node] = False
            own, count = members[node], 0
            for at in range(offsets[node], offsets[node + 1]):
                if targets[at] != node:
                    community = members[targets[at]]
                    if not shared[community]:
                        met[count] = community
                        count += 1
                    shared[community] += weights[at]
            sums[own] -= degrees[node]
            best, highest = own, shared[own] * total - degrees[node] * sums[own]
            for at in range(count):
                community = met[at]
                gain = shared[community] * total - degrees[node] * sums[community]
                if gain > highest or (gain == highest and best != own and community < best):
                    best, highest = community, gain
                shared[community] = 0
            sums[best] += degrees[node]
            if best != own:
                members[node] = best
                moved += 1
                for at in range(offsets[node], offsets[node + 1]):
                    if members[targets[at]] != best:
                        waiting[targets[at]] = True
        if moved <= least:
            break


@compiled
def _join(
    offsets: Counts, targets: Codes, weights: Counts, order: Counts, small: int, most: int, members: Codes
) -> None:
    """Join the first *small* nodes in *order*, and more while over *most* are left, to the one with most links."""
    left = len(order)
    # Who was joined by another stays for this time, and who joined another is not joined: chains would go on and on.
    stays = np.zeros(len(order), dtype=np.bool_)
    for place in range(len(order)):
        node = order[place]
        if place >= small and left <= most:
            break
        best, highest = -1, 0
        for at in range(offsets[node], offsets[node + 1]):
            if targets[at] != node and weights[at] > highest:
                best, highest = targets[at], weights[at]
        if best >= 0 and members[best] == best and not stays[node]:
            members[node] = best
            stays[best] = True
            left -= 1


@compiled
def _renumber(members: Codes) -> int:
    """Number communities in the order of their first members, and say how many there are."""
    place = np.full(len(members), -1, dtype=np.int32)
    found = 0
    for node in range(len(members)):
        if place[members[node]] < 0:
            place[members[node]] = found
            found += 1
        members[node] = place[members[node]]
    return found


@compiled
def _sum_up(offsets: Counts, targets: Codes, weights: Counts, into: Codes, count: int) -> tuple[Counts, Codes, Counts]:
    """Rows of the nodes that others are put *into*, with the weights of all links between the same two summed."""
    nodes = len(offsets) - 1
    starts = np.zeros(count + 1, dtype=np.int64)
    for node in range(nodes):
        starts[into[node] + 1] += 1
    for community in range(count):
        starts[community + 1] += starts[community]
    inside, ends = np.empty(nodes, dtype=np.int32), starts[:-1].copy()
    for node in range(nodes):
        inside[ends[into[node]]] = node
        ends[into[node]] += 1
    rows = np.zeros(count + 1, dtype=np.int64)
    reached, sums = np.empty(len(targets), dtype=np.int32), np.empty(len(targets), dtype=np.int64)
    slots = np.full(count, -1, dtype=np.int64)
    end = 0
    for community in range(count):
        begin = end
        for at in range(starts[community], starts[community + 1]):
            for link in range(offsets[inside[at]], offsets[inside[at] + 1]):
                other = into[targets[link]]
                if slots[other] < begin:
                    slots[other] = end
                    reached[end], sums[end] = other, 0
                    end += 1
                sums[slots[other]] += weights[link]
        rows[community + 1] = end
    return rows, reached[:end].copy(), sums[:end].copy()
