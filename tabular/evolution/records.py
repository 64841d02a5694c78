"""Protected files that improve themselves: exchange a stretch of two files, or change values (Algorithm 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabular.attributes import CONTINUOUS
from tabular.comparison import LeftOut
from tabular.errors import InvalidParameter, NoSolution, named
from tabular.evolution.contract import Evolution, Population, Task, evolutions, generator_of
from tabular.evolution.files import ANY, BOTH, BY_COLUMN, BY_RECORD, EITHER, EVERYWHERE, FileFitness, Files
from tabular.evolution.fitness import Fitness
from tabular.evolution.fitness.contract import Sets
from tabular.evolution.genes import Categories, Genes, WholeNumbers
from tabular.evolution.numbers import NumberFitness
from tabular.evolution.start import starting_population
from tabular.loop import Values, document_of
from tabular.registry import option

#: What parameters stand for that the checkpoints of earlier versions do not name.
_EARLIER = {"joins": 0.0, "added": 100.0}


@evolutions.add(
    "records",
    cites="Mares Soler (2013), Algorithm 5",
    limits="columns of categories, or columns of numbers without missing values, of at most 5,000 records",
)
@dataclass(frozen=True, kw_only=True)
class Records(Evolution):
    """Improves protected files: they exchange stretches, change or join values, and what scores better stays."""

    leaders: int = option(2, low=1, help="one parent of a crossover is among so many of the best")
    operators: str = option(
        EITHER,
        choices=(EITHER, BOTH, EVERYWHERE),
        help="either crossover or mutation in a generation; both, one value of a file mutating; or both, each value "
        "mutating with the probability of a mutation",
    )
    crossover: float | None = option(None, low=0, high=1, help="probability of a crossover; 0.5, or 0.95 with both")
    mutation: float | None = option(
        None, low=0, high=1, help="probability of a mutation where both operators may act; 0.01"
    )
    tries: int = option(
        10, low=1, help="so many draws compete in a generation, the best of each parent; 1 in the thesis"
    )
    order: str = option(
        ANY,
        choices=(ANY, BY_RECORD, BY_COLUMN),
        help="a stretch is of values record by record, as in the thesis, column by column, or any of the two",
    )
    joins: float = option(
        0.5, low=0, high=1, help="probability that a generation that mutates lets sets of values take the place of "
        "their members in a whole column, with sets that the start has; 0 in the thesis; with operators=either"
    )  # fmt: skip
    added: float = option(
        10.0, low=0, high=100, help="the most that knowing what labels came from may add, in percent of the values "
        "that others do not guess; no member comes to add more; 100 in the thesis; for categories"
    )  # fmt: skip
    recount: int = option(500, low=0, help="count the weights of the linkage again after so many generations; 0: never")

    decimals: int | None = option(
        None, low=0, high=9, help="digits after the point of numbers; those that the column has if not given"
    )

    def begin(self, task: Task, rng: np.random.Generator) -> Population:
        genes: Genes
        if is_numeric(task):
            numbers = NumberFitness.of(task.table, task.columns, decimals=self.decimals)
            without: list[Sets] = [() for _ in task.columns]
            start = starting_population(task, rng, lambda masked: (numbers.codes_of(masked), without))
            fitness: FileFitness = numbers.held(start.files)
            genes = WholeNumbers.over(numbers.codes, start.files)
        else:
            start = starting_population(task, rng)
            base = Fitness.of(task.table, task.columns, sets=start.sets)
            fitness, genes = base.held(start.files), labels_of(task, start.sets)
        population = Files(self, task, fitness, genes, start.origins, start.left_out, rng)
        population.settle(start.files)
        stay = start.without_best(population.scores, task.drop_best)
        return population if len(stay) == len(start.files) else population.only(stay)

    def resume(self, task: Task, values: Values) -> Population:
        document, gains = document_of(values), values["gains"].tolist()
        genes: Genes
        if is_numeric(task):
            numbers = NumberFitness.of(task.table, task.columns, gains=gains, decimals=self.decimals)
            fitness: FileFitness = numbers
            genes = WholeNumbers(numbers.codes, values["lows"], values["highs"])
        else:
            sets = document["sets"]
            fitness = Fitness.of(task.table, task.columns, gains, sets=sets)
            genes = labels_of(task, sets)
        left_out = [LeftOut(**each) for each in document["left_out"]]
        rng = generator_of(document["generator"])
        files, origins = list(genes.unpacked(values["files"])), tuple(document["origins"])
        if len(files) != len(origins):
            raise ValueError("each file has an origin")
        # Those that an earlier version did not know are as they were before.
        method = replace(self, **document.get("parameters", _EARLIER))
        population = Files(method, task, fitness, genes, origins, left_out, rng)
        population.settle(files)
        population.evaluated, population.generation = int(document["evaluated"]), int(document["generation"])
        return population

    def check(self, task: Task) -> None:
        super().check(task)
        if is_numeric(task):
            others = [name for name in task.columns if task.table.attribute(name).kind != CONTINUOUS]
            if others:
                raise InvalidParameter(
                    f"{named('columns')}: numbers and categories evolve apart, and {', '.join(map(repr, others))} "
                    f"{'hold' if len(others) > 1 else 'holds'} categories; evolve them in a run of their own, or read "
                    f"numbers as categories: {named('kind')} NAME=ordinal."
                )
            for name in task.columns:
                if None in task.table.attribute(name).domain:
                    raise InvalidParameter(
                        f"{named('columns')}: {name!r} has missing values, and evolution changes numbers only; leave "
                        f"it out, or read it as categories: {named('kind')} {name}=ordinal."
                    )
        if max(_sizes(task)) < 2:
            raise NoSolution("Each of the columns has one value: nothing in them can change.")


def is_numeric(task: Task) -> bool:
    """Whether any of the columns that evolve holds numbers."""
    return any(task.table.attribute(name).kind == CONTINUOUS for name in task.columns)


def labels_of(task: Task, sets: Sequence[Sets]) -> Categories:
    """Genes that are values of the domains or one of the *sets* of each column."""
    return Categories(
        sizes=[size + len(own) for size, own in zip(_sizes(task), sets, strict=True)],
        sets=tuple(tuple(map(tuple, own)) for own in sets),
    )


def _sizes(task: Task) -> list[int]:
    """How many values each of the columns has."""
    return [len(task.table.attribute(name).domain) for name in task.columns]
