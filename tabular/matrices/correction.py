"""Frequencies of an original estimated from its masked file and the transition matrix (Gouweleeuw and others 1998)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Attribute, Value
from tabular.errors import InvalidInput, NoSolution
from tabular.matrices.stochastic import stochastic
from tabular.table import Table

#: A matrix with a greater condition number gives estimates that are noise.
WORST_CONDITION = 1e10


@dataclass(frozen=True, eq=False)
class CorrectedFrequencies:
    """For each category its count in the masked file, the estimate for the original, and the standard error."""

    attribute: Attribute
    masked: NDArray[np.int64]
    estimates: NDArray[np.float64]
    errors: NDArray[np.float64]

    def rows(self) -> Sequence[tuple[Value, int, float, float]]:
        """Value, masked frequency, estimate and standard error, in the order of the domain."""
        columns = self.masked.tolist(), self.estimates.tolist(), self.errors.tolist()
        return list(zip(self.attribute.domain, *columns, strict=True))


def corrected_frequencies(masked: Table, name: str, matrix: Any) -> CorrectedFrequencies:
    """Estimate the frequencies that column *name* had before it was masked by *matrix*, without bias.

    An estimate can be below 0; it is not cut off, since that would make it biased. With t the original frequencies, the
    masked ones are in expectation P't; the inverse undoes that. Given t, records move each by itself, so the masked
    counts vary as the sum of one multinomial a category (de Wolf and van Gelder 2004); t is replaced by its estimate
    there.
    """
    attribute = masked.attribute(name)
    if masked.sets[name]:
        raise InvalidInput(f"Column {name!r} holds labels that stand for sets; no transition matrix makes them.")
    counts = np.bincount(masked.columns[name], minlength=len(attribute.domain))
    transitions = stochastic(attribute, matrix)
    if np.linalg.cond(transitions) > WORST_CONDITION:
        raise NoSolution(
            f"The frequencies of {attribute.name!r} cannot be corrected: its matrix has no inverse. "
            f"Mask with a matrix that has one, as every invariant one of ours does."
        )
    inverse = np.linalg.inv(transitions.T)
    estimates = inverse @ counts
    # The spread of the masked counts: each category's probabilities times what they leave, summed over its records.
    spread = np.diag(estimates @ transitions) - (transitions.T * estimates) @ transitions
    variances = np.einsum("ij,jk,ik->i", inverse, spread, inverse, optimize=True)
    return CorrectedFrequencies(attribute, counts, estimates, np.sqrt(np.maximum(variances, 0)))
