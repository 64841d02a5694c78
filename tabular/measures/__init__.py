"""Measures of a masked table against its original: what was lost, and what it still gives away."""

from __future__ import annotations

from tabular.measures.contract import NUMERIC, Measure, Reading, measures
from tabular.measures.scores import Summary, summary

measures.load(__name__)

__all__ = ["NUMERIC", "Measure", "Reading", "Summary", "measures", "summary"]
