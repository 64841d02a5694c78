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
    bounds, links = even_bounds(np.diff(offsets)), upward(found)
    in_chunks(lambda start, stop: link_neighbours(found, links, start, stop, False), bounds, workers)
    np.cumsum(rows, out=rows)
    total = int(rows[-1])
    found = found._replace(inner=np.empty(total, dtype=np.int32), codes=np.empty(total, dtype=np.int8))
    in_chunks(lambda start, stop: link_neighbours(found, links, start, stop, True), bounds, workers)
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


class Upward(NamedTuple):
    """The links of both graphs, each only with the end of fewer links: no user has many of them, not even a hub."""

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    codes: NDArray[np.int8]


def upward(found: Neighbourhoods) -> Upward:
    """Give each link to its end of fewer links, ties to the earlier one."""
    degrees = np.diff(found.offsets)
    sources = np.repeat(np.arange(len(degrees), dtype=np.int32), degrees)
    own, others = degrees[sources], degrees[found.members]
    kept = (own < others) | ((own == others) & (sources < found.members))
    offsets = np.zeros(len(found.offsets), dtype=np.int64)
    np.cumsum(np.bincount(sources[kept], minlength=len(degrees)), out=offsets[1:])
    return Upward(offsets, found.members[kept], found.directions[kept])


@compiled
def link_neighbours(found: Neighbourhoods, links: Upward, start: int, stop: int, fill: bool) -> None:
    """Count the links among the neighbours of each centre, or, once there is room for them, write them down."""
    offsets, members, rows = found.offsets, found.members, found.rows
    place = np.zeros(len(offsets), dtype=np.int32)
    most = 0
    for centre in range(start, stop):
        most = max(most, offsets[centre + 1] - offsets[centre])
    written = np.zeros(most, dtype=np.int64)
    for centre in range(start, stop):
        first, last = offsets[centre], offsets[centre + 1]
        for entry in range(first, last):
            place[members[entry]] = entry - first + 1
            written[entry - first] = 0
        for near in range(last - first):
            user = members[first + near]
            for link in range(links.offsets[user], links.offsets[user + 1]):
                other = place[links.targets[link]] - 1
                if other >= 0:
                    if fill:
                        code = links.codes[link]
                        at, back = rows[first + near] + written[near], rows[first + other] + written[other]
                        found.inner[at], found.codes[at] = other, code
                        # Seen from the other end, following and being followed change places.
                        found.inner[back], found.codes[back] = near, (code >> 1) | ((code & 1) << 1)
                    written[near] += 1
                    written[other] += 1
        for entry in range(first, last):
            place[members[entry]] = 0
            if not fill:
                # One further on, so that a running sum makes starts of the counts.
                rows[entry + 1] = written[entry - first]
