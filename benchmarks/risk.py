"""Disclosure risk: beside the matchers of two libraries, on dense real graphs, at 10^5 users and at 10^6."""

from __future__ import annotations

import argparse
import gzip
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator

import networkx as nx
import numpy as np
import rustworkx as rx
from networkx.algorithms.isomorphism import DiGraphMatcher
from numpy.typing import NDArray

from benchmarks.shared import SHARED
from graphpriv.graph import ATTRIBUTES, SocialGraph, common_codes
from graphpriv.places import PlaceTree
from graphpriv.protections import protect
from graphpriv.risk import SCENARIOS, Comparison, Disclosure, attackers, user_labels
from graphpriv.structure import describe
from graphpriv.synthetic import synthetic_graph

VALUES = 18
GIB = 1 << 20


def main() -> None:
    """Run the part asked for."""
    parts: dict[str, Callable[[], None]] = {
        "peers": peers,
        "dense": dense,
        "hundred-thousand": hundred_thousand,
        "million": million,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=[*parts, "all"], default="peers")
    chosen = parser.parse_args().part
    warm_up()
    for name, part in parts.items():
        if chosen in (name, "all"):
            print(f"\n== {name}")
            part()
            print(f"peak memory of the process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / GIB:.2f} GiB")


def warm_up() -> None:
    """Compile before anything is timed."""
    for directed in (True, False):
        graph = synthetic_graph(60, 150, rng=np.random.default_rng(0))
        graph = graph if directed else graph.undirected()
        for name in attackers:
            attackers[name].method().disclose(graph, graph, np.arange(60), {"all": ATTRIBUTES, "": ()})


def described(name: str, graph: SocialGraph) -> None:
    """Say what a graph is like."""
    facts = describe(graph, rng=np.random.default_rng(1))
    print(
        f"{name}: {len(graph)} users, {graph.edge_count} edges, largest degree {graph.neighbours.counts.max()}, "
        f"clustering {facts['clustering']}"
    )


def row(*cells: object) -> None:
    """One line of a table."""
    print("  ".join(f"{cell:<16}" if place < 3 else f"{cell:>10}" for place, cell in enumerate(cells)), flush=True)


def disclosed(
    comparison: Comparison, scenarios: dict[str, tuple[str, ...]], case: str, names: tuple[str, ...]
) -> float:
    """Time each attacker in each scenario; the seconds of them all, the neighbourhoods with the first."""
    row("case", "attacker", "scenario", "seconds", "risk", "undecided")
    total = 0.0
    for name in names:
        for scenario, attributes in scenarios.items():
            started = time.perf_counter()
            found: Disclosure = attackers[name].method().disclosed(comparison, attributes)
            seconds = time.perf_counter() - started
            total += seconds
            row(case, name, scenario, f"{seconds:.2f}", f"{found.risk:.4f}", f"{found.undecided_share:.5f}")
    return total


# Beside NetworkX and rustworkx


def peers() -> None:
    """All neighbourhoods of 1638 users, mean degree 5.6 and 10, all attributes: against themselves and a release."""
    for edges in (4622, 8190):
        graph = synthetic_graph(1638, edges, rng=np.random.default_rng(1))
        described("synthetic", graph)
        release = protect(graph, 5, method="closest-profiles", rng=np.random.default_rng(2))
        row("against", "attacker", "", *("ours", "networkx", "filtered", "rustworkx", "x", "x", "x"))
        for case, masked, mapping in (
            ("itself", graph, np.arange(len(graph))),
            ("release k=5", release.graph, release.mapping),
        ):
            # Aligned before anything is timed: no matcher is about trees of places.
            aligned = common_codes(graph, masked)
            for name in ("ego", "subgraph"):
                row(case, name, "", *compared(*aligned, mapping, name))


