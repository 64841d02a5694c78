"""DBRL: masked records whose nearest original is their own."""

from __future__ import annotations

from dataclasses import dataclass

from tabular.measures.contract import measures
from tabular.measures.linkage.nearest import NearestLinkage


@measures.add(
    "dbrl",
    cites="Mares Soler (2013), section 2.4.2; Domingo-Ferrer and Torra (2002)",
    limits="all attributes have the same weight; n originals that are equally near count 1/n each",
)
@dataclass(frozen=True, kw_only=True)
class DistanceLinkage(NearestLinkage):
    """Share of masked records whose nearest original is their own."""
