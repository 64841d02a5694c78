"""Bounds of blocks of attributes sought anew in one part of a lattice, where they are lower than in all of it."""

from __future__ import annotations

from tabular.kernels import lean
from tabular.lattice.optimal.branch_and_bound import advance, bound_of, go_on, leave, open_attributes, settle
from tabular.lattice.optimal.class_splits import WORK, Grid, Scratch
from tabular.lattice.optimal.parts import BEST, DEPTH, DONE, FRESH, JUDGES, OPEN, TOP, Blocks, Parts


@lean
def cap_blocks(
    grid: Grid, parts: Parts, inner: Parts, depth: int, bound: int, blocks: Blocks, scratch: Scratch, effort: int
) -> int:
    """Seek the bounds of blocks anew, in one part alone; return the part's bound."""
    best, caps, attributes = parts.state[BEST], parts.caps[depth], parts.most.shape[1]
    rows, starts, classes = parts.row_at[depth], parts.start_at[depth], parts.classes[depth]
    for which in range(attributes, parts.state[TOP]):
        if not blocks.sought[which]:
            continue
        open_ones, least = 0, 0
        for attribute in range(attributes):
            if blocks.members[which, attribute]:
                open_ones += parts.most[depth, attribute] > parts.now[depth, attribute]
                least += grid.gains[attribute, parts.now[depth, attribute]]
        bound_of(grid, parts.most[depth], caps, which, blocks)
        above = blocks.gains[which]
        if open_ones < 2 or above <= least:
            continue
        for attribute in range(attributes):
            inner.now[0, attribute] = parts.now[depth, attribute]
            inner.losing[0, attribute] = parts.losing[depth, attribute]
            inner.most[0, attribute] = (
                parts.most[depth, attribute] if blocks.members[which, attribute] else parts.now[depth, attribute]
            )
        for other in range(which + 1):
            inner.caps[0, other] = caps[other]
        for place in range(parts.starts[starts + classes]):
            inner.rows[place] = parts.rows[rows + place]
            inner.weights[place] = parts.weights[rows + place]
        for place in range(classes + 1):
            inner.starts[place] = parts.starts[starts + place]
        inner.classes[0], inner.lost[0], inner.row_at[0], inner.start_at[0] = classes, parts.lost[depth], 0, 0
        inner.given[0] = False
        inner.state[DEPTH], inner.state[FRESH], inner.state[JUDGES], inner.state[TOP] = 0, 1, 1, which
        # Less than this need not be told apart: the part would be left out.
        inner.state[BEST] = max(least, above - (bound - best))
        if advance(grid, inner, blocks, scratch, effort) == DONE and inner.state[BEST] < above:
            caps[which] = inner.state[BEST]
            bound = bound_of(grid, parts.most[depth], caps, parts.state[TOP], blocks)
            if bound <= best:
                return bound
    return bound


@lean
def advance_capping(
    grid: Grid, parts: Parts, inner: Parts, blocks: Blocks, scratch: Scratch, budget: int, wide: int, effort: int
) -> int:
    """Go on as `advance` does; in parts in which so many attributes are open, bound the blocks anew.

    A bound that takes more than so much *effort* is left as it is; *inner* is room for the parts it is sought in.
    """
    state = parts.state
    until = scratch.told[WORK] + budget
    while state[DEPTH] >= 0:
        if scratch.told[WORK] >= until:
            return OPEN
        bound = settle(grid, parts, blocks, scratch)
        if bound < 0:
            continue
        if state[FRESH] == 1 and open_attributes(parts) >= wide:
            bound = cap_blocks(grid, parts, inner, state[DEPTH], bound, blocks, scratch, effort)
            if bound <= state[BEST]:
                leave(parts, scratch)
                continue
        outcome: int = go_on(grid, parts, bound, blocks, scratch)
        if outcome != OPEN:
            return outcome
    return DONE
