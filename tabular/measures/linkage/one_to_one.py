"""The one-to-one assignment of two files of greatest weight."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tabular.measures.contract import Numbers, Pairs
from tabular.measures.linkage.agreement import agreements, shares_of_agreement
from tabular.measures.linkage.candidates import space_of
from tabular.measures.linkage.code_order import first_in_code_order
from tabular.measures.linkage.nearest import Labels
from tabular.measures.linkage.transport import Links, optimum

#: The edges that the best transports may choose from.
EDGES = 4 * 10**7


@dataclass(frozen=True, eq=False)
class Assignment:
    """One assignment of masked records to originals: `right` of them are their own, `agreement` holds by attribute."""

    right: float
    agreement: Numbers


@dataclass(frozen=True, eq=False)
class TwoFiles:
    """Two files whose records are to be linked one to one, in so many *steps* at most."""

    pairs: Pairs
    labels: Labels
    steps: int

    @cached_property
    def shares(self) -> Numbers:
        """For each attribute the share of all pairs of records that agree in it."""
        return shares_of_agreement(self.pairs, self.labels)

    @property
    def records(self) -> int:
        """How many records each file has."""
        return int(self.pairs.records.sum())

    def assigned(self, gains: NDArray[np.int64]) -> Assignment | None:
        """The assignment of greatest weight, the first in code order; None if it takes too long.

        *gains* are what agreement adds to a weight, by attribute.
        """
        supply, demand = self.pairs.original.counts, self.pairs.masked.counts
        space = space_of(self.pairs, self.labels, gains, self.shares)
        found = optimum(space, demand, self.steps, EDGES)
        if found is None:
            return None
        links = first_in_code_order(found, len(supply), len(demand))
        agreeing = agreements(self.pairs, self.labels, links.originals, links.masked)
        return Assignment(_right(self.pairs, links), links.flows @ agreeing / self.records)


def _right(pairs: Pairs, links: Links) -> float:
    """The number of true pairs that the flows are expected to link if records of a combination are drawn at random."""
    supply, demand = pairs.original.counts, pairs.masked.counts
    keys = links.originals.astype(np.int64) * len(demand) + links.masked
    true = pairs.origins * len(demand) + pairs.results
    places = np.minimum(np.searchsorted(keys, true), len(keys) - 1)
    flows = np.where(keys[places] == true, links.flows[places], 0)
    return float(np.sum(flows * pairs.records / (supply[pairs.origins] * demand[pairs.results])))
