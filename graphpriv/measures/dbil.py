"""DBIL: how far the profile of each user moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import ATTRIBUTES
from graphpriv.measures.contract import Measure, Reading, measures
from graphpriv.pair import Pair
from graphpriv.places import TOP


@measures.add(
    "dbil",
    cites="Mares Soler (2013), eq 6.7",
    limits="needs the mapping",
)
@dataclass(frozen=True, kw_only=True)
class DistanceLoss(Measure):
    """Mean distance of each user's profile from what it was."""

    def measure(self, pair: Pair) -> Reading | None:
        """Eq 6.7, by attribute and over all."""
        if pair.mapping is None:
            return None
        moved = sevenths(pair.shared)
        whole = TOP * max(len(moved), 1)
        totals = [int(total) for total in moved.sum(axis=0, dtype=np.int64)]
        return Reading(
            by_attribute={name: total / whole for name, total in zip(ATTRIBUTES, totals, strict=True)},
            mean=sum(totals) / (len(ATTRIBUTES) * whole),
        )


def sevenths(pair: Pair) -> NDArray[np.int8]:
    """For each original user with a counterpart and each attribute the distance between the two values, in sevenths.

    Distances are those of eq 6.1 for the location and of eq 6.2 for topics. The row's sum over 28 is the DBIL of the
    user, as in Figure 6.8.
    """
    if pair.mapping is None:
        raise ValueError("Which user became which is not known.")
    known = np.flatnonzero(pair.mapping >= 0)
    into = pair.mapping[known]
    steps = pair.original.places.steps(pair.original.location[known], pair.masked.location[into])
    topics = TOP * (pair.original.topics[known] != pair.masked.topics[into]).astype(np.int8)
    return np.column_stack([steps, topics]).astype(np.int8)
