"""Go through the parts of a lattice, depth first, and leave out those that hold nothing better."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import lean
from tabular.lattice.optimal.class_splits import (
    LOST,
    PAIRS,
    WORK,
    WRITTEN,
    Grid,
    Scratch,
    join_alike,
    lost_rows,
    refine,
)
from tabular.lattice.optimal.parts import (
    BEST,
    BREAKS,
    DEPTH,
    DONE,
    DONE_WITH,
    DOWN,
    FOUND,
    FREE,
    FRESH,
    FULL,
    JUDGES,
    LOSES,
    OPEN,
    TOP,
    Blocks,
    Parts,
)

#: Rows are joined where so many attributes are open that much is to come of a part.
_WORTH_JOINING = 3

#: Work that a step of a proof counts for where one is written.
A_STEP = 40


@lean
def bound_of(grid: Grid, most: NDArray[np.int64], caps: NDArray[np.int64], top: int, blocks: Blocks) -> int:
    """What the block *top* can gain in a part at most: each set of attributes in it no more than its cap."""
    attributes = most.size
    for attribute in range(attributes):
        blocks.gains[attribute] = min(grid.gains[attribute, most[attribute]], caps[attribute])
    for which in range(attributes, top + 1):
        together = blocks.gains[blocks.left[which]] + blocks.gains[blocks.right[which]]
        blocks.gains[which] = min(together, caps[which])
    return int(blocks.gains[top])


@lean
def _write(proof: NDArray[np.uint8], what: int, attribute: int, step: int, scratch: Scratch) -> None:
    if proof.shape[0] > 0:
        place = scratch.told[WRITTEN]
        proof[place, 0], proof[place, 1], proof[place, 2] = what, attribute, step
        scratch.told[WRITTEN] = place + 1
        # Nothing checks the room: as each step counts as work, a slice of work writes no more than there is room for.
        scratch.told[WORK] += A_STEP


@lean
def narrow(
    grid: Grid,
    rows: NDArray[np.uint32],
    weights: NDArray[np.int32],
    starts: NDArray[np.int32],
    classes: int,
    base: int,
    now: NDArray[np.int64],
    most: NDArray[np.int64],
    losing: NDArray[np.int64],
    best: int,
    caps: NDArray[np.int64],
    top: int,
    blocks: Blocks,
    proof: NDArray[np.uint8],
    scratch: Scratch,
) -> int:
    """Lower *most* to the steps each attribute can go by itself; return the bound, or stop once it is *best* or less.

    An attribute that splits no class that can break goes down for nothing, in *now* as well.
    """
    bound, count, order = bound_of(grid, most, caps, top, blocks), 0, scratch.order
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
            bound = bound_of(grid, most, caps, top, blocks)
            if bound <= best:
                return bound
        losing[attribute] = lost
    return bound


@lean
def _seek_needs(grid: Grid, parts: Parts, depth: int, blocks: Blocks) -> None:
    # What each block must gain: with less, whatever the others gain, nothing in the part gains more than the best. A
    # block's gain is the sum of its halves', or its cap, and no cap is less than what is needed here.
    top = parts.state[TOP]
    bound_of(grid, parts.most[depth], parts.caps[depth], top, blocks)
    blocks.needs[top] = parts.state[BEST] + 1
    for which in range(top, parts.most.shape[1] - 1, -1):
        left, right = blocks.left[which], blocks.right[which]
        blocks.needs[left] = blocks.needs[which] - blocks.gains[right]
        blocks.needs[right] = blocks.needs[which] - blocks.gains[left]


@lean
def _choose(grid: Grid, parts: Parts, depth: int, blocks: Blocks) -> tuple[int, int, int]:
    # The attribute, its next step, and how many must go down at any rate. These come first; of the others the one that
    # loses the most rows for each step it has left.
    _seek_needs(grid, parts, depth, blocks)
    chosen, to, least, forced = -1, 0, 1 << 60, 0
    for attribute in range(parts.most.shape[1]):
        now = parts.now[depth, attribute]
        left = parts.most[depth, attribute] - now
        if left > 0:
            step = now
            while step < now + left and grid.gains[attribute, step] < blocks.needs[attribute]:
                step += 1
            key = -(parts.losing[depth, attribute] - parts.lost[depth]) * (1 << 20) // left
            if step > now:
                forced += 1
                key -= 1 << 50
            if key < least:
                chosen, to, least = attribute, max(step, now + 1), key
    return chosen, to, forced


@lean
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
    for which in range(parts.state[TOP] + 1):
        parts.caps[below, which] = parts.caps[depth, which]
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
        parts.caps[below],
        parts.state[TOP],
        blocks,
        parts.proof,
        scratch,
    )
    return reached


@lean
def settle(grid: Grid, parts: Parts, blocks: Blocks, scratch: Scratch) -> int:
    """Turn to the part that is next and join its rows; return its bound, or -1 if it is left out or gone through."""
    state = parts.state
    depth = state[DEPTH]
    if state[FRESH] == 0:
        if parts.given[depth]:
            state[DEPTH] -= 1
            return -1
        # The other half: the attribute stays where it is.
        parts.most[depth, parts.by[depth]] = parts.now[depth, parts.by[depth]]
    bound = bound_of(grid, parts.most[depth], parts.caps[depth], state[TOP], blocks)
    if bound <= state[BEST]:
        leave(parts, scratch)
        return -1
    # Bounds of blocks are sought among few attributes: there most rows become one.
    if state[FRESH] == 1 and (open_attributes(parts) >= _WORTH_JOINING or state[JUDGES] == 1):
        rows, starts = parts.row_at[depth], parts.start_at[depth]
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
    return int(bound)


@lean
def open_attributes(parts: Parts) -> int:
    """In how many attributes the nodes of the part differ."""
    depth, count = parts.state[DEPTH], 0
    for attribute in range(parts.most.shape[1]):
        count += parts.most[depth, attribute] > parts.now[depth, attribute]
    return count


@lean
def leave(parts: Parts, scratch: Scratch) -> None:
    """Be done with the part; the one before it is next, in its other half."""
    _write(parts.proof, DONE_WITH, 0, 0, scratch)
    parts.state[DEPTH] -= 1
    parts.state[FRESH] = 0


@lean
def go_on(grid: Grid, parts: Parts, bound: int, blocks: Blocks, scratch: Scratch) -> int:
    """Cut the part in two and turn to the half further down; or say that a node is found, or that there is no room."""
    state = parts.state
    depth = state[DEPTH]
    attribute, step, forced = _choose(grid, parts, depth, blocks)
    if attribute < 0 or (grid.exact and parts.classes[depth] == 0):
        leave(parts, scratch)
        if state[JUDGES] == 0:
            return FOUND
        # As no cap is less than what is gained, the bound is what is.
        state[BEST] = max(state[BEST], bound)
        return OPEN
    rows, starts = parts.row_at[depth], parts.start_at[depth]
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
    return OPEN


@lean
def advance(grid: Grid, parts: Parts, blocks: Blocks, scratch: Scratch, budget: int) -> int:
    """Go on for so much work; say whether all is gone through, or a node is found that is to be judged."""
    until = scratch.told[WORK] + budget
    while parts.state[DEPTH] >= 0:
        if scratch.told[WORK] >= until:
            return OPEN
        bound = settle(grid, parts, blocks, scratch)
        if bound >= 0:
            outcome: int = go_on(grid, parts, bound, blocks, scratch)
            if outcome != OPEN:
                return outcome
    return DONE
