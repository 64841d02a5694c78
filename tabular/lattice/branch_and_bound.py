"""Go through the parts of a lattice, depth first, and leave out those that hold nothing better."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled
from tabular.lattice.refinement import LOST, PAIRS, WORK, WRITTEN, Grid, Scratch, join_alike, lost_rows, refine

#: How a slice of the search ended.
OPEN, DONE, FOUND, FULL = 0, 1, 2, 3

#: Steps of a proof: a part is gone into by one attribute; a node of it loses too many rows, so that the attribute goes
#: no further; an attribute splits no class that can break; the part's coarsest node loses too many; it is done with.
DOWN, LOSES, FREE, BREAKS, DONE_WITH = 0, 1, 2, 3, 4

#: Places in `Parts.state`: the part looked at, whether it is new, whether nodes found are judged here, the best gain.
DEPTH, FRESH, JUDGES, BEST = 0, 1, 2, 3

#: Rows are joined where so many attributes are open that much is to come of a part.
_WORTH_JOINING = 3


class Blocks(NamedTuple):
    """Bounds of what sets of attributes gain together; the sets are a tree over the attributes, its leaves.

    The inner ones follow the leaves, each after those below it.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    most: NDArray[np.int64]
    gains: NDArray[np.int64]
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
    #: By which attribute a part was cut in two: the next part goes further down in it, the other one stays.
    by: NDArray[np.int64]
    #: The other half of the part is gone through elsewhere.
    given: NDArray[np.bool_]
    rows: NDArray[np.int32]
    weights: NDArray[np.int32]
    starts: NDArray[np.int32]
    state: NDArray[np.int64]
    #: The steps of the proof, where they are kept: what was done, of which attribute, to which step.
    proof: NDArray[np.uint8]


def parts_of(grid: Grid, most: NDArray[np.int64], best: int, *, judges: bool, proof: int = 0) -> Parts:
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
        by=by,
        given=np.zeros(depth, dtype=np.bool_),
        rows=np.zeros(8 * rows + 8, dtype=np.int32),
        weights=np.ones(8 * rows + 8, dtype=np.int32),
        starts=np.zeros(8 * rows + depth + 8, dtype=np.int32),
        state=np.array([0, 1, judges, best], dtype=np.int64),
        proof=np.zeros((proof, 3), dtype=np.uint8),
    )
    parts.most[0] = most
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


@compiled
def bound_of(grid: Grid, most: NDArray[np.int64], blocks: Blocks) -> int:
    """What a part can gain at most: of each set of attributes no more than its bound."""
    attributes = most.size
    for attribute in range(attributes):
        blocks.gains[attribute] = min(grid.gains[attribute, most[attribute]], blocks.most[attribute])
    for which in range(attributes, blocks.top + 1):
        together = blocks.gains[blocks.left[which]] + blocks.gains[blocks.right[which]]
        blocks.gains[which] = min(together, blocks.most[which])
    return int(blocks.gains[blocks.top])


@compiled
def _write(proof: NDArray[np.uint8], what: int, attribute: int, step: int, scratch: Scratch) -> None:
    if proof.shape[0] > 0:
        place = scratch.told[WRITTEN]
        proof[place, 0], proof[place, 1], proof[place, 2] = what, attribute, step
        scratch.told[WRITTEN] = place + 1


@compiled
def narrow(
    grid: Grid,
    rows: NDArray[np.int32],
    weights: NDArray[np.int32],
    starts: NDArray[np.int32],
    classes: int,
    base: int,
    now: NDArray[np.int64],
    most: NDArray[np.int64],
    losing: NDArray[np.int64],
    best: int,
    blocks: Blocks,
    proof: NDArray[np.uint8],
    scratch: Scratch,
) -> int:
    """Lower *most* to the steps each attribute can go by itself; return the bound, or stop once it is *best* or less.

    An attribute that splits no class that can break goes down for nothing, in *now* as well.
    """
    bound, count, order = bound_of(grid, most, blocks), 0, scratch.order
    for attribute in range(most.size):
        if most[attribute] > now[attribute]:
            place = count
            count += 1
            while place > 0 and losing[order[place - 1]] < losing[attribute]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = attribute
    for which in range(count):
        if bound <= best:
            return bound
        attribute = order[which]
        lost = 0
        while most[attribute] > now[attribute]:
            column = grid.codes[attribute, most[attribute]]
            lost = lost_rows(grid, rows, weights, starts, classes, column, base, scratch)
            if lost <= grid.limit:
                if grid.exact and scratch.told[PAIRS] == classes:
                    now[attribute] = most[attribute]
                    _write(proof, FREE, attribute, most[attribute], scratch)
                break
            most[attribute] -= 1
            _write(proof, LOSES, attribute, most[attribute], scratch)
            bound = bound_of(grid, most, blocks)
            if bound <= best:
                return bound
        losing[attribute] = lost
    return bound


@compiled
def _forced(grid: Grid, parts: Parts, depth: int, attribute: int, bound: int, blocks: Blocks) -> int:
    # The step that the attribute must reach: without it nothing in the part gains more than the best.
    most, high = parts.most[depth], parts.most[depth, attribute]
    step = parts.now[depth, attribute]
    if bound - (grid.gains[attribute, high] - grid.gains[attribute, step]) > parts.state[BEST]:
        return int(step)
    while step < high:
        most[attribute] = step
        least = bound_of(grid, most, blocks)
        most[attribute] = high
        if least > parts.state[BEST]:
            break
        step += 1
    return int(step)


