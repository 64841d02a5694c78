"""The transport of least cost between two sets of combinations, by successive shortest paths in whole numbers.

Each original has a price, and each masked combination pays at least the least sum of cost and price. An edge that
costs just that is tight; flows use tight edges alone, so that they are the cheapest. Paths look at the cheapest
originals of a masked combination only (`candidates`), and at more of them when those listed do not reach.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import lean
from tabular.measures.linkage.candidates import (
    FAR,
    Lists,
    Space,
    Walk,
    collect,
    hold,
    list_cheapest,
    lists_of,
    walk_of,
)

#: How a stretch of work ended.
SOLVED, CROWDED, PAUSED = 0, 1, 2

#: Steps after which a long search lets others, and Ctrl-C, have their turn.
STRETCH = 10**8

#: Places in `State.used`.
ENTRIES, STEPS, SEARCHES = 0, 1, 2


class Entries(NamedTuple):
    """Positive flows, a list for each original: entry e carries `amounts[e]` to `masked[e]`, and `nexts[e]` follows it.

    The last of `heads` begins the list of the entries that are free; -1 ends a list.
    """

    heads: NDArray[np.int64]
    nexts: NDArray[np.int64]
    masked: NDArray[np.int64]
    amounts: NDArray[np.int64]


class State(NamedTuple):
    """The state of the transport: prices of originals, what each masked combination pays, supply and demand left."""

    prices: NDArray[np.int64]
    paid: NDArray[np.int64]
    supply: NDArray[np.int64]
    demand: NDArray[np.int64]
    used: NDArray[np.int64]


class Paths(NamedTuple):
    """Paths from one masked combination.

    The items of the heap are the originals, at their distances, and behind them the masked combinations, at the
    distance from which on originals count that are not listed. `seen` has the number of the search that saw an item;
    `places` says where it stands in the heap, -1 where it has left it.
    """

    heap: NDArray[np.int64]
    keys: NDArray[np.int64]
    places: NDArray[np.int64]
    seen: NDArray[np.int64]
    origins: NDArray[np.int64]
    done: NDArray[np.int64]
    masked_seen: NDArray[np.int64]
    masked_distance: NDArray[np.int64]
    masked_origins: NDArray[np.int64]
    reached: NDArray[np.int64]


class Links(NamedTuple):
    """The tight edges by original and masked combination, with the flow on each."""

    originals: NDArray[np.int64]
    masked: NDArray[np.int64]
    flows: NDArray[np.int64]


def optimum(space: Space, demand: NDArray[np.int64], steps: int, edges: int) -> Links | None:
    """The tight edges of a transport of least cost; None if it takes more than *steps*, or has more than *edges*.

    A transport is one of least cost if and only if it uses tight edges alone.
    """
    supply = space.tree.counts
    originals, masked = len(supply), len(demand)
    state = State(
        np.zeros(originals, dtype=np.int64),
        np.zeros(masked, dtype=np.int64),
        supply.copy(),
        demand.copy(),
        np.zeros(3, dtype=np.int64),
    )
    sizes = (originals + masked,) * 4 + (originals,) * 2 + (masked,) * 4
    paths = Paths(*(np.zeros(size, dtype=np.int64) for size in sizes))
    walk, lists = walk_of(space), lists_of(space)
    entries = _with_room(None, originals, 2 * originals + 2 * masked)
    while True:
        outcome = _advance(space, walk, lists, state, entries, paths, min(steps, _steps(state, walk) + STRETCH))
        if outcome == SOLVED:
            return _tight(space, walk, state, entries, edges)
        if outcome == CROWDED:
            entries = _with_room(entries, originals, 2 * len(entries.masked))
        elif _steps(state, walk) >= steps:
            return None


def _with_room(entries: Entries | None, originals: int, room: int) -> Entries:
    """Entries with *room*: the old ones, and free new ones."""
    nexts = np.arange(1, room + 1, dtype=np.int64)
    nexts[-1] = -1
    masked, amounts = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    if entries is None:
        heads = np.full(originals + 1, -1, dtype=np.int64)
        heads[originals] = 0
        return Entries(heads, nexts, masked, amounts)
    before = len(entries.masked)
    nexts[:before], masked[:before], amounts[:before] = entries.nexts, entries.masked, entries.amounts
    # The free entries follow the new ones.
    nexts[-1] = entries.heads[originals]
    entries.heads[originals] = before
    return Entries(entries.heads, nexts, masked, amounts)


def _tight(space: Space, walk: Walk, state: State, entries: Entries, edges: int) -> Links | None:
    """All tight edges, in the order of the masked combinations; None if they are more than *edges*."""
    room = min(edges, 8 * (len(state.supply) + len(state.demand)))
    while True:
        links = Links(*(np.zeros(room, dtype=np.int64) for _ in range(3)))
        count = _collect_tight(space, walk, state, entries, links)
        if count >= 0:
            return Links(*(part[:count] for part in links))
        if room == edges:
            return None
        room = min(edges, 4 * room)


@lean
def _steps(state: State, walk: Walk) -> int:
    return int(state.used[STEPS] + walk.visited[0])


@lean
def _advance(space: Space, walk: Walk, lists: Lists, state: State, entries: Entries, paths: Paths, steps: int) -> int:
    """Send what is left, one masked combination after the other, while entries and steps last."""
    for root in range(len(state.demand)):
        while state.demand[root] > 0:
            # A path takes one new entry at most for each original on it.
            if state.used[ENTRIES] + len(state.supply) > len(entries.masked):
                return CROWDED
            if _steps(state, walk) >= steps:
                return PAUSED
            state.used[SEARCHES] += 1
            sink = _shortest(space, walk, lists, state, entries, paths, root)
            _send(state, entries, paths, root, sink)
    return SOLVED


@lean
def _shortest(space: Space, walk: Walk, lists: Lists, state: State, entries: Entries, paths: Paths, root: int) -> int:
    """The nearest original with supply left, by reduced costs (Dijkstra); prices rise so that its path is tight."""
    originals, search = len(state.prices), state.used[SEARCHES]
    if lists.sizes[root] < 0:
        list_cheapest(space, walk, lists, state.prices, state.supply, root)
        state.paid[root] = lists.beyond[root]
        for place in range(lists.sizes[root]):
            price = state.prices[lists.originals[root, place]]
            state.paid[root] = min(state.paid[root], lists.costs[root, place] + price)
    paths.masked_distance[root], paths.masked_seen[root], paths.reached[0] = 0, search, root
    reached, done = 1, 0
    waiting, nearest = _look(lists, state, paths, root, 0, FAR)
    while True:
        item = paths.heap[0]
        waiting = _take(paths, waiting)
        if item >= originals:
            if paths.keys[item] < nearest:
                waiting, nearest = _look_further(space, walk, lists, state, paths, item - originals, waiting, nearest)
            continue
        if state.supply[item] > 0:
            break
        paths.done[done] = item
        done += 1
        entry = entries.heads[item]
        while entry >= 0:
            result = entries.masked[entry]
            if paths.masked_seen[result] != search:
                paths.masked_seen[result], paths.masked_origins[result] = search, item
                paths.masked_distance[result], paths.reached[reached] = paths.keys[item], result
                reached += 1
                waiting, nearest = _look(lists, state, paths, result, waiting, nearest)
            entry = entries.nexts[entry]
    distance = paths.keys[item]
    for place in range(done):
        state.prices[paths.done[place]] += distance - paths.keys[paths.done[place]]
    for place in range(reached):
        state.paid[paths.reached[place]] += distance - paths.masked_distance[paths.reached[place]]
    return int(item)


@lean
def _look(lists: Lists, state: State, paths: Paths, result: int, waiting: int, nearest: int) -> tuple[int, int]:
    """Look at the originals listed for *result*; the heap's size, and the distance of the nearest with supply left."""
    base = paths.masked_distance[result] - state.paid[result]
    for place in range(lists.sizes[result]):
        original = lists.originals[result, place]
        distance = base + lists.costs[result, place] + state.prices[original]
        if distance < nearest:
            waiting, nearest = _reach(state, paths, original, distance, result, waiting, nearest)
    state.used[STEPS] += lists.sizes[result]
    if lists.beyond[result] < FAR and base + lists.beyond[result] < nearest:
        waiting = _put(state, paths, len(state.prices) + result, base + lists.beyond[result], waiting)
    return waiting, nearest


