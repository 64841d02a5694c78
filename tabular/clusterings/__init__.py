"""Clusterings of the records of a table, for protections that work cluster by cluster."""

from __future__ import annotations

from tabular.clusterings.contract import Clustering, clusterings, numbered

clusterings.load(__name__)

__all__ = ["Clustering", "clusterings", "numbered"]