@compiled
def _choose(grid: Grid, parts: Parts, depth: int, bound: int, blocks: Blocks) -> tuple[int, int, int]:
    # The attribute, its next step, and how many must go down at any rate. These come first; else the attribute with
    # the fewest steps left, of these the one that loses the most rows.
    chosen, to, least, forced = -1, 0, 1 << 60, 0
    for attribute in range(parts.most.shape[1]):
        now = parts.now[depth, attribute]
        left = parts.most[depth, attribute] - now
        if left > 0:
            step = _forced(grid, parts, depth, attribute, bound, blocks)
            key = left * (1 << 32) - parts.losing[depth, attribute]
            if step > now:
                forced += 1
                key -= 1 << 50
            if key < least:
                chosen, to, least = attribute, max(step, now + 1), key
    return chosen, to, forced


@compiled
def _go_down(
    grid: Grid,
    parts: Parts,
    depth: int,
    attribute: int,
    step: int,
    forced: int,
    bound: int,
    blocks: Blocks,
    scratch: Scratch,
) -> int:
    # The half in which the attribute goes down to the step, or further, becomes the next part; return its bound.
    below = depth + 1
    # Steps that tell the same rows apart gain for nothing.
    while (
        grid.exact
        and step < parts.most[depth, attribute]
        and grid.labels[attribute, step] == (grid.labels[attribute, step + 1])
    ):
        step += 1
    parts.by[depth], parts.given[depth] = attribute, False
    _write(parts.proof, DOWN, attribute, step, scratch)
    for name in range(parts.most.shape[1]):
        parts.most[below, name] = parts.most[depth, name]
        parts.now[below, name] = parts.now[depth, name]
        parts.losing[below, name] = parts.losing[depth, name]
    parts.now[below, attribute] = step
    rows, starts, classes = parts.row_at[depth], parts.start_at[depth], parts.classes[depth]
    parts.row_at[below] = rows + parts.starts[starts + classes]
    parts.start_at[below] = starts + classes + 1
    to_rows, to_starts = parts.row_at[below], parts.start_at[below]
    parts.classes[below] = refine(
        grid,
        parts.rows[rows:],
        parts.weights[rows:],
        parts.starts[starts:],
        classes,
        grid.codes[attribute, step],
        parts.lost[depth],
        parts.rows[to_rows:],
        parts.weights[to_rows:],
        parts.starts[to_starts:],
        scratch,
    )
    parts.lost[below] = scratch.told[LOST]
    if parts.lost[below] > grid.limit:
        _write(parts.proof, BREAKS, 0, 0, scratch)
        return int(parts.state[BEST])
    if forced > 1:
        # The others that must go down come at once; then the attributes are tried.
        return bound
    reached: int = narrow(
        grid,
        parts.rows[to_rows:],
        parts.weights[to_rows:],
        parts.starts[to_starts:],
        parts.classes[below],
        parts.lost[below],
        parts.now[below],
        parts.most[below],
        parts.losing[below],
        parts.state[BEST],
        blocks,
        parts.proof,
        scratch,
    )
    return reached


@compiled
def advance(grid: Grid, parts: Parts, blocks: Blocks, scratch: Scratch, budget: int) -> int:
    """Go on for so much work; say whether all is gone through, or a node is found that is to be judged."""
    state = parts.state
    until = scratch.told[WORK] + budget
    while state[DEPTH] >= 0:
        if scratch.told[WORK] >= until:
            return OPEN
        depth = state[DEPTH]
        if state[FRESH] == 0:
            if parts.given[depth]:
                state[DEPTH] -= 1
                continue
            # The other half: the attribute stays where it is.
            parts.most[depth, parts.by[depth]] = parts.now[depth, parts.by[depth]]
        bound = bound_of(grid, parts.most[depth], blocks)
        if bound <= state[BEST]:
            _write(parts.proof, DONE_WITH, 0, 0, scratch)
            state[DEPTH] -= 1
            state[FRESH] = 0
            continue
        rows, starts = parts.row_at[depth], parts.start_at[depth]
        open_ones = 0
        for each in range(parts.most.shape[1]):
            open_ones += parts.most[depth, each] > parts.now[depth, each]
        if state[FRESH] == 1 and open_ones >= _WORTH_JOINING:
            parts.classes[depth] = join_alike(
                grid,
                parts.rows[rows:],
                parts.weights[rows:],
                parts.starts[starts:],
                parts.classes[depth],
                parts.now[depth],
                parts.most[depth],
                scratch,
            )
        attribute, step, forced = _choose(grid, parts, depth, bound, blocks)
        if attribute < 0 or (grid.exact and parts.classes[depth] == 0):
            _write(parts.proof, DONE_WITH, 0, 0, scratch)
            state[DEPTH] -= 1
            state[FRESH] = 0
            if state[JUDGES] == 0:
                return FOUND
            gain = 0
            for each in range(parts.most.shape[1]):
                gain += grid.gains[each, parts.most[depth, each]]
            state[BEST] = max(state[BEST], gain)
            continue
        size = parts.starts[starts + parts.classes[depth]]
        if rows + 2 * size > parts.rows.size or starts + parts.classes[depth] + size + 3 > parts.starts.size:
            # Joined rows stay joined: the part is gone into once more with more room.
            return FULL
        bound = _go_down(grid, parts, depth, attribute, step, forced, bound, blocks, scratch)
        state[FRESH] = 0
        if bound > state[BEST]:
            state[DEPTH], state[FRESH] = depth + 1, 2 if forced > 1 else 1
        else:
            _write(parts.proof, DONE_WITH, 0, 0, scratch)
    return DONE
