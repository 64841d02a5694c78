from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.graph import (
    ATTRIBUTES,
    FOLLOWED,
    FOLLOWS,
    Dropped,
    Links,
    SocialGraph,
    common_codes,
    links_of,
    only_used,
)
from graphpriv.places import UNKNOWN, WORLD, PlaceTree
from graphpriv.topics import EMPTY
from tests.strategies import edge_lists, graphs


def values(graph: SocialGraph, user: int) -> tuple[object, ...]:
    """What the codes of a user stand for."""
    place = graph.location[user]
    topics = [None if code == EMPTY else graph.topic_names[code] for code in graph.topics[user]]
    return (None if place == UNKNOWN else graph.places.path(place), *topics)


def pairs(graph: SocialGraph) -> set[tuple[int, int]]:
    sources, targets = graph.edges()
    return set(zip(sources.tolist(), targets.tolist(), strict=True))


def three_users() -> SocialGraph:
    """Figures 6.5 to 6.8: u2 is linked with u1 and u3."""
    usa = (("United States", "country"), ("North America", "continent"), WORLD)
    places = PlaceTree.from_paths([(("Washington DC", "locality"), *usa), (("New York City", "locality"), *usa)])
    graph, dropped = SocialGraph.build(
        ["u1", "u2", "u3"],
        np.array([1, 1], dtype=np.int32),
        np.array([0, 2], dtype=np.int32),
        directed=True,
        places=places,
        location=np.array([places.by_key[key] for key in ("Washington DC", "United States", "New York City")]),
        topics=[
            ("Politics", "Technology_Internet", "Entertainment_Culture"),
            ("Technology_Internet", "Sports", "Religion_Belief"),
            ("Technology_Internet", "Politics", None),
        ],
        private={"handle": ["@a", None, "@c"]},
    )
    assert dropped == Dropped()
    return graph


def test_a_graph_worked_by_hand() -> None:
    graph = three_users()
    assert len(graph) == 3
    assert graph.edge_count == 2
    assert graph.follows.offsets.tolist() == [0, 0, 2, 2]
    assert graph.follows.targets.tolist() == [0, 2]
    assert graph.followers.of(0).tolist() == [1]
    assert graph.neighbours.of(1).tolist() == [0, 2]
    assert graph.neighbours.of(2).tolist() == [1]
    assert graph.topic_names == (
        "Entertainment_Culture",
        "Politics",
        "Religion_Belief",
        "Sports",
        "Technology_Internet",
    )
    assert graph.topics.tolist() == [[1, 4, 0], [4, 3, 2], [4, 1, EMPTY]]
    assert graph.profiles()[2].tolist() == [graph.location[2], 4, 1, EMPTY]
    assert graph.attribute("topic2").tolist() == [4, 3, 1]
    assert graph.index == {"u1": 0, "u2": 1, "u3": 2}
    assert dict(graph.private) == {"handle": ("@a", None, "@c")}


@given(
    st.integers(1, 9).flatmap(lambda users: st.tuples(st.just(users), edge_lists(users, 40))), st.booleans(), st.data()
)
def test_loops_and_repetitions_are_counted_and_left_out(
    made: tuple[int, list[tuple[int, int]]], directed: bool, data: st.DataObject
) -> None:
    users, edges = made
    loops = data.draw(st.lists(st.integers(0, users - 1), max_size=3))
    ends = np.array([*edges, *((user, user) for user in loops)], dtype=np.int32).reshape(-1, 2)
    links, dropped = links_of(ends[:, 0], ends[:, 1], users, directed=directed)
    distinct = {edge if directed else (min(edge), max(edge)) for edge in edges}
    assert dropped == Dropped(self_loops=len(loops), parallel=len(edges) - len(distinct))
    expected: list[set[int]] = [set() for _ in range(users)]
    for source, target in distinct:
        expected[source].add(target)
        if not directed:
            expected[target].add(source)
    assert [links.of(user).tolist() for user in range(users)] == [sorted(row) for row in expected]
    assert links.counts.tolist() == [len(row) for row in expected]
    assert links.sources.tolist() == [user for user, row in enumerate(expected) for _ in row]


@given(graphs())
def test_followers_and_neighbours_are_what_the_edges_say(graph: SocialGraph) -> None:
    edges = pairs(graph)
    both_ways = edges if graph.directed else edges | {(target, source) for source, target in edges}
    assert graph.edge_count == len(edges)
    for user in range(len(graph)):
        following = {target for source, target in both_ways if source == user}
        followers = {source for source, target in both_ways if target == user}
        assert graph.follows.of(user).tolist() == sorted(following)
        assert graph.followers.of(user).tolist() == sorted(followers)
        near = sorted(following | followers)
        assert graph.neighbours.of(user).tolist() == near
        begin = graph.neighbours.offsets[user]
        directions = graph.directions[begin : begin + len(near)].tolist()
        assert directions == [FOLLOWS * (other in following) + FOLLOWED * (other in followers) for other in near]


