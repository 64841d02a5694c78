"""Formulas evolved on German Credit and Solar Flare, beside the figures of the thesis (Tables 4.12, 4.13 and 4.15).

For each file and score: the best classical matrices (`retain` and `theta` from 0.1 to 0.9), and the best formula after
1,500 generations, as the mean over several seeds and the best of them. Each is shown as it is expected, which is what
evolution sees, and as it is measured on ten files drawn by its matrices: with the true weights of the linkage, with the
thesis's EM, and by an attacker who knows the matrices. The guards of a release hold; without them evolution ends where
the thesis's mean score of Solar Flare does, at the original. Normalised formulas have rows that sum to 1 as they are.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.shared import shared_data
from tabular.evolution import Task
from tabular.evolution.formulas.evolving import EvolvedFormulas
from tabular.evolution.formulas.population import FormulaPopulation
from tabular.evolution.matrices.expectation import Expectation
from tabular.files.schema import read_schema
from tabular.files.table_files import read_file
from tabular.measures import summary
from tabular.protections.pram import PRAM, drawn
from tabular.table import Table

#: The files with their schemas and the columns that the thesis protects.
FILES = {
    "german": (
        "german_credit/german.data",
        "german-credit",
        ("EXISTACC", "SAVINGS", "PRESEMPLOY"),
    ),
    "flare": (
        "solar_flare/flare.data2",
        "solar-flare",
        ("CLASS", "LARGSPOT", "SPOTDIST"),
    ),
}

#: The thesis's finals by file and score, and those of its classical matrices.
THESIS = {
    ("german", "max"): 34.33,
    ("german", "mean"): 26.72,
    ("flare", "max"): 37.03,
    ("flare", "mean"): 26.10,
}
THESIS_CLASSICAL = {
    ("german", "max"): 37.88, ("german", "mean"): 29.86, ("flare", "max"): 36.09, ("flare", "mean"): 29.38,
}  # fmt: skip

#: Table 4.15: the thesis's finals by depth.
THESIS_DEPTHS = {
    "german": {3: 34.52, 4: 30.97, 5: 34.33},
    "flare": {3: 38.27, 4: 38.08, 5: 40.84},
}

#: How many files are drawn to measure matrices.
FILES_DRAWN = 10

Matrices = Mapping[str, NDArray[np.float64]]


def main(options: Sequence[str] | None = None) -> None:
    """Print ours beside the thesis's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generations", type=int, default=1500)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--files", nargs="+", choices=FILES, default=list(FILES))
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--scores", nargs="+", choices=("max", "mean"), default=["max", "mean"])
    arguments = parser.parse_args(options)
    for file in arguments.files:
        table, columns = table_of(file)
        for score in arguments.scores:
            ways = [WAYS[each] for each in arguments.ways]
            compare_scores(file, table, columns, score, ways, arguments.seeds, arguments.generations)


def table_of(file: str) -> tuple[Table, tuple[str, ...]]:
    """One of the files, and the columns to protect."""
    path, schema, columns = FILES[file]
    return read_file(shared_data(path), schema=read_schema(schema)).table, columns


@dataclass(frozen=True)
class Way:
    """A way to evolve formulas: its name, its terminals, and whether the guards of a release hold."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_guarded: bool = True


#: The ways by a short name.
WAYS = {
    "guarded": Way("formulas"),
    "normalised": Way("normalised formulas", {"terminals": "normalised"}),
    "renaming": Way("renaming not limited", {"added": 100.0}),
    "free": Way("without guards", is_guarded=False),
}


def evolved(
    table: Table,
    columns: tuple[str, ...],
    score: str,
    seed: int,
    generations: int,
    way: Way,
) -> FormulaPopulation:
    """The population after so many generations, with formulas of up to 5 levels."""
    task = Task(
        table=table,
        columns=columns,
        score=score,
        workers=1,
        accept_unchanged=not way.is_guarded,
    )
    population = EvolvedFormulas(**way.parameters).begin(task, np.random.default_rng(seed))
    assert isinstance(population, FormulaPopulation)
    for _ in range(generations):
        population.tell(population.evaluate(population.ask()))
    return population


@dataclass(frozen=True)
class Classical:
    """The best classical matrices by the expected score."""

    name: str
    score: float
    matrices: Matrices


def best_classical(table: Table, columns: tuple[str, ...], score: str) -> Classical:
    """The best of `retain` and `theta` from 0.1 to 0.9."""
    expectation, found = Expectation.of(table, columns), []
    for name in ("retain", "theta"):
        for tenths in range(1, 10):
            matrices = PRAM(**{name: tenths / 10}).matrices(table, columns)
            loss = expectation.measured(matrices).score(score)
            found.append(Classical(f"{name}={tenths / 10}", loss, matrices))
    return min(found, key=lambda each: each.score)


def measured(table: Table, columns: tuple[str, ...], matrices: Matrices, score: str) -> dict[str, float]:
    """Score, the same with the thesis's EM, and the informed attacker: means over drawn files, in percent."""
    rows = []
    for seed in range(FILES_DRAWN):
        rng = np.random.default_rng((2013, seed))
        codes = {name: drawn(table.columns[name], matrices[name], rng) for name in columns}
        known = {"informed": {"matrices": matrices}}
        found = summary(table, table.with_codes(**codes), columns, parameters=known).document()
        rows.append([found[f"score_{score}"], found[f"score_{score}_em"], found["informed"]])
    return dict(zip(("true", "em", "informed"), np.mean(rows, axis=0).tolist(), strict=True))


