"""D-KGEN: releases of a table that changes, such that all of them together keep k."""

from tabular.lattice.dynamic.consistency import already_told
from tabular.lattice.dynamic.evaluator import DynamicEvaluator
from tabular.lattice.dynamic.history import History
from tabular.lattice.dynamic.previous import read_history
from tabular.lattice.dynamic.records import document_of, write_history
from tabular.lattice.dynamic.search import DynamicKgen

__all__ = [
    "DynamicEvaluator",
    "DynamicKgen",
    "History",
    "already_told",
    "document_of",
    "read_history",
    "write_history",
]
