"""What a formula is worth on one table: its matrices, what is measured of them, and what speaks against a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tabular.evolution.fitness.contract import Fitness, Scores
from tabular.evolution.formulas.layer import Worth
from tabular.evolution.matrices.guards import Limits, Matrices, complaint
from tabular.matrices.formulas import MOST_CHARACTERS, Formula, is_too_long
from tabular.matrices.transition import WORST_CONDITION, refuse_many
from tabular.protections.pram import drawn
from tabular.table import Table

#: How often each category of a column occurs, by column.
Frequencies: TypeAlias = "Mapping[str, NDArray[np.int64]]"

#: Digits behind the point of the probabilities that are measured.
DIGITS = 12


class Measured(Protocol):
    """Loss and risk of a table that is masked by matrices."""

    @property
    def information_loss(self) -> float:
        """In percent."""

    @property
    def disclosure_risk(self) -> float:
        """In percent."""

    def score(self, kind: str) -> float:
        """Both in one number; lower is better."""


@dataclass(frozen=True, kw_only=True)
class Guards:
    """What speaks against a release by matrices; *limits* None lets pass what gives the original away."""

    frequencies: Frequencies
    limits: Limits | None

    def __call__(self, matrices: Matrices) -> str | None:
        """Why *matrices* are not used for a release, in words that go on after "it"; None where nothing is wrong."""
        for name, matrix in matrices.items():
            if np.linalg.cond(matrix) > WORST_CONDITION:
                return f"has a matrix of {name!r} without an inverse: no frequencies can be corrected with it"
        return None if self.limits is None else complaint(matrices, self.frequencies, self.limits)


@dataclass(frozen=True, eq=False)
class Weigher:
    """Weighs formulas; those that give the same matrices are measured once."""

    frequencies: Frequencies
    measure: Callable[[Matrices], Measured]
    guards: Guards
    kind: str
    _known: dict[bytes, Worth] = field(default_factory=dict, init=False, repr=False)

    def matrices(self, formula: Formula) -> dict[str, NDArray[np.float64]]:
        """The matrix that *formula* makes for each column."""
        return {name: formula.matrix(counts) for name, counts in self.frequencies.items()}

    def worth(self, formula: Formula) -> Worth:
        """The score of the table masked by the matrices of *formula*, and whether that may not be released."""
        matrices = self._measured_matrices(formula)
        key = b"".join(matrix.tobytes() for matrix in matrices.values())
        if key not in self._known:
            found = self.measure(matrices)
            self._known[key] = Worth(
                found.score(self.kind),
                found.information_loss,
                found.disclosure_risk,
                refused=self.guards(matrices) is not None,
            )
        return self._known[key]._replace(refused=True) if is_too_long(formula) else self._known[key]

    def complaint(self, formula: Formula) -> str | None:
        """Why *formula* is not used for a release, in words that go on after "it"; None where nothing is wrong."""
        if is_too_long(formula):
            return f"has more than {MOST_CHARACTERS:,} characters, so that it could not be read again"
        return self.guards(self._measured_matrices(formula))

    def _measured_matrices(self, formula: Formula) -> Matrices:
        # Formulas of the same matrix differ in how they round; what is measured has as many digits as are the same.
        return {name: np.round(matrix, DIGITS) for name, matrix in self.matrices(formula).items()}


@dataclass(frozen=True)
class Drawn:
    """The measures of some masked files; the score is the mean of theirs."""

    files: tuple[Scores, ...]

    @property
    def information_loss(self) -> float:
        """The mean of the files'."""
        return float(np.mean([each.information_loss for each in self.files]))

    @property
    def disclosure_risk(self) -> float:
        """The mean of the files'."""
        return float(np.mean([each.disclosure_risk for each in self.files]))

    def score(self, kind: str) -> float:
        """The mean of the files' scores (eq 4.3 and 4.4)."""
        return float(np.mean([each.score(kind) for each in self.files]))


def drawn_measure(fitness: Fitness, replicas: int, seed: int) -> Callable[[Matrices], Drawn]:
    """Measures files that are drawn by matrices, by the same luck each time."""

    def measure(matrices: Matrices) -> Drawn:
        rngs = [np.random.default_rng((seed, number)) for number in range(replicas)]
        return Drawn(tuple(fitness.full(masked_codes(fitness, matrices, rng)) for rng in rngs))

    return measure


def masked_codes(fitness: Fitness, matrices: Matrices, rng: np.random.Generator) -> NDArray[np.int32]:
    """The file with each value drawn by the matrix of its column."""
    columns = [drawn(fitness.codes[:, place], matrices[name], rng) for place, name in enumerate(fitness.attributes)]
    return np.stack(columns, axis=1)


def frequencies_of(table: Table, attributes: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """How often each value of the domain of *attributes* occurs."""
    for name in attributes:
        refuse_many(table.attribute(name))
    return {name: np.bincount(table.columns[name], minlength=len(table.attribute(name).domain)) for name in attributes}
