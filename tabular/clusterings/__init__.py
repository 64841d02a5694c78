"""Clusterings of the records of a table, by which protections can be made cluster by cluster."""

from __future__ import annotations

from tabular.clusterings.contract import Clustering, clusterings, numbered

clusterings.load(__name__)

__all__ = ["Clustering", "clusterings", "numbered"]
