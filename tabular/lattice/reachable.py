"""Limits that no node meets, told before any is looked at, with the nearest that the node of one class does meet."""

from __future__ import annotations

import numpy as np

from tabular.errors import NoSolution
from tabular.lattice.limits import Limits
from tabular.table import Table


def refuse_unreachable(table: Table, limits: Limits, sensitive: str | None = None) -> None:
    """Refuse a k or an l that not even all rows together have.

    The top of the lattice puts all rows into one class, which has their number for k, all sensitive values for l and
    0 for t, and suppresses none: whatever it does not satisfy, no node does.
    """
    rows = len(table)
    if limits.k is not None and limits.k > rows > 0:
        raise NoSolution(
            f"No release with k={limits.k} exists: the table has {rows} records. The nearest limit that is met is "
            f"k={rows}, by the node that makes them all alike. Lower k or add records."
        )
    if limits.l is not None and sensitive is not None and rows:
        values = len(np.unique(table.columns[sensitive]))
        if limits.l > values:
            raise NoSolution(
                f"No release with l={limits.l} exists: column {sensitive!r} has {values} distinct values. The nearest "
                f"limit that is met is l={values}, by the node that makes all records alike. Lower l."
            )
