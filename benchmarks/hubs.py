"""Audits of graphs with hubs and of dense ones: seconds, what stays open, and how wide the interval of success is.

Graphs without profiles get three topics each by Zipf over the 18, and places by community over the demo's gazetteer.
Every graph is released with k = 5 by the default protection, and audited by both attackers in all scenarios.
"""

from __future__ import annotations

import argparse
import gzip
import os
import resource
import time
from collections.abc import Callable
from multiprocessing import get_context

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.shared import shared_data
from graphpriv.auditing import STEPS, STRUCTURE, audit
from graphpriv.graph import SocialGraph
from graphpriv.places import PlaceTree
from graphpriv.protections import protect
from graphpriv.synthetic import paths, synthetic_graph
from graphpriv.topics import TOPICS

Ends = NDArray[np.int64]

#: Communities that places go by, and rounds in which users take the one most common around them.
COMMUNITIES, ROUNDS = 120, 4

#: The made graph: users, links, the hub's neighbours, the exponent of the power law, and links that close a triangle.
USERS, LINKS, HUB, EXPONENT, CLOSING = 40_000, 200_000, 10_000, 2.3, 0.35

GIB = 1 << 20


def main() -> None:
    """Audit the graphs asked for, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", choices=[*GRAPHS, "all"], default="all")
    parser.add_argument("--steps", type=float, default=STEPS, help="steps of an audit")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    given = parser.parse_args()
    print(f"{'graph':<14}{'wall s':>8}{'CPU s':>8}{'GiB':>6}{'labelled open':>15}{'links open':>12}  success by links")
    for name in GRAPHS:
        if given.graph == name or (given.graph == "all" and name not in LARGE):
            work = get_context("spawn").Process(target=measured, args=(name, int(given.steps), given.workers))
            work.start()
            work.join()


def measured(name: str, steps: int, workers: int) -> None:
    """Audit one graph and print what it took."""
    warm_up()
    graph = GRAPHS[name](1)
    release = protect(graph, 5, method="closest-profiles", rng=np.random.default_rng(2))
    wall, cpu = time.perf_counter(), time.process_time()
    document = audit(graph, release.graph, release.mapping, steps=steps, workers=workers).document
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    labelled = max(share for found in document["undecided"].values() for share in found.values())
    low, high = document["bounds"]["expected_success"]["subgraph"][STRUCTURE]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / GIB
    print(
        f"{name:<14}{wall:>8.1f}{cpu:>8.1f}{memory:>6.2f}{labelled:>15.5%}"
        f"{document['structure']['undecided']['subgraph']:>12.3%}  {low:.5f} to {high:.5f}, width {high - low:.5f}",
        flush=True,
    )


def warm_up() -> None:
    """Compile before anything is timed."""
    for directed in (True, False):
        graph = synthetic_graph(60, 150, rng=np.random.default_rng(0))
        graph = graph if directed else graph.undirected()
        audit(graph, graph, np.arange(60))


def facebook_ego(seed: int = 1) -> SocialGraph:
    """Ten ego networks of Facebook, dense."""
    return profiled(np.loadtxt(shared_data("facebook_ego") / "facebook_combined.txt", dtype=np.int64), seed=seed)


def lastfm_asia(seed: int = 1) -> SocialGraph:
    """Mutual follows of LastFM in Asia."""
    path = shared_data("graph_lastfm_asia") / "edges.csv"
    return profiled(np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64), seed=seed)


def deezer_hu(seed: int = 1) -> SocialGraph:
    """Friendships of Deezer in Hungary."""
    return _zipped("graph_deezer_hu", seed)


def twitch_de(seed: int = 1) -> SocialGraph:
    """Friendships of German streamers on Twitch, with hubs."""
    return _zipped("graph_twitch_de", seed)


def _zipped(name: str, seed: int) -> SocialGraph:
    with gzip.open(shared_data(name) / "edges.csv.gz", "rt") as file:
        return profiled(np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.int64), seed=seed)


def made(seed: int = 1) -> SocialGraph:
    """A graph with a power law and one hub, as `hub_links` makes it."""
    return profiled(hub_links(np.random.default_rng(seed)), USERS, seed)


def hundred_thousand(seed: int = 1) -> SocialGraph:
    """10^5 users of the demo's generator at mean degree 10."""
    return synthetic_graph(100_000, mean_degree=10.0, rng=np.random.default_rng(seed))


