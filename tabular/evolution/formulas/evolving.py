"""Formulas as something that evolves: its options, and what it starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabular.attributes import CONTINUOUS
from tabular.errors import InvalidParameter, NoSolution, named
from tabular.evolution.contract import Population, Task, evolutions
from tabular.evolution.fitness.contract import Fitness
from tabular.evolution.formulas.grammar import GRAMMARS, Grammar
from tabular.evolution.formulas.layer import Breeding
from tabular.evolution.formulas.layers import Layers
from tabular.evolution.formulas.population import FormulaPopulation, Luck
from tabular.evolution.formulas.weighing import Guards, Weigher, drawn_measure, frequencies_of, masked_codes
from tabular.evolution.matrices.expectation import Expectation
from tabular.evolution.matrices.guards import GuardedEvolution
from tabular.loop import Values, document_of
from tabular.matrices.formulas import Formula
from tabular.registry import option

#: The most generations before the first one in which something may be released.
TRIES = 200


@evolutions.add(
    "formula",
    cites="Mares Soler (2013), section 4.2, Algorithms 7 and 8",
    limits="promises no k; the score of a drawn file differs from the expected one by chance; unless files are drawn "
    "to judge them, their risk counts DBRL and not PRL",
)
@dataclass(frozen=True, kw_only=True)
class EvolvedFormulas(GuardedEvolution):
    """Formulas that make the PRAM matrix of any column from its frequencies, and improve themselves.

    A formula that was found on one table masks others: `pram` takes it.
    """

    levels: int = option(5, low=1, high=8, help="most levels of a formula, a single terminal being one; the thesis "
    "tries 3, 4 and 5")  # fmt: skip
    terminals: str = option("plain", choices=tuple(GRAMMARS), help="plain: those of the thesis; diagonal: i=j, too; "
    "normalised: formulas whose rows sum to 1 by construction")  # fmt: skip
    size: int = option(100, low=4, high=100_000, help="formulas of each number of levels")
    tournament: int = option(16, low=2, high=1_000, help="formulas that meet in a generation; the better half is bred")
    crossover: float = option(0.5, low=0, high=1, help="how often the winners are crossed, and else mutated")
    replicas: int = option(0, low=0, high=1000, help="masked files drawn for each evaluation; 0: the expectation, "
    "without drawing any")  # fmt: skip

    def check(self, task: Task) -> None:
        super().check(task)
        for name in task.columns:
            if task.table.attribute(name).kind == CONTINUOUS:
                raise InvalidParameter(f"{named('columns')}: {name!r} is continuous; formulas are for categories.")
        if not any(np.count_nonzero(counts) > 1 for counts in frequencies_of(task.table, task.columns).values()):
            raise NoSolution("No column has two categories that occur, so that every matrix is the identity.")
        if task.population is not None:
            raise InvalidParameter(f"{named('population')}: formulas start from random ones, and not from files.")

    def begin(self, task: Task, rng: np.random.Generator) -> Population:
        luck = Luck(*(int(each) for each in rng.integers(2**62, size=2)))
        layers = Layers.of(self._grammar, self.levels, self._breeding, rng)
        formulas = layers.ask()
        gains = self._gains(task, formulas, luck) if self.replicas else []
        found = FormulaPopulation(task, layers, self._weigher(task, luck, gains), luck, gains)
        found.tell(found.evaluate(formulas))
        found.drop_best(task.drop_best)
        # All that is grown at random can be without an inverse, or give the original back.
        tries = 0
        while not np.isfinite(found.scores).any() and tries < TRIES:
            found.tell(found.evaluate(found.ask()))
            tries += 1
        if not np.isfinite(found.scores).any():
            raise NoSolution(
                f"Nothing may be released: each of {found.evaluated:,} formulas is withheld, and the best one "
                f"{found.individual(0).withheld}. More {named('levels')} may do better."
            )
        return found

    def resume(self, task: Task, values: Values) -> Population:
        document = document_of(values)
        luck, gains = Luck(*map(int, document["luck"])), document["gains"]
        layers = Layers.of_document(document["layers"], self._grammar, self._breeding)
        return FormulaPopulation(task, layers, self._weigher(task, luck, gains), luck, gains)

    @property
    def _grammar(self) -> Grammar:
        return GRAMMARS[self.terminals]

    @property
    def _breeding(self) -> Breeding:
        return Breeding(size=self.size, tournament=self.tournament, crossover=self.crossover)

    def _weigher(self, task: Task, luck: Luck, gains: Sequence[int]) -> Weigher:
        frequencies = frequencies_of(task.table, task.columns)
        guards = Guards(frequencies=frequencies, limits=self.limits(task))
        if not self.replicas:
            return Weigher(frequencies, Expectation.of(task.table, task.columns).measured, guards, task.score)
        fitness = Fitness.of(task.table, task.columns, gains)
        return Weigher(frequencies, drawn_measure(fitness, self.replicas, luck.replicas), guards, task.score)

    def _gains(self, task: Task, formulas: Sequence[Formula], luck: Luck) -> list[int]:
        """The weights that drawn files are linked by, counted over files of the first formulas."""
        fitness, frequencies = Fitness.of(task.table, task.columns), frequencies_of(task.table, task.columns)
        files = (
            masked_codes(
                fitness,
                {name: formula.matrix(counts) for name, counts in frequencies.items()},
                np.random.default_rng((luck.replicas, number)),
            )
            for number, formula in enumerate(formulas)
        )
        gains: list[int] = fitness.held(files).gains.tolist()
        return gains
