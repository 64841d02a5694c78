"""Closed neighbourhoods of two graphs, taken out once and shared by every scenario and attacker."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.risk.workers import in_chunks
from tabular.kernels import compiled, inlined

#: Fewer entries than this are not worth a thread.
_LITTLE = 1 << 16


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
    #: What is known of each user, as one number; and for each neighbour that together with how it stands to the centre.
    labels: NDArray[np.int32]
    types: NDArray[np.int64]

    def labelled(self, labels: NDArray[np.int32]) -> Neighbourhoods:
        """The same neighbourhoods under other *labels*."""
        return self._replace(labels=labels, types=labels[self.members].astype(np.int64) * 4 + self.directions)


def closed_neighbourhoods(original: SocialGraph, masked: SocialGraph, workers: int) -> Neighbourhoods:
    """All closed neighbourhoods of both graphs."""
    graphs = (original, masked)
    entries = [len(graph.neighbours.targets) for graph in graphs]
    offsets = np.concatenate([original.neighbours.offsets, masked.neighbours.offsets[1:] + entries[0]])
    members = np.concatenate([original.neighbours.targets, masked.neighbours.targets + np.int32(len(original))])
    directions = np.concatenate([graph.directions for graph in graphs])
    rows = np.zeros(sum(entries) + 1, dtype=np.int64)
    labels, types = np.zeros(len(offsets) - 1, dtype=np.int32), directions.astype(np.int64)
    none = np.empty(0, dtype=np.int32)
    found = Neighbourhoods(offsets, members, directions, rows, none, none.astype(np.int8), labels, types)
    links = upward(found)
    # A triangle writes to all its ends, so that only the two graphs can be done side by side.
    bounds = np.array([0, len(original), len(offsets) - 1] if entries[0] > _LITTLE else [0, len(offsets) - 1])
    in_chunks(lambda start, stop: count_triangles(links, start, stop, rows[1:]), bounds, workers)
    np.cumsum(rows, out=rows)
    total, free = int(rows[-1]), rows[:-1].copy()
    found = found._replace(inner=np.empty(total, dtype=np.int32), codes=np.empty(total, dtype=np.int8))
    in_chunks(lambda start, stop: write_triangles(found, links, start, stop, free), bounds, workers)
    return found


class Upward(NamedTuple):
    """The links of both graphs, each only with the end of fewer links: no user has many of them, not even a hub."""

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    #: Where the link stands among the neighbours of this end, and where among those of the other.
    here: NDArray[np.int64]
    there: NDArray[np.int64]


def upward(found: Neighbourhoods) -> Upward:
    """Give each link to its end of fewer links, ties to the earlier one."""
    size = len(found.members) // 2
    links = Upward(
        offsets=np.zeros(len(found.offsets), dtype=np.int64),
        targets=np.empty(size, dtype=np.int32),
        here=np.empty(size, dtype=np.int64),
        there=np.empty(size, dtype=np.int64),
    )
    keep_upward(found.offsets, found.members, links)
    return links


@compiled
def keep_upward(offsets: NDArray[np.int64], members: NDArray[np.int32], links: Upward) -> None:
    """Write each link once: every one stands in the rows of both ends."""
    write = 0
    # Users come in order, and so do the members of a row: the next place in a row is the one of the next who asks.
    reached = offsets[:-1].copy()
    for user in range(len(offsets) - 1):
        own = offsets[user + 1] - offsets[user]
        for entry in range(offsets[user], offsets[user + 1]):
            other = members[entry]
            others = offsets[other + 1] - offsets[other]
            if own < others or (own == others and user < other):
                links.targets[write], links.here[write], links.there[write] = other, entry, reached[other]
                write += 1
            reached[other] += 1
        links.offsets[user + 1] = write


@compiled
def count_triangles(links: Upward, start: int, stop: int, counts: NDArray[np.int64]) -> None:
    """Count for each neighbour, around its centre, the links to other neighbours: a triangle is one for all three."""
    mark = np.full(len(links.offsets), -1, dtype=np.int64)
    for user in range(start, stop):
        first, last = links.offsets[user], links.offsets[user + 1]
        if last - first < 2:
            continue
        for link in range(first, last):
            mark[links.targets[link]] = link
        for one in range(first, last):
            near = links.targets[one]
            for across in range(links.offsets[near], links.offsets[near + 1]):
                other = mark[links.targets[across]]
                if other >= 0:
                    counts[links.here[one]] += 1
                    counts[links.here[other]] += 1
                    counts[links.there[one]] += 1
                    counts[links.here[across]] += 1
                    counts[links.there[other]] += 1
                    counts[links.there[across]] += 1
        for link in range(first, last):
            mark[links.targets[link]] = -1


@compiled
def write_triangles(found: Neighbourhoods, links: Upward, start: int, stop: int, free: NDArray[np.int64]) -> None:
    """Write the same links down; *free* is the next free place of each neighbour's row."""
    mark = np.full(len(links.offsets), -1, dtype=np.int64)
    for user in range(start, stop):
        first, last = links.offsets[user], links.offsets[user + 1]
        if last - first < 2:
            continue
        for link in range(first, last):
            mark[links.targets[link]] = link
        for one in range(first, last):
            near = links.targets[one]
            for across in range(links.offsets[near], links.offsets[near + 1]):
                far = links.targets[across]
                other = mark[far]
                if other >= 0:
                    write_link(found, free, user, links.here[one], links.here[other], links.here[across])
                    write_link(found, free, near, links.there[one], links.here[across], links.here[other])
                    write_link(found, free, far, links.there[other], links.there[across], links.here[one])
        for link in range(first, last):
            mark[links.targets[link]] = -1


@inlined
def write_link(found: Neighbourhoods, free: NDArray[np.int64], centre: int, one: int, other: int, between: int) -> None:
    """Link two neighbours of a centre; *between* is where the second stands among the neighbours of the first."""
    code, first = found.directions[between], found.offsets[centre]
    found.inner[free[one]], found.codes[free[one]] = other - first, code
    # Seen from the other end, following and being followed change places.
    found.inner[free[other]], found.codes[free[other]] = one - first, (code >> 1) | ((code & 1) << 1)
    free[one] += 1
    free[other] += 1
