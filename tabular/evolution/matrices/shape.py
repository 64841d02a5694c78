"""What every matrix of an evolution must be: stochastic, invertible, within bounds and a window, invariant where asked.

A genome is free; the matrix made from it is brought into shape each time, as the thesis does with invariance (4.1.4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Attribute
from tabular.errors import NoSolution
from tabular.evolution.matrices.genotype import Genes, decoded
from tabular.matrices.invariance import INVERTIBLE, SINGULAR, Bounds, bounded, invariant
from tabular.matrices.transition import refuse_many
from tabular.matrices.window import Window, WindowedInvariance, window_of, windowed
from tabular.table import Table

Matrix = NDArray[np.float64]

#: Shares of the identity that are mixed into a singular matrix, one after the other until it can be inverted.
MIXED = (INVERTIBLE, 0.02, 0.05, 0.1, 0.2, 0.4)


@dataclass(frozen=True, eq=False)
class Shape:
    """The shape of the matrices of one attribute."""

    attribute: Attribute
    frequencies: NDArray[np.int64]
    invariant: bool = False
    bounds: Bounds | None = None
    window: Window | None = None
    within: WindowedInvariance | None = None

    @classmethod
    def of(
        cls, table: Table, name: str, *, invariant: bool = False, bounds: Bounds | None = None, reach: int | None = None
    ) -> Shape:
        """That of the column *name*; `NoSolution` says so where no matrix has it."""
        attribute = table.attribute(name)
        refuse_many(attribute)
        counts = np.bincount(table.columns[name], minlength=len(attribute.domain))
        window = within = None
        if reach is not None:
            window = window_of(len(counts), reach)
            within = WindowedInvariance.of(attribute, counts, reach, bounds) if invariant else None
        shape = cls(attribute, counts, invariant, bounds, window, within)
        if shape.matrix(np.eye(len(counts))) is None:
            raise NoSolution(
                f"No matrix for {attribute.name!r} was found that can be inverted with so narrow a diagonal; give it "
                "wider bounds."
            )
        return shape

    def of_genes(self, genes: Genes) -> Matrix | None:
        """The matrix of a genome in this shape; None where there is none near it that can be inverted."""
        try:
            return self.matrix(decoded(genes, self.window))
        except NoSolution:
            return None

    def matrix(self, matrix: Matrix) -> Matrix | None:
        """*matrix* brought into this shape; None where there is none near it that can be inverted."""
        if self.invariant:
            return self._invariant(matrix)
        if self.window is not None:
            matrix = windowed(matrix, self.window)
        mixtures = (share * np.eye(len(matrix)) + (1 - share) * matrix for share in (0.0, *MIXED))
        return next((each for each in map(self._in_bounds, mixtures) if is_invertible(each)), None)

    def _invariant(self, matrix: Matrix) -> Matrix | None:
        if self.within is None:
            found: Matrix | None = invariant(matrix, self.frequencies, self.attribute, self.bounds)
        else:
            found = self.within.matrix(windowed(matrix, self.within.window))
        return found if found is not None and is_invertible(found) else None

    def _in_bounds(self, matrix: Matrix) -> Matrix:
        if self.bounds is None:
            return matrix
        return bounded(matrix, self.bounds, self.attribute, self.window)


def is_invertible(matrix: Matrix) -> bool:
    """Whether *matrix* can be inverted: one whose values mostly stay always can."""
    if (np.diag(matrix) > 0.5 + SINGULAR).all():
        return True
    return bool(np.linalg.svd(matrix, compute_uv=False).min(initial=1.0) > SINGULAR)