@given(graphs())
def test_without_directions_each_edge_stands_at_both_ends(graph: SocialGraph) -> None:
    plain = graph.undirected()
    assert not plain.directed
    assert pairs(plain) == {(min(edge), max(edge)) for edge in pairs(graph)}
    assert plain.follows == plain.followers or np.array_equal(plain.follows.targets, plain.followers.targets)
    assert plain.undirected() is plain
    assert np.array_equal(plain.neighbours.targets, graph.neighbours.targets)


@given(graphs(), st.data())
def test_a_graph_in_another_order_keeps_its_codes(graph: SocialGraph, data: st.DataObject) -> None:
    order = np.array(data.draw(st.permutations(range(len(graph)))), dtype=np.int64)
    turned = graph.among(order)
    assert turned.places is graph.places
    assert turned.ids == tuple(graph.ids[user] for user in order)
    assert np.array_equal(turned.profiles(), graph.profiles()[order])
    assert turned.among(np.argsort(order)) == graph


@given(graphs(), st.data())
def test_a_restricted_graph_has_the_users_asked_for_in_that_order(graph: SocialGraph, data: st.DataObject) -> None:
    users = data.draw(st.lists(st.integers(0, len(graph) - 1), unique=True))
    part = graph.restricted(np.array(users, dtype=np.int64))
    assert part.ids == tuple(graph.ids[user] for user in users)
    assert [values(part, user) for user in range(len(part))] == [values(graph, user) for user in users]
    position = {user: place for place, user in enumerate(users)}
    kept = {(position[a], position[b]) for a, b in pairs(graph) if a in position and b in position}
    assert pairs(part) == (kept if graph.directed else {(min(edge), max(edge)) for edge in kept})
    assert {key: list(column) for key, column in part.private.items()} == {
        key: [column[user] for user in users] for key, column in graph.private.items()
    }
    # Neither a place nor a topic of nobody is left in it.
    assert set(range(len(part.topic_names))) == set(part.topics.ravel().tolist()) - {EMPTY}
    above = {step for user in range(len(part)) for step in ((values(part, user)[0]) or ())}
    assert set(zip(part.places.names, part.places.types, strict=True)) == above | {WORLD}


@given(graphs())
def test_all_users_in_their_order_are_the_graph(graph: SocialGraph) -> None:
    same = graph.restricted(np.arange(len(graph)))
    assert replace(same, places=graph.places, location=graph.location) == graph


@given(graphs(), graphs())
def test_common_codes_mean_the_same_values(one: SocialGraph, other: SocialGraph) -> None:
    aligned = common_codes(one, other)
    assert aligned[0].places == aligned[1].places
    assert aligned[0].topic_names == aligned[1].topic_names
    for before, after in zip((one, other), aligned, strict=True):
        assert [values(after, user) for user in range(len(after))] == [
            values(before, user) for user in range(len(before))
        ]
        assert after.ids == before.ids
        assert pairs(after) == pairs(before)


@pytest.mark.parametrize(
    "change",
    [
        {"ids": ("u1", "u2", "u4")},
        {"directed": False},
        {"follows": Links(np.array([0, 1, 2, 2]), np.array([1, 0], dtype=np.int32))},
        {"follows": Links(np.array([0, 0, 2, 2]), np.array([0, 1], dtype=np.int32))},
        {"location": np.array([UNKNOWN, 0, 0], dtype=np.int32)},
        {"topics": np.full((3, 3), EMPTY, dtype=np.int32)},
        {"topic_names": ("a", "b", "c", "d", "e")},
        {"places": PlaceTree.from_paths([])},
        {"private": {}},
        {"private": {"handle": ("@a", None, "@d")}},
    ],
)
def test_graphs_that_differ_in_anything_are_not_equal(change: dict[str, object]) -> None:
    graph = three_users()
    assert graph == three_users()
    assert replace(graph, **change) != graph  # type: ignore[arg-type]
    assert graph != "a graph"


def test_topics_that_nobody_has_are_left_out() -> None:
    names, topics = only_used(("a", "b", "c"), np.array([[2, 0, EMPTY]], dtype=np.int32))
    assert names == ("a", "c")
    assert topics.tolist() == [[1, 0, EMPTY]]


def test_attributes_are_those_of_the_thesis() -> None:
    assert ATTRIBUTES == ("location", "topic1", "topic2", "topic3")
