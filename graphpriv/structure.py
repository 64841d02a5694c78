"""The description of a graph: degrees, clustering, paths, and the shares of places and topics.

Clustering, components and paths are those of the graph without directions; path length and diameter those of its
largest component.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from graphpriv.graph import Links, SocialGraph
from graphpriv.places import UNKNOWN
from graphpriv.topics import EMPTY, RANKS
from tabular.kernels import compiled

#: Up to so many users in the largest component all paths are measured; above, those from sampled users.
EXACT_USERS = 20_000
SAMPLED = 256

#: So many places are listed by name.
TOP_PLACES = 20

#: Breadth-first searches that run at once, one bit each.
WORD = 64


def describe(graph: SocialGraph, *, rng: np.random.Generator) -> dict[str, Any]:
    """All figures of a graph, ready for JSON."""
    found: dict[str, Any] = anatomy(graph, rng=rng)["description"]
    return found


def anatomy(graph: SocialGraph, *, rng: np.random.Generator) -> dict[str, Any]:
    """The description of a graph, the sizes of its components with their counts, and both sorts of clustering."""
    components, clustering = Components.of(graph.neighbours), Clustering.of(graph.neighbours)
    sizes, counts = np.unique(components.sizes, return_counts=True)
    return {
        "description": _description(graph, components, clustering, rng),
        "components": [list(pair) for pair in zip(sizes[::-1].tolist(), counts[::-1].tolist(), strict=True)],
        "clustering": {"mean": clustering.mean, "global": clustering.closed},
    }


def _description(
    graph: SocialGraph, components: Components, clustering: Clustering, rng: np.random.Generator
) -> dict[str, Any]:
    links = graph.neighbours
    paths = _paths(links, components, rng)
    degree: dict[str, Any] = dict(_spread(links.counts))
    if graph.directed:
        degree |= {"following": _spread(graph.follows.counts), "followers": _spread(graph.followers.counts)}
    document = {
        "users": len(graph),
        "edges": graph.edge_count,
        "directed": graph.directed,
        "degree": degree,
        "clustering": clustering.mean,
        "components": len(components.sizes),
        "largest_component": len(components.largest) / max(len(graph), 1),
        **paths,
        "places": _place_shares(graph),
        "topics": _topic_shares(graph),
    }
    if paths["estimated"]:
        document["note"] = (
            f"Path length is the mean over the paths from {SAMPLED} users drawn at random, the diameter the "
            f"longest path seen, a lower bound: the largest component has more than {EXACT_USERS} users."
        )
    return document


def structure(graph: SocialGraph) -> dict[str, Any]:
    """The figures that an audit compares; what is sampled is drawn the same way each time."""
    links = graph.neighbours
    degree = float(links.counts.mean()) if len(graph) else 0.0
    return {"degree": degree, "clustering": average_clustering(links), **paths_of(links, np.random.default_rng(0))}


def structural_change(
    original: SocialGraph,
    released: SocialGraph,
    mapping: NDArray[np.int64] | None = None,
    *,
    before: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The figures of both graphs and their differences; 0 throughout while the edges stay.

    `edges_unchanged` is null where it cannot be known because the mapping, or a part of it, is not. *before* has the
    figures of the original, if they are known already.
    """
    same = None if mapping is None or (mapping < 0).any() else _same_edges(original, released, mapping)
    before = structure(original) if before is None else before
    # Sampled starts would differ by the order of the users: what is equal is not measured twice.
    after = dict(before) if same else structure(released)
    figures = [name for name in before if name != "estimated"]
    return {
        "original": dict(before),
        "released": after,
        "change": {name: after[name] - before[name] for name in figures},
        "edges_unchanged": same,
    }


