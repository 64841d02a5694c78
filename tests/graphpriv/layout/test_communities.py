from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.graph import SocialGraph
from graphpriv.layout.communities import Communities, communities
from graphpriv.synthetic import synthetic_graph
from tests.strategies import graphs


def counted(graph: SocialGraph, found: Communities) -> None:
    """Check all counts of *found* one link at a time."""
    member = found.members.tolist()
    sizes, inside, between = Counter(member), Counter[int](), Counter[tuple[int, int]]()
    for user in range(len(graph)):
        for other in graph.neighbours.of(user).tolist():
            if user < other and member[user] == member[other]:
                inside[member[user]] += 1
            elif user < other:
                between[tuple(sorted((member[user], member[other])))] += 1
    assert found.sizes.tolist() == [sizes[each] for each in range(len(found))]
    assert found.inside.tolist() == [inside[each] for each in range(len(found))]
    pairs = [tuple(pair) for pair in found.pairs.tolist()]
    assert pairs == sorted(between)
    assert found.between.tolist() == [between[pair] for pair in pairs]
    assert found.sizes.tolist() == sorted(found.sizes.tolist(), reverse=True)
    assert min(found.sizes.tolist(), default=1) > 0


def modularity(there: nx.Graph, found: Communities) -> float:
    groups = [set(np.flatnonzero(found.members == each).tolist()) for each in range(len(found))]
    return nx.community.modularity(there, groups)


@given(graphs(max_users=25, max_edges=40), st.integers(2, 12))
def test_counts_are_those_of_a_loop_over_the_links(graph: SocialGraph, most: int) -> None:
    found = communities(graph.neighbours, most)
    assert 1 <= len(found) <= most
    counted(graph, found)
    # Who is gathered has no link with those who are not.
    assert found.gathered is None or found.gathered not in found.pairs


@pytest.mark.parametrize("most", [5, 40, 300])
def test_counts_of_a_larger_graph(most: int) -> None:
    graph = synthetic_graph(3000, mean_degree=6.0, rng=np.random.default_rng(3))
    found = communities(graph.neighbours, most)
    assert 2 <= len(found) <= most
    counted(graph, found)


def test_planted_communities_are_found() -> None:
    there = nx.planted_partition_graph(12, 60, 0.3, 0.005, seed=1)
    found = communities(SocialGraph.from_networkx(there).neighbours, 20)
    truth = np.arange(720) // 60
    assert len(found) == 12
    assert len(np.unique(np.column_stack([truth, found.members]), axis=0)) == 12


def test_they_are_about_as_good_as_those_of_networkx() -> None:
    there = nx.powerlaw_cluster_graph(2000, 3, 0.5, seed=2)
    found = communities(SocialGraph.from_networkx(there).neighbours, 60)
    peer = nx.community.modularity(there, nx.community.louvain_communities(there, seed=1))
    assert modularity(there, found) > peer - 0.04


def test_many_small_components_are_gathered() -> None:
    there = nx.disjoint_union_all([nx.complete_graph(50)] * 3 + [nx.path_graph(2)] * 200 + [nx.empty_graph(100)])
    found = communities(SocialGraph.from_networkx(there).neighbours, 20)
    # Half of the places are for the largest components.
    assert found.gathered == 0
    assert found.sizes.tolist() == [500 - 7 * 2, 50, 50, 50, *[2] * 7]
    assert found.inside[0] == 200 - 7
    assert len(found.pairs) == 0


def test_what_is_too_small_to_be_seen_joins_a_neighbour() -> None:
    there = nx.disjoint_union(nx.complete_graph(100), nx.star_graph(9000))
    there.add_edges_from([(0, 100), (9101, 9102), (9102, 9103), (9103, 0)])
    there.add_edges_from([(9200, 9201)])
    found = communities(SocialGraph.from_networkx(there).neighbours, 10)
    assert found.sizes.tolist() == [9001, 103, 2]
    assert found.gathered is None


def test_a_long_chain_ends_in_few_communities() -> None:
    for most in (300, 40):
        found = communities(SocialGraph.from_networkx(nx.path_graph(50_000)).neighbours, most)
        assert most / 4 <= len(found) <= most
        assert found.sizes[0] < 4 * 50_000 / len(found)


def test_no_user_is_in_no_community() -> None:
    found = communities(SocialGraph.empty(directed=True).neighbours)
    assert (len(found), found.pairs.shape, found.gathered) == (0, (0, 2), None)
