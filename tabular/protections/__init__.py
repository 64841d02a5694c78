"""Protections of a table: each masks the columns it is given, and leaves rows, order and domains as they are."""

from __future__ import annotations

from tabular.protections.contract import Protection, check_columns, protect, protections
from tabular.table import check_k

protections.load(__name__)

__all__ = ["Protection", "check_columns", "check_k", "protect", "protections"]