def compared(graph: SocialGraph, masked: SocialGraph, mapping: NDArray[np.int64], name: str) -> list[str]:
    """Seconds of ours, the best of five, and of the peers; all must find the same users."""
    ours, found = [], np.zeros(0, dtype=bool)
    for _ in range(5):
        started = time.perf_counter()
        found = attackers[name].method().disclose(graph, masked, mapping, {"all": ATTRIBUTES})["all"].candidates
        ours.append(time.perf_counter() - started)
    seconds = [min(ours)]
    for around, matches, filtered in (
        (networkx_around, networkx_matches, False),
        (networkx_around, networkx_matches, True),
        (rustworkx_around, rustworkx_matches, True),
    ):
        started = time.perf_counter()
        theirs = by_matcher(graph, masked, name, around, matches, filtered)
        seconds.append(time.perf_counter() - started)
        if not np.array_equal(found, theirs):
            raise AssertionError(f"{name}: a peer finds other candidates")
    ratios = [f"{each / seconds[0]:.0f}" for each in seconds[1:]]
    return [*(f"{each:.4f}" for each in seconds), *ratios]


def by_matcher(
    graph: SocialGraph,
    masked: SocialGraph,
    name: str,
    around: Callable[..., Iterator[object]],
    matches: Callable[..., bool],
    filtered: bool,
) -> NDArray[np.int64]:
    """Candidates of each user by a library's matcher: only pairs whose centres have one label are handed over.

    *filtered* leaves out those, too, whose neighbours' labels allow no match.
    """
    labels = [part.tolist() for part in np.split(user_labels(graph, masked, ATTRIBUTES), [len(graph)])]
    sides = []
    for side, part in zip((graph, masked), labels, strict=True):
        near = [side.neighbours.of(user).tolist() for user in range(len(side))]
        counted = [Counter(part[each] for each in row) for row in near]
        sides.append((list(around(side, near, part)), counted))
    (patterns, wanted), (targets, offered) = sides
    by_centre: dict[int, list[int]] = {}
    for user, label in enumerate(labels[1]):
        by_centre.setdefault(label, []).append(user)
    counts = np.zeros(len(graph), dtype=np.int64)
    for user, pattern in enumerate(patterns):
        for other in by_centre.get(labels[0][user], ()):
            possible = not filtered or (
                wanted[user] == offered[other] if name == "ego" else wanted[user] <= offered[other]
            )
            if possible and matches(targets[other], pattern, name):
                counts[user] += 1
    return counts


def networkx_around(graph: SocialGraph, near: list[list[int]], labels: list[int]) -> Iterator[nx.DiGraph]:
    """Each user's neighbourhood, the centre marked."""
    follows = [set(graph.follows.of(user).tolist()) for user in range(len(graph))]
    for user, others in enumerate(near):
        found = nx.DiGraph()
        found.add_nodes_from((each, {"data": (each == user, labels[each])}) for each in (user, *others))
        found.add_edges_from((each, other) for each in found for other in follows[each] if other in found)
        yield found


def networkx_matches(target: nx.DiGraph, pattern: nx.DiGraph, name: str) -> bool:
    """Whether NetworkX finds the pattern."""
    matcher = DiGraphMatcher(target, pattern, node_match=lambda one, other: one["data"] == other["data"])
    return bool(matcher.is_isomorphic() if name == "ego" else matcher.subgraph_is_isomorphic())


def rustworkx_around(graph: SocialGraph, near: list[list[int]], labels: list[int]) -> Iterator[rx.PyDiGraph]:
    """The same for the other library."""
    for found in networkx_around(graph, near, labels):
        converted = rx.PyDiGraph()
        place = {node: converted.add_node(data["data"]) for node, data in found.nodes(data=True)}
        converted.add_edges_from_no_data([(place[one], place[other]) for one, other in found.edges])
        yield converted


def rustworkx_matches(target: rx.PyDiGraph, pattern: rx.PyDiGraph, name: str) -> bool:
    """Whether rustworkx finds the pattern."""
    if name == "ego":
        return bool(rx.is_isomorphic(target, pattern, node_matcher=_equal))
    return bool(rx.is_subgraph_isomorphic(target, pattern, node_matcher=_equal, induced=True))


def _equal(one: object, other: object) -> bool:
    return one == other


# Dense graphs, one label


def dense() -> None:
    """Real graphs with one made label of 18 values: drawn at random or after communities, kept or masked."""
    for name in ("facebook_ego", "twitch_de", "deezer_hu"):
        users, ends = real(name)
        described(name, one_label(users, ends, np.zeros(users, dtype=np.int64)))
        for kind in ("random", "community"):
            for release in ("identical", "masked"):
                rng = np.random.default_rng(5)
                labels = rng.integers(0, VALUES, users)
                if kind == "community":
                    labels = spread_labels(users, ends, labels, rng)
                mapping = rng.permutation(users)
                masked = np.empty_like(labels)
                masked[mapping] = labels if release == "identical" else majority(labels, rng)
                comparison = Comparison.of(
                    one_label(users, ends, labels), one_label(users, mapping[ends], masked), mapping
                )
                disclosed(comparison, {"topic1": ("topic1",)}, f"{kind}, {release}", ("ego", "subgraph"))


