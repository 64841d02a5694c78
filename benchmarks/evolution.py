"""Evaluations of protected files a second, whole and by what changed, with and without the one-to-one linkage.

German Credit and Adult by three attributes each, protected by keeping each value with a probability and else drawing
it from its column. What is counted runs inside the compiled loop, but for the rows that say otherwise: a step called
from Python; a segment of another file, its ends drawn as by two-point crossover, and undone again; the measures as
`table measure` takes them, with the linkage by the same weights. Beside one changed value, the same loop with the
whole file evaluated each time. Census has thirteen columns of numbers, swapped and microaggregated. Seconds are of the
processor.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.shared import shared_data
from tabular.evolution.fitness import Fitness, Segment, State
from tabular.evolution.numbers import NumberFitness, NumberState
from tabular.files.schema import read_schema
from tabular.files.table_files import read_file
from tabular.grid import GROUP_SIZES, REACHES
from tabular.measures import measures, summary
from tabular.measures.contract import Pairs, paired_columns
from tabular.measures.linkage.nearest import Labels
from tabular.measures.linkage.one_to_one import TwoFiles
from tabular.measures.linkage.prl import STEPS
from tabular.protections import protect

#: The file, its schema, its columns, and how many files are evaluated.
FILES = {
    "german": ("german_credit/german.data", "german-credit", ("EXISTACC", "SAVINGS", "PRESEMPLOY"), 300),
    "adult": ("adult/arx/adult.csv", "adult", ("education", "marital-status", "occupation"), 12),
}
#: So many files that differ in one value are evaluated as a whole.
CHANGED = 200
#: The measures of the scores; PRL is counted apart.
TAKEN = ("ctbil", "dbil", "ebil", "id", "dbrl")


def main() -> None:
    """Print evaluations a second, a row a way to evaluate."""
    print(f"{'file':>8}{'evaluated':>44}{'linkage':>9}{'a second':>12}{'x whole':>9}")
    for name in FILES:
        fitness, files = made(name)
        for linked in (False, True):
            ways(name, fitness, files, linked)
        row(name, "the measures one by one", True, 2, partial(plain, fitness, files[:2]))
    census()


def ways(name: str, fitness: Fitness, files: NDArray[np.int32], linked: bool) -> None:
    """All ways to evaluate one file."""
    rng, state = np.random.default_rng(2), fitness.state(files[0], linked=linked)
    row(name, "whole files", linked, len(files), lambda: fitness.measured(files, linked=linked))
    changes = drawn_changes(fitness, 20_000 if linked else 100_000, rng)
    changed = with_changes(files[0], changes[:CHANGED])
    whole = row(name, "one changed value, the file as a whole", linked, len(changed),
                lambda: fitness.measured(changed, linked=linked))  # fmt: skip
    row(name, "one changed value", linked, len(changes), lambda: state.tried(changes), whole)
    few = changes[:200]
    row(name, "one changed value, from Python", linked, len(few), lambda: step_by_step(state, few), whole)
    other, ends = fitness.state(files[1], linked=linked), drawn_ends(files[0].size, len(files), rng)
    row(name, "a segment of another file, from Python", linked, len(ends), lambda: crossed(state, other, ends), whole)


def census() -> None:
    """Files of numbers: whole, and by one changed number."""
    table = read_file(shared_data("sdc_census/census.csv"), schema=read_schema("census")).table
    fitness, rng = NumberFitness.of(table, table.names), np.random.default_rng(1)
    ways = [("rank-swapping", {"percent": percent}) for percent in REACHES]
    ways += [("microaggregation", {"k": k}) for k in GROUP_SIZES[::3]]
    files = [fitness.codes_of(protect(table, way, table.names, rng=rng, **given)) for way, given in ways]
    fitness = fitness.held(files)
    for linked in (False, True):
        numbers_counted(fitness, files, linked, rng.integers(0, files[0].size, 300).tolist())


def numbers_counted(
    fitness: NumberFitness, files: Sequence[NDArray[np.int64]], linked: bool, genes: Sequence[int]
) -> None:
    """Both ways to evaluate files of numbers."""
    what, state = "one changed number, from Python", fitness.state(files[0], linked=linked)
    row("census", "whole files", linked, len(files), lambda: [fitness.state(each, linked=linked) for each in files])
    row("census", what, linked, len(genes), lambda: numbers_changed(state, files, genes))


def numbers_changed(state: NumberState, files: Sequence[NDArray[np.int64]], genes: Sequence[int]) -> None:
    """Let single numbers become those of other files, and undo each."""
    for place, gene in enumerate(genes):
        values = files[place % len(files)].reshape(-1)[gene : gene + 1]
        state.replaced(Segment(gene, values))
        state.undo()


def row(name: str, what: str, linked: bool, count: int, work: Callable[[], object], whole: float = 0.0) -> float:
    """Print how many evaluations a second *work* makes, the second time; how many times as many as *whole*."""
    work()
    begin = time.process_time()
    work()
    rate = count / (time.process_time() - begin)
    times = f"{rate / whole:9.0f}" if whole else ""
    print(f"{name:>8}{what:>44}{'yes' if linked else 'no':>9}{rate:>12,.{0 if rate > 100 else 1}f}{times}", flush=True)
    return rate


def made(name: str) -> tuple[Fitness, NDArray[np.int32]]:
    """The fitness of a file, and protected versions of it over which the weights are counted."""
    file, schema, columns, count = FILES[name]
    fitness = Fitness.of(read_file(shared_data(file), schema=read_schema(schema)).table, columns)
    rng, codes = np.random.default_rng(1), fitness.codes
    files = np.stack([
        np.where(rng.random(codes.shape) < kept, codes, rng.permuted(codes, axis=0))
        for kept in rng.uniform(0.1, 0.95, count)
    ])  # fmt: skip
    return fitness.held(list(files)), files


def drawn_changes(fitness: Fitness, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Mutations: a gene, and any value of its domain."""
    genes = rng.integers(0, fitness.codes.size, count)
    return np.stack([genes, rng.integers(0, fitness.tables.labels[genes % len(fitness.attributes)])], axis=1)


def drawn_ends(genes: int, count: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """The ends of segments: the first anywhere, the last anywhere from there on."""
    firsts = rng.integers(0, genes, count)
    return list(zip(firsts.tolist(), rng.integers(firsts, genes).tolist(), strict=True))


def with_changes(codes: NDArray[np.int32], changes: NDArray[np.int64]) -> NDArray[np.int32]:
    """A copy of the file for each change alone."""
    files = np.repeat(codes[None], len(changes), axis=0)
    files.reshape(len(changes), -1)[np.arange(len(changes)), changes[:, 0]] = changes[:, 1]
    return files


def step_by_step(state: State, changes: NDArray[np.int64]) -> None:
    columns = len(state.fitness.attributes)
    for gene, value in changes.tolist():
        state.changed(gene // columns, gene % columns, value)
        state.undo()


def crossed(state: State, other: State, ends: list[tuple[int, int]]) -> None:
    for first, last in ends:
        state.replaced(other.segment(first, last))
        state.undo()


def plain(fitness: Fitness, files: NDArray[np.int32]) -> None:
    """The measures as they are taken of any table."""
    without = [name for name in measures if name not in TAKEN]
    for codes in files:
        masked = fitness.table_of(codes)
        summary(fitness.original, masked, fitness.attributes, without=without)
        columns = paired_columns(fitness.original, masked, fitness.attributes)
        TwoFiles(Pairs.of(columns), Labels.of(columns), STEPS).assigned(fitness.gains)


if __name__ == "__main__":
    main()
