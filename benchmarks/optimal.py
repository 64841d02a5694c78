"""Cargo 2000: the exact optimum of precision on lattices of 10^4 to 10^75 nodes, proven and certified.

Reads the shared data, see `CONTRIBUTING.md`. `--certify` has each optimum proven anew by code of the tests that shares
nothing with the search; `--written` has the proof written down and each step of it checked by counting rows, which
takes hours from tens of millions of steps on. `--all SECONDS` searches all columns for so long and shows how the gap
shrinks.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.cargo import ALL_K, SIZES, SUPPRESSION, cargo_problem
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.searches import searches
from tabular.lattice.searching import Question, Result, run
from tabular.lattice.space import Limits
from tabular.loop import after_seconds


def main() -> None:
    """Print a line for each number of columns and each k."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, nargs="+", default=SIZES, help="numbers of columns")
    parser.add_argument("--k", type=int, nargs="+", default=ALL_K, help="rows of a class, at least")
    parser.add_argument("--seconds", type=float, default=60.0, help="time for each")
    parser.add_argument("--certify", action="store_true", help="prove each optimum anew by other code")
    parser.add_argument("--written", action="store_true", help="write each proof down and check its steps")
    parser.add_argument("--all", type=float, metavar="SECONDS", help="all columns, for so long")
    asked = parser.parse_args()
    warm_up()
    if asked.all:
        for k in asked.k:
            question = question_of(None, k)
            show_course(k, optimum(question, asked.all))
        return
    print(f"{'columns':>8}{'k':>4}{'optimum':>12}{'bound':>12}{'gap':>10}{'seconds':>10}{'evaluated':>14}")
    for columns in asked.columns:
        for k in asked.k:
            question = question_of(columns, k)
            found = optimum(question, asked.seconds)
            print(f"{columns:>8}{k:>4}{told(found)}", flush=True)
            if asked.certify and found.ended:
                certify(columns, question, found)
            if asked.written and found.ended:
                check_written(columns, question, found)


def question_of(columns: int | None, k: int) -> Question:
    """The first so many columns, or all, and 0.5 % of the rows that may be suppressed."""
    table, hierarchies = cargo_problem(columns)
    limits = Limits(k=k, suppression=SUPPRESSION)
    return Question(Evaluator(table, hierarchies, limits=limits, metrics=("precision",)), "precision")


def optimum(question: Question, seconds: float) -> Result:
    """The best node found, with its bound."""
    method = searches["optimal"].method()
    return run("optimal", method, question, rng=np.random.default_rng(1), stop=after_seconds(seconds))


def warm_up() -> None:
    """Have the kernels compiled."""
    optimum(question_of(8, 10), 600)


def told(found: Result) -> str:
    """One line of figures."""
    best, bound, gap = float(found.solutions["precision"][0]), found.lower_bound or 0.0, found.gap or 0.0
    return f"{best:>12.4f}{bound:>12.4f}{gap:>10.4f}{found.seconds:>10.1f}{found.evaluated:>14,}"


def certify(columns: int, question: Question, found: Result) -> None:
    """Prove anew that no node costs less."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.tabular.lattice.second_prover import gains_more

    table, hierarchies = cargo_problem(columns)
    began = time.perf_counter()
    better, parts = gains_more(table, hierarchies, found.solutions.tuples()[0], question.limits)
    said = "NOT THE OPTIMUM" if better else "certified"
    print(f"{'':>12}{said} by other code in {time.perf_counter() - began:.1f} s, {parts:,} parts", flush=True)


def check_written(columns: int, question: Question, found: Result) -> None:
    """Write the proof down and have it checked by counting rows."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.tabular.lattice.optimal.certificate import certificate
    from tests.tabular.lattice.proof_checker import checker_of

    node = found.solutions.tuples()[0]
    began = time.perf_counter()
    lines = certificate(question, node).lines
    written = time.perf_counter()
    table, hierarchies = cargo_problem(columns)
    checker = checker_of(table, hierarchies, node, question.limits)
    checker.check(lines)
    checked = time.perf_counter()
    print(
        f"{'':>12}written: {len(lines):,} steps in {written - began:.1f} s, checked in {checked - written:.1f} s "
        f"by counting the classes of {checker.counted:,} nodes",
        flush=True,
    )


def show_course(k: int, found: Result) -> None:
    """How best and bound came together."""
    print(f"all {len(found.question.lattice.heights)} columns, k={k}: {told(found)}")
    for moment in found.moments:
        if moment.best is not None and moment.lower_bound is not None:
            print(f"{moment.seconds:>12.1f}{moment.best:>12.4f}{moment.lower_bound:>12.4f}", flush=True)


if __name__ == "__main__":
    main()
