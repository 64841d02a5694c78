"""How long graph files take to read and to write, beside NetworkX on the same files, each read a process of its own."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from graphpriv.formats import write_graph
from graphpriv.synthetic import synthetic_graph

GIB = 1 << 30
SUFFIXES = (".csv", ".json", ".graphml", ".gexf")

#: What a reading process runs: it prints seconds without the imports, peak bytes, users and edges.
TEMPLATE = """
import json, resource, sys, time
{imports}
path = sys.argv[1]
begun = time.perf_counter()
{read}
seconds = time.perf_counter() - begun
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([seconds, peak, {users}, {edges}]))
"""
OURS = TEMPLATE.format(
    imports="from graphpriv.formats import read_graph",
    read="graph = read_graph(path).graph",
    users="len(graph)",
    edges="graph.edge_count",
)
#: NetworkX reads the edges of the first; attributes, places and checks are no part of its edge lists.
THEIRS = {
    ".csv": "graph = nx.read_edgelist(path, delimiter=',', create_using=nx.DiGraph)",
    ".json": "graph = nx.node_link_graph(json.load(open(path)), edges='edges')",
    ".graphml": "graph = nx.read_graphml(path)",
    ".gexf": "graph = nx.read_gexf(path)",
}


def main() -> None:
    """Draw the graphs and print a table: the sample in every format by both readers, then the whole as tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--follows", type=int, default=5_000_000)
    parser.add_argument("--sample", type=int, default=50_000, help="users of the graph that NetworkX reads too")
    arguments = parser.parse_args()
    print(
        f"{'file':<12}{'users':>9}{'follows':>9}  {'written s':>9}{'read s':>8}{'GiB':>6}  {'NetworkX s':>10}{'GiB':>6}"
    )
    with tempfile.TemporaryDirectory() as folder:
        mean_degree = 2 * arguments.follows / arguments.users
        compared(Path(folder), arguments.sample, round(arguments.sample * mean_degree / 2))
        whole(Path(folder), arguments.users, arguments.follows)


def compared(folder: Path, users: int, follows: int) -> None:
    """Every format, by both readers."""
    graph = synthetic_graph(users, follows, rng=np.random.default_rng(1))
    for suffix in SUFFIXES:
        begun = time.perf_counter()
        file = write_graph(graph, folder / f"sample{suffix}")[0]
        written = time.perf_counter() - begun
        ours = reading(OURS, file)
        read = THEIRS[suffix]
        theirs = reading(
            TEMPLATE.format(
                imports="import networkx as nx", read=read, users="len(graph)", edges="graph.number_of_edges()"
            ),
            file,
        )
        row = line(suffix, graph_size=(users, follows), written=written, ours=ours)
        print(f"{row}  {theirs[0]:>10.2f}{theirs[1] / GIB:>6.2f}", flush=True)


def whole(folder: Path, users: int, follows: int) -> None:
    """The edge list with its tables at full size, by our reader; the limit is 60 s and 4 GiB."""
    begun = time.perf_counter()
    graph = synthetic_graph(users, follows, rng=np.random.default_rng(1))
    drawn = time.perf_counter() - begun
    begun = time.perf_counter()
    file = write_graph(graph, folder / "whole.csv")[0]
    written = time.perf_counter() - begun
    del graph
    ours = reading(OURS, file)
    print(f"{line('.csv', graph_size=(users, follows), written=written, ours=ours)}  (limit 60 s, 4 GiB)")
    print(f"drawn in {drawn:.1f} s")


def reading(program: str, file: Path) -> tuple[float, float, int, int]:
    """Seconds, peak bytes, users and edges of *program* on *file*."""
    done = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=True)
    seconds, peak, users, edges = json.loads(done.stdout)
    return seconds, peak, users, edges


def line(suffix: str, *, graph_size: tuple[int, int], written: float, ours: tuple[float, float, int, int]) -> str:
    """A row of the table; what was read must be what was written."""
    seconds, peak, *found = ours
    if tuple(found) != graph_size:
        raise SystemExit(f"{suffix}: {found} were read of {graph_size}")
    users, follows = graph_size
    return f"{suffix:<12}{users:>9}{follows:>9}  {written:>9.2f}{seconds:>8.2f}{peak / GIB:>6.2f}"


if __name__ == "__main__":
    main()
