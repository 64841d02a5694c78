"""The lowest level of each attribute that can be enough, by what it alone says (KGEN)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.limits import Limits
from tabular.protections import check_k
from tabular.table import Table


def lower_bounds(
    table: Table, hierarchies: Mapping[str, Hierarchy], k: int, *, suppression: float = 0.0
) -> dict[str, int]:
    """For each attribute the lowest level at which no more rows lie in classes below *k* than may be suppressed.

    No node with a lower level is k-anonymous: a row in a small class on one attribute is in one on any combination of
    attributes, so that too many rows would have to go (KGEN, section 3.2; taken without the limit, as its section 7
    warns, the bound does not hold where rows are suppressed).
    """
    check_k(k, len(table))
    limit = Limits(suppression=suppression).suppressible(len(table))
    bounds = {}
    for name, given in hierarchies.items():
        codes, levels = table.columns[name], given.over(table.attribute(name).domain).levels
        for number, level in enumerate(levels):
            sizes = np.bincount(level.groups[codes], minlength=len(level.labels))
            # The last level has one class of all rows: some level always does.
            if int(sizes[sizes < k].sum()) <= limit:
                bounds[name] = number
                break
    return bounds
