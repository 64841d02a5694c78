"""EBIL: the uncertainty of the original value for somebody who sees the masked one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidInput
from tabular.measures.comparison import Column, checked_matrix, paired_columns
from tabular.measures.contract import Measure, Reading, measures
from tabular.table import Table


@measures.add(
    "ebil",
    cites="Mares Soler (2013), eq 2.12 and 2.13; Kooiman, Willenborg and Gouweleeuw (1997)",
    limits="a permutation of the categories loses nothing; a label that stands for a set is a category of its own",
)
@dataclass(frozen=True, kw_only=True)
class EntropyLoss(Measure):
    """Entropy of the original value given the masked one, as a share of the greatest possible.

    *matrices* are transition matrices by attribute, rows by original value; an attribute that has none is judged by
    the two files.
    """

    matrices: Mapping[str, NDArray[np.float64]] | None = None

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """Eq 2.13 with natural logarithms; in percent of records times log |D|, as the mean over the attributes."""
        columns = paired_columns(original, masked, attributes)
        losses = [self._loss(column) for column in columns]
        shares = [
            loss / (len(original) * log(column.size)) if column.size > 1 else 0.0
            for loss, column in zip(losses, columns, strict=True)
        ]
        return Reading(raw=fsum(losses), percent=100 * fsum(shares) / len(shares))

    def _loss(self, column: Column) -> float:
        if self.matrices is None or column.name not in self.matrices:
            return entropy_by_files(column)
        return entropy_by_matrix(column, self.matrices[column.name])


def entropy_by_files(column: Column) -> float:
    """Eq 2.13 with P(V = i | V' = j) as the two files have it, summed over the records."""
    keys, together = np.unique(column.masked.astype(np.int64) * column.size + column.original, return_counts=True)
    labels = keys // column.size
    of_label = np.bincount(labels, weights=together)[labels]
    return fsum((together * np.log(of_label / together)).tolist())


def entropy_by_matrix(column: Column, matrix: NDArray[np.float64]) -> float:
    """Eq 2.13 with P(V = i | V' = j) by Bayes from a transition matrix and the original's frequencies."""
    matrix = checked_matrix(column, matrix)
    joint = matrix * np.bincount(column.original, minlength=column.size)[:, None]
    mass = joint.sum(axis=0)
    records = np.bincount(column.masked, minlength=column.size)
    if (records[mass == 0] > 0).any():
        raise InvalidInput(f"Column {column.name!r} holds values that its matrix cannot have made.")
    seen = mass > 0
    posterior = joint[:, seen] / mass[seen]
    entropy = -np.sum(posterior * np.log(posterior, where=posterior > 0, out=np.zeros_like(posterior)), axis=0)
    return fsum((entropy * records[seen]).tolist())