@dataclass(frozen=True)
class Clustering:
    """How often two neighbours of a user are linked themselves."""

    #: The mean over all users of the share of their pairs of neighbours that are linked (0 with fewer than two).
    mean: float
    #: The share of all such pairs, over all users together.
    closed: float

    @classmethod
    def of(cls, links: Links) -> Clustering:
        """The clustering of a graph without directions."""
        counts = links.counts
        if not len(counts):
            return cls(0.0, 0.0)
        order = np.lexsort((np.arange(len(counts)), counts))
        rank = np.empty(len(counts), dtype=np.int64)
        rank[order] = np.arange(len(counts))
        triangles = _triangles(links.offsets, links.targets, rank)
        pairs = counts * (counts - 1) // 2
        shares = np.divide(triangles, pairs, out=np.zeros(len(counts)), where=pairs > 0)
        # Summed in sorted order, the mean does not depend on the order of the users.
        return cls(float(np.sort(shares).sum() / len(shares)), int(triangles.sum()) / max(int(pairs.sum()), 1))


def average_clustering(links: Links) -> float:
    """The mean over all users of the share of pairs of neighbours that are linked (0 with fewer than two)."""
    return Clustering.of(links).mean


def paths_of(links: Links, rng: np.random.Generator) -> dict[str, Any]:
    """Mean path length and diameter of the largest component, exact up to EXACT_USERS, else estimated.

    Estimates are a mean over sampled starts, and a diameter that is a lower bound.
    """
    return _paths(links, Components.of(links), rng)


def _paths(links: Links, components: Components, rng: np.random.Generator) -> dict[str, Any]:
    members = components.largest
    size = len(members)
    if size < 2:
        return {"path_length": 0.0, "diameter": 0, "estimated": False}
    exact = size <= EXACT_USERS
    starts = members if exact else np.sort(rng.choice(members, SAMPLED, replace=False))
    steps, farthest, longest = _walk(links, starts)
    if not exact:
        # From the user farthest away, the longest path is longer still.
        longest = max(longest, _walk(links, np.array([farthest]))[2])
    return {"path_length": steps / (len(starts) * (size - 1)), "diameter": longest, "estimated": not exact}


def _walk(links: Links, starts: NDArray[np.int64]) -> tuple[int, int, int]:
    """The sum of all distances from *starts*, and the last user reached with its distance."""
    total, farthest, longest = 0, int(starts[0]), 0
    for begin in range(0, len(starts), WORD):
        steps, last, distance = _search(links.offsets, links.targets, starts[begin : begin + WORD])
        total += steps
        if distance > longest:
            farthest, longest = last, distance
    return total, farthest, longest


