"""The slow and obvious way: every neighbourhood against every other, by the matchers of other libraries."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
import rustworkx as rx
from networkx.algorithms.isomorphism import DiGraphMatcher, GraphMatcher
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.places import PlaceTree
from graphpriv.risk import Disclosure, user_labels

PLACES = PlaceTree.from_paths([((f"place {place}", "country"), ("world", "world")) for place in range(20)])


def graph_of(
    users: int,
    edges: Sequence[tuple[int, int]],
    *,
    directed: bool = False,
    topics: Sequence[Sequence[int]] | None = None,
    places: Sequence[int] | None = None,
) -> SocialGraph:
    """A graph with the given edges; topics and places are small numbers, all the same where not given."""
    pairs = np.array(edges, dtype=np.int32).reshape(-1, 2)
    rows = topics if topics is not None else [(0, 0, 0)] * users
    graph, _ = SocialGraph.build(
        [f"user {position}" for position in range(users)],
        pairs[:, 0],
        pairs[:, 1],
        directed=directed,
        places=PLACES,
        location=np.array(places if places is not None else [0] * users, dtype=np.int32),
        topics=[tuple(f"topic {topic:02}" for topic in row) for row in rows],
    )
    return graph


def first_topics(topics: Sequence[int]) -> list[tuple[int, int, int]]:
    """Profiles that differ in the first topic only."""
    return [(topic, 0, 0) for topic in topics]


def around(graph: SocialGraph, user: int, labels: NDArray[np.int32]) -> nx.Graph:
    """The closed neighbourhood of a user, the centre marked in the nodes' data."""
    inside = [user, *(int(each) for each in graph.neighbours.of(user))]
    found = nx.DiGraph() if graph.directed else nx.Graph()
    found.add_nodes_from((each, {"data": (each == user, int(labels[each]))}) for each in inside)
    found.add_edges_from((each, int(other)) for each in inside for other in graph.follows.of(each) if other in found)
    return found


def by_networkx(
    original: SocialGraph, masked: SocialGraph, attributes: tuple[str, ...]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which masked user is a candidate of which original one, for `ego` and for `subgraph`."""
    labels = np.split(user_labels(original, masked, attributes), [len(original)])
    patterns = [around(original, user, labels[0]) for user in range(len(original))]
    targets = [around(masked, user, labels[1]) for user in range(len(masked))]
    matcher = DiGraphMatcher if original.directed else GraphMatcher
    inside = np.zeros((len(patterns), len(targets)), dtype=bool)
    equal = inside.copy()
    for user, pattern in enumerate(patterns):
        for other, target in enumerate(targets):
            if labels[0][user] == labels[1][other] and len(pattern) <= len(target):
                match = matcher(target, pattern, node_match=lambda one, two: one["data"] == two["data"])
                inside[user, other] = match.subgraph_is_isomorphic()
                equal[user, other] = match.is_isomorphic()
    return equal, inside


def by_rustworkx(
    original: SocialGraph, masked: SocialGraph, attributes: tuple[str, ...]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The same by the other library."""
    labels = np.split(user_labels(original, masked, attributes), [len(original)])
    patterns = [_rustworkx(around(original, user, labels[0])) for user in range(len(original))]
    targets = [_rustworkx(around(masked, user, labels[1])) for user in range(len(masked))]
    inside = np.zeros((len(patterns), len(targets)), dtype=bool)
    equal = inside.copy()
    for user, pattern in enumerate(patterns):
        for other, target in enumerate(targets):
            if labels[0][user] == labels[1][other]:
                inside[user, other] = rx.is_subgraph_isomorphic(
                    target, pattern, node_matcher=lambda one, two: one == two, induced=True
                )
                equal[user, other] = rx.is_isomorphic(target, pattern, node_matcher=lambda one, two: one == two)
    return equal, inside


def _rustworkx(graph: nx.Graph) -> rx.PyGraph | rx.PyDiGraph:
    converted = rx.PyDiGraph() if graph.is_directed() else rx.PyGraph()
    place = {node: converted.add_node(data["data"]) for node, data in graph.nodes(data=True)}
    converted.add_edges_from_no_data([(place[one], place[other]) for one, other in graph.edges])
    return converted


def assert_found(found: Disclosure, candidates: NDArray[np.bool_], mapping: NDArray[np.int64]) -> None:
    """A disclosure says just what a matrix of candidates does."""
    np.testing.assert_array_equal(found.candidates, candidates.sum(axis=1))
    np.testing.assert_array_equal(found.matched, candidates.any(axis=1))
    there = mapping >= 0
    true = np.zeros(len(mapping), dtype=bool)
    true[there] = candidates[there, mapping[there]]
    np.testing.assert_array_equal(found.true_found, true)
    assert not found.undecided.any()
