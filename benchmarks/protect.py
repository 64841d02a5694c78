"""Protection with k=10: against the comparison of all pairs at 10^4 users, then alone at 10^5 and 10^6.

Each row is a process of its own, so that the peak of memory is that of the row. Besides the synthetic graph, profiles
that are nearly all distinct and a few that all share show both ends of what the index has to cope with.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from graphpriv.graph import SocialGraph
from graphpriv.measures import Pair, measures
from graphpriv.places import WORLD, PlaceTree
from graphpriv.protections import protect
from graphpriv.protections.closest_profiles import closest_profiles
from graphpriv.synthetic import synthetic_graph
from graphpriv.verification import verify
from tabular.table import equivalence_classes
from tests.graphpriv.protections.all_pairs import all_pairs_by_rows

K = 10
COLUMNS = ("users", "profiles", "distinct", "generated", "clusters", "all pairs", "protect", "verify", "losses", "GiB")


def main() -> None:
    """Print seconds and peak memory, a row a graph."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--pairs-up-to", type=int, default=10_000, help="the largest graph to compare all pairs of")
    arguments = parser.parse_args()
    print("".join(f"{column:>11}" for column in COLUMNS))
    for users in arguments.users:
        for kind in PROFILES:
            row = multiprocessing.get_context("spawn").Process(
                target=measure, args=(users, kind, users <= arguments.pairs_up_to)
            )
            row.start()
            row.join()
            if row.exitcode:
                raise SystemExit(f"{users} users, {kind}: ended with {row.exitcode}")


def measure(users: int, kind: str, with_pairs: bool) -> None:
    """Protect one graph, five follows a user, and print its row."""
    warm = synthetic_graph(100, rng=np.random.default_rng(1))
    protect(warm, K, rng=np.random.default_rng(1))
    rng = np.random.default_rng(1)
    begin = time.perf_counter()
    graph = PROFILES[kind](synthetic_graph(users, 5 * users, rng=rng), rng)
    generated = time.perf_counter() - begin
    order = rng.permutation(users)
    begin = time.perf_counter()
    clusters = closest_profiles(graph, K, order)
    clustered = time.perf_counter() - begin
    compared = "-"
    if with_pairs:
        begin = time.perf_counter()
        if not np.array_equal(clusters, all_pairs_by_rows(graph, K, order)):
            raise AssertionError("the clusters are not those of all pairs")
        compared = f"{time.perf_counter() - begin:.2f}"
    begin = time.perf_counter()
    release = protect(graph, K, method="closest-profiles", rng=rng)
    protected = time.perf_counter() - begin
    begin = time.perf_counter()
    verify(graph, release)
    verified = time.perf_counter() - begin
    begin = time.perf_counter()
    pair = Pair.of(graph, release.graph, release.mapping)
    for name in measures:
        measures[name].method().measure(pair)
    lost = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / (1 << 30)
    seconds = [f"{each:.2f}" for each in (protected, verified, lost, peak)]
    cells = [
        users,
        kind,
        len(equivalence_classes(list(graph.profiles().T)).sizes),
        f"{generated:.2f}",
        f"{clustered:.2f}",
        compared,
    ]
    print("".join(f"{cell!s:>11}" for cell in [*cells, *seconds]), flush=True)


def as_drawn(graph: SocialGraph, rng: np.random.Generator) -> SocialGraph:
    """The profiles of the synthetic graph."""
    return graph


def nearly_all_distinct(graph: SocialGraph, rng: np.random.Generator) -> SocialGraph:
    """Each user at a random place of a tree of five steps, at any level of it, with three of 200 topics."""
    paths = []
    for quarter in range(45_000):
        town, region, country = quarter // 3, quarter // 30, quarter // 300
        paths.append(
            (
                (f"Quarter {quarter}", "neighborhood"),
                (f"Town {town}", "locality"),
                (f"Region {region}", "administrative_area_level_1"),
                (f"Country {country}", "country"),
                (f"Continent {country % 6}", "continent"),
                WORLD,
            )
        )
    places = PlaceTree.from_paths(paths)
    return replace(
        graph,
        places=places,
        location=rng.integers(-1, len(places), size=len(graph)).astype(np.int32),
        topic_names=tuple(f"topic {code:03d}" for code in range(200)),
        topics=rng.integers(0, 200, size=(len(graph), 3)).astype(np.int32),
    )


def few(graph: SocialGraph, rng: np.random.Generator) -> SocialGraph:
    """Two places, unknown ones and four topics."""
    return replace(graph, location=graph.location % 3 - 1, topics=graph.topics % 4).restricted(np.arange(len(graph)))


PROFILES: dict[str, Callable[[SocialGraph, np.random.Generator], SocialGraph]] = {
    "synthetic": as_drawn,
    "distinct": nearly_all_distinct,
    "few": few,
}

if __name__ == "__main__":
    main()
