"""DBRL: masked records whose nearest original is their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabular.measures.comparison import paired_columns
from tabular.measures.contract import Measure, Reading, measures
from tabular.measures.linkage.nearest import linked
from tabular.table import Table


@measures.add(
    "dbrl",
    cites="Mares Soler (2013), section 2.4.2; Domingo-Ferrer and Torra (2002)",
    limits="all attributes have the same weight; n originals that are equally near count 1/n each",
)
@dataclass(frozen=True, kw_only=True)
class DistanceLinkage(Measure):
    """Share of masked records whose nearest original is their own."""

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """The expected number of records linked rightly, and their share."""
        raw = linked(paired_columns(original, masked, attributes))
        return Reading(raw=raw, percent=100 * raw / len(original))
