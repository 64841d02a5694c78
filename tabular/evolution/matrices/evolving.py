"""Matrices as something that evolves: its options, and what it starts from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import CONTINUOUS
from tabular.comparison import LeftOut
from tabular.errors import InvalidParameter, NoSolution, named
from tabular.evolution.contract import Population, Task, evolutions
from tabular.evolution.fitness.contract import Fitness
from tabular.evolution.matrices.expectation import Expectation
from tabular.evolution.matrices.guards import GuardedEvolution
from tabular.evolution.matrices.objectives import (
    CHI_SQUARE,
    COUNTS,
    KINDS,
    RATIO,
    SCORE,
    DrawnDifference,
    DrawnScore,
    ExpectationRatio,
    ExpectedChiSquare,
    ExpectedCounts,
    ExpectedScore,
    Objective,
)
from tabular.evolution.matrices.population import MatrixPopulation, Member, Setting, member_of
from tabular.evolution.matrices.shape import Shape
from tabular.grid import MATRICES
from tabular.loop import Values, document_of
from tabular.matrices.transition import read_matrices
from tabular.measures.linkage.agreement import gains_of
from tabular.protections.pram import PRAM, read_bounds
from tabular.registry import option
from tabular.table import Table

#: The kinds of fitness that compare with a column that is not masked.
_BESIDE = (COUNTS, CHI_SQUARE)


@evolutions.add(
    "matrices",
    cites="Mares Soler (2013), section 4.1, Algorithm 6",
    limits="promises no k; the score of a drawn file differs from the expected one by chance; unless files are drawn "
    "to judge them, their risk counts DBRL and not PRL",
)
@dataclass(frozen=True, kw_only=True)
class EvolvedMatrices(GuardedEvolution):
    """Transition matrices of PRAM that improve themselves, one for each column.

    They start from the nine PRAMs of the grid of protections, from one that *retain* or *theta* makes, or from files.
    """

    fitness: str = option("score", choices=KINDS, help="what they are judged by: the score; the difference of counts "
    "(eq 4.5) or of chi-square (eq 4.8) with another column; or the expectation ratio")  # fmt: skip
    beside: str | None = option(None, help="the unmasked column of the fitness kinds counts and chi-square")
    replicas: int = option(0, low=0, high=1000, help="masked files drawn for each evaluation, 5 in the thesis; "
    "0: the expectation, without drawing any")  # fmt: skip
    retain: float | None = option(
        None, low=0, high=1, help="start from this probability to keep a value (eq 2.3), in place of theta"
    )
    theta: float | None = option(
        None,
        low=0,
        high=1,
        help="start from this probability to change a value of the rarest category (eq 2.4 and 2.5)",
    )
    invariant: bool = option(False, help="matrices that keep the frequencies in expectation")
    diagonal: str | None = option(None, help="bounds of the probability to keep a value, lo,hi such as 0.55,0.75")
    window: int | None = option(None, low=1, help="how many places a value moves at most, in the order of its domain")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.retain is not None and self.theta is not None:
            raise InvalidParameter(f"Matrices start from {named('retain')} or from {named('theta')}, not from both.")
        if self.diagonal is not None:
            read_bounds(self.diagonal)
        if self.window is not None:
            if self.window != int(self.window):
                raise InvalidParameter.wrong("window", must="be a whole number", was=self.window, owner="Matrices")
            # A door that reads numbers does not know that this one is whole.
            object.__setattr__(self, "window", int(self.window))

    @property
    def fitness_name(self) -> str | None:
        return {
            COUNTS: f"difference of counts beside {self.beside!r} (eq 4.5), in percent",
            CHI_SQUARE: f"difference of chi-square beside {self.beside!r} (eq 4.8), in percent",
            RATIO: "mean expectation ratio, of values that stay to those that come from elsewhere",
        }.get(self.fitness)

    def check(self, task: Task) -> None:
        super().check(task)
        for name in task.columns:
            if task.table.attribute(name).kind == CONTINUOUS:
                raise InvalidParameter(f"{named('columns')}: {name!r} is continuous; matrices are for categories.")
        if not any(len(task.table.attribute(name).domain) > 1 for name in task.columns):
            raise NoSolution("No column has two categories, so that every matrix is the identity.")
        self._check_beside(task)

    def begin(self, task: Task, rng: np.random.Generator) -> Population:
        return self.begin_with(task, dict(self._starts(task)), rng)

    def begin_with(
        self, task: Task, given: Mapping[str, Mapping[str, NDArray[np.float64]]], rng: np.random.Generator
    ) -> MatrixPopulation:
        """The population that starts with the *given* sets of matrices, by what they are called."""
        setting = self._setting(task, ())
        starts, left_out = list[Member](), list[LeftOut]()
        for origin, matrices in given.items():
            member = member_of(setting, origin, matrices)
            if member is None:
                left_out.append(LeftOut(origin, "it has no inverse near it in the wanted shape"))
            else:
                starts.append(member)
        if not starts:
            raise NoSolution(
                f"There is nothing to start from: {left_out[0].method} is left out, since {left_out[0].reason}."
            )
        found = MatrixPopulation.begin(task, self._setting(task, expected_gains(task.table, starts)), starts, rng)
        found.left_out = left_out
        return found

    def resume(self, task: Task, values: Values) -> Population:
        return MatrixPopulation.resume(task, self._setting(task, document_of(values)["gains"]), values)

    def _check_beside(self, task: Task) -> None:
        if self.fitness not in _BESIDE:
            if self.beside is not None:
                raise InvalidParameter(f"{named('beside')} is for the fitness kinds {' and '.join(_BESIDE)}.")
            return
        if self.beside is None:
            raise InvalidParameter(f"{named('fitness')} {self.fitness} needs {named('beside')}, another column.")
        task.table.attribute(self.beside)
        if len(task.columns) > 1 or self.beside in task.columns:
            raise InvalidParameter(
                f"{named('fitness')} {self.fitness} is of one masked column and another one that stays as it is."
            )

    def _starts(self, task: Task) -> Iterator[tuple[str, Mapping[str, NDArray[np.float64]]]]:
        """The matrices to start from, and what they are called."""
        if task.population is not None:
            known = [task.table.attribute(name) for name in task.columns]
            yield "given matrices", read_matrices(task.population, known)
            return
        given = {name: getattr(self, name) for name in ("retain", "theta") if getattr(self, name) is not None}
        for parameters in (given,) if given else MATRICES:
            origin = " ".join(f"{name}={value:g}" for name, value in parameters.items())
            yield f"pram {origin}", PRAM(**parameters).matrices(task.table, task.columns)

    def _setting(self, task: Task, gains: Sequence[int]) -> Setting:
        bounds = None if self.diagonal is None else read_bounds(self.diagonal)
        shapes = {
            name: Shape.of(task.table, name, invariant=self.invariant, bounds=bounds, reach=self.window)
            for name in task.columns
        }
        try:
            expectation = Expectation.of(task.table, task.columns)
        except NoSolution:
            if self.fitness == SCORE and not self.replicas:
                raise
            expectation = Expectation.of(task.table, task.columns, linkage=False)
        return Setting(
            shapes=shapes,
            objective=self._objective(task, shapes, expectation, gains),
            expectation=expectation,
            limits=self.limits(task),
            gains=tuple(gains),
        )

    def _objective(
        self, task: Task, shapes: Mapping[str, Shape], expectation: Expectation, gains: Sequence[int]
    ) -> Objective:
        if self.fitness == RATIO:
            return ExpectationRatio({name: shape.frequencies for name, shape in shapes.items()})
        if self.fitness == SCORE:
            if self.replicas:
                return DrawnScore(Fitness.of(task.table, task.columns, gains or None), task.score, self.replicas)
            return ExpectedScore(expectation, task.score)
        # `check` saw to it that there is one.
        masked, beside = task.columns[0], str(self.beside)
        if self.replicas:
            return DrawnDifference(task.table, masked, beside, self.fitness, self.replicas)
        return (ExpectedCounts if self.fitness == COUNTS else ExpectedChiSquare).of(task.table, masked, beside)


def expected_gains(table: Table, members: Sequence[Member]) -> list[int]:
    """What agreement in each column adds to the weight of a link, in millionths, as the owner expects it of *members*.

    Agreement of true pairs against agreement of all pairs, over the files that their matrices make; never below 0.
    """
    together, apart = list[float](), list[float]()
    for name in members[0].matrices:
        matrices = [each.matrices[name] for each in members]
        shares = np.bincount(table.columns[name], minlength=len(matrices[0])) / len(table)
        together.append(float(np.mean([shares @ np.diag(matrix) for matrix in matrices])))
        apart.append(float(np.mean([shares @ (shares @ matrix) for matrix in matrices])))
    return [int(gain) for gain in np.maximum(gains_of(np.array(together), np.array(apart)), 0)]