def real(name: str) -> tuple[int, NDArray[np.int64]]:
    """A graph of the shared data sets: how many users, and the two ends of each edge."""
    if name == "facebook_ego":
        ends = np.loadtxt(SHARED / name / "facebook_combined.txt", dtype=np.int64)
    else:
        with gzip.open(SHARED / f"graph_{name}" / "edges.csv.gz", "rt") as file:
            ends = np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.int64)
    return int(ends.max()) + 1, ends


def one_label(users: int, ends: NDArray[np.int64], labels: NDArray[np.int64]) -> SocialGraph:
    """An undirected graph whose first topics are *labels*."""
    graph, _ = SocialGraph.build(
        [str(user) for user in range(users)],
        ends[:, 0].astype(np.int32),
        ends[:, 1].astype(np.int32),
        directed=False,
        places=PlaceTree.from_paths([]),
        location=np.zeros(users, dtype=np.int32),
        topics=[(f"topic {label:02}", None, None) for label in labels.tolist()],
    )
    return graph


def spread_labels(
    users: int, ends: NDArray[np.int64], labels: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Let half of the users take, three times over, the label most common around them."""
    found = labels.copy()
    for _ in range(3):
        votes = np.zeros((users, VALUES), dtype=np.int64)
        np.add.at(votes, (ends[:, 0], found[ends[:, 1]]), 1)
        np.add.at(votes, (ends[:, 1], found[ends[:, 0]]), 1)
        found = votes.argmax(axis=1)
    return np.where(rng.random(users) < 0.5, found, labels)


def majority(labels: NDArray[np.int64], rng: np.random.Generator, k: int = 5) -> NDArray[np.int64]:
    """Give clusters of k users with about the same label the one most common in them."""
    users = len(labels)
    strayed = (rng.random(users) < 0.3) * rng.integers(-3, 4, users)
    order = np.argsort(labels + strayed + rng.random(users), kind="stable")
    masked = labels.copy()
    for start in range(0, users - users % k, k):
        cluster = order[start : start + k] if start + 2 * k <= users else order[start:]
        masked[cluster] = np.bincount(labels[cluster]).argmax()
    return masked


# Large graphs


def hundred_thousand() -> None:
    """10^5 users: both attackers, all six scenarios; then the structure alone."""
    for mean_degree in (5.6, 10.0):
        graph = synthetic_graph(100_000, mean_degree=mean_degree, rng=np.random.default_rng(1))
        described("synthetic", graph)
        release = protect(graph, 5, method="closest-profiles", rng=np.random.default_rng(2))
        started = time.perf_counter()
        comparison = Comparison.of(graph, release.graph, release.mapping)
        _ = comparison.neighbourhoods
        shared = time.perf_counter() - started
        total = shared + disclosed(comparison, dict(SCENARIOS), "release k=5", ("ego", "subgraph"))
        print(f"neighbourhoods {shared:.2f} s; with them, both attackers and six scenarios {total:.1f} s (limit 15)")
        alone = disclosed(comparison, {"structure": ()}, "release k=5", ("ego", "subgraph"))
        print(f"the structure alone {alone:.1f} s")


def million() -> None:
    """10^6 users and 5 x 10^6 follows: `ego`, all attributes."""
    graph = synthetic_graph(1_000_000, 5_000_000, rng=np.random.default_rng(1))
    described("synthetic", graph)
    release = protect(graph, 10, method="closest-profiles", rng=np.random.default_rng(2))
    started = time.perf_counter()
    comparison = Comparison.of(graph, release.graph, release.mapping)
    _ = comparison.neighbourhoods
    shared = time.perf_counter() - started
    total = shared + disclosed(comparison, {"all": ATTRIBUTES}, "release k=10", ("ego",))
    print(f"neighbourhoods {shared:.1f} s, in all {total:.1f} s")


if __name__ == "__main__":
    main()
