"""The table of a question, laid out for branch and bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.optimal.level_losses import LevelLosses
from tabular.lattice.question import Evaluates, Question
from tabular.table import Table


class Grid(NamedTuple):
    """The table as the kernels take it: the steps an attribute goes down from its highest level count from 0."""

    #: By attribute, step and row: the label.
    codes: NDArray[np.uint32]
    #: By attribute and step: the labels there are.
    labels: NDArray[np.int64]
    #: By attribute and step: what is gained by going so far down; by attribute: the steps there are.
    gains: NDArray[np.int64]
    steps: NDArray[np.int64]
    #: The sensitive value of each row, used where more than one is asked for.
    values: NDArray[np.int32]
    k: int
    l: int  # noqa: E741
    limit: int
    #: Rows that stand as one and are so many are safe by themselves.
    safe: int
    #: Whether nodes with the same classes and suppressed rows differ by their levels' losses alone.
    exact: bool


class HoldsTable(Evaluates, Protocol):
    """An evaluator that has its table at hand."""

    table: Table
    hierarchies: Mapping[str, Hierarchy]
    sensitive: str | None


def grid_of(question: Question, losses: LevelLosses) -> Grid:
    """The table of a question, by attribute and step down from the highest level."""
    evaluator, limits = cast(HoldsTable, question.evaluator), question.limits
    table, hierarchies = evaluator.table, evaluator.hierarchies
    heights = np.array(question.lattice.heights, dtype=np.int64)
    size = int(heights.max(initial=0)) + 1
    codes = np.zeros((len(heights), size, evaluator.rows), dtype=np.uint32)
    labels = np.ones((len(heights), size), dtype=np.int64)
    gains = np.zeros((len(heights), size), dtype=np.int64)
    for place, (name, each) in enumerate(hierarchies.items()):
        for step in range(heights[place] + 1):
            level = int(heights[place]) - step
            found, codes[place, step] = np.unique(each.levels[level].groups[table.columns[name]], return_inverse=True)
            labels[place, step] = len(found)
            gains[place, step] = losses.losses[place][-1] - losses.losses[place][level]
        gains[place, heights[place] :] = gains[place, heights[place]]
    exact = limits.are_fixed and limits.t is None and evaluator.judged_by_classes
    values = np.zeros(evaluator.rows, dtype=np.int32)
    if limits.l is not None and evaluator.sensitive is not None:
        values = np.unique(table.columns[evaluator.sensitive], return_inverse=True)[1].astype(np.int32)
    least, diverse = limits.k or 1, limits.l or 1
    return Grid(
        codes=codes,
        labels=labels,
        gains=gains,
        steps=heights,
        values=values,
        k=least,
        l=diverse,
        limit=limits.suppressible(evaluator.rows),
        safe=least if exact and diverse == 1 else np.iinfo(np.int32).max,
        exact=exact,
    )
