"""Closed neighbourhoods of two graphs, taken out once and shared by every scenario and attacker."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.risk.workers import even_bounds, in_chunks
from tabular.errors import InvalidInput
from tabular.kernels import compiled, inlined


class Neighbourhoods(NamedTuple):
    """Neighbourhoods one after the other: first those of the original users, then those of the masked ones.

    The neighbours of a centre are the entries from offsets[centre] to offsets[centre + 1]; inside a neighbourhood
    they go by their place in that row, and `inner` holds such places.
    """

    #: For each centre where its neighbours start.
    offsets: NDArray[np.int64]
    #: The neighbours, by position; masked users are counted on after the original ones.
    members: NDArray[np.int32]
    #: How each neighbour stands to the centre: FOLLOWS, FOLLOWED or both, as bits.
    directions: NDArray[np.int8]
    #: For each neighbour where its links to other neighbours of the same centre start.
    rows: NDArray[np.int64]
    #: The other end of each such link.
    inner: NDArray[np.int32]
    #: How the other end stands to this one, as bits.
    codes: NDArray[np.int8]


def closed_neighbourhoods(original: SocialGraph, masked: SocialGraph, workers: int) -> Neighbourhoods:
    """All closed neighbourhoods of both graphs."""
    if original.directed != masked.directed:
        kind = {True: "directed", False: "undirected"}
        raise InvalidInput(
            f"The original graph is {kind[original.directed]}, the released one {kind[masked.directed]}; "
            "compare both as undirected graphs."
        )
    graphs = (original, masked)
    entries = [len(graph.neighbours.targets) for graph in graphs]
    offsets = np.concatenate([original.neighbours.offsets, masked.neighbours.offsets[1:] + entries[0]])
    members = np.concatenate([original.neighbours.targets, masked.neighbours.targets + np.int32(len(original))])
    directions = np.concatenate([graph.directions for graph in graphs])
    rows = np.zeros(sum(entries) + 1, dtype=np.int64)
    found = Neighbourhoods(offsets, members, directions, rows, np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int8))
    bounds = even_bounds(np.diff(offsets))
    in_chunks(lambda start, stop: link_neighbours(found, start, stop, False), bounds, workers)
    np.cumsum(rows, out=rows)
    links = int(rows[-1])
    found = found._replace(inner=np.empty(links, dtype=np.int32), codes=np.empty(links, dtype=np.int8))
    in_chunks(lambda start, stop: link_neighbours(found, start, stop, True), bounds, workers)
    return found


@inlined
def first_at_least(values: NDArray[Any], wanted: int, low: int, high: int) -> int:
    """The first place from *low* to *high* whose value is at least *wanted*, *high* if none is; they rise."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def link_neighbours(found: Neighbourhoods, start: int, stop: int, fill: bool) -> None:
    """Count the links among the neighbours of each centre, or, once there is room for them, write them down."""
    offsets, members, directions = found.offsets, found.members, found.directions
    place = np.zeros(len(offsets), dtype=np.int32)
    for centre in range(start, stop):
        first, last = offsets[centre], offsets[centre + 1]
        for entry in range(first, last):
            place[members[entry]] = entry - first + 1
        for entry in range(first, last):
            near = members[entry]
            low, high = offsets[near], offsets[near + 1]
            count = 0
            write = found.rows[entry]
            if high - low > 12 * (last - first):
                # The neighbour has far more links than the centre: look for the few in the many.
                for other in range(first, last):
                    at = first_at_least(members, members[other], low, high)
                    if at < high and members[at] == members[other]:
                        if fill:
                            found.inner[write + count] = other - first
                            found.codes[write + count] = directions[at]
                        count += 1
            else:
                for at in range(low, high):
                    other_place = place[members[at]]
                    if other_place > 0:
                        if fill:
                            found.inner[write + count] = other_place - 1
                            found.codes[write + count] = directions[at]
                        count += 1
            if not fill:
                # One further on, so that a running sum makes starts of the counts.
                found.rows[entry + 1] = count
        for entry in range(first, last):
            place[members[entry]] = 0
