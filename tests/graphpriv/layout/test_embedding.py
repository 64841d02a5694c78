from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from graphpriv.graph import Links, SocialGraph
from graphpriv.layout import embedding
from graphpriv.layout.embedding import embedded
from tests.strategies import graphs, seeds


def links_of(graph: nx.Graph) -> Links:
    return SocialGraph.from_networkx(graph).neighbours


def whole(links: Links, seed: int = 1) -> np.ndarray:
    """The coordinates of a graph of one component."""
    return embedded(links.offsets, links.targets, np.array([0, len(links.offsets) - 1]), seed)


@given(graphs(min_users=3), seeds)
def test_coordinates_are_finite_and_go_by_the_seed(graph: SocialGraph, seed: int) -> None:
    # A ring through all users makes them one component.
    users = np.arange(len(graph), dtype=np.int32)
    sources = np.concatenate([graph.neighbours.sources, users, np.roll(users, -1)])
    targets = np.concatenate([graph.neighbours.targets, np.roll(users, -1), users])
    keys = np.unique(sources.astype(np.int64) * len(graph) + targets)
    links = Links.from_pairs((keys // len(graph)).astype(np.int32), (keys % len(graph)).astype(np.int32), len(graph))
    found = whole(links, seed)
    assert np.isfinite(found).all()
    assert len(np.unique(found, axis=0)) == len(graph)
    assert found.tobytes() == whole(links, seed).tobytes()
    assert found.tobytes() != whole(links, seed + 1).tobytes()


def test_the_start_is_the_spectrum_of_the_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "MOST_EPOCHS", 0)
    monkeypatch.setattr(embedding, "LEAST_EPOCHS", 0)
    there = nx.barbell_graph(6, 3)
    found = whole(links_of(there))[:, 0]
    matrix = nx.to_numpy_array(there)
    walk = matrix / np.sqrt(np.outer(matrix.sum(0), matrix.sum(0)))
    vector = np.linalg.eigh(walk)[1][:, -2] / np.sqrt(matrix.sum(0))
    assert abs(np.corrcoef(found, vector)[0, 1]) > 0.99


@pytest.mark.parametrize("seed", range(3))
def test_those_who_are_linked_are_near(seed: int) -> None:
    found = whole(links_of(nx.connected_caveman_graph(6, 20)), seed)
    far = np.sqrt(((found[:, None] - found[None]) ** 2).sum(axis=2))
    nearest = np.argsort(far, axis=1)[:, 1:11]
    assert (nearest // 20 == np.arange(120)[:, None] // 20).mean() > 0.95


def test_a_hub_of_ten_thousand_lies_amid_its_neighbours() -> None:
    found = whole(links_of(nx.star_graph(10_000)))
    radius = np.sqrt(((found - found[1:].mean(axis=0)) ** 2).sum(axis=1))
    assert radius[0] < 0.2 * np.median(radius[1:])
    assert radius.max() < 2.5 * np.median(radius[1:])


def test_components_do_not_see_each_other() -> None:
    one = links_of(nx.cycle_graph(12))
    both = links_of(nx.disjoint_union(nx.cycle_graph(12), nx.path_graph(2)))
    found = embedded(both.offsets, both.targets, np.array([0, 12, 14]), 5)
    assert np.array_equal(found[:12], whole(one, 5))
    assert found[12:].tolist() == [[-1, 0], [1, 0]]
