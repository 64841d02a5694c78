"""Transition matrices of PRAM: made from frequencies, made invariant, kept in files, and used to correct counts.

`matrix[i, j]` is the probability that category i of the original becomes category j.
"""

from __future__ import annotations

from tabular.matrices.correction import CorrectedFrequencies, corrected_frequencies
from tabular.matrices.files import read_matrices, read_matrix, write_matrix
from tabular.matrices.invariance import bounded, invariant
from tabular.matrices.stochastic import by_frequency, retaining, stochastic

__all__ = [
    "CorrectedFrequencies",
    "bounded",
    "by_frequency",
    "corrected_frequencies",
    "invariant",
    "read_matrices",
    "read_matrix",
    "retaining",
    "stochastic",
    "write_matrix",
]
