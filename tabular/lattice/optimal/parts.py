"""The parts of a lattice that a search by branch and bound goes through, and the blocks of attributes it bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.lattice.optimal.class_splits import Grid

#: How a slice of the search ended.
OPEN, DONE, FOUND, FULL = 0, 1, 2, 3

#: Steps of a proof: a part is gone into by one attribute; a node of it loses too many rows, so that the attribute goes
#: no further; an attribute splits no class that can break; the part's coarsest node loses too many; it is done with.
DOWN, LOSES, FREE, BREAKS, DONE_WITH = 0, 1, 2, 3, 4

#: Places in `Parts.state`: the part looked at, whether it is new, whether nodes found are judged here, the best gain.
DEPTH, FRESH, JUDGES, BEST, TOP = 0, 1, 2, 3, 4


class Blocks(NamedTuple):
    """Bounds of what sets of attributes gain together; the sets are a tree over the attributes, its leaves.

    The inner ones follow the leaves, each after those below it.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    #: The bounds in all of the lattice.
    most: NDArray[np.int64]
    gains: NDArray[np.int64]
    #: What they must gain.
    needs: NDArray[np.int64]
    #: By block and attribute: whether it is one of them.
    members: NDArray[np.bool_]
    #: Whether the block's bound is worth seeking anew in a part.
    sought: NDArray[np.bool_]
    top: int


class Parts(NamedTuple):
    """The parts of the lattice that are being gone through, each within the one before.

    A part goes from the steps `now` (its classes are of these) to the steps `most`; `lost` are the rows that no node
    of it keeps. Its rows and its classes' beginnings are in `rows`, `weights` and `starts`, from `row_at`, `start_at`.
    """

    now: NDArray[np.int64]
    most: NDArray[np.int64]
    #: Rows lost where the attribute goes as far as it can: those that lose many are tried first.
    losing: NDArray[np.int64]
    lost: NDArray[np.int64]
    classes: NDArray[np.int64]
    row_at: NDArray[np.int64]
    start_at: NDArray[np.int64]
    #: What each block gains in the part at most.
    caps: NDArray[np.int64]
    #: By which attribute a part was cut in two: the next part goes further down in it, the other one stays.
    by: NDArray[np.int64]
    #: The other half of the part is gone through elsewhere.
    given: NDArray[np.bool_]
    rows: NDArray[np.uint32]
    weights: NDArray[np.int32]
    starts: NDArray[np.int32]
    state: NDArray[np.int64]
    #: The steps of the proof, where they are kept: what was done, of which attribute, to which step.
    proof: NDArray[np.uint8]


def parts_of(
    grid: Grid, most: NDArray[np.int64], best: int, *, judges: bool, caps: NDArray[np.int64], proof: int = 0
) -> Parts:
    """The whole of the lattice up to the steps *most*, as the first part."""
    attributes, rows = len(grid.codes), grid.codes.shape[2]
    depth = int(most.sum()) + 2
    now, losing = (np.zeros((depth, attributes), dtype=np.int64) for _ in range(2))
    lost, classes, row_at, start_at, by = (np.zeros(depth, dtype=np.int64) for _ in range(5))
    parts = Parts(
        now=now,
        most=np.zeros((depth, attributes), dtype=np.int64),
        losing=losing,
        lost=lost,
        classes=classes,
        row_at=row_at,
        start_at=start_at,
        caps=np.zeros((depth, len(caps)), dtype=np.int64),
        by=by,
        given=np.zeros(depth, dtype=np.bool_),
        rows=np.zeros(8 * rows + 8, dtype=np.uint32),
        weights=np.ones(8 * rows + 8, dtype=np.int32),
        starts=np.zeros(8 * rows + depth + 8, dtype=np.int32),
        state=np.array([0, 1, judges, best, len(caps) - 1], dtype=np.int64),
        proof=np.zeros((proof, 3), dtype=np.uint8),
    )
    parts.most[0], parts.caps[0] = most, caps
    parts.rows[:rows] = np.arange(rows)
    parts.starts[1] = rows
    parts.classes[0] = 1
    return parts


def with_more_room(parts: Parts) -> Parts:
    """The same parts with twice the room for rows."""
    return parts._replace(
        **{
            name: np.concatenate([getattr(parts, name), np.ones_like(getattr(parts, name))])
            for name in ("rows", "weights", "starts")
        }
    )
