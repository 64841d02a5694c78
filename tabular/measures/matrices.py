"""Transition matrices that measures are given: how probably each original value became each masked one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidInput
from tabular.matrices.stochastic import ROUNDING
from tabular.measures.comparison import Column


def checked_matrix(column: Column, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """*matrix* as numbers, or an error where it is no transition matrix of the column's domain."""
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.shape != (column.size, column.size):
        raise InvalidInput(f"The matrix of {column.name!r} must be {column.size} x {column.size}, as the domain is.")
    if not np.isfinite(matrix).all() or (matrix < 0).any() or (np.abs(matrix.sum(axis=1) - 1) > ROUNDING).any():
        raise InvalidInput(f"The matrix of {column.name!r} is not stochastic: each row must sum to 1, none below 0.")
    if column.sets:
        raise InvalidInput(f"Column {column.name!r} holds labels that stand for sets; no transition matrix makes them.")
    return matrix
