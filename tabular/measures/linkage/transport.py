"""The transport of least cost between two sets of combinations, by successive shortest paths in whole numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled

#: Farther than any path.
FAR = np.int64(1) << np.int64(62)

#: How the way to an optimum ended.
SOLVED, CROWDED, EXHAUSTED = 0, 1, 2

#: Places in `State.used`.
ENTRIES, STEPS = 0, 1


class Problem(NamedTuple):
    """What row a supplies, what column b demands, and the cost `costs[patterns[a, b]]` of a unit between them."""

    patterns: NDArray[np.unsignedinteger]
    costs: NDArray[np.int64]
    supply: NDArray[np.int64]
    demand: NDArray[np.int64]


class Entries(NamedTuple):
    """Positive flows, a list for each column: entry e carries `amounts[e]` from `rows[e]`, and `nexts[e]` follows it.

    The last of `heads` begins the list of the entries that are free; -1 ends a list.
    """

    heads: NDArray[np.int64]
    nexts: NDArray[np.int64]
    rows: NDArray[np.int64]
    amounts: NDArray[np.int64]


class State(NamedTuple):
    """The state of the transport: duals within the costs, supply and demand left, entries and steps used."""

    of_rows: NDArray[np.int64]
    of_columns: NDArray[np.int64]
    supply: NDArray[np.int64]
    demand: NDArray[np.int64]
    used: NDArray[np.int64]


class ShortestPaths(NamedTuple):
    """Paths from one row: distances, from where each column and row was reached, and the columns in order of work.

    `places` says where each column stands in `columns`.
    """

    distance: NDArray[np.int64]
    origin: NDArray[np.int64]
    row_distance: NDArray[np.int64]
    row_origin: NDArray[np.int64]
    columns: NDArray[np.int64]
    places: NDArray[np.int64]
    rows: NDArray[np.int64]


def optimum(problem: Problem, steps: int) -> tuple[State, Entries] | None:
    """A transport of least cost with its duals; None if it needs to look at more than *steps* edges."""
    rows, columns = problem.patterns.shape
    state = State(
        np.zeros(rows, dtype=np.int64),
        np.zeros(columns, dtype=np.int64),
        problem.supply.copy(),
        problem.demand.copy(),
        np.zeros(2, dtype=np.int64),
    )
    paths = ShortestPaths(
        *(np.zeros(size, dtype=np.int64) for size in (columns, columns, rows, rows, columns, columns, rows))
    )
    entries = _with_room(None, columns, 2 * rows + columns)
    _begin(problem, state, entries)
    while True:
        outcome = _advance(problem, state, entries, paths, steps)
        if outcome == SOLVED:
            return state, entries
        if outcome == EXHAUSTED:
            return None
        entries = _with_room(entries, columns, 2 * len(entries.rows))


def _with_room(entries: Entries | None, columns: int, room: int) -> Entries:
    """Entries with *room*: the old ones, and free new ones."""
    nexts = np.arange(1, room + 1, dtype=np.int64)
    nexts[-1] = -1
    rows, amounts = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    if entries is None:
        heads = np.full(columns + 1, -1, dtype=np.int64)
        heads[columns] = 0
        return Entries(heads, nexts, rows, amounts)
    before = len(entries.rows)
    nexts[:before], rows[:before], amounts[:before] = entries.nexts, entries.rows, entries.amounts
    # The free entries follow the new ones.
    nexts[-1] = entries.heads[columns]
    entries.heads[columns] = before
    return Entries(entries.heads, nexts, rows, amounts)


@compiled
def _begin(problem: Problem, state: State, entries: Entries) -> None:
    """Raise the duals as far as they go one by one, columns first, and send what can go along edges they exhaust."""
    rows, columns = problem.patterns.shape
    state.of_columns[:] = FAR
    for row in range(rows):
        for column in range(columns):
            cost = problem.costs[problem.patterns[row, column]]
            state.of_columns[column] = min(state.of_columns[column], cost)
    for row in range(rows):
        least = FAR
        for column in range(columns):
            least = min(least, problem.costs[problem.patterns[row, column]] - state.of_columns[column])
        state.of_rows[row] = least
        for column in range(columns):
            if state.supply[row] == 0:
                break
            if state.demand[column] > 0:
                cost = problem.costs[problem.patterns[row, column]]
                if cost == least + state.of_columns[column]:
                    amount = min(state.supply[row], state.demand[column])
                    _add(state, entries, column, row, amount)
                    state.supply[row] -= amount
                    state.demand[column] -= amount
    state.used[STEPS] += rows * columns


@compiled
def _advance(problem: Problem, state: State, entries: Entries, paths: ShortestPaths, steps: int) -> int:
    """Send what is left, row by row, along shortest paths, while entries and steps last."""
    rows = len(problem.supply)
    for root in range(rows):
        while state.supply[root] > 0:
            # A path takes one new entry at most for each row on it.
            if state.used[ENTRIES] + rows > len(entries.rows):
                return CROWDED
            if state.used[STEPS] > steps:
                return EXHAUSTED
            sink = _shortest(problem, state, entries, paths, root)
            _send(state, entries, paths, root, sink)
    return SOLVED


@compiled
def _shortest(problem: Problem, state: State, entries: Entries, paths: ShortestPaths, root: int) -> int:
    """The nearest column with demand left, by reduced costs (Dijkstra); the duals are raised so that its path is free.

    `paths.columns` holds first the columns done, up to `done`, then those at the distance `low`, up to `near`.
    """
    columns = len(problem.demand)
    for column in range(columns):
        paths.distance[column] = FAR
        paths.columns[column], paths.places[column] = column, column
    paths.row_distance[:] = -1
    paths.row_distance[root], paths.rows[0] = 0, root
    reached, scanned, done, near, low, sink = 1, 0, 0, 0, np.int64(-1), -1
    while sink < 0:
        while scanned < reached and sink < 0:
            near, sink = _scan(problem, state, paths, paths.rows[scanned], near, low)
            scanned += 1
        if sink >= 0:
            break
        if done == near:
            low = FAR
            for place in range(near, columns):
                low = min(low, paths.distance[paths.columns[place]])
            for place in range(near, columns):
                column = paths.columns[place]
                if paths.distance[column] == low:
                    other = paths.columns[near]
                    paths.columns[place], paths.columns[near] = other, column
                    paths.places[other], paths.places[column] = place, near
                    near += 1
                    if state.demand[column] > 0:
                        sink = column
                        break
            if sink >= 0:
                break
        column = paths.columns[done]
        done += 1
        entry = entries.heads[column]
        while entry >= 0:
            row = entries.rows[entry]
            if paths.row_distance[row] < 0:
                paths.row_distance[row], paths.row_origin[row] = low, column
                paths.rows[reached] = row
                reached += 1
            entry = entries.nexts[entry]
    for place in range(reached):
        row = paths.rows[place]
        state.of_rows[row] += low - paths.row_distance[row]
    for place in range(done):
        column = paths.columns[place]
        state.of_columns[column] -= low - paths.distance[column]
    return sink


@compiled
def _scan(problem: Problem, state: State, paths: ShortestPaths, row: int, near: int, low: np.int64) -> tuple[int, int]:
    """Look at all edges of a *row*; the new end of the columns at distance *low*, and one of them with demand left."""
    columns = len(problem.demand)
    state.used[STEPS] += columns
    base = paths.row_distance[row] - state.of_rows[row]
    patterns, distances, duals = problem.patterns[row], paths.distance, state.of_columns
    for column in range(columns):
        distance = base + problem.costs[patterns[column]] - duals[column]
        # Columns that are done, or near, are no farther than the row is.
        if distance < distances[column]:
            distances[column], paths.origin[column] = distance, row
            if distance == low:
                place = paths.places[column]
                other = paths.columns[near]
                paths.columns[place], paths.columns[near] = other, column
                paths.places[other], paths.places[column] = place, near
                near += 1
                if state.demand[column] > 0:
                    return near, column
    return near, -1


@compiled
def _send(state: State, entries: Entries, paths: ShortestPaths, root: int, sink: int) -> None:
    """Send as much as fits along the path that was found."""
    amount = min(state.supply[root], state.demand[sink])
    column = sink
    while paths.origin[column] != root:
        row = paths.origin[column]
        column = paths.row_origin[row]
        entry = entries.heads[column]
        while entries.rows[entry] != row:
            entry = entries.nexts[entry]
        amount = min(amount, entries.amounts[entry])
    column = sink
    while True:
        row = paths.origin[column]
        _add(state, entries, column, row, amount)
        if row == root:
            break
        column = paths.row_origin[row]
        _add(state, entries, column, row, -amount)
    state.supply[root] -= amount
    state.demand[sink] -= amount


@compiled
def _add(state: State, entries: Entries, column: int, row: int, amount: int) -> None:
    """Add to the flow of one edge; an entry that falls to nothing is free again."""
    entry, before = entries.heads[column], -1
    while entry >= 0 and entries.rows[entry] != row:
        entry, before = entries.nexts[entry], entry
    free = len(entries.heads) - 1
    if entry < 0:
        entry = entries.heads[free]
        entries.heads[free] = entries.nexts[entry]
        entries.nexts[entry] = entries.heads[column]
        entries.heads[column] = entry
        entries.rows[entry], entries.amounts[entry] = row, 0
        state.used[ENTRIES] += 1
    entries.amounts[entry] += amount
    if entries.amounts[entry] == 0:
        if before < 0:
            entries.heads[column] = entries.nexts[entry]
        else:
            entries.nexts[before] = entries.nexts[entry]
        entries.nexts[entry] = entries.heads[free]
        entries.heads[free] = entry
        state.used[ENTRIES] -= 1
