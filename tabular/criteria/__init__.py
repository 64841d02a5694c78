"""Criteria of a table as it stands: k, l, t and the risks of re-identification."""

from __future__ import annotations

from tabular.criteria.anonymity import Anonymity, spread, suppressed_rows
from tabular.criteria.checking import Check, check
from tabular.criteria.contract import HIGHER, LOWER, Criterion, criteria, key_of

criteria.load(__name__)

__all__ = [
    "HIGHER",
    "LOWER",
    "Anonymity",
    "Check",
    "Criterion",
    "check",
    "criteria",
    "key_of",
    "spread",
    "suppressed_rows",
]
