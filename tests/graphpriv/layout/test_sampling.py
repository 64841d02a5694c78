from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.graph import SocialGraph
from graphpriv.layout.sampling import sampled_links
from graphpriv.synthetic import synthetic_graph
from tests.strategies import graphs, seeds


@given(graphs(), st.integers(0, 20), seeds)
def test_a_sample_holds_links_of_the_graph_each_once(graph: SocialGraph, most: int, seed: int) -> None:
    sample = sampled_links(graph, most=most, seed=seed)
    sources, targets = graph.edges()
    ends = zip(sources.tolist(), targets.tolist(), strict=True)
    links = {(min(pair), max(pair)) for pair in ends}
    assert sample.total == len(links)
    assert sample.drawn == min(most, len(links))
    assert sample.is_whole == (len(links) <= most)
    pairs = [tuple(pair) for pair in sample.pairs.tolist()]
    assert pairs == sorted(set(pairs) & links)
    assert np.array_equal(sample.pairs, sampled_links(graph, most=most, seed=seed).pairs)


def test_each_link_has_the_same_chance() -> None:
    graph = synthetic_graph(40, 100, rng=np.random.default_rng(1)).undirected()
    drawn = np.zeros((40, 40))
    for seed in range(1000):
        pairs = sampled_links(graph, most=graph.edge_count // 2, seed=seed).pairs
        drawn[pairs[:, 0], pairs[:, 1]] += 1
    assert drawn[drawn > 0].min() > 420 and drawn.max() < 580