@lean
def _look_further(
    space: Space,
    walk: Walk,
    lists: Lists,
    state: State,
    paths: Paths,
    result: int,
    waiting: int,
    nearest: int,
) -> tuple[int, int]:
    """List the originals of *result* anew at today's prices; if that reaches no further, look at all for once."""
    before = lists.beyond[result]
    list_cheapest(space, walk, lists, state.prices, state.supply, result)
    if lists.beyond[result] > before:
        return _look(lists, state, paths, result, waiting, nearest)
    base, row = paths.masked_distance[result] - state.paid[result], 0
    while row < len(state.prices):
        row, found = collect(space, walk, state.prices, row, 0, min(nearest - base - 1, FAR))
        for place in range(found):
            original = walk.originals[place]
            distance = base + walk.found[place] + state.prices[original]
            if distance < nearest:
                waiting, nearest = _reach(state, paths, original, distance, result, waiting, nearest)
        state.used[STEPS] += found
    return waiting, nearest


@lean
def _reach(
    state: State, paths: Paths, original: int, distance: int, result: int, waiting: int, nearest: int
) -> tuple[int, int]:
    """Note that *original* is reached from *result*, if that is shorter."""
    if paths.seen[original] != state.used[SEARCHES] or distance < paths.keys[original]:
        paths.origins[original] = result
        waiting = _put(state, paths, original, distance, waiting)
        if state.supply[original] > 0:
            nearest = distance
    return waiting, nearest


