"""Layouts beside the spring layout of rustworkx, and communities beside those of NetworkX.

On LastFM Asia, 7,624 users with their countries, both layouts are timed and asked how many of a user's 20 nearest in
the plane share the country. Then come larger graphs, with hubs or many links, up to 10^6 users, which become discs; and
the modularity of communities on a graph that NetworkX can take. Seconds start from the graph as it is read.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TypeVar

import networkx as nx
import numpy as np
import rustworkx as rx
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from benchmarks.hubs import deezer_hu, lastfm_asia, twitch_de
from benchmarks.shared import shared_data
from graphpriv.graph import SocialGraph
from graphpriv.layout import lay_out, lay_out_communities
from graphpriv.synthetic import synthetic_graph

NEAREST = 20

T = TypeVar("T")


def main() -> None:
    """Compile, then measure each part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--no-peer", action="store_true", help="leave rustworkx out, which takes longest")
    given = parser.parse_args()
    small = synthetic_graph(400, rng=np.random.default_rng(1))
    lay_out(small)
    lay_out_communities(small, most=10)
    lastfm(given.seeds, peer=not given.no_peer)
    for name, make in GRAPHS.items():
        graph = make()
        took, found = timed(lambda graph=graph: lay_out(graph))  # type: ignore[misc]
        drawn = f"{len(found.communities)} discs" if found.communities else "users"
        print(f"{name:<12}{len(graph):>10,} users {graph.edge_count:>10,} links {took:>32}  {drawn}", flush=True)
    modularities()


def lastfm(seeds: int, *, peer: bool) -> None:
    """Seconds, and the share of nearest users that share the country."""
    graph = lastfm_asia()
    path = shared_data("graph_lastfm_asia") / "target_country.csv"
    country = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64)[:, 1]
    for seed in range(seeds):
        took, found = timed(lambda seed=seed: lay_out(graph, seed=seed))  # type: ignore[misc]
        print(f"LastFM, seed {seed}: {took}, {same_nearby(found.positions, country):.3f} in the same country")
    if peer:
        there = rx.PyGraph()
        there.add_nodes_from(range(len(graph)))
        there.add_edges_from_no_data([tuple(pair) for pair in np.column_stack(graph.edges()).tolist()])
        took, places = timed(lambda: rx.spring_layout(there, seed=1))
        share = same_nearby(np.array([places[user] for user in range(len(graph))]), country)
        print(f"LastFM, rustworkx spring_layout: {took}, {share:.3f} in the same country", flush=True)


def same_nearby(places: NDArray[np.float64] | NDArray[np.uint16], country: NDArray[np.int64]) -> float:
    """The mean share of a user's 20 nearest in the plane that share the country."""
    nearest = cKDTree(places.astype(float)).query(places.astype(float), NEAREST + 1)[1][:, 1:]
    return float((country[nearest] == country[:, None]).mean())


def modularities() -> None:
    """How good communities are, beside those of NetworkX."""
    graph = synthetic_graph(30_000, mean_degree=10.0, rng=np.random.default_rng(1))
    there = nx.Graph(zip(*(ends.tolist() for ends in graph.undirected().edges()), strict=True))
    took, found = timed(lambda: lay_out(graph))
    assert found.communities is not None
    took_peer, peer = timed(lambda: nx.community.louvain_communities(there, seed=1))
    ours = [set(np.flatnonzero(found.communities.members == each)) for each in range(len(found.communities))]
    for name, groups, seconds in (("ours", ours, took), ("NetworkX", peer, took_peer)):
        quality = nx.community.modularity(there, groups)
        print(f"30,000 users, {name}: {len(groups)} communities, modularity {quality:.3f}, {seconds}", flush=True)


def timed(work: Callable[[], T]) -> tuple[str, T]:
    """How long *work* takes, by the clock and of the processor, and what it gives."""
    clock, processor = time.perf_counter(), time.process_time()
    found = work()
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    return f"{clock:.2f} s (processor {processor:.2f} s)", found


GRAPHS: dict[str, Callable[[], SocialGraph]] = {
    "10^4": lambda: synthetic_graph(10_000, mean_degree=10.0, rng=np.random.default_rng(1)),
    "2 x 10^4": lambda: synthetic_graph(20_000, mean_degree=10.0, rng=np.random.default_rng(1)),
    "twitch-de": twitch_de,
    "dense": lambda: synthetic_graph(20_000, mean_degree=100.0, rng=np.random.default_rng(1)),
    "deezer-hu": deezer_hu,
    "10^6": lambda: synthetic_graph(1_000_000, mean_degree=10.0, rng=np.random.default_rng(1)),
}


if __name__ == "__main__":
    main()
