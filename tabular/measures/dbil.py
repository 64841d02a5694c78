"""DBIL: how far the values moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from tabular.distances import paired_distances
from tabular.measures.comparison import paired_columns
from tabular.measures.contract import Measure, Reading, measures
from tabular.table import Table


@measures.add(
    "dbil",
    cites="Mares Soler (2013), eq 2.6 to 2.9; Torra and Domingo-Ferrer (2001)",
    limits="looks at each value alone; an ordinal value is at distance 0 from itself, where eq 2.6 gives 1/|D|",
)
@dataclass(frozen=True, kw_only=True)
class DistanceLoss(Measure):
    """Mean distance between a record's original and its masked values."""

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """Eq 2.8, and 100 times the mean over records and attributes."""
        columns = paired_columns(original, masked, attributes)
        # Rounded once, at the end, so that the order of the rows does not show in the last digit.
        raw = fsum(
            distance
            for each in columns
            for distance in paired_distances(
                each.original, each.masked, each.sets, each.size, ordered=each.ordered
            ).tolist()
        )
        return Reading.share(raw, of=len(original) * len(columns))
