"""The proof that no node is better, written down so that others can check it without this code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidParameter
from tabular.lattice.metrics import ADDITIVE
from tabular.lattice.optimal.branch_and_bound import (
    A_STEP,
    DONE,
    FOUND,
    FULL,
    Blocks,
    advance,
    narrow,
    parts_of,
)
from tabular.lattice.optimal.class_splits import RECORDED, LevelLosses, grid_of, scratch_for
from tabular.lattice.searching import Question
from tabular.lattice.space import Node

#: Work of a slice, and the steps of the proof that so much work can write.
_SLICE = 20_000_000
_LINES = _SLICE // A_STEP

_ANYTHING = 1 << 62


@dataclass(frozen=True, eq=False)
class Certificate:
    """A proof that every node whose levels cost less than those of `node` breaks the limits.

    It is a walk over parts of the lattice, each all nodes from `low` levels to `high` levels; the first part is the
    whole lattice. A line of `lines` is one of these, with an attribute and a step (its height less a level):

    0  go into a part of the current one: the attribute is at the step's level at most (`high` is lowered). Levels in
       between that tell the same rows apart as the step's are left out: they cost no less.
    1  `high` with the attribute one level below the step's breaks the limits: no node of the part has a level below
       the step's (`low` is raised).
    2  at `low` the attribute splits no class of `high` in which rows could be lost: its `high` becomes its `low`, as
       that loses the same rows and costs no more.
    3  `high` breaks the limits, and so does the whole part.
    4  done with the part: `low` costs no less than `node`, or the part has been broken into others. Back to the part
       it was taken from, of which those nodes are left that are at or above its `high` in that attribute alone.
    """

    node: Node
    lines: NDArray[np.uint8]


def certificate(question: Question, node: Node) -> Certificate:
    """Prove that no node costs less than *node* by its levels; `InvalidParameter` if one does.

    >>> from tabular.hierarchies.hierarchy import Hierarchy
    >>> from tabular.lattice.evaluator.evaluator import Evaluator
    >>> from tabular.lattice.space import Limits
    >>> from tabular.table import Table
    >>> ages = Hierarchy.of("age", [17, 25, 31], [["young", "young", "old"], ["*", "*", "*"]])
    >>> asked = Evaluator(Table.from_columns({"age": [31, 17, 25]}), {"age": ages}, limits=Limits(k=3))
    >>> certificate(Question(asked, "precision"), (2,)).lines.tolist()
    [[1, 0, 1], [1, 0, 0], [4, 0, 0]]
    """
    limits, rows = question.limits, question.evaluator.rows
    additive = question.metric == "precision" or (question.metric in ADDITIVE and not limits.suppressible(rows))
    by_classes = limits.are_fixed and limits.t is None and question.evaluator.judged_by_classes
    if not additive or not by_classes:
        raise InvalidParameter(
            "A certificate is of precision, or of glm or non_uniform_entropy where no row may be suppressed, "
            "under k or l without t, and of one release by itself."
        )
    return Certificate(node, np.concatenate(list(_lines(question, node))))


def _lines(question: Question, node: Node) -> Iterator[NDArray[np.uint8]]:
    losses = LevelLosses.of(question)
    grid = grid_of(question, losses)
    scratch, attributes = scratch_for(grid), len(grid.steps)
    room = _LINES + 4 * int(grid.steps.sum()) + 4 * attributes
    blocks = chained(attributes)
    cost = sum(int(each[level]) for each, level in zip(losses.losses, node, strict=True))
    aim = losses.most - cost
    parts = parts_of(grid, grid.steps, aim, judges=False, caps=blocks.most, proof=room)
    narrow(grid, parts, 0, blocks, scratch)
    yield parts.proof[: scratch.totals[RECORDED]].copy()
    outcome = -1
    while outcome != DONE:
        scratch.totals[RECORDED] = 0
        outcome = advance(grid, parts, blocks, scratch, _SLICE)
        yield parts.proof[: scratch.totals[RECORDED]].copy()
        if outcome == FULL:
            parts = parts.with_more_room()
        elif outcome == FOUND:
            raise InvalidParameter(f"{node} is not the optimum: there are levels that cost less and keep the limits.")


def chained(attributes: int) -> Blocks:
    """No bound of any set of attributes: they are added up one after the other."""
    count = max(2 * attributes - 1, 1)
    left, right = np.full(count, -1, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    for which in range(attributes, count):
        left[which] = 0 if which == attributes else which - 1
        right[which] = which - attributes + 1
    return Blocks(
        left=left,
        right=right,
        most=np.full(count, _ANYTHING, dtype=np.int64),
        gains=np.zeros(count, dtype=np.int64),
        needs=np.zeros(count, dtype=np.int64),
        members=np.zeros((count, attributes), dtype=np.bool_),
        sought=np.zeros(count, dtype=np.bool_),
    )
