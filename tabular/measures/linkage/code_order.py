"""The first in code order of all transports of least cost: it sends as much as possible from the first row to the
first column, then to the second column, and so on, row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled
from tabular.measures.linkage.transport import Links


class Edges(NamedTuple):
    """The edges that a transport of least cost may use, with the flow on each.

    Row a's stand from starts[a] to starts[a + 1], by column. Those of a column that carry a flow which may still be
    moved are a list: heads[b], then `nexts` and back by `previous`; -1 ends it.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    rows: NDArray[np.int32]
    flows: NDArray[np.int64]
    heads: NDArray[np.int32]
    nexts: NDArray[np.int32]
    previous: NDArray[np.int32]


class Detours(NamedTuple):
    """What is known while detours are looked for.

    `held` is the flow of the row in hand to its later columns. Nodes carry the number of the last search that saw
    them, the edge it came by, and the last row (from 1) for which they were found to lead nowhere.
    """

    held: NDArray[np.int64]
    queue: NDArray[np.int64]
    seen: NDArray[np.int64]
    entered_by: NDArray[np.int64]
    closed: NDArray[np.int64]
    row_seen: NDArray[np.int64]
    row_entered_by: NDArray[np.int64]
    row_closed: NDArray[np.int64]


def first_in_code_order(links: Links, originals: int, masked: int) -> Links:
    """The first of the optimal transports, given one of them with all edges that any of them uses, in code order."""
    order = np.lexsort((links.masked, links.originals))
    rows, columns = links.originals[order].astype(np.int32), links.masked[order].astype(np.int32)
    starts = np.searchsorted(rows, np.arange(originals + 1))
    nexts, previous = (np.full(len(order), -1, dtype=np.int32) for _ in range(2))
    heads = np.full(masked, -1, dtype=np.int32)
    edges = Edges(starts, columns, rows, links.flows[order], heads, nexts, previous)
    _list_flows(edges)
    sizes = (masked, masked, masked, masked, masked, originals, originals, originals)
    _rearrange(edges, Detours(*(np.zeros(size, dtype=np.int64) for size in sizes)))
    return Links(links.originals[order], links.masked[order], edges.flows)


@compiled
def _list_flows(edges: Edges) -> None:
    """List the edges of each column that carry a flow."""
    for edge in range(len(edges.flows)):
        if edges.flows[edge] > 0:
            _list(edges, edge)


@compiled
def _add(edges: Edges, edge: int, amount: int) -> None:
    """Add to the flow of an edge, and keep the list of its column."""
    before = edges.flows[edge]
    edges.flows[edge] += amount
    if before == 0 and amount > 0:
        _list(edges, edge)
    elif before > 0 and edges.flows[edge] == 0:
        _unlist(edges, edge)


@compiled
def _list(edges: Edges, edge: int) -> None:
    """Put an edge at the head of the list of its column."""
    head = edges.heads[edges.columns[edge]]
    edges.nexts[edge], edges.previous[edge] = head, -1
    if head >= 0:
        edges.previous[head] = edge
    edges.heads[edges.columns[edge]] = edge


@compiled
def _unlist(edges: Edges, edge: int) -> None:
    """Take an edge out of the list of its column."""
    after, before = edges.nexts[edge], edges.previous[edge]
    if after >= 0:
        edges.previous[after] = before
    if before >= 0:
        edges.nexts[before] = after
    else:
        edges.heads[edges.columns[edge]] = after


@compiled
def _rearrange(edges: Edges, detours: Detours) -> None:
    """Move each row's flow to its first columns as far as later rows can compensate."""
    search = 0
    for row in range(len(edges.starts) - 1):
        first, end = edges.starts[row], edges.starts[row + 1]
        movable = 0
        for edge in range(first, end):
            if edges.flows[edge] > 0:
                detours.held[edges.columns[edge]] = edges.flows[edge]
                movable += edges.flows[edge]
                # From here on no other row may move this row's flow.
                _unlist(edges, edge)
        for edge in range(first, end):
            column = edges.columns[edge]
            movable -= detours.held[column]
            edges.flows[edge] = detours.held[column]
            detours.held[column] = 0
            while movable > 0 and detours.closed[column] <= row:
                search += 1
                last = _detour(edges, detours, row, column, search)
                if last >= 0:
                    amount = _reroute(edges, detours, column, last)
                    edges.flows[edge] += amount
                    movable -= amount


@compiled
def _detour(edges: Edges, detours: Detours, row: int, column: int, search: int) -> int:
    """A later column of *row* whose flow can move to *column* by way of later rows, or -1.

    What a search in vain has seen stays closed for the row: only fewer columns are looked for after it.
    """
    detours.seen[column] = search
    detours.queue[0] = column
    taken, waiting = 0, 1
    while taken < waiting:
        given = edges.heads[detours.queue[taken]]
        taken += 1
        while given >= 0:
            giver = edges.rows[given]
            if detours.row_seen[giver] != search and detours.row_closed[giver] <= row:
                detours.row_seen[giver], detours.row_entered_by[giver] = search, given
                for taking in range(edges.starts[giver], edges.starts[giver + 1]):
                    other = edges.columns[taking]
                    if detours.seen[other] != search and detours.closed[other] <= row:
                        detours.seen[other], detours.entered_by[other] = search, taking
                        if detours.held[other] > 0:
                            return int(other)
                        detours.queue[waiting] = other
                        waiting += 1
            given = edges.nexts[given]
    for place in range(waiting):
        detours.closed[detours.queue[place]] = row + 1
        given = edges.heads[detours.queue[place]]
        while given >= 0:
            detours.row_closed[edges.rows[given]] = row + 1
            given = edges.nexts[given]
    return -1


@compiled
def _reroute(edges: Edges, detours: Detours, column: int, last: int) -> int:
    """Free as much of *column* as fits along the detour; the row's flow to *last* falls by as much."""
    amount, via = detours.held[last], last
    while via != column:
        given = detours.row_entered_by[edges.rows[detours.entered_by[via]]]
        amount = min(amount, edges.flows[given])
        via = edges.columns[given]
    via = last
    while via != column:
        taking = detours.entered_by[via]
        given = detours.row_entered_by[edges.rows[taking]]
        _add(edges, taking, amount)
        _add(edges, given, -amount)
        via = edges.columns[given]
    detours.held[last] -= amount
    return int(amount)
