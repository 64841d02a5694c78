"""A first trial along links: each neighbour goes where it first fits, those with few links first.

In a target with many neighbours that takes far fewer steps than sets of places; what it does not find is not ruled out.
"""

from __future__ import annotations

from graphpriv.risk.containment.plans import Plans
from graphpriv.risk.containment.shapes import Shapes
from graphpriv.risk.containment.spaces import Space
from graphpriv.risk.containment.surroundings import Surroundings, offers
from tabular.kernels import inlined, lean


@inlined
def fits_in(
    shapes: Shapes,
    plans: Plans,
    space: Space,
    base: int,
    target_base: int,
    depth: int,
    value: int,
    ways: int,
    mark: int,
) -> bool:
    """Whether a place is linked with those of the same component just as the neighbour at *depth* is with theirs."""
    first, last = plans.rows[base + depth], plans.rows[base + depth + 1]
    row = shapes.rows[target_base + value]
    met = 0
    for link in range(row, row + shapes.degrees[target_base + value]):
        at = space.inside[shapes.inner[link]] - mark
        if at >= 0:
            code, known = 1, -1
            for each in range(first, last):
                if plans.earlier[each] == at:
                    known = plans.codes[each] if ways == 4 else 1
            if ways == 4:
                # How the other one stands to this one: the reverse of how this one stands to it.
                code = (shapes.codes[link] >> 1) | ((shapes.codes[link] & 1) << 1)
            if code != known:
                return False
            met += 1
    return bool(met == last - first)


@inlined
def block(shapes: Shapes, space: Space, target_base: int, value: int, mark: int) -> None:
    """Block a place and those linked with it."""
    space.blocked[value] = mark
    row = shapes.rows[target_base + value]
    for link in range(row, row + shapes.degrees[target_base + value]):
        space.blocked[shapes.inner[link]] = mark
    space.spent[0] += shapes.degrees[target_base + value] + 1


@lean
def found_in_turn(
    shapes: Shapes,
    plans: Plans,
    around: Surroundings,
    pattern: int,
    target: int,
    types: int,
    ways: int,
    space: Space,
    budget: int,
) -> bool:
    """Whether placing one component after the other, each where it first fits, already does; few links come first."""
    base, target_base, linked = shapes.offsets[pattern], shapes.offsets[target], plans.linked[pattern]
    # Marks of a trial: one that says blocked, then one for each depth.
    mark = space.trial[0] + 1
    space.trial[0] = mark + linked + 1
    depth, fresh = 0, True
    while depth < linked:
        first, place = plans.component[base + depth], plans.order[base + depth]
        low, high = space.lows[place], space.highs[place]
        if fresh:
            space.reached[depth] = 0
        parent, links = -1, high - low
        if depth > first:
            parent = space.images[plans.earlier[plans.rows[base + depth]]]
            links = shapes.degrees[target_base + parent]
        value = -1
        while value < 0 and space.reached[depth] < links:
            step = space.reached[depth]
            space.reached[depth] += 1
            space.spent[0] += 1
            near = high - 1 - step
            if parent >= 0:
                # Those with few links come last in a row.
                near = shapes.inner[shapes.rows[target_base + parent] + links - 1 - step]
            if near < low or near >= high or space.blocked[near] == mark or space.inside[near] > mark:
                continue
            space.spent[0] += shapes.degrees[target_base + near]
            if fits_in(shapes, plans, space, base, target_base, depth, near, ways, mark + 1) and offers(
                around, base + place, target_base + near
            ):
                value = near
        if space.spent[0] > budget:
            return False
        if value < 0:
            if depth == first:
                return False
            depth -= 1
            space.inside[space.images[depth]] = 0
            fresh = False
            continue
        space.images[depth] = value
        space.inside[value] = mark + 1 + depth
        depth, fresh = depth + 1, True
        if depth == linked or plans.component[base + depth] == depth:
            for each in range(first, depth):
                block(shapes, space, target_base, space.images[each], mark)
                space.inside[space.images[each]] = 0
    room = space.room
    for kind in range(types):
        wanted, value = room.wanted[kind], room.highs[kind] - 1
        while wanted > 0 and value >= room.lows[kind]:
            space.spent[0] += 1
            if space.blocked[value] != mark:
                block(shapes, space, target_base, value, mark)
                wanted -= 1
            value -= 1
        if wanted > 0:
            return False
    return True
