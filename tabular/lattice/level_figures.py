"""What levels of hierarchies are worth, for whoever looks at them one by one: the smallest class, and the loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.space import Numbers
from tabular.table import Classes, Table, equivalence_classes


@dataclass(frozen=True)
class Figures:
    """The rows of the smallest class, and the general loss as a share of the most there can be."""

    k: int
    loss: float


def figures_at(table: Table, hierarchies: Mapping[str, Hierarchy], level: int) -> Figures:
    """The figures of a table whose columns are all at a *level*, or at their last where that is lower."""
    return Figures(
        int(_classes(table, hierarchies, level).sizes.min(initial=len(table))), _loss(table, hierarchies, level)
    )


def smallest_classes(table: Table, hierarchies: Mapping[str, Hierarchy], level: int, column: str) -> Numbers:
    """For each code of a *column* the rows of the smallest class that one of its rows is in; 0 where it has none."""
    classes, size = _classes(table, hierarchies, level), len(table.attribute(column).domain)
    least = np.full(size, len(table) + 1, dtype=np.int64)
    np.minimum.at(least, table.columns[column], classes.sizes[classes.labels])
    return np.where(least > len(table), 0, least)


def _classes(table: Table, hierarchies: Mapping[str, Hierarchy], level: int) -> Classes:
    return equivalence_classes(
        [each.levels[min(level, each.height)].groups[table.columns[name]] for name, each in hierarchies.items()]
    )


def _loss(table: Table, hierarchies: Mapping[str, Hierarchy], level: int) -> float:
    shares = []
    for name, hierarchy in hierarchies.items():
        found = hierarchy.levels[min(level, hierarchy.height)]
        counts = np.bincount(table.columns[name], minlength=len(hierarchy.domain))
        covered = (found.leaves[found.groups] - 1) / max(len(hierarchy.domain) - 1, 1)
        shares.append(float(counts @ covered) / max(len(table), 1))
    return float(np.mean(shares))
