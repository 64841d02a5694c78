from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

from graphpriv import structure
from graphpriv.graph import SocialGraph
from graphpriv.structure import average_clustering, describe, paths_of, structural_change
from graphpriv.synthetic import synthetic_graph
from tests.strategies import graphs, random_graph, seeds


def plain(graph: SocialGraph) -> nx.Graph:
    """The same links for NetworkX, by position and without directions."""
    there = nx.Graph()
    there.add_nodes_from(range(len(graph)))
    sources, targets = graph.edges()
    there.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    return there


def released(graph: SocialGraph, seed: int) -> tuple[SocialGraph, np.ndarray]:
    """The same graph in another order, and where each user went."""
    order = np.random.default_rng(seed).permutation(len(graph))
    return graph.restricted(order), np.argsort(order)


def largest(there: nx.Graph) -> nx.Graph:
    return there.subgraph(max(nx.connected_components(there), key=len))


@given(graphs(max_users=14, max_edges=40), seeds)
def test_clustering_and_paths_are_those_of_networkx(graph: SocialGraph, seed: int) -> None:
    there = plain(graph)
    assert_allclose(average_clustering(graph.neighbours), nx.average_clustering(there))
    paths = paths_of(graph.neighbours, np.random.default_rng(seed))
    facts = describe(graph, rng=np.random.default_rng(seed))
    assert facts["components"] == nx.number_connected_components(there)
    sizes = sorted(map(len, nx.connected_components(there)))
    assert facts["largest_component"] == sizes[-1] / len(graph)
    if len(sizes) == 1 or sizes[-2] < sizes[-1]:
        assert_allclose(paths["path_length"], nx.average_shortest_path_length(largest(there)))
        assert paths["diameter"] == nx.diameter(largest(there))
    assert not paths["estimated"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("users", "follows"), [(306, 342), (700, 600), (500, 4000)])
def test_larger_graphs_agree_with_networkx_too(users: int, follows: int, seed: int) -> None:
    graph = random_graph(seed, users, follows)
    there = plain(graph)
    facts = describe(graph, rng=np.random.default_rng(0))
    assert_allclose(facts["clustering"], nx.average_clustering(there))
    assert_allclose(facts["path_length"], nx.average_shortest_path_length(largest(there)))
    assert facts["diameter"] == nx.diameter(largest(there))
    degrees = [degree for _, degree in there.degree]
    told = facts["degree"]
    assert (told["least"], told["largest"], told["median"]) == (min(degrees), max(degrees), np.median(degrees))
    assert told["mean"] == pytest.approx(sum(degrees) / users)


@pytest.mark.parametrize(
    ("there", "clustering", "length", "diameter"),
    [
        (nx.path_graph(200), 0.0, 67.0, 199),
        (nx.star_graph(99), 0.0, 1.98, 2),
        (nx.complete_graph(70), 1.0, 1.0, 1),
        (nx.empty_graph(3), 0.0, 0.0, 0),
        (nx.empty_graph(1), 0.0, 0.0, 0),
        # So many rounds that each may look at the users reached last only.
        (nx.path_graph(6000), 0.0, 6001 / 3, 5999),
    ],
)
def test_graphs_whose_numbers_are_known(there: nx.Graph, clustering: float, length: float, diameter: int) -> None:
    facts = describe(SocialGraph.from_networkx(there), rng=np.random.default_rng(0))
    assert facts["clustering"] == pytest.approx(clustering)
    assert facts["path_length"] == pytest.approx(length)
    assert facts["diameter"] == diameter
    assert facts["estimated"] is False


def test_estimates_are_close_and_say_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = synthetic_graph(1500, rng=np.random.default_rng(6))
    exact = paths_of(graph.neighbours, np.random.default_rng(0))
    monkeypatch.setattr(structure, "EXACT_USERS", 1000)
    guess = paths_of(graph.neighbours, np.random.default_rng(0))
    assert guess["estimated"]
    assert guess == paths_of(graph.neighbours, np.random.default_rng(0))
    assert exact["diameter"] - 2 <= guess["diameter"] <= exact["diameter"]
    assert guess["path_length"] == pytest.approx(exact["path_length"], rel=0.05)
    facts = describe(graph, rng=np.random.default_rng(0))
    assert facts["estimated"] is True
    assert "256 users drawn at random" in facts["note"]
    assert "lower bound" in facts["note"]


