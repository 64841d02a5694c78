"""PBG-EA on Adult, beside the figures of its paper: means of 20 runs, by the paper's generator and by ours.

The 30,162 complete rows of `adult.data`; eight quasi-identifiers with the hierarchies of `adult_hierarchies/`, of the
heights the paper states (its own are not published, so that its fronts are others than these), 1 % suppressed at most,
occupation sensitive. With CM salary-class is the class label. Every node is evaluated once, for the exact front; the
runs look nodes up there, and `nodes` are the distinct ones a run asks for. RR is the share of the exact front's
non-dominated boxes that a run occupies, CE the distance to the exact front: the sum of the paper's formula, and the
mean over the archive, which has the size the paper prints. The paper's figures stand in brackets.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.shared import shared_data
from tabular.files.schema import read_schema
from tabular.hierarchies import read_hierarchies
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.front import checked_epsilon, convergence_error, non_dominated, representation_ratio
from tabular.lattice.metrics import Readings
from tabular.lattice.searches.pbg_ea import PbgEa
from tabular.lattice.searching import Question, run
from tabular.lattice.space import Limits, Node, Nodes, as_nodes
from tabular.table import Table

HIERARCHIES = Path(__file__).parent / "adult_hierarchies"
ATTRIBUTES = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class")
SENSITIVE, LABEL = "occupation", "salary-class"
SUPPRESSION = 0.01
RUNS = 20
GENERATORS = ("paper", "local")


@dataclass(frozen=True)
class Published:
    """A row of the paper's tables 1(b), 2(a) and 2(b); None where it prints nothing."""

    objectives: tuple[str, ...]
    epsilon: tuple[float, ...] | None = None
    nodes: int | None = None
    ratio: float | None = None
    error: float | None = None


SETS = (
    Published(("k", "glm"), nodes=916, ratio=0.94, error=3.7e-4),
    Published(("k", "l", "glm"), nodes=946, ratio=0.93, error=3.3e-4),
    Published(("s_k", "glm"), nodes=1136, ratio=0.84, error=5.7e-4),
    Published(("s_k", "s_l", "glm"), nodes=1197, ratio=0.83, error=6.6e-4),
    Published(("k", "glm", "cm"), nodes=1073),
)
VECTORS = (
    Published(("k", "glm"), (5, 100), ratio=0.95, error=4.3e-4),
    Published(("k", "glm"), (10, 1000), ratio=0.98, error=1.6e-4),
    Published(("k", "glm"), (50, 10_000), ratio=1.0, error=1.7e-4),
    Published(("k", "l", "glm"), (5, 2, 100), ratio=0.92, error=4.9e-3),
    Published(("k", "l", "glm"), (10, 4, 1000), ratio=0.92, error=7.4e-3),
    Published(("k", "l", "glm"), (50, 6, 10_000), ratio=0.88, error=1.8e-2),
)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generator", choices=GENERATORS, nargs="+", default=GENERATORS)
    parser.add_argument("--runs", type=int, default=RUNS)
    asked = parser.parse_args()
    table = adult()
    known = {has_label: KnownLattice.of(evaluator_of(table, labelled=has_label)) for has_label in (False, True)}
    for has_label, lattice in known.items():
        print(f"{'without' if has_label else 'with'} {LABEL}: {lattice.lattice.size:,} nodes, {lattice.rows:,} rows,")
        print(f"  {lattice.limits.suppressible(lattice.rows)} of them suppressed at most")
    print(f"\nmeans of {asked.runs} runs")
    print(f"{'objectives':>14} {'epsilon':>14} {'front':>6} {'generator':>10} {'nodes':>14} {'RR':>15}", end="")
    print(f" {'CE, sum':>10} {'CE, mean':>22}")
    for published in (*SETS, *VECTORS):
        lattice = known["cm" in published.objectives]
        for generator in asked.generator:
            print(row(published, generator, measured(lattice, published, generator, asked.runs)), flush=True)


def adult() -> Table:
    """The complete rows, in the columns of the paper."""
    columns = read_schema("adult").columns
    with (shared_data("adult") / "adult.data").open(newline="", encoding="utf-8") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    complete = [row for row in rows if "?" not in row]
    return Table.from_columns(
        {name: [row[columns.index(name)] for row in complete] for name in (*ATTRIBUTES, SENSITIVE)}
    )


