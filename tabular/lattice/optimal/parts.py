"""The parts of a lattice that branch and bound goes through, and the blocks of attributes it bounds."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import lean
from tabular.lattice.optimal.class_splits import Splits
from tabular.lattice.optimal.grid import Grid

T = TypeVar("T", bound=tuple[object, ...])

#: How a slice of the search ended.
OPEN, DONE, FOUND, FULL = 0, 1, 2, 3

#: Steps of a proof: a part is gone into by one attribute; a node of it loses too many rows, so that the attribute goes
#: no further; an attribute splits no class that can break; the part's coarsest node loses too many; it is done with.
DOWN, LOSES, FREE, BREAKS, DONE_WITH = 0, 1, 2, 3, 4

#: Places in `Parts.state`: the part looked at, whether it is new, whether nodes found are judged here, the best gain,
#: and the block of all attributes.
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


class Parts(NamedTuple):
    """The parts of the lattice that are being gone through, each within the one before.

    A part goes from the steps `now` (its classes are of these) to the steps `most`.
    """

    now: NDArray[np.int64]
    most: NDArray[np.int64]
    #: Rows lost where the attribute goes as far as it can: those that lose many are tried first.
    losing: NDArray[np.int64]
    splits: Splits
    #: What each block gains in the part at most.
    caps: NDArray[np.int64]
    #: By which attribute a part was cut in two: the next part goes further down in it, the other one stays.
    by: NDArray[np.int64]
    #: The other half of the part is gone through elsewhere.
    given: NDArray[np.bool_]
    state: NDArray[np.int64]
    #: The steps of the proof, where there is room to record them: what was done, of which attribute, to which step.
    proof: NDArray[np.uint8]


def parts_of(
    grid: Grid, most: NDArray[np.int64], best: int, *, judges: bool, caps: NDArray[np.int64], proof: int = 0
) -> Parts:
    """The whole of the lattice up to the steps *most*, as the first part."""
    attributes, rows = len(grid.codes), grid.codes.shape[2]
    depth = int(most.sum()) + 2
    parts = Parts(
        now=np.zeros((depth, attributes), dtype=np.int64),
        most=np.zeros((depth, attributes), dtype=np.int64),
        losing=np.zeros((depth, attributes), dtype=np.int64),
        splits=Splits.of(rows, depth, 8 * rows + 8),
        caps=np.zeros((depth, len(caps)), dtype=np.int64),
        by=np.zeros(depth, dtype=np.int64),
        given=np.zeros(depth, dtype=np.bool_),
        state=np.array([0, 1, judges, best, len(caps) - 1], dtype=np.int64),
        proof=np.zeros((proof, 3), dtype=np.uint8),
    )
    parts.most[0], parts.caps[0] = most, caps
    return parts


def with_more_room(parts: Parts) -> Parts:
    """The same parts with twice the room for rows."""
    return parts._replace(splits=parts.splits.with_more_room())


@lean
def copy_reach(parts: Parts, depth: int, other: Parts, to: int) -> None:
    """Let the part at *to* of *other* reach as far as the one at *depth*, with the same bounds."""
    for attribute in range(parts.most.shape[1]):
        other.now[to, attribute] = parts.now[depth, attribute]
        other.most[to, attribute] = parts.most[depth, attribute]
        other.losing[to, attribute] = parts.losing[depth, attribute]
    for which in range(other.state[TOP] + 1):
        other.caps[to, which] = parts.caps[depth, which]


@lean
def copy_part(parts: Parts, depth: int, other: Parts) -> None:
    """Begin *other* anew with the part at *depth* alone."""
    copy_reach(parts, depth, other, 0)
    mine, theirs = parts.splits, other.splits
    row, start, classes = mine.row_at[depth], mine.start_at[depth], mine.classes[depth]
    for place in range(mine.starts[start + classes]):
        theirs.rows[place] = mine.rows[row + place]
        theirs.weights[place] = mine.weights[row + place]
    for place in range(classes + 1):
        theirs.starts[place] = mine.starts[start + place]
    theirs.classes[0], theirs.lost[0], theirs.row_at[0], theirs.start_at[0] = classes, mine.lost[depth], 0, 0
    other.given[0] = False
    other.state[DEPTH], other.state[FRESH] = 0, 1


def given_away(parts: Parts, depth: int) -> Parts:
    """The other half of the part at *depth*, to be gone through elsewhere."""
    parts.given[depth] = True
    other = _emptied(parts)
    other.state[:] = parts.state
    copy_part(parts, depth, other)
    attribute = int(parts.by[depth])
    other.most[0, attribute] = parts.now[depth, attribute]
    return other


def _emptied(arrays: T) -> T:
    return type(arrays)(*(_emptied(each) if isinstance(each, tuple) else np.zeros_like(each) for each in arrays))
