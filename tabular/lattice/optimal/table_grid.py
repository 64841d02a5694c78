"""The table of a question, laid out for the search by branch and bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from tabular.hierarchy import Hierarchy
from tabular.lattice.optimal.class_splits import Grid
from tabular.lattice.optimal.losses_by_level import LevelLosses
from tabular.lattice.searching import Evaluates, Question
from tabular.table import Table


class OfTable(Evaluates, Protocol):
    """An evaluator that has its table at hand."""

    table: Table
    hierarchies: Mapping[str, Hierarchy]
    sensitive: str | None


def grid_of(question: Question, losses: LevelLosses) -> Grid:
    """The table of a question, by attribute and step down from the highest level."""
    evaluator, limits = cast(OfTable, question.evaluator), question.limits
    table, hierarchies = evaluator.table, evaluator.hierarchies
    heights = np.array(question.lattice.heights, dtype=np.int64)
    size = int(heights.max(initial=0)) + 1
    codes = np.zeros((len(heights), size, evaluator.rows), dtype=np.uint32)
    labels = np.ones((len(heights), size), dtype=np.int64)
    gains = np.zeros((len(heights), size), dtype=np.int64)
    for place, (name, each) in enumerate(hierarchies.items()):
        for step in range(heights[place] + 1):
            groups = _groups(each, int(heights[place]) - step)[table.columns[name]]
            found, codes[place, step] = np.unique(groups, return_inverse=True)
            labels[place, step] = len(found)
            gains[place, step] = losses.losses[place][-1] - losses.losses[place][heights[place] - step]
        gains[place, heights[place] :] = gains[place, heights[place]]
    exact = limits.are_fixed and limits.t is None and evaluator.judged_by_classes
    values = np.zeros(evaluator.rows, dtype=np.int32)
    if limits.l is not None and evaluator.sensitive is not None:
        values = np.unique(table.columns[evaluator.sensitive], return_inverse=True)[1].astype(np.int32)
    least, diverse = limits.k or 1, limits.l or 1
    return Grid(
        codes,
        labels,
        gains,
        heights,
        values,
        least,
        diverse,
        limits.suppressible(evaluator.rows),
        least if exact and diverse == 1 else np.iinfo(np.int32).max,
        exact,
    )


def _groups(hierarchy: Hierarchy, level: int) -> NDArray[np.int32]:
    return hierarchy.levels[level].groups