@lean
def _put(state: State, paths: Paths, item: int, key: int, waiting: int) -> int:
    """Put an item on the heap, or nearer to its top; the size of the heap."""
    place = paths.places[item]
    if paths.seen[item] != state.used[SEARCHES] or place < 0:
        paths.seen[item], place = state.used[SEARCHES], waiting
        waiting += 1
    paths.keys[item] = key
    while place > 0:
        above = (place - 1) >> 1
        other = paths.heap[above]
        if paths.keys[other] <= key:
            break
        paths.heap[place], paths.places[other] = other, place
        place = above
    paths.heap[place], paths.places[item] = item, place
    return waiting


@lean
def _take(paths: Paths, waiting: int) -> int:
    """Take the first item off the heap; the size of the heap."""
    paths.places[paths.heap[0]] = -1
    waiting -= 1
    if waiting == 0:
        return waiting
    item, place = paths.heap[waiting], 0
    key = paths.keys[item]
    while True:
        below = 2 * place + 1
        if below >= waiting:
            break
        if below + 1 < waiting and paths.keys[paths.heap[below + 1]] < paths.keys[paths.heap[below]]:
            below += 1
        other = paths.heap[below]
        if paths.keys[other] >= key:
            break
        paths.heap[place], paths.places[other] = other, place
        place = below
    paths.heap[place], paths.places[item] = item, place
    return waiting


@lean
def _send(state: State, entries: Entries, paths: Paths, root: int, sink: int) -> None:
    """Send as much as fits along the path that was found."""
    amount = min(state.supply[sink], state.demand[root])
    original = sink
    while paths.origins[original] != root:
        result = paths.origins[original]
        original = paths.masked_origins[result]
        entry = entries.heads[original]
        while entries.masked[entry] != result:
            entry = entries.nexts[entry]
        amount = min(amount, entries.amounts[entry])
    original = sink
    while True:
        result = paths.origins[original]
        _add(state, entries, original, result, amount)
        if result == root:
            break
        original = paths.masked_origins[result]
        _add(state, entries, original, result, -amount)
    state.supply[sink] -= amount
    state.demand[root] -= amount


@lean
def _add(state: State, entries: Entries, original: int, result: int, amount: int) -> None:
    """Add to the flow of one edge; an entry that falls to nothing is free again."""
    entry, before = entries.heads[original], -1
    while entry >= 0 and entries.masked[entry] != result:
        entry, before = entries.nexts[entry], entry
    free = len(entries.heads) - 1
    if entry < 0:
        entry = entries.heads[free]
        entries.heads[free] = entries.nexts[entry]
        entries.nexts[entry] = entries.heads[original]
        entries.heads[original] = entry
        entries.masked[entry], entries.amounts[entry] = result, 0
        state.used[ENTRIES] += 1
    entries.amounts[entry] += amount
    if entries.amounts[entry] == 0:
        if before < 0:
            entries.heads[original] = entries.nexts[entry]
        else:
            entries.nexts[before] = entries.nexts[entry]
        entries.nexts[entry] = entries.heads[free]
        entries.heads[free] = entry
        state.used[ENTRIES] -= 1


@lean
def _collect_tight(space: Space, walk: Walk, state: State, entries: Entries, links: Links) -> int:
    """Write the tight edges with their flows to *links*; how many there are, or -1 if there is no room for them."""
    count = 0
    for result in range(len(state.demand)):
        hold(space, walk, result)
        row = 0
        while row < len(state.prices):
            row, found = collect(space, walk, state.prices, row, 0, state.paid[result])
            if count + found > len(links.flows):
                return -1
            for place in range(found):
                original = walk.originals[place]
                links.originals[count], links.masked[count] = space.rows[original], result
                entry = entries.heads[original]
                while entry >= 0 and entries.masked[entry] != result:
                    entry = entries.nexts[entry]
                links.flows[count] = entries.amounts[entry] if entry >= 0 else 0
                count += 1
    return count