def adult_hierarchies(table: Table, names: Sequence[str] = ATTRIBUTES) -> dict[str, Hierarchy]:
    """The hierarchies that are kept with the benchmarks."""
    return read_hierarchies(HIERARCHIES, table, names)


def evaluator_of(table: Table, *, labelled: bool) -> Evaluator:
    """What evaluates the lattice: of seven attributes if the eighth is the class label."""
    names = [name for name in ATTRIBUTES if not (labelled and name == LABEL)]
    return Evaluator(
        table,
        adult_hierarchies(table, names),
        limits=Limits(suppression=SUPPRESSION),
        sensitive=SENSITIVE,
        class_label=LABEL if labelled else None,
        metrics=("cm",) if labelled else ("l", "s_l"),
    )


class KnownLattice:
    """An evaluator that has evaluated every node, and looks up what it is asked for."""

    def __init__(self, evaluator: Evaluator, everything: Readings) -> None:
        self.evaluator, self.everything = evaluator, everything
        self.lattice, self.limits, self.rows = evaluator.lattice, evaluator.limits, evaluator.rows
        self.judged_by_classes = evaluator.judged_by_classes
        self.lower_levels = evaluator.lower_levels
        self.loss_without_suppression = evaluator.loss_without_suppression

    @classmethod
    def of(cls, evaluator: Evaluator) -> KnownLattice:
        """Evaluate all nodes of an *evaluator*."""
        return cls(evaluator, evaluator.evaluate(evaluator.lattice.everything()))

    @property
    def distinct_values(self) -> list[list[int]]:
        """How many labels occur, by attribute and level."""
        return self.evaluator.distinct_values

    def evaluate(self, nodes: Sequence[Node] | Nodes) -> Readings:
        """The readings of *nodes*, one each, in their order."""
        levels = as_nodes(nodes, len(self.lattice.heights)).astype(np.int64)
        places = np.ravel_multi_index(tuple(levels.T), tuple(height + 1 for height in self.lattice.heights))
        return self.everything.take(places)

    def exact_front(self, objectives: Sequence[str]) -> NDArray[np.float64]:
        """The values, more being better, of all nodes that no other dominates."""
        costs = self.everything.costs(objectives)
        return -costs[non_dominated(costs)]


@dataclass(frozen=True)
class Measured:
    """Means over the runs, and of the ratio the least."""

    front: int
    nodes: float
    ratio: float
    least_ratio: float
    total_error: float
    mean_error: float


def measured(lattice: KnownLattice, published: Published, generator: str, runs: int) -> Measured:
    """Run PBG-EA with the seeds from 0 on."""
    objectives = published.objectives
    exact, epsilon = lattice.exact_front(objectives), checked_epsilon(published.epsilon, objectives)
    search = PbgEa(generator=generator, epsilon=published.epsilon)
    nodes, ratios, errors = [], [], []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        found = run("pbg-ea", search, Question(lattice, objectives=objectives), rng=rng)
        values = -found.solutions.costs(objectives)
        nodes.append(found.evaluated)
        ratios.append(representation_ratio(exact, values, epsilon))
        errors.append(convergence_error(exact, values))
    return Measured(
        len(exact),
        float(np.mean(nodes)),
        float(np.mean(ratios)),
        min(ratios),
        float(np.mean([total for total, _ in errors])),
        float(np.mean([mean for _, mean in errors])),
    )


def row(published: Published, generator: str, found: Measured) -> str:
    """One line of the table."""
    sides = "-" if published.epsilon is None else ",".join(f"{side:g}" for side in published.epsilon)
    nodes = f"{found.nodes:.0f} " + ("" if published.nodes is None else f"({published.nodes})")
    ratio = f"{found.ratio:.3f} " + ("" if published.ratio is None else f"({published.ratio:.2f})")
    mean = f"{found.mean_error:.1e} " + ("" if published.error is None else f"({published.error:.1e})")
    begin = f"{','.join(published.objectives):>14} {sides:>14} {found.front:>6} {generator:>10}"
    return f"{begin} {nodes:>14} {ratio:>15} {found.total_error:>10.1e} {mean:>22}"


if __name__ == "__main__":
    main()
