"""Small problems of one-to-one linkage for tests, and their costs written out as a matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabular.measures.contract import Pairs, paired_columns
from tabular.measures.linkage.agreement import agreements, shares_of_agreement
from tabular.measures.linkage.candidates import space_of
from tabular.measures.linkage.nearest import Labels
from tests.tabular.pairs_of_tables import random_pair


@dataclass
class Small:
    """The combinations of two files, and the gains of agreement."""

    pairs: Pairs
    labels: Labels
    gains: np.ndarray

    @property
    def space(self):
        return space_of(self.pairs, self.labels, self.gains, shares_of_agreement(self.pairs, self.labels))

    @property
    def costs(self):
        """What a link costs, a row an original combination and a column a masked one."""
        rows, columns = len(self.pairs.original), len(self.pairs.masked)
        edges = np.indices((rows, columns)).reshape(2, -1)
        agreeing = agreements(self.pairs, self.labels, *edges)
        costs = np.where(agreeing, np.maximum(-self.gains, 0), np.maximum(self.gains, 0)).sum(axis=1)
        return costs.reshape(rows, columns)


def small(seed, rows, sizes, gains=None, **options):
    """The problem of a random pair, with random gains unless given."""
    original, masked = random_pair(seed, rows, sizes, **options)
    columns = paired_columns(original, masked, original.names)
    if gains is None:
        gains = np.random.default_rng(seed).integers(-2, 10, len(sizes)) * 10**6
    return Small(Pairs.of(columns), Labels.of(columns), np.asarray(gains))
