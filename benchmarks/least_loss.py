"""Loss of profiles at the same k: `least-loss` beside Algorithm 14, plain sorting, SaNGreeA and MDAV.

Losses are those of the audit: IL is the mean of AAMIL, CDIL and DBIL; "AAMIL" is that of the place, "world" the share
of users released there who were not. The other graphs have real links and places and topics that are made anew for each
run (`benchmarks.hubs`).
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.hubs import GRAPHS
from graphpriv.graph import SocialGraph
from graphpriv.measures import Pair, information_loss, measures
from graphpriv.protections.bottom_up import ancestors
from graphpriv.protections.closest_profiles import closest_profiles
from graphpriv.protections.contract import aggregated
from graphpriv.protections.least_loss import LeastLoss
from graphpriv.protections.losses import Losses, Terms, Votes, cluster_loss
from graphpriv.synthetic import synthetic_graph
from tabular.grouping.mdav import mdav
from tabular.grouping.points import points_of
from tabular.kernels import compiled
from tabular.table import Table

COLUMNS = ("graph", "k", "clusters by", "runs", "IL", "DBIL", "AAMIL", "world", "bound", "seconds", "GiB")

#: The peers that look at all pairs run once on graphs of more users than the first, and not on those of more than the
#: second.
SEVERAL_TIMES, ONCE = 5_000, 25_000

Clusterer = Callable[[SocialGraph, int, np.random.Generator], NDArray[np.int64]]


def main() -> None:
    """Print the losses, a row a method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=["1638", "20000", "lastfm-asia", "twitch-de", "deezer-hu"])
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    arguments = parser.parse_args()
    compile_all()
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for name in arguments.graphs:
        graphs = [graph_of(name, seed) for seed in range(arguments.runs)]
        for k in arguments.k:
            for method in arguments.methods:
                is_slow = method in SLOW and len(graphs[0]) > SEVERAL_TIMES
                if not (is_slow and len(graphs[0]) > ONCE):
                    print(row(name, graphs[:1] if is_slow else graphs, k, method), flush=True)


def compile_all() -> None:
    """Let all kernels be compiled before anything is timed."""
    small = synthetic_graph(200, rng=np.random.default_rng(1))
    for cluster in METHODS.values():
        cluster(small, 3, np.random.default_rng(1))


def row(name: str, graphs: list[SocialGraph], k: int, method: str) -> str:
    """The mean figures of a *method*, which runs once on each of the *graphs*."""
    figures, spent = [], 0.0
    for run, graph in enumerate(graphs):
        begin = time.process_time()
        clusters = METHODS[method](graph, k, np.random.default_rng(run))
        spent += time.process_time() - begin
        bound = LeastLoss().proven(graph, clusters, k).lower_bound if method == "least-loss" else float("nan")
        figures.append([*lost(graph, clusters), bound])
    shown = [f"{each:.3f}" for each in np.mean(figures, axis=0)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / (1 << 30)
    cells = [name, k, method, len(graphs), *shown, f"{spent / len(graphs):.2f}", f"{peak:.2f}"]
    return "| " + " | ".join(map(str, cells)) + " |"


def lost(graph: SocialGraph, clusters: NDArray[np.int64]) -> list[float]:
    """IL, DBIL, AAMIL of the place, and the share of users who are released at the world and were not there."""
    pair = Pair.of(graph, aggregated(graph, clusters), np.arange(len(graph)))
    every, dbil, aamil = information_loss(pair), *(measures[each].method().measure(pair) for each in ("dbil", "aamil"))
    if every is None or dbil is None or aamil is None:
        raise AssertionError("the mapping is known")
    world = (pair.masked.location == 0) & (pair.original.location != 0)
    return [every, dbil.mean, aamil.by_attribute["location"], float(world.mean())]


def graph_of(name: str, seed: int) -> SocialGraph:
    """A synthetic graph of so many users, or a real one whose profiles are made from the *seed*."""
    if name.isdigit():
        return synthetic_graph(int(name), None if name == "1638" else 5 * int(name), rng=np.random.default_rng(seed))
    return GRAPHS[name](1 + seed)


def cut(order: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Clusters of *k* users who follow each other in an *order*."""
    clusters = np.empty(len(order), dtype=np.int64)
    clusters[order] = np.minimum(np.arange(len(order)) // k, len(order) // k - 1)
    return clusters


def by_place(graph: SocialGraph, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sorted by place, then topics."""
    return cut(np.lexsort((*graph.topics.T[::-1], graph.location)), k)


def by_topics(graph: SocialGraph, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sorted by topics, then place."""
    return cut(np.lexsort((graph.location, *graph.topics.T[::-1])), k)


def algorithm_14(graph: SocialGraph, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Algorithm 14."""
    return closest_profiles(graph, k, rng.permutation(len(graph)))


def sangreea(graph: SocialGraph, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """SaNGreeA without its structural part: the user of most links and, one by one, those who add the least loss."""
    losses = Losses.of(graph, Terms())
    order = np.lexsort((rng.permutation(len(graph)), -graph.follows.counts))
    clusters = np.full(len(graph), -1, dtype=np.int64)
    _greedy(losses, order, k, clusters, np.empty(len(graph), dtype=np.int32), Votes.room(losses.names))
    return clusters


@compiled
def _greedy(
    losses: Losses,
    order: NDArray[np.int64],
    k: int,
    clusters: NDArray[np.int64],
    members: NDArray[np.int32],
    votes: Votes,
) -> None:
    cluster, left = -1, len(order)
    for seed in order:
        if clusters[seed] >= 0:
            continue
        if left >= k:
            cluster += 1
            clusters[seed] = cluster
            members[0], size = seed, 1
            while size < k:
                best, least = -1, np.int64(1 << 60)
                for user in range(len(order)):
                    if clusters[user] < 0:
                        members[size] = user
                        lost = cluster_loss(losses, members, size + 1, votes)
                        if lost < least:
                            best, least = user, lost
                members[size] = best
                clusters[best] = cluster
                size += 1
            left -= k
        else:
            # Whoever is left over goes to the last cluster; the original looks for the best one.
            clusters[seed] = cluster


def one_hot_mdav(graph: SocialGraph, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """MDAV on profiles as points: a coordinate for each place and those above it, and for each topic at a rank."""
    above = ancestors(Losses.of(graph, Terms()))
    places = above[:, np.where(graph.location < 0, len(graph.places), graph.location)]
    columns = {}
    for level, codes in enumerate(places):
        for code in np.unique(codes):
            columns[f"place {level} {code}"] = (codes == code).astype(int)
    for rank, codes in enumerate(graph.topics.T):
        for code in np.unique(codes):
            columns[f"topic {rank} {code}"] = (codes == code).astype(int)
    several = {name: values for name, values in columns.items() if 0 < values.sum() < len(values)}
    return mdav(points_of(Table.from_columns(several), list(several)), k)


def least_loss(weights: str = "") -> Clusterer:
    """`least-loss` with these weights."""
    return lambda graph, k, rng: LeastLoss(weights=weights).clusters(graph, k, rng)


METHODS: dict[str, Clusterer] = {
    "Algorithm 14": algorithm_14,
    "by place": by_place,
    "by topics": by_topics,
    "SaNGreeA": sangreea,
    "MDAV": one_hot_mdav,
    "least-loss": least_loss(),
    "least-loss, place 6:1": least_loss("location=12,topic1=2,topic2=1,topic3=1"),
}
SLOW = ("SaNGreeA", "MDAV")

if __name__ == "__main__":
    main()
