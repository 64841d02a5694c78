"""What the sizes of classes cost, by the table that comes of it."""

from __future__ import annotations

import numpy as np

from tabular.anonymity import Anonymity


def discernibility(table, quasi_identifiers, *, suppressed=None):
    """DM: for each row the rows it cannot be told from, of a suppressed one all; summed (Bayardo and Agrawal 2005)."""
    out = np.zeros(len(table), dtype=np.bool_) if suppressed is None else suppressed
    sizes = np.zeros(0, dtype=np.int64)
    if not out.all():
        sizes = Anonymity.of(table, quasi_identifiers, suppressed=out).classes.sizes
    return int((sizes**2).sum()) + int(out.sum()) * len(table)


def normalized_average_class_size(table, quasi_identifiers, k=1, *, suppressed=None):
    """C_AVG: the mean size of a class over *k*, the size it needs; 1 is the best (LeFevre and others 2006)."""
    found = Anonymity.of(table, quasi_identifiers, suppressed=suppressed)
    return len(found.kept) / len(found.classes.sizes) / k
