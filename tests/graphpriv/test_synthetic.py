from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphpriv.graph import SocialGraph
from graphpriv.places import LEVELS, UNKNOWN, check_paths
from graphpriv.structure import describe
from graphpriv.synthetic import _filled_up, next_uniform, paths, synthetic_graph
from graphpriv.topics import EMPTY, TOPICS
from tabular.errors import InvalidParameter
from tests.strategies import seeds


def alike(graph: SocialGraph, attribute: str) -> float:
    """How much more often than by chance linked users have the same value."""
    codes, links = graph.attribute(attribute), graph.neighbours
    _, counts = np.unique(codes, return_counts=True)
    return float((codes[links.sources] == codes[links.targets]).mean() - ((counts / len(graph)) ** 2).sum())


def is_sound(graph: SocialGraph) -> bool:
    """Whether the graph is the same when it is built again from its parts by the way that imports go."""
    names = [*graph.topic_names, None]
    again, dropped = SocialGraph.build(
        graph.ids,
        *graph.edges(),
        directed=True,
        places=graph.places,
        location=graph.location,
        topics=[[names[code] for code in row] for row in graph.topics],
        private=graph.private,
    )
    return again == graph and dropped.self_loops == dropped.parallel == 0 and len(set(graph.ids)) == len(graph)


@settings(max_examples=60)
@given(st.integers(2, 60), st.floats(0, 1), seeds)
def test_any_number_of_users_and_follows_can_be_had(users: int, share: float, seed: int) -> None:
    follows = round(share * users * (users - 1))
    graph = synthetic_graph(users, follows, rng=np.random.default_rng(seed))
    assert (len(graph), graph.edge_count) == (users, follows)
    assert is_sound(graph)


@pytest.mark.parametrize("users", (2, 3, 5, 20, 306))
def test_users_alone_are_enough(users: int) -> None:
    graph = synthetic_graph(users, rng=np.random.default_rng(1))
    assert len(graph) == users
    assert 1 <= graph.edge_count <= max(users * (users - 1) // 2, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"users": 1}, "users must be at least 2, not 1"),
        ({"users": 5, "follows": 21}, "follows must be from 0 to 20 among 5 users, not 21"),
        ({"users": 5, "follows": -1}, "follows must be from 0 to 20"),
        ({"users": 5, "mean_degree": float("nan")}, "mean_degree must be at least 0"),
    ],
)
def test_what_cannot_be_had_is_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        synthetic_graph(**arguments, rng=np.random.default_rng(1))  # type: ignore[arg-type]


@given(seeds)
@settings(max_examples=10)
def test_the_same_seed_gives_the_same_graph(seed: int) -> None:
    one = synthetic_graph(120, rng=np.random.default_rng(seed))
    assert one == synthetic_graph(120, rng=np.random.default_rng(seed))
    assert one != synthetic_graph(120, rng=np.random.default_rng(seed + 1))


def test_splitmix_gives_its_published_numbers() -> None:
    # The first outputs for the seed 1234567, as given with the reference implementation.
    state = np.array([1234567], dtype=np.uint64)
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [next_uniform(state) for _ in published] == [(number >> 11) / 2**53 for number in published]


@pytest.mark.parametrize("seed", range(3))
def test_the_default_is_like_the_larger_graph_of_the_thesis(seed: int) -> None:
    graph = synthetic_graph(rng=np.random.default_rng(seed))
    facts = describe(graph, rng=np.random.default_rng(0))
    # 1638 users, 4622 edges, mean shortest path 4.26, diameter 11.
    assert (facts["users"], facts["edges"]) == (1638, 4622)
    assert facts["components"] == 1
    assert 4.0 < facts["path_length"] < 5.0
    assert 8 <= facts["diameter"] <= 13
    assert facts["clustering"] > 0.15
    assert facts["degree"]["largest"] > 80


@pytest.mark.parametrize("seed", range(3))
def test_the_small_one_is_like_the_smaller_graph_of_the_thesis(seed: int) -> None:
    facts = describe(synthetic_graph(306, 342, rng=np.random.default_rng(seed)), rng=np.random.default_rng(0))
    # 306 users, 342 edges, mean shortest path 7.6, diameter 17.
    assert (facts["users"], facts["edges"], facts["components"]) == (306, 342, 1)
    assert 6.0 < facts["path_length"] < 8.5
    assert 13 <= facts["diameter"] <= 20