def compare_scores(
    file: str,
    table: Table,
    columns: tuple[str, ...],
    score: str,
    ways: Sequence[Way],
    seeds: int,
    generations: int,
) -> None:
    """Classical matrices, formulas, and the thesis's."""
    print(f"\n{file}, {score} of loss and risk, {generations} generations, {seeds} seeds")
    print(f"{'matrices':>28}{'expected':>10}{'measured':>10}{'by EM':>10}{'informed':>10}{'thesis':>10}")
    classical = best_classical(table, columns, score)
    figures = [measured(table, columns, classical.matrices, score)]
    shown(classical.name, [classical.score], figures, THESIS_CLASSICAL[file, score])
    for way in ways:
        compare_formulas(file, table, columns, score, seeds, generations, way)


def compare_formulas(
    file: str,
    table: Table,
    columns: tuple[str, ...],
    score: str,
    seeds: int,
    generations: int,
    way: Way,
) -> None:
    """The best formulas of all seeds, the very best in words, and the scores by depth."""
    began = time.process_time()
    runs = [evolved(table, columns, score, seed, generations, way) for seed in range(1, seeds + 1)]
    seconds = (time.process_time() - began) / seeds
    losses = [float(run.scores.min()) for run in runs]
    figures = [measured(table, columns, run.individual(0).matrices, score) for run in runs]
    best = int(np.argmin(losses))
    shown(f"{way.name}, mean", losses, figures, THESIS[file, score])
    shown("worst", [max(losses)], [figures[int(np.argmax(losses))]], None)
    shown("best", [losses[best]], [figures[best]], None)
    print(f"{'':>8}{runs[best].members[0].formula}")
    read_back = [[list(each.values()) for each in run.individual(0).about["read_back"].values()] for run in runs]
    percent, *_, added = np.mean(read_back, axis=0).T
    print(
        f"{'':>8}read back {'/'.join(f'{each:.0f}' for each in percent)} %, added "
        f"{'/'.join(f'{each:.1f}' for each in added)} %"
    )
    print(f"{'':>8}{seconds:.1f} s of processor time a run, {np.mean([run.evaluated for run in runs]):,.0f} formulas")
    if score == "max":
        for place, layer in enumerate(runs[0].layers.layers):
            best = [min(run.layers.layers[place].members, key=lambda each: each.rank).worth for run in runs]
            said = f"{np.mean([each.loss for each in best]):.2f}"
            if any(each.refused for each in best):
                said = "refused in some runs"
            print(f"{'':>8}depth {layer.levels}: {said} expected, thesis {THESIS_DEPTHS[file][layer.levels]:.2f}")


def shown(
    name: str,
    losses: list[float],
    figures: list[dict[str, float]],
    thesis: float | None,
) -> None:
    """One row of the table."""
    cells = [
        np.mean(losses),
        *(np.mean([each[key] for each in figures]) for key in ("true", "em", "informed")),
    ]
    print(
        f"{name:>28}{''.join(f'{cell:>10.2f}' for cell in cells)}{'' if thesis is None else f'{thesis:>10.2f}'}",
        flush=True,
    )


if __name__ == "__main__":
    main()
