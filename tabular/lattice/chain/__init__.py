"""D-KGEN: releases of a table that changes, such that all of them together keep k."""

from tabular.lattice.chain.consistency import already_told
from tabular.lattice.chain.evaluator import DynamicEvaluator
from tabular.lattice.chain.history import History
from tabular.lattice.chain.previous import read_history
from tabular.lattice.chain.records import document_of, write_history
from tabular.lattice.chain.search import DynamicKgen

__all__ = [
    "DynamicEvaluator",
    "DynamicKgen",
    "History",
    "already_told",
    "document_of",
    "read_history",
    "write_history",
]
