"""Branch and bound: go through the parts of a lattice, depth first, and leave out those that hold nothing better.

Gains, bounds and what blocks need stay within 2^51, for the losses of all levels come to 2^50; a cap that says nothing
is 2^62, and is never added to another. Rows lost are at most those of the table.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import inlined, lean
from tabular.lattice.optimal.class_splits import RECORDED, WORK, Grid, Scratch, Splits, join_alike, lost_rows, refine
from tabular.lattice.space import Flags, Numbers

T = TypeVar("T", bound=tuple[object, ...])

#: How a slice of the search ended.
OPEN, DONE, FOUND, FULL = 0, 1, 2, 3

#: Steps of a proof: a part is gone into by one attribute; a node of it loses too many rows, so that the attribute goes
#: no further; an attribute splits no class that can break; the part's coarsest node loses too many; it is done with.
DOWN, LOSES, FREE, BREAKS, DONE_WITH = 0, 1, 2, 3, 4

#: Places in `Parts.state`: the part looked at, whether it is new, whether nodes found are judged here, the best gain,
#: and the block of all attributes.
DEPTH, FRESH, JUDGES, BEST, TOP = 0, 1, 2, 3, 4

#: Rows are joined where so many attributes are open that much is to come of a part.
_WORTH_JOINING = 3

#: Work that a step of a proof counts for where one is recorded.
A_STEP = 40


class Blocks(NamedTuple):
    """Bounds of what sets of attributes gain together; the sets are a tree over the attributes, its leaves.

    The inner ones follow the leaves, each after those below it.
    """

    left: Numbers
    right: Numbers
    #: The bounds in all of the lattice.
    most: Numbers
    gains: Numbers
    #: What they must gain.
    needs: Numbers
    #: By block and attribute: whether it is one of them.
    members: Flags
    #: Whether the block's bound is worth seeking anew in a part.
    sought: Flags


class Parts(NamedTuple):
    """The parts of the lattice that are being gone through, each within the one before.

    A part goes from the steps `now` (its classes are of these) to the steps `most`.
    """

    now: Numbers
    most: Numbers
    #: Rows lost where the attribute goes as far as it can: those that lose many are tried first.
    losing: Numbers
    splits: Splits
    #: What each block gains in the part at most.
    caps: Numbers
    #: By which attribute a part was cut in two: the next part goes further down in it, the other one stays.
    by: Numbers
    #: The other half of the part is gone through elsewhere.
    given: Flags
    state: Numbers
    #: The steps of the proof, where there is room to record them: what was done, of which attribute, to which step.
    proof: NDArray[np.uint8]

    def with_more_room(self) -> Parts:
        """The same parts with twice the room for rows."""
        rows, weights, starts = (np.concatenate([each, np.ones_like(each)]) for each in self.splits[:3])
        return self._replace(splits=self.splits._replace(rows=rows, weights=weights, starts=starts))


def parts_of(grid: Grid, most: Numbers, best: int, *, judges: bool, caps: Numbers, proof: int = 0) -> Parts:
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
    # For a literal it would be compiled once more.
    copy_reach(parts, depth, other, int(np.int64(0)))
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


@lean
def bound_of(grid: Grid, parts: Parts, depth: int, top: int, blocks: Blocks) -> int:
    """What the block *top* can gain in a part at most: each set of attributes in it no more than its cap."""
    most, caps = parts.most[depth], parts.caps[depth]
    attributes = most.size
    for attribute in range(attributes):
        blocks.gains[attribute] = min(grid.gains[attribute, most[attribute]], caps[attribute])
    for which in range(attributes, top + 1):
        together = blocks.gains[blocks.left[which]] + blocks.gains[blocks.right[which]]
        blocks.gains[which] = min(together, caps[which])
    return int(blocks.gains[top])


@inlined
def _record(parts: Parts, what: int, attribute: int, step: int, scratch: Scratch) -> None:
    if parts.proof.shape[0] > 0:
        place = scratch.totals[RECORDED]
        parts.proof[place, 0], parts.proof[place, 1], parts.proof[place, 2] = what, attribute, step
        scratch.totals[RECORDED] = place + 1
        # Nothing checks the room: as each step counts as work, a slice of work records no more than there is room for.
        scratch.totals[WORK] += A_STEP


@lean
def narrow(grid: Grid, parts: Parts, depth: int, blocks: Blocks, scratch: Scratch) -> int:
    """Lower what a part reaches to the steps each attribute can go by itself; return its bound.

    It stops once the bound is no better than the best. An attribute that splits no class that can break goes down for
    nothing.
    """
    now, most, losing, order = parts.now[depth], parts.most[depth], parts.losing[depth], scratch.order
    best, top, classes = parts.state[BEST], parts.state[TOP], parts.splits.classes[depth]
    bound, count = bound_of(grid, parts, depth, top, blocks), 0
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
            lost, pairs = lost_rows(grid, parts.splits, depth, column, scratch)
            if lost <= grid.limit:
                if grid.exact and pairs == classes:
                    now[attribute] = most[attribute]
                    _record(parts, FREE, attribute, most[attribute], scratch)
                break
            most[attribute] -= 1
            _record(parts, LOSES, attribute, most[attribute], scratch)
            bound = bound_of(grid, parts, depth, top, blocks)
            if bound <= best:
                return bound
        losing[attribute] = lost
    return bound


@inlined
def _set_needs(grid: Grid, parts: Parts, depth: int, blocks: Blocks) -> None:
    # What each block must gain: with less, whatever the others gain, nothing in the part gains more than the best. A
    # block's gain is the sum of its halves', or its cap, and no cap is less than what is needed here.
    top = parts.state[TOP]
    bound_of(grid, parts, depth, top, blocks)
    blocks.needs[top] = parts.state[BEST] + 1
    for which in range(top, parts.most.shape[1] - 1, -1):
        left, right = blocks.left[which], blocks.right[which]
        blocks.needs[left] = blocks.needs[which] - blocks.gains[right]
        blocks.needs[right] = blocks.needs[which] - blocks.gains[left]


@inlined
def _choose(grid: Grid, parts: Parts, depth: int, blocks: Blocks) -> tuple[int, int, int]:
    # The attribute, its next step, and how many must go down at any rate. These come first; of the others the one that
    # loses the most rows for each step it has left. Rows, at most 10^9, times 2^20 are less than 2^50.
    _set_needs(grid, parts, depth, blocks)
    chosen, to, least, forced = -1, 0, 1 << 60, 0
    for attribute in range(parts.most.shape[1]):
        now = parts.now[depth, attribute]
        left = parts.most[depth, attribute] - now
        if left > 0:
            step = now
            while step < now + left and grid.gains[attribute, step] < blocks.needs[attribute]:
                step += 1
            key = -(parts.losing[depth, attribute] - parts.splits.lost[depth]) * (1 << 20) // left
            if step > now:
                forced += 1
                key -= 1 << 50
            if key < least:
                chosen, to, least = attribute, max(step, now + 1), key
    return chosen, to, forced


@inlined
def _go_down(
    grid: Grid, parts: Parts, depth: int, choice: tuple[int, int, int], bound: int, blocks: Blocks, scratch: Scratch
) -> int:
    # The half in which the attribute goes down to the step, or further, becomes the next part; return its bound.
    attribute, step, forced = choice
    below, splits = depth + 1, parts.splits
    # Steps that tell the same rows apart gain for nothing.
    while (
        grid.exact
        and step < parts.most[depth, attribute]
        and grid.labels[attribute, step] == (grid.labels[attribute, step + 1])
    ):
        step += 1
    parts.by[depth], parts.given[depth] = attribute, False
    _record(parts, DOWN, attribute, step, scratch)
    copy_reach(parts, depth, parts, below)
    parts.now[below, attribute] = step
    end = splits.start_at[depth] + splits.classes[depth]
    splits.row_at[below], splits.start_at[below] = splits.row_at[depth] + splits.starts[end], end + 1
    refine(grid, splits, depth, below, grid.codes[attribute, step], scratch)
    if splits.lost[below] > grid.limit:
        _record(parts, BREAKS, 0, 0, scratch)
        return int(parts.state[BEST])
    if forced > 1:
        # The others that must go down come at once; then the attributes are tried.
        return bound
    reached: int = narrow(grid, parts, below, blocks, scratch)
    return reached


@lean
def _settle(grid: Grid, parts: Parts, blocks: Blocks, scratch: Scratch) -> int:
    # Turn to the part that is next and join its rows; return its bound, or -1 if it is left out or gone through.
    state = parts.state
    depth = state[DEPTH]
    if state[FRESH] == 0:
        if parts.given[depth]:
            state[DEPTH] -= 1
            return -1
        # The other half: the attribute stays where it is.
        parts.most[depth, parts.by[depth]] = parts.now[depth, parts.by[depth]]
    bound = bound_of(grid, parts, depth, state[TOP], blocks)
    if bound <= state[BEST]:
        _leave(parts, scratch)
        return -1
    # Bounds of blocks are sought among few attributes: there most rows become one.
    if state[FRESH] == 1 and (_open_attributes(parts) >= _WORTH_JOINING or state[JUDGES] == 1):
        join_alike(grid, parts.splits, depth, parts.now[depth], parts.most[depth], scratch)
    return int(bound)


@inlined
def _open_attributes(parts: Parts) -> int:
    # In how many attributes the nodes of the part differ.
    depth, count = parts.state[DEPTH], 0
    for attribute in range(parts.most.shape[1]):
        count += parts.most[depth, attribute] > parts.now[depth, attribute]
    return count


@inlined
def _leave(parts: Parts, scratch: Scratch) -> None:
    # Be done with the part; the one before it is next, in its other half.
    _record(parts, DONE_WITH, 0, 0, scratch)
    parts.state[DEPTH] -= 1
    parts.state[FRESH] = 0


@lean
def _go_on(grid: Grid, parts: Parts, bound: int, blocks: Blocks, scratch: Scratch) -> int:
    # Cut the part in two and turn to the half further down; or say that a node is found, or that there is no room.
    state, splits = parts.state, parts.splits
    depth = state[DEPTH]
    choice = _choose(grid, parts, depth, blocks)
    classes = splits.classes[depth]
    if choice[0] < 0 or (grid.exact and classes == 0):
        _leave(parts, scratch)
        if state[JUDGES] == 0:
            return FOUND
        # As no cap is less than what is gained, the bound is what is.
        state[BEST] = max(state[BEST], bound)
        return OPEN
    row, start = splits.row_at[depth], splits.start_at[depth]
    size = splits.starts[start + classes]
    if row + 2 * size > splits.rows.size or start + classes + size + 3 > splits.starts.size:
        # Joined rows stay joined: the part is gone into once more with more room.
        return FULL
    bound = _go_down(grid, parts, depth, choice, bound, blocks, scratch)
    state[FRESH] = 0
    if bound > state[BEST]:
        state[DEPTH], state[FRESH] = depth + 1, 2 if choice[2] > 1 else 1
    else:
        _record(parts, DONE_WITH, 0, 0, scratch)
    return OPEN


@lean
def advance(grid: Grid, parts: Parts, blocks: Blocks, scratch: Scratch, budget: int) -> int:
    """Go on for so much work; say whether all is gone through, or a node is found that is to be judged."""
    until = scratch.totals[WORK] + budget
    while parts.state[DEPTH] >= 0:
        if scratch.totals[WORK] >= until:
            return OPEN
        bound = _settle(grid, parts, blocks, scratch)
        if bound >= 0:
            outcome: int = _go_on(grid, parts, bound, blocks, scratch)
            if outcome != OPEN:
                return outcome
    return DONE


@lean
def _bound_blocks(
    grid: Grid, parts: Parts, inner: Parts, bound: int, blocks: Blocks, scratch: Scratch, effort: int
) -> int:
    # Seek the bounds of blocks anew in the part alone, where they are lower than in all of the lattice; return its own.
    depth, best, attributes = parts.state[DEPTH], parts.state[BEST], parts.most.shape[1]
    for which in range(attributes, parts.state[TOP]):
        if not blocks.sought[which]:
            continue
        open_ones, least = 0, 0
        for attribute in range(attributes):
            if blocks.members[which, attribute]:
                open_ones += parts.most[depth, attribute] > parts.now[depth, attribute]
                least += grid.gains[attribute, parts.now[depth, attribute]]
        above = bound_of(grid, parts, depth, which, blocks)
        if open_ones < 2 or above <= least:
            continue
        # Less than this need not be told apart: the part would be left out.
        inner.state[JUDGES], inner.state[BEST], inner.state[TOP] = 1, max(least, above - (bound - best)), which
        copy_part(parts, depth, inner)
        for attribute in range(attributes):
            if not blocks.members[which, attribute]:
                inner.most[0, attribute] = parts.now[depth, attribute]
        if advance(grid, inner, blocks, scratch, effort) == DONE and inner.state[BEST] < above:
            parts.caps[depth, which] = inner.state[BEST]
            bound = bound_of(grid, parts, depth, parts.state[TOP], blocks)
            if bound <= best:
                return bound
    return bound


@lean
def advance_bounding(
    grid: Grid, parts: Parts, inner: Parts, blocks: Blocks, scratch: Scratch, budget: int, wide: int, effort: int
) -> int:
    """Go on as `advance` does; in parts in which so many attributes are open, bound the blocks anew.

    A bound that takes more than so much *effort* is left as it is; *inner* is room for the parts it is sought in.
    """
    state = parts.state
    until = scratch.totals[WORK] + budget
    while state[DEPTH] >= 0:
        if scratch.totals[WORK] >= until:
            return OPEN
        bound = _settle(grid, parts, blocks, scratch)
        if bound < 0:
            continue
        if state[FRESH] == 1 and _open_attributes(parts) >= wide:
            bound = _bound_blocks(grid, parts, inner, bound, blocks, scratch, effort)
            if bound <= state[BEST]:
                _leave(parts, scratch)
                continue
        outcome: int = _go_on(grid, parts, bound, blocks, scratch)
        if outcome != OPEN:
            return outcome
    return DONE
