from __future__ import annotations

import csv
import hashlib
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from scipy.spatial import cKDTree

from graphpriv.graph import SocialGraph
from graphpriv.layout import Layout, lay_out, lay_out_communities
from graphpriv.layout.layouts import SIDE
from graphpriv.synthetic import synthetic_graph
from tests.strategies import graphs, seeds


def digest(layout: Layout) -> str:
    return hashlib.sha256(json.dumps(layout.document()).encode()).hexdigest()


@given(graphs(max_users=20), seeds)
def test_users_lie_in_the_square_each_at_a_place_of_its_own(graph: SocialGraph, seed: int) -> None:
    found = lay_out(graph, seed=seed)
    assert (found.users, found.positions.shape, found.positions.dtype) == (len(graph), (len(graph), 2), np.uint16)
    assert len(np.unique(found.positions, axis=0)) == len(graph)
    assert np.ptp(found.positions.astype(int), axis=0).max() in ({SIDE} if len(graph) > 1 else {0})
    assert (found.links.is_whole, found.communities, found.radii) == (True, None, None)
    assert digest(found) == digest(lay_out(graph, seed=seed))


@given(graphs(min_users=2, max_users=20), seeds)
def test_discs_lie_in_the_square_beside_each_other(graph: SocialGraph, seed: int) -> None:
    found = lay_out_communities(graph, seed=seed, most=8)
    assert found.communities is not None and found.radii is not None
    assert found.communities.sizes.sum() == found.users == len(graph)
    centres, radii = found.positions.astype(float), found.radii.astype(float)
    assert (centres - radii[:, None]).min() >= -1 and (centres + radii[:, None]).max() <= SIDE + 1
    far = np.sqrt(((centres[:, None] - centres[None]) ** 2).sum(axis=2)) + 9 * SIDE * np.eye(len(radii))
    assert (far >= 0.98 * (radii[:, None] + radii[None])).all()
    assert json.loads(json.dumps(found.document()))["communities"]["sizes"] == found.communities.sizes.tolist()


def test_nobody_one_and_two() -> None:
    nobody = lay_out(SocialGraph.empty(directed=False))
    assert (nobody.positions.shape, nobody.links.pairs.shape, nobody.links.total) == ((0, 2), (0, 2), 0)
    one = lay_out(SocialGraph.from_networkx(nx.empty_graph(1)))
    assert one.positions.tolist() == [[SIDE // 2 + 1, SIDE // 2 + 1]]
    for there in (nx.empty_graph(2), nx.path_graph(2)):
        two = lay_out(SocialGraph.from_networkx(there)).positions
        assert sorted(two.max(axis=0) - two.min(axis=0)) == [0, SIDE]


def test_the_links_alone_are_read() -> None:
    graph = synthetic_graph(200, rng=np.random.default_rng(1))
    other = replace(
        graph,
        ids=tuple(f"other{user}" for user in graph.ids),
        location=np.zeros_like(graph.location),
        topics=np.zeros_like(graph.topics),
        private={},
    )
    assert digest(lay_out(graph, seed=3)) == digest(lay_out(other, seed=3))
    assert digest(lay_out(graph, seed=3)) != digest(lay_out(graph, seed=4))


@pytest.mark.parametrize("users", [1500, 21_000])
def test_the_bytes_do_not_depend_on_the_number_of_threads(users: int) -> None:
    code = (
        "import numpy as np; from graphpriv.synthetic import synthetic_graph; "
        "from tests.graphpriv.layout.test_layouts import digest, lay_out; "
        f"print(digest(lay_out(synthetic_graph({users}, rng=np.random.default_rng(1)), seed=7)))"
    )
    names = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    digests = set()
    for threads in ("1", "4"):
        environment = {**os.environ, **dict.fromkeys(names, threads), "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", code]
        digests.add(subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout)
    assert len(digests) == 1


def test_more_links_than_can_be_drawn_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = SocialGraph.from_networkx(nx.gnp_random_graph(400, 0.7, seed=1))
    found = lay_out(graph)
    assert graph.edge_count > 50_000
    told = found.document()
    assert (told["drawn"], told["of"], len(told["links"])) == (50_000, graph.edge_count, 100_000)


def test_a_page_gets_little_more_than_the_numbers() -> None:
    graph = synthetic_graph(5000, mean_degree=6.0, rng=np.random.default_rng(2))
    numbers = 2 * len(graph) + 2 * graph.undirected().edge_count
    assert len(json.dumps(lay_out(graph).document(), separators=(",", ":"))) < 6 * numbers


@pytest.mark.shared_data
def test_neighbours_in_the_plane_of_lastfm_share_the_country(shared_folder: Path) -> None:
    folder = shared_folder / "graph_lastfm_asia"
    with (folder / "target_country.csv").open() as file:
        country = np.array([int(row["target"]) for row in csv.DictReader(file)])
    with (folder / "edges.csv").open() as file:
        there = nx.Graph((int(row["node_1"]), int(row["node_2"])) for row in csv.DictReader(file))
    graph = SocialGraph.from_networkx(nx.relabel_nodes(there, str))
    country = country[[int(user) for user in graph.ids]]
    for seed in range(4):
        positions = lay_out(graph, seed=seed).positions.astype(float)
        nearest = cKDTree(positions).query(positions, 21)[1][:, 1:]
        assert (country[nearest] == country[:, None]).mean() >= 0.77


@pytest.mark.heavy
def test_a_million_users_become_discs_within_ten_seconds() -> None:
    graph = synthetic_graph(1_000_000, mean_degree=10.0, rng=np.random.default_rng(1))
    lay_out(graph.restricted(np.arange(30_000)))
    # On one thread; what else runs on the machine does not count.
    start = time.process_time()
    found = lay_out(graph)
    assert time.process_time() - start < 10
    assert found.communities is not None and 50 < len(found.communities) <= 300