@pytest.mark.parametrize("mean_degree", (5.6, 10))
def test_larger_graphs_are_clustered_small_worlds_with_hubs(mean_degree: float) -> None:
    graph = synthetic_graph(30_000, mean_degree=mean_degree, rng=np.random.default_rng(3))
    facts = describe(graph, rng=np.random.default_rng(0))
    assert facts["edges"] == 15_000 * mean_degree
    assert facts["clustering"] >= 0.1
    assert facts["components"] == 1
    assert facts["path_length"] < 7
    # A power law: among ten times as many links, users are rarer, but by no means absent.
    degrees = graph.neighbours.counts
    shares = [float((degrees >= least).mean()) for least in (10, 30, 90, 270)]
    assert all(0.01 < rarer / more < 0.5 for more, rarer in pairwise(shares))


@pytest.mark.heavy
def test_a_million_users_are_clustered_and_have_hubs() -> None:
    graph = synthetic_graph(1_000_000, 5_000_000, rng=np.random.default_rng(3))
    facts = describe(graph, rng=np.random.default_rng(0))
    assert (facts["users"], facts["edges"], facts["components"]) == (1_000_000, 5_000_000, 1)
    assert facts["clustering"] >= 0.1
    assert facts["degree"]["largest"] >= 1000


def test_neighbours_are_alike_first_topics_the_most_and_nobody_entirely() -> None:
    graph = synthetic_graph(20_000, rng=np.random.default_rng(5))
    location, *topics = (alike(graph, attribute) for attribute in ("location", "topic1", "topic2", "topic3"))
    assert 0.9 > topics[0] > 2 * topics[1] > 2 * topics[2] > 0.02
    assert 0.1 < location < 0.9


def test_places_have_all_types_and_some_are_unknown() -> None:
    graph = synthetic_graph(5000, rng=np.random.default_rng(5))
    assert (graph.location == UNKNOWN).mean() == pytest.approx(0.05, abs=0.015)
    types = {graph.places.types[node] for node in set(graph.location.tolist()) - {UNKNOWN}}
    assert types == set(LEVELS) - {"political", "world"}
    assert len(graph.places) > 200
    # No place of nobody is in the tree, unless something lies below it.
    occurring = set(graph.location.tolist())
    assert all(
        any(below in occurring for below in range(node, graph.places.ends[node])) for node in range(len(graph.places))
    )


def test_topics_are_those_of_the_thesis_and_some_users_have_fewer() -> None:
    graph = synthetic_graph(5000, rng=np.random.default_rng(5))
    assert graph.topic_names == TOPICS
    fewer = graph.topics == EMPTY
    assert fewer[:, 2].mean() == pytest.approx(0.03, abs=0.01)
    # Empty topics stand at the end, and the others are distinct.
    assert not (fewer[:, :-1] & ~fewer[:, 1:]).any()
    full = graph.topics[~fewer.any(axis=1)]
    assert (np.sort(full, axis=1)[:, 1:] != np.sort(full, axis=1)[:, :-1]).all()
    shares = np.sort(np.bincount(graph.topics[:, 0][~fewer[:, 0]], minlength=len(TOPICS)))
    assert shares[-1] > 5 * shares[2]


def test_dense_graphs_are_filled_up_without_repetition() -> None:
    keys = _filled_up(np.array([1, 2], dtype=np.int64), 12, 4, np.random.default_rng(1))
    assert sorted(keys.tolist()) == [key for key in range(16) if key // 4 != key % 4]


def test_the_graph_is_one_that_networkx_finds_connected_too() -> None:
    graph = synthetic_graph(400, 399, rng=np.random.default_rng(5))
    assert nx.is_tree(graph.undirected().to_networkx())


def test_private_columns_belong_to_one_person_each() -> None:
    graph = synthetic_graph(2000, rng=np.random.default_rng(5))
    assert sorted(graph.private) == ["handle", "location_text", "name"]
    handles = graph.private["handle"]
    assert len(set(handles)) == 2000
    released = {*graph.topic_names, *graph.places.names, *graph.places.keys}
    for column in graph.private.values():
        assert not released & set(column)


def test_the_world_of_the_generator_is_sound() -> None:
    found = paths()
    assert len(set(found)) == len(found) > 300
    assert len(check_paths({str(number): path for number, path in enumerate(found)})) == len(found)
