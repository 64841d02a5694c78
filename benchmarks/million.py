"""A million users through the command line: import, protect, audit, each a process of its own."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from graphpriv.formats import write_graph
from graphpriv.structure import describe
from graphpriv.synthetic import synthetic_graph

GIB = 1 << 30
READ = "import sys; from graphpriv.formats import read_graph; read_graph(sys.argv[1])"


def main() -> None:
    """Draw the graph, run the chain, print seconds and peak memory of each step beside its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--follows", type=int, default=5_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), arguments.users, arguments.follows)


def run(folder: Path, users: int, follows: int) -> None:
    """The chain in *folder*."""
    file = folder / "follows.csv"
    drawn(file, users, follows)
    store = ["--store", f"file:{folder / 'million.db'}"]
    row("step", "seconds", "limit", "GiB", "limit")
    step("read edge list + CSV", [sys.executable, "-c", READ, str(file)], 60, 4)
    step("import into SQLite", cli("graph", "import", file, "--graph", "g", *store), 60 + 180, 4)
    step("protect k=10", cli("protect", "g", "--k", 10, "--into", "r", *store), 180, 8)
    audit = cli("audit", "g", "r", "--attacker", "ego", "--scenario", "all", "--json", *store)
    document = json.loads(step("audit, ego, all attributes", audit, 180, 8))
    print(
        f"risk {document['disclosure_risk']['ego']['all']:.4f}, undecided {document['undecided']['ego']['all']}, "
        f"IL {document['information_loss']['mean']:.4f}, k {document['k']}"
    )


def drawn(file: Path, users: int, follows: int) -> None:
    """Write the synthetic graph and say what it is like."""
    graph = synthetic_graph(users, follows, rng=np.random.default_rng(1))
    write_graph(graph, file)
    facts = describe(graph, rng=np.random.default_rng(1))
    print(f"{users} users, {graph.edge_count} follows, largest degree {graph.neighbours.counts.max()}")
    print(f"clustering {facts['clustering']}")


def cli(*arguments: object) -> list[str]:
    """A command of graphpriv for a process of its own."""
    return [sys.executable, "-c", "from api.cli import main; main()", *(str(each) for each in arguments)]


def step(name: str, command: Sequence[str], seconds: float, gib: float) -> str:
    """Run one step; print what it took beside what it may take."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        took = time.perf_counter() - begin
        row(name, f"{took:.1f}", seconds, f"{usage.ru_maxrss * 1024 / GIB:.2f}", gib)
        if status:
            raise SystemExit(f"{name} ended with status {status}")
        out.seek(0)
        return out.read().decode()


def row(*cells: object) -> None:
    """A line of the table."""
    print(f"{cells[0]:<28}" + "".join(f"{cell!s:>10}" for cell in cells[1:]), flush=True)


if __name__ == "__main__":
    main()
