"""The informed attacker: linkage by what the transition matrices say of each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular.measures.comparison import Column, checked_matrix
from tabular.measures.contract import measures
from tabular.measures.linkage.nearest import Labels, NearestLinkage


@measures.add(
    "informed",
    cites="Fellegi and Sunter (1969), with weights by value",
    limits="without matrices it uses those that the two files show, which is more than an attacker can know",
)
@dataclass(frozen=True, kw_only=True)
class InformedLinkage(NearestLinkage):
    """Share of masked records that an attacker links who knows the probability of every change of a value.

    A masked record is linked with the original that most probably became it; of equally probable ones each counts
    its share. *matrices* are transition matrices by attribute, rows by original value; an attribute that has none is
    judged by the two files.
    """

    matrices: Mapping[str, NDArray[np.float64]] | None = None

    def labels(self, columns: Sequence[Column]) -> Labels:
        """The members of a label are its possible originals, at the cost -log P(V' = label | V = member)."""
        known = self.matrices or {}
        found = [
            _from_matrix(column, known[column.name]) if column.name in known else _from_files(column)
            for column in columns
        ]
        counts = [
            np.bincount(labels, minlength=column.size + len(column.sets))
            for column, (labels, _, _) in zip(columns, found, strict=True)
        ]
        return Labels.of(columns)._replace(
            members=np.concatenate([members for _, members, _ in found]).astype(np.int32),
            starts=np.concatenate([[0], np.cumsum(np.concatenate(counts))]),
            costs=np.concatenate([costs for _, _, costs in found]),
        )


def _from_files(column: Column) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    keys, together = np.unique(column.masked.astype(np.int64) * column.size + column.original, return_counts=True)
    labels, members = keys // column.size, keys % column.size
    frequencies = np.bincount(column.original, minlength=column.size)
    return labels, members, np.log(frequencies[members] / together)


def _from_matrix(
    column: Column, matrix: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    transitions = checked_matrix(column, matrix).T
    labels, members = np.nonzero(transitions)
    return labels, members, -np.log(transitions[labels, members])
