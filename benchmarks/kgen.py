"""KGEN on Cargo 2000: up to 25 columns, beside random search and, where it can be proven, the optimum.

Each line is a number of columns and a k, with 0.5 % of the rows suppressed at most and the budget of the paper (5,000
distinct nodes). LOG, the level of generalisation, is the precision of the node found: the best, the mean and the worst
of the seeds. LOS is the share of the rows that are suppressed at the best. Random search looks at as many distinct
nodes of the whole lattice as KGEN did with the same seed. Accuracy is that of KGEN's eq 4 and 5, with the height of the
best node of all, which `optimal` proves within the seconds given; where it does not, its bound stands for it, and the
accuracy is the least it can be.
"""

from __future__ import annotations

import argparse
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import ceil

import numpy as np

from benchmarks.cargo import ALL_K, SIZES, SUPPRESSION, cargo_problem
from benchmarks.kgen_metrics import accuracy, level_of_suppression
from tabular.errors import NoSolution
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.searches import searches
from tabular.lattice.searching import Question, Result, run
from tabular.lattice.space import Limits
from tabular.loop import after_seconds, never

Case = tuple[int, int]


@dataclass(frozen=True)
class Found:
    """What one seed gave: by KGEN, and by random search, None where it found nothing."""

    case: Case
    seconds: float
    evaluated: int
    log: float
    los: float
    satisfies: bool
    random_log: float | None


@dataclass(frozen=True)
class Best:
    """The height of the best node of all, or the least that it can have."""

    height: int
    is_proven: bool
    seconds: float


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, nargs="+", default=SIZES)
    parser.add_argument("--k", type=int, nargs="+", default=ALL_K)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--optimum", type=float, default=60, help="seconds for the proof of each optimum; 0: none")
    parser.add_argument(
        "--processes", type=int, default=1, help="seconds are those of a machine to oneself with 1 only"
    )
    given = parser.parse_args()
    cases = list(product(given.columns, given.k))
    tasks = [(case, seed) for case in cases for seed in range(given.seeds)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(given.processes, mp_context=context) as pool:
        found = list(pool.map(found_with, tasks, chunksize=ceil(given.seeds / given.processes)))
        bests = list(pool.map(best_of_all, cases, [given.optimum] * len(cases))) if given.optimum else []
    print(
        "columns   k | seconds mean, most | nodes | LOG best   mean  worst    LOS | optimum          | accuracy | "
        "random best, mean, without any | KGEN worse"
    )
    for place, case in enumerate(cases):
        print(line(case, [each for each in found if each.case == case], bests[place] if bests else None))


def line(case: Case, found: list[Found], best: Best | None) -> str:
    """One line of the table."""
    logs, seconds = [each.log for each in found], [each.seconds for each in found]
    randoms = [each.random_log for each in found if each.random_log is not None]
    worse = sum(each.random_log is not None and each.random_log < each.log - 1e-9 for each in found)
    assert all(each.satisfies for each in found), "KGEN returned a node that breaks the limits"
    parts = [
        f"{case[0]:7} {case[1]:3}",
        f"{np.mean(seconds):6.1f} {max(seconds):6.1f}",
        f"{max(each.evaluated for each in found):5}",
        f"{min(logs):6.4f} {np.mean(logs):6.4f} {max(logs):6.4f} {min((each.log, each.los) for each in found)[1]:7.5f}",
        "" if best is None else told(best, case),
        "" if best is None else f"{'' if best.is_proven else '>= '}{of_heights(found, best, case):.4f}",
        f"{min(randoms):6.4f} {np.mean(randoms):6.4f} {len(found) - len(randoms):2}/{len(found)}"
        if randoms
        else f"nothing feasible {len(found):2}/{len(found)}",
        f"{worse}/{len(found)}",
    ]
    return " | ".join(parts)


def told(best: Best, case: Case) -> str:
    """The precision of the best node, or that it is no less."""
    sign = "" if best.is_proven else ">= "
    return f"{sign}{best.height / (5 * case[0]):.4f} ({best.seconds:.0f} s)"


def of_heights(found: list[Found], best: Best, case: Case) -> float:
    """The mean accuracy over the seeds: all hierarchies have five levels, so that precision tells the height."""
    top = 5 * case[0]
    heights = [round(each.log * top) for each in found]
    return accuracy(heights, [best.height] * len(found), [top] * len(found))


@lru_cache(maxsize=1)
def evaluator_of(case: Case) -> Evaluator:
    """The evaluator of a case."""
    table, hierarchies = cargo_problem(case[0])
    limits = Limits(k=case[1], suppression=SUPPRESSION)
    return Evaluator(table, hierarchies, limits=limits, metrics=("precision",))


def found_with(task: tuple[Case, int]) -> Found:
    """What KGEN finds with a seed, and random search with as many nodes."""
    case, seed = task
    evaluator = evaluator_of(case)
    evaluator.evaluate([evaluator.lattice.top])
    found = searched("kgen", evaluator, seed)
    try:
        random_log = level_of(searched("random", evaluator, seed, evaluations=found.evaluated))
    except NoSolution:
        random_log = None
    gone = int(evaluator.suppressed_rows(found.solutions.tuples()[0]).sum())
    los = level_of_suppression(gone, evaluator.rows)
    satisfies = gone <= evaluator.limits.suppressible(evaluator.rows)
    return Found(case, found.seconds, found.evaluated, level_of(found), los, satisfies, random_log)


def level_of(found: Result) -> float:
    """The level of generalisation of the node found."""
    return float(found.solutions["precision"].min())


def searched(name: str, evaluator: Evaluator, seed: int, *, seconds: float | None = None, **options: int) -> Result:
    """What a search finds."""
    stop = never if seconds is None else after_seconds(seconds)
    rng, search = np.random.default_rng(seed), searches[name].method(**options)
    return run(name, search, Question(evaluator, "precision"), rng=rng, stop=stop)


def best_of_all(case: Case, seconds: float) -> Best:
    """The best node of all, proven if the *seconds* suffice."""
    found = searched("optimal", evaluator_of(case), 0, seconds=seconds)
    top = 5 * case[0]
    bound = found.lower_bound or 0.0
    is_proven = found.gap is not None and found.gap < 1e-9
    height = round(level_of(found) * top) if is_proven else ceil(bound * top - 1e-6)
    return Best(height, is_proven, found.seconds)


if __name__ == "__main__":
    main()