def million(seed: int = 1) -> SocialGraph:
    """10^6 users of the demo's generator at mean degree 10."""
    return synthetic_graph(1_000_000, mean_degree=10.0, rng=np.random.default_rng(seed))


#: Each by the seed of what is made of it; where the links are real, that is the profiles.
GRAPHS: dict[str, Callable[[int], SocialGraph]] = {
    "facebook-ego": facebook_ego,
    "lastfm-asia": lastfm_asia,
    "twitch-de": twitch_de,
    "deezer-hu": deezer_hu,
    "made": made,
    "10^5": hundred_thousand,
    "10^6": million,
}
#: What is left out unless it is asked for.
LARGE = ("10^6",)


def hub_links(rng: Generator, users: int = USERS, links: int = LINKS, hub: int = HUB) -> Ends:
    """Links whose ends are drawn by a power law, some closing a triangle, and user 0 linked with *hub* others."""
    weight = (np.arange(users) + 10.0) ** (-1 / (EXPONENT - 1))
    first = round(links * (1 - CLOSING))
    ends = rng.choice(users, size=(first, 2), p=weight / weight.sum())
    spokes = np.column_stack([np.zeros(hub, dtype=np.int64), 1 + rng.choice(users - 1, size=hub, replace=False)])
    # A friend of a friend: two links that share an end.
    both = np.concatenate([ends, ends[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    starts = np.searchsorted(both[:, 0], np.arange(users + 1))
    one = both[rng.integers(0, len(both), size=links - first)]
    counts = starts[one[:, 1] + 1] - starts[one[:, 1]]
    other = both[starts[one[:, 1]] + (rng.random(len(one)) * counts).astype(np.int64), 1]
    found = np.concatenate([ends, np.column_stack([one[:, 0], other]), spokes])
    return found[found[:, 0] != found[:, 1]]


def profiled(ends: Ends, users: int | None = None, seed: int = 1) -> SocialGraph:
    """An undirected graph with made profiles."""
    count, rng = int(ends.max()) + 1 if users is None else users, np.random.default_rng(seed)
    tree = PlaceTree.from_paths(paths())
    homes = rng.permutation(len(tree))[:COMMUNITIES]
    location = homes[communities(ends, count, rng) % len(homes)].astype(np.int32)
    graph, _ = SocialGraph.build(
        [str(user) for user in range(count)],
        ends[:, 0].astype(np.int32),
        ends[:, 1].astype(np.int32),
        directed=False,
        places=tree,
        location=location,
        topics=zipf_topics(count, rng),
    )
    return graph


def communities(ends: Ends, users: int, rng: Generator) -> NDArray[np.int64]:
    """Let users take, several times over, the community most common around them."""
    found = rng.integers(0, COMMUNITIES, users)
    for _ in range(ROUNDS):
        votes = np.zeros((users, COMMUNITIES), dtype=np.int32)
        np.add.at(votes, (ends[:, 0], found[ends[:, 1]]), 1)
        np.add.at(votes, (ends[:, 1], found[ends[:, 0]]), 1)
        found = np.where(rng.random(users) < 0.8, votes.argmax(axis=1), found)
    return found


def zipf_topics(users: int, rng: Generator) -> list[tuple[str, ...]]:
    """Three different topics for each user, the commonest twice as common as the second, and so on."""
    weight = 1 / np.arange(1, len(TOPICS) + 1)
    # The largest of keys drawn like this are a draw without replacement by weight.
    keys = np.log(rng.random((users, len(TOPICS)))) / weight
    return [tuple(TOPICS[topic] for topic in row) for row in np.argsort(-keys, axis=1)[:, :3].tolist()]


if __name__ == "__main__":
    main()
