"""The lattice of Adult with the hierarchies of ARX: 12,960 nodes, all of them and the optimum, and with more rows.

Reads the shared data, see `CONTRIBUTING.md`. `--anjana PYTHON` names the interpreter of an environment of its own in
which anjana is installed (it pins its dependencies); it finds one node for k=5, and is timed in the same run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared import shared_data
from tabular.files.table_files import read_file
from tabular.hierarchies import read_hierarchies
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.searches import searches
from tabular.lattice.searching import Question, Result, run
from tabular.lattice.space import Limits
from tabular.table import Table

K = 5
SHARES = (0.0, 0.04)
REPEATS = 5


def main() -> None:
    """Print seconds: the best of five, but for larger tables and other processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--anjana", metavar="PYTHON", help="an interpreter that has anjana")
    parser.add_argument("--part", choices=("all", "new-process"), default="all", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    folder = shared_data("adult/arx")
    table, hierarchies = adult(folder)
    if asked.part == "new-process":
        began = time.perf_counter()
        all_nodes(table, hierarchies, Limits(k=K, suppression=0.04))
        print(f"{'all nodes in a new process, kernels loaded from their cache':>60} {time.perf_counter() - began:8.3f}")
        return
    print(f"Adult: {len(table):,} rows, {len(hierarchies)} attributes; seconds, best of {REPEATS}")
    for limits in (Limits(k=K, suppression=0.04), Limits(k=K), Limits(suppression=0.01)):
        asked_of = "own k, 1 %" if limits.k is None else f"k=5, {limits.suppression:.0%}"
        seconds = best(partial(all_nodes, table, hierarchies, limits))
        print(f"{f'all nodes: k, suppressed, glm, l ({asked_of})':>60} {seconds:8.3f}")
    new_process()
    for share in SHARES:
        found = optimum(table, hierarchies, share)
        seconds = best(partial(optimum, table, hierarchies, share))
        print(f"{f'optimum of glm, k=5, {share:.0%}':>60} {seconds:8.3f}   {told(found)}")
    for times in (10, 33):
        larger = grown(table, times, np.random.default_rng(times))
        began = time.perf_counter()
        found = optimum(larger, hierarchies, 0.04)
        seconds = time.perf_counter() - began
        distinct = len(np.unique(np.stack(list(larger.columns.values())), axis=1).T)
        print(f"{f'{times} times the rows, {distinct:,} distinct; optimum, 4 %':>60} {seconds:8.3f}   {told(found)}")
    if asked.anjana:
        peer(asked.anjana, folder)


def adult(folder: Path) -> tuple[Table, dict[str, Hierarchy]]:
    """The table and its hierarchies."""
    table = read_file(folder / "adult.csv").table
    return table, read_hierarchies(folder, table, table.names)


def all_nodes(table: Table, hierarchies: dict[str, Hierarchy], limits: Limits) -> Evaluator:
    """Look at every node, the encoding of the rows included."""
    evaluator = Evaluator(table, hierarchies, limits=limits, sensitive="occupation", metrics=["glm", "l"])
    evaluator.evaluate(evaluator.lattice.everything())
    return evaluator


def optimum(table: Table, hierarchies: dict[str, Hierarchy], share: float) -> Result:
    """The node of least general loss, the encoding of the rows included."""
    evaluator = Evaluator(table, hierarchies, limits=Limits(k=K, suppression=share), metrics=["glm"])
    search = searches["optimal"].method()
    return run("optimal", search, Question(evaluator, "glm"), rng=np.random.default_rng(0))


def told(found: Result) -> str:
    node = "".join(map(str, found.solutions.nodes[0].tolist()))
    return f"node {node}, glm {found.solutions['glm'][0]:.1f}, {found.evaluated} evaluated, gap {found.gap}"


def grown(table: Table, times: int, rng: np.random.Generator) -> Table:
    """*times* the rows: drawn from the table, age moved by up to five and one other attribute drawn anew."""
    rows = rng.integers(0, len(table), times * len(table))
    columns = {name: codes[rows].copy() for name, codes in table.columns.items()}
    ages = np.array([int(str(age)) for age in table.attribute("age").domain])
    order = np.argsort(ages)
    rank = np.empty(len(ages), dtype=np.int64)
    rank[order] = np.arange(len(ages))
    moved = np.clip(rank[columns["age"]] + rng.integers(-5, 6, len(rows)), 0, len(ages) - 1)
    columns["age"] = order[moved].astype(np.int32)
    others = [name for name in table.names if name != "age"]
    which = rng.integers(0, len(others), len(rows))
    for place, name in enumerate(others):
        here = which == place
        columns[name][here] = table.columns[name][rng.integers(0, len(table), int(here.sum()))]
    return table.with_codes(**columns)


def new_process() -> None:
    """The same in a new process, from its start to its end, the compiled kernels being kept."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "benchmarks.adult_lattice", "--part", "new-process"], check=True)
    whole = time.perf_counter() - began
    print(f"{'that process from its start, imports and reading included':>60} {whole:8.3f}")


def best(work: Callable[[], Any]) -> float:
    """The least seconds of a few runs, the first of which is not counted."""
    work()
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


PEER = """
import sys, time
import pandas
from anjana.anonymity import k_anonymity
folder, k, share = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
data = pandas.read_csv(folder + "/adult.csv", sep=";", dtype=str)
levels = {}
for name in data.columns:
    rows = pandas.read_csv(f"{folder}/adult_hierarchy_{name}.csv", sep=";", header=None, dtype=str)
    levels[name] = {level: rows[level].to_numpy() for level in rows.columns}
began = time.perf_counter()
k_anonymity(data, [], list(data.columns), k, share * 100, levels)
print(time.perf_counter() - began)
"""


def peer(python: str, folder: Path) -> None:
    """anjana in its own environment: it generalises step by step and finds a node, not the best one."""
    for share in SHARES:
        done = subprocess.run(
            [python, "-c", PEER, str(folder), str(K), str(share)], check=False, capture_output=True, text=True
        )
        said = f"{float(done.stdout):8.3f}" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]
        print(f"{f'anjana, some node for k=5, {share:.0%}':>60} {said}")


if __name__ == "__main__":
    main()