def test_directions_and_places_and_topics_are_told() -> None:
    there = nx.DiGraph([("a", "b"), ("b", "a"), ("a", "c"), ("d", "a")])
    there.graph["locations"] = {"Oslo": [["Oslo", "locality"], ["Norway", "country"], ["world", "world"]]}
    for user, topics in {"a": ["Sports"], "b": ["Sports", "Labor"], "c": []}.items():
        there.nodes[user].update(location="Oslo", topics=topics)
    facts = describe(SocialGraph.from_networkx(there), rng=np.random.default_rng(0))
    assert (facts["users"], facts["edges"], facts["directed"]) == (4, 4, True)
    degree = facts["degree"]
    assert (degree["largest"], degree["following"]["largest"], degree["followers"]["largest"]) == (3, 2, 2)
    assert facts["places"] == {"unknown": 0.25, "levels": {"level 1": 0.75}, "most frequent": {"Oslo": 0.75}}
    assert facts["topics"]["topic1"] == {"empty": 0.5, "Sports": 0.5}
    assert facts["topics"]["topic2"] == {"empty": 0.75, "Labor": 0.25}
    assert facts["topics"]["topic3"] == {"empty": 1.0}


@given(graphs(), seeds)
def test_nothing_changes_while_edges_stay(graph: SocialGraph, seed: int) -> None:
    masked, mapping = released(graph, seed)
    known = structural_change(graph, masked, mapping)
    assert known["edges_unchanged"] is True
    unknown = structural_change(graph, masked)
    assert unknown["edges_unchanged"] is None
    for change in (known, unknown):
        # Of two components that are largest together either may be the one whose paths are told.
        figures = ("degree", "clustering") if change is unknown else ("degree", "clustering", "path_length", "diameter")
        assert all(change["change"][figure] == 0 for figure in figures)


def test_estimates_do_not_change_while_edges_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure, "EXACT_USERS", 300)
    graph = synthetic_graph(600, rng=np.random.default_rng(6))
    masked, mapping = released(graph, 1)
    change = structural_change(graph, masked, mapping)
    assert change["original"]["estimated"] is True
    assert set(change["change"].values()) == {0}


def test_a_changed_edge_is_seen() -> None:
    graph = synthetic_graph(300, rng=np.random.default_rng(6))
    there = graph.to_networkx()
    there.remove_edge(*next(iter(there.edges)))
    fewer = SocialGraph.from_networkx(there)
    # As many edges as before, but one of them elsewhere.
    there.add_edge(graph.ids[200], graph.ids[250])
    other = SocialGraph.from_networkx(there)
    for masked, same in ((graph, True), (fewer, False), (other, False), (graph.undirected(), False)):
        assert structural_change(graph, masked, np.arange(300))["edges_unchanged"] is same
    change = structural_change(graph, fewer, np.arange(300))
    before, after = (describe(each, rng=np.random.default_rng(0)) for each in (graph, fewer))
    assert change["original"]["degree"] == before["degree"]["mean"]
    assert change["change"]["degree"] == after["degree"]["mean"] - before["degree"]["mean"] < 0
    for figure in ("clustering", "path_length", "diameter"):
        assert change["change"][figure] == after[figure] - before[figure]


def test_with_a_part_of_the_mapping_it_is_not_known_whether_edges_changed() -> None:
    graph = synthetic_graph(50, rng=np.random.default_rng(6))
    mapping = np.arange(50)
    mapping[7] = -1
    assert structural_change(graph, graph, mapping)["edges_unchanged"] is None


def test_a_user_who_was_forgotten_changes_the_edges() -> None:
    graph = synthetic_graph(50, rng=np.random.default_rng(6))
    others = np.delete(np.arange(50), 7)
    assert structural_change(graph.restricted(others), graph, others)["edges_unchanged"] is False
