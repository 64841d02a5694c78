"""Of all transports of least cost the first in code order: as much as can be from the first row to the first column,
of those as much as can be to the second column, and so on, row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled
from tabular.measures.transport import Entries, Problem, State


class Edges(NamedTuple):
    """The edges that a transport of least cost may use, with the flow on each.

    Row a's stand from starts[a] to starts[a + 1], by column; column b's are the places
    `by_column[column_starts[b] : column_starts[b + 1]]` of that list.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    rows: NDArray[np.int32]
    flows: NDArray[np.int64]
    column_starts: NDArray[np.int64]
    by_column: NDArray[np.int64]


class Desk(NamedTuple):
    """What the searches for detours write down.

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


def first_in_code_order(problem: Problem, state: State, entries: Entries, limit: int) -> Edges | None:
    """The first of the optimal transports, from one of them; None where more than *limit* edges are to be chosen from.

    A transport is optimal if and only if it uses only edges whose cost the duals exhaust.
    """
    rows, columns = problem.patterns.shape
    counts = np.zeros(rows, dtype=np.int64)
    _count_edges(problem, state, counts)
    starts = np.concatenate([[0], np.cumsum(counts)])
    if starts[-1] > limit:
        return None
    of_columns, of_rows = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1], dtype=np.int32)
    flows = np.zeros(starts[-1], dtype=np.int64)
    _list_edges(problem, state, entries, starts, of_columns, of_rows, flows)
    edges = Edges(
        starts,
        of_columns,
        of_rows,
        flows,
        np.concatenate([[0], np.cumsum(np.bincount(of_columns, minlength=columns))]),
        np.argsort(of_columns, kind="stable"),
    )
    sizes = (columns, columns, columns, columns, columns, rows, rows, rows)
    _rearrange(edges, Desk(*(np.zeros(size, dtype=np.int64) for size in sizes)))
    return edges


@compiled
def _count_edges(problem: Problem, state: State, counts: NDArray[np.int64]) -> None:
    rows, columns = problem.patterns.shape
    for row in range(rows):
        for column in range(columns):
            cost = problem.costs[problem.patterns[row, column]]
            counts[row] += cost == state.of_rows[row] + state.of_columns[column]


@compiled
def _list_edges(
    problem: Problem,
    state: State,
    entries: Entries,
    starts: NDArray[np.int64],
    of_columns: NDArray[np.int32],
    of_rows: NDArray[np.int32],
    flows: NDArray[np.int64],
) -> None:
    rows, columns = problem.patterns.shape
    for row in range(rows):
        edge = starts[row]
        for column in range(columns):
            cost = problem.costs[problem.patterns[row, column]]
            if cost == state.of_rows[row] + state.of_columns[column]:
                of_columns[edge], of_rows[edge] = column, row
                edge += 1
    for column in range(columns):
        entry = entries.heads[column]
        while entry >= 0:
            row = entries.rows[entry]
            place = np.searchsorted(of_columns[starts[row] : starts[row + 1]], column)
            flows[starts[row] + place] = entries.amounts[entry]
            entry = entries.nexts[entry]


@compiled
def _rearrange(edges: Edges, desk: Desk) -> None:
    """Move each row's flow to its first columns as far as the rows after it can make up for it."""
    search = 0
    for row in range(len(edges.starts) - 1):
        first, end = edges.starts[row], edges.starts[row + 1]
        movable = 0
        for edge in range(first, end):
            desk.held[edges.columns[edge]] = edges.flows[edge]
            movable += edges.flows[edge]
        for edge in range(first, end):
            column = edges.columns[edge]
            movable -= desk.held[column]
            desk.held[column] = 0
            while movable > 0 and desk.closed[column] <= row:
                search += 1
                last = _detour(edges, desk, row, column, search)
                if last >= 0:
                    movable -= _reroute(edges, desk, edge, last)


@compiled
def _detour(edges: Edges, desk: Desk, row: int, column: int, search: int) -> int:
    """A later column of *row* whose flow can go to *column* instead, by way of later rows; -1 where there is none.

    What a search in vain has seen stays closed for the row: only fewer columns are looked for after it.
    """
    desk.seen[column] = search
    desk.queue[0] = column
    taken, waiting = 0, 1
    while taken < waiting:
        via = desk.queue[taken]
        taken += 1
        for place in range(edges.column_starts[via], edges.column_starts[via + 1]):
            given = edges.by_column[place]
            giver = edges.rows[given]
            if (
                edges.flows[given] == 0
                or giver <= row
                or desk.row_seen[giver] == search
                or desk.row_closed[giver] > row
            ):
                continue
            desk.row_seen[giver], desk.row_entered_by[giver] = search, given
            for taking in range(edges.starts[giver], edges.starts[giver + 1]):
                other = edges.columns[taking]
                if desk.seen[other] == search or desk.closed[other] > row:
                    continue
                desk.seen[other], desk.entered_by[other] = search, taking
                if desk.held[other] > 0:
                    return int(other)
                desk.queue[waiting] = other
                waiting += 1
    for place in range(waiting):
        via = desk.queue[place]
        desk.closed[via] = row + 1
        for place_of in range(edges.column_starts[via], edges.column_starts[via + 1]):
            giver = edges.rows[edges.by_column[place_of]]
            if desk.row_seen[giver] == search:
                desk.row_closed[giver] = row + 1
    return -1


@compiled
def _reroute(edges: Edges, desk: Desk, edge: int, last: int) -> int:
    """Move as much as fits to *edge* from the same row's edge to column *last*, along the detour found."""
    row, column = edges.rows[edge], edges.columns[edge]
    amount, via = desk.held[last], last
    while via != column:
        given = desk.row_entered_by[edges.rows[desk.entered_by[via]]]
        amount = min(amount, edges.flows[given])
        via = edges.columns[given]
    via = last
    while via != column:
        taking = desk.entered_by[via]
        given = desk.row_entered_by[edges.rows[taking]]
        edges.flows[taking] += amount
        edges.flows[given] -= amount
        via = edges.columns[given]
    own = edges.columns[edges.starts[row] : edges.starts[row + 1]]
    edges.flows[edges.starts[row] + np.searchsorted(own, last)] -= amount
    edges.flows[edge] += amount
    desk.held[last] -= amount
    return int(amount)
