"""Places of users in a drawing: repeatable, inside, and neighbours near each other."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from graphpriv.graph import Links
from graphpriv.report.layout import layout
from tests.strategies import graphs


def links_of(graph: nx.Graph) -> Links:
    ends = np.array([*graph.edges, *((target, source) for source, target in graph.edges)], dtype=np.int32).reshape(
        -1, 2
    )
    return Links.from_pairs(ends[:, 0], ends[:, 1], len(graph))


@settings(max_examples=25)
@given(graphs())
def test_every_user_gets_a_place_inside(graph):
    points = layout(graph.neighbours)
    assert points.shape == (len(graph), 2)
    assert np.isfinite(points).all()
    assert points.min() >= -1e-9 and points.max() <= 1 + 1e-9


def test_the_same_links_and_seed_give_the_same_places():
    links = links_of(nx.barabasi_albert_graph(200, 2, seed=1))
    assert np.array_equal(layout(links, seed=3), layout(links, seed=3))
    assert not np.array_equal(layout(links, seed=3), layout(links, seed=4))


@pytest.mark.parametrize("users", [0, 1, 2])
def test_the_smallest_graphs_are_drawn(users):
    assert layout(links_of(nx.empty_graph(users))).shape == (users, 2)


def test_users_without_links_do_not_stand_on_one_another():
    points = layout(links_of(nx.empty_graph(30)))
    apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)) + np.eye(30)
    assert apart.min() > 0.02


def test_communities_stand_apart():
    graph = nx.planted_partition_graph(4, 40, 0.25, 0.005, seed=2)
    points = layout(links_of(graph))
    middles = points.reshape(4, 40, 2).mean(axis=1)
    own = np.hypot(*(points.reshape(4, 40, 2) - middles[:, None]).transpose(2, 0, 1)).mean()
    between = min(np.hypot(*(middles[one] - middles[two])) for one in range(4) for two in range(one))
    assert between > 1.5 * own


def test_a_chain_is_drawn_in_order():
    points = layout(links_of(nx.path_graph(40)))
    steps = np.hypot(*np.diff(points, axis=0).T)
    assert steps.max() < 0.2
    assert np.hypot(*(points[0] - points[-1])) > 5 * steps.mean()