def components(links: Links) -> NDArray[np.int32]:
    """The component of each user, numbered from 0; *links* stand in the rows of both their ends."""
    users = len(links.offsets) - 1
    if not users:
        return np.zeros(0, dtype=np.int32)
    ones = np.ones(len(links.targets), dtype=np.int8)
    _, label = connected_components(csr_array((ones, links.targets, links.offsets), (users, users)), directed=False)
    return np.asarray(label, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Components:
    """The parts of a graph that no link leaves: the size of each, and the users of the first of the largest."""

    sizes: NDArray[np.int64]
    largest: NDArray[np.int64]

    @classmethod
    def of(cls, links: Links) -> Components:
        """The components of a graph without directions."""
        sizes = np.bincount(label := components(links))
        members = np.flatnonzero(label == np.argmax(sizes)) if len(sizes) else np.zeros(0, dtype=np.int64)
        return cls(sizes, members)


def _same_edges(original: SocialGraph, released: SocialGraph, mapping: NDArray[np.int64]) -> bool:
    if len(original) != len(released) or original.directed != released.directed:
        return False
    sources, targets = original.follows.sources, original.follows.targets
    moved = Links.from_pairs(mapping[sources].astype(np.int32), mapping[targets].astype(np.int32), len(released))
    return np.array_equal(moved.offsets, released.follows.offsets) and np.array_equal(
        moved.targets, released.follows.targets
    )


def _spread(counts: NDArray[np.integer]) -> dict[str, float]:
    if not len(counts):
        return {}
    names = ("lower quartile", "median", "upper quartile")
    quantiles = zip(names, np.quantile(counts, (0.25, 0.5, 0.75)).tolist(), strict=True)
    return {"least": int(counts.min()), **dict(quantiles), "mean": float(counts.mean()), "largest": int(counts.max())}


def _place_shares(graph: SocialGraph) -> dict[str, Any]:
    """The shares of users by level of their place, and of the places most of them name."""
    known = graph.location[graph.location != UNKNOWN]
    by_level = enumerate(np.bincount(graph.places.levels[known]).tolist())
    return {
        "unknown": 1 - len(known) / max(len(graph), 1),
        "levels": {f"level {level}": count / len(graph) for level, count in by_level if count},
        "most frequent": _most_frequent(known, graph.places.keys.__getitem__, len(graph)),
    }


def _topic_shares(graph: SocialGraph) -> dict[str, Any]:
    """The shares of the topics at each rank."""
    shares: dict[str, Any] = {}
    for rank in range(RANKS):
        column = graph.topics[:, rank]
        named = _most_frequent(column[column != EMPTY], graph.topic_names.__getitem__, len(graph), len(column))
        shares[f"topic{rank + 1}"] = {"empty": float((column == EMPTY).mean()) if len(column) else 0.0, **named}
    return shares


def _most_frequent(
    codes: NDArray[np.int32], name: Callable[[int], str], users: int, most: int = TOP_PLACES
) -> dict[str, float]:
    values, counts = np.unique(codes, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:most]
    return {name(int(values[each])): int(counts[each]) / users for each in order}


@compiled
def _triangles(offsets: NDArray[np.int64], targets: NDArray[np.int32], rank: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many triangles each user is in; each is found once, from its member of lowest rank."""
    users = len(offsets) - 1
    # The neighbours of higher rank only: of a hub these are few, and it is a hub that is looked at again and again.
    first = np.zeros(users + 1, dtype=np.int64)
    higher = np.empty(len(targets) // 2, dtype=np.int32)
    for low in range(users):
        end = first[low]
        for at in range(offsets[low], offsets[low + 1]):
            if rank[targets[at]] > rank[low]:
                higher[end] = targets[at]
                end += 1
        first[low + 1] = end
    found = np.zeros(users, dtype=np.int64)
    mark = np.full(users, -1, dtype=np.int64)
    for low in range(users):
        for at in range(first[low], first[low + 1]):
            mark[higher[at]] = low
        for at in range(first[low], first[low + 1]):
            middle = higher[at]
            for other in range(first[middle], first[middle + 1]):
                high = higher[other]
                if mark[high] == low:
                    found[low] += 1
                    found[middle] += 1
                    found[high] += 1
    return found


@compiled
def _search(offsets: NDArray[np.int64], targets: NDArray[np.int32], starts: NDArray[np.int64]) -> tuple[int, int, int]:
    """Breadth-first searches from up to 64 distinct *starts* at once: sum of the distances, a farthest user, how far.

    Bit b of a user's word says that the search from start b has come there.
    """
    users = len(offsets) - 1
    seen = np.zeros(users, dtype=np.uint64)
    front = np.zeros(users, dtype=np.uint64)
    new = np.zeros(users, dtype=np.uint64)
    # Only users whom a search has just reached are looked at: a long chain of users has thousands of rounds.
    active, reached = np.empty(users, dtype=np.int32), np.empty(users, dtype=np.int32)
    for bit in range(len(starts)):
        front[starts[bit]] = seen[starts[bit]] = np.uint64(1) << np.uint64(bit)
        active[bit] = starts[bit]
    total, last, distance, count = 0, starts[0], 0, len(starts)
    while count:
        distance += 1
        ahead = 0
        for at in range(count):
            bits = front[active[at]]
            for link in range(offsets[active[at]], offsets[active[at] + 1]):
                user = targets[link]
                fresh = bits & ~seen[user]
                if fresh:
                    if not new[user]:
                        reached[ahead] = user
                        ahead += 1
                    new[user] |= fresh
        for at in range(ahead):
            user = reached[at]
            last = user
            fresh = new[user]
            seen[user] |= fresh
            front[user] = fresh
            new[user] = np.uint64(0)
            while fresh:
                fresh &= fresh - np.uint64(1)
                total += distance
        active, reached = reached, active
        count = ahead
    return total, last, distance - 1
