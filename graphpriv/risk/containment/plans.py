"""The order in which the neighbours of a pattern are placed: component after component, those without links last.

Components that are the same, and neighbours that could change places, are placed in one order only: it is enough to
look for embeddings in which their places fall.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.colour_refinement import mixed
from graphpriv.risk.containment.bits import run_of
from graphpriv.risk.containment.independent_sets import Links, Room, most_apart, room_for
from graphpriv.risk.containment.shapes import BitRows, Shapes
from graphpriv.risk.workers import even_bounds, in_chunks
from tabular.kernels import compiled

#: Steps for counting how many of a whole neighbourhood have no links to one another, and for each component; around
#: centres with more neighbours than that only bounds are told. Words of room for it.
_WHOLE, _PART = 4_000, 1_000
_MOST_COUNTED = 8_192
_MOST_WORDS = 1 << 22


_0, _1 = np.uint64(0), np.uint64(1)


class Plans(NamedTuple):
    """For each node, from the offset of its shape, its neighbours that have links in the order of their placing."""

    #: How many neighbours have links.
    linked: NDArray[np.int64]
    order: NDArray[np.int32]
    #: Where in the order the component of each starts, and whose place must be higher: -1 where there is none.
    component: NDArray[np.int32]
    above: NDArray[np.int32]
    #: The links to those placed before: where they start, whom they go to, and how this one stands to it.
    rows: NDArray[np.int64]
    earlier: NDArray[np.int32]
    codes: NDArray[np.int8]
    #: How many links those neighbours have together who have most: of one, of two, ….
    heaviest: NDArray[np.int64]
    #: From where a component starts, how many of those still to be placed there are at least of whom no two are linked.
    apart: NDArray[np.int64]
    #: Between what the greatest number of neighbours lies of whom no two are linked.
    least_apart: NDArray[np.int64]
    most_apart: NDArray[np.int64]


def plans_of(
    shapes: Shapes, rows: BitRows, wanted: NDArray[np.bool_], involved: NDArray[np.bool_], workers: int
) -> Plans:
    """The plans of the *wanted* shapes, and what is counted of all that are *involved*."""
    entries = len(shapes.types)
    plans = Plans(
        linked=np.zeros(len(wanted), dtype=np.int64),
        order=np.zeros(entries, dtype=np.int32),
        component=np.zeros(entries, dtype=np.int32),
        above=np.full(entries, -1, dtype=np.int32),
        rows=np.zeros(entries + 1, dtype=np.int64),
        earlier=np.zeros(len(shapes.inner), dtype=np.int32),
        codes=np.zeros(len(shapes.inner), dtype=np.int8),
        heaviest=np.zeros(entries, dtype=np.int64),
        apart=np.zeros(entries, dtype=np.int64),
        least_apart=np.zeros(len(wanted), dtype=np.int64),
        most_apart=np.diff(shapes.offsets),
    )
    sizes = np.diff(shapes.offsets)
    in_chunks(lambda start, stop: write_plans(shapes, wanted, plans, start, stop), even_bounds(sizes), workers)
    bounds = even_bounds(np.where(involved, sizes**2, 0))
    in_chunks(lambda start, stop: write_apart(shapes, rows, wanted, involved, plans, start, stop), bounds, workers)
    return plans


@compiled
def write_apart(
    shapes: Shapes,
    rows: BitRows,
    wanted: NDArray[np.bool_],
    involved: NDArray[np.bool_],
    plans: Plans,
    start: int,
    stop: int,
) -> None:
    """Write how many neighbours there are of whom no two are linked, for the shapes from *start* to *stop*."""
    most = 1
    for at in range(start, stop):
        most = max(most, shapes.offsets[at + 1] - shapes.offsets[at])
    room = room_for(most, _MOST_WORDS)
    for at in range(start, stop):
        if not involved[at]:
            continue
        count = shapes.offsets[at + 1] - shapes.offsets[at]
        links = Links(rows.bits, rows.starts[at], rows.ways * ((count + 63) >> 6), (count + 63) >> 6)
        counted = 0 < count <= _MOST_COUNTED and links.start >= 0
        if wanted[at]:
            plans.least_apart[at] = write_parts_apart(shapes, plans, at, room, links, counted)
        if counted:
            for word in range(links.words):
                room.sets[word] = run_of(word, 0, count)
            plans.most_apart[at] = most_apart(room, links, 0, count, _WHOLE)[1]


@compiled
def write_parts_apart(shapes: Shapes, plans: Plans, at: int, room: Room, links: Links, counted: bool) -> int:
    """Write for each component how many it and those after it have at least of whom no two are linked; for all."""
    base, count, linked = shapes.offsets[at], shapes.offsets[at + 1] - shapes.offsets[at], plans.linked[at]
    rest, end = count - linked, linked
    for back in range(linked):
        depth = linked - 1 - back
        if plans.component[base + depth] != depth:
            continue
        least = 1
        if counted:
            for word in range(links.words):
                room.sets[word] = _0
            for each in range(depth, end):
                place = plans.order[base + each]
                room.sets[place >> 6] |= _1 << np.uint64(place & 63)
            least = most_apart(room, links, 0, count, _PART)[0]
        rest += least
        plans.apart[base + depth], end = rest, depth
    return int(rest)


@compiled
def write_plans(shapes: Shapes, wanted: NDArray[np.bool_], plans: Plans, start: int, stop: int) -> None:
    """Write the plans of the shapes from *start* to *stop*."""
    most = 0
    for at in range(start, stop):
        most = max(most, shapes.offsets[at + 1] - shapes.offsets[at])
    order, depth = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    firsts, rank = np.empty(most + 1, dtype=np.int64), np.empty(most, dtype=np.int64)
    near, keys = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.uint64)
    last_twin = np.empty(most, dtype=np.int32)
    for at in range(start, stop):
        base, count = shapes.offsets[at], shapes.offsets[at + 1] - shapes.offsets[at]
        falling = np.sort(shapes.degrees[base : base + count])[::-1]
        together = 0
        for place in range(count):
            together += falling[place]
            plans.heaviest[base + place] = together
        if not wanted[at]:
            continue
        depth[:count], near[:count] = -1, 0
        placed, parts = 0, 0
        while True:
            # A component starts at the neighbour with most links; the next is always the one with most to those before.
            chosen = -1
            for place in range(count):
                degree = shapes.degrees[base + place]
                if depth[place] < 0 and degree > 0 and (chosen < 0 or degree > shapes.degrees[base + chosen]):
                    chosen = place
            if chosen < 0:
                break
            firsts[parts] = placed
            parts += 1
            while chosen >= 0:
                depth[chosen], order[placed] = placed, chosen
                placed += 1
                first = shapes.rows[base + chosen]
                for link in range(first, first + shapes.degrees[base + chosen]):
                    near[shapes.inner[link]] += 1
                chosen = -1
                for place in range(count):
                    more = chosen < 0 or near[place] > near[chosen]
                    if not more and near[place] == near[chosen]:
                        more = shapes.degrees[base + place] > shapes.degrees[base + chosen]
                    if more and depth[place] < 0 and near[place] > 0:
                        chosen = place
        firsts[parts] = placed
        # Large components first; the same ones side by side.
        for part in range(parts):
            key = np.uint64(0)
            for each in range(firsts[part], firsts[part + 1]):
                place = order[each]
                key = mixed(key ^ np.uint64(shapes.types[base + place]))
                first = shapes.rows[base + place]
                for link in range(first, first + shapes.degrees[base + place]):
                    other = depth[shapes.inner[link]]
                    if other < each:
                        key += mixed(np.uint64((other - firsts[part]) * 4 + shapes.codes[link] + 8 * count))
            keys[part] = key
            spot = part
            while spot > 0 and comes_before(firsts, keys, part, rank[spot - 1]):
                rank[spot] = rank[spot - 1]
                spot -= 1
            rank[spot] = part
        lay_out_plan(shapes, plans, at, order, firsts, rank, parts, depth, last_twin)


@compiled
def comes_before(firsts: NDArray[np.int64], keys: NDArray[np.uint64], one: int, other: int) -> bool:
    """Whether one component is placed before another."""
    size, others = firsts[one + 1] - firsts[one], firsts[other + 1] - firsts[other]
    return bool(size > others or (size == others and keys[one] < keys[other]))


@compiled
def lay_out_plan(
    shapes: Shapes,
    plans: Plans,
    at: int,
    order: NDArray[np.int32],
    firsts: NDArray[np.int64],
    rank: NDArray[np.int64],
    parts: int,
    depth: NDArray[np.int32],
    last_twin: NDArray[np.int32],
) -> None:
    """Write the plan of one shape whose components are known."""
    base, write, placed, before = shapes.offsets[at], shapes.rows[shapes.offsets[at]], 0, -1
    last_twin[: shapes.offsets[at + 1] - base] = -1
    for spot in range(parts):
        part, first = rank[spot], placed
        for each in range(firsts[part], firsts[part + 1]):
            depth[order[each]] = placed
            plans.order[base + placed], plans.component[base + placed] = order[each], first
            placed += 1
        for each in range(first, placed):
            place = plans.order[base + each]
            plans.rows[base + each] = write
            row = shapes.rows[base + place]
            # In the order of the depths, so that the same components have the same rows.
            for link in range(row, row + shapes.degrees[base + place]):
                other = depth[shapes.inner[link]]
                if other < each:
                    spare = write
                    while spare > plans.rows[base + each] and plans.earlier[spare - 1] > other:
                        plans.earlier[spare], plans.codes[spare] = plans.earlier[spare - 1], plans.codes[spare - 1]
                        spare -= 1
                    # How this one stands to the other: following and being followed change places.
                    code = shapes.codes[link]
                    plans.earlier[spare], plans.codes[spare] = other, (code >> 1) | ((code & 1) << 1)
                    write += 1
            twin = shapes.twins[base + place]
            plans.above[base + each] = last_twin[twin]
            last_twin[twin] = each
        plans.rows[base + placed] = write
        if before >= 0 and same_component(shapes, plans, base, before, first, placed):
            plans.above[base + first] = before
        before = first
    plans.linked[at] = placed


@compiled
def same_component(shapes: Shapes, plans: Plans, base: int, one: int, other: int, end: int) -> bool:
    """Whether two components that are placed one after the other are the same."""
    if other - one != end - other:
        return False
    for each in range(other - one):
        mine, its = base + one + each, base + other + each
        if shapes.types[base + plans.order[mine]] != shapes.types[base + plans.order[its]]:
            return False
        first, second = plans.rows[mine], plans.rows[its]
        links = plans.rows[its + 1] - second
        # The rows of the component before end where those of this one start.
        if plans.rows[mine + 1] - first != links:
            return False
        for link in range(links):
            if (
                plans.earlier[first + link] - one != plans.earlier[second + link] - other
                or plans.codes[first + link] != plans.codes[second + link]
            ):
                return False
    return True
