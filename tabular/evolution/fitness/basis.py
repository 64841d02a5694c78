"""The one-to-one linkage of greatest weight as a basis of a transport, kept while the masked file changes.

Rows are the distinct originals, columns the combinations of masked values. The optimal transport that is first in code
order is the one optimum if each edge, in that order, is cheaper by an amount that is vanishingly small beside that of
the edge before. A basis is a spanning tree; its prices do not depend on how many records have each combination. So a
basis that was best for one file is a start for all others: flows below 0 leave the tree one by one, each for the
cheapest edge that can take its place (the dual simplex method on a network). Two edges never cost the same: this ends,
and its end does not depend on where it began.
"""

from __future__ import annotations

from itertools import compress, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.evolution.fitness.tables import Tables
from tabular.kernels import compiled, lean

#: Dearer than any edge.
FAR = 1 << 60

#: Sets of so many attributes are told apart.
TELLING = 10

#: Up to so many times the nodes times the sets of attributes all edges are looked at.
DENSE = 4

#: The least flow among so many nodes leaves the tree.
FEW = 8

#: Places in `Basis.used`: the stamp of the last subtree, of the last paths, how many pivots there were, the last node,
#: how many columns are in the tree.
INSIDE, PATHS, PIVOTS, TURN, COLUMNS = 0, 1, 2, 3, 4


class Transport(NamedTuple):
    """What does not change: the cost of each edge by row and by column, and how many records each row has.

    Two nodes that agree in some attributes, and perhaps in others, cost at most what that `agreement` costs. Nodes with
    the same of their `keys` for it agree in these attributes. Where there are none of these, the columns that no record
    has stay outside the tree: with labels that stand for sets they are nearly all.
    """

    costs: NDArray[np.int32]
    across: NDArray[np.int32]
    supply: NDArray[np.int64]
    agreements: NDArray[np.int64]
    keys: NDArray[np.int32]


class Basis(NamedTuple):
    """A spanning tree: nodes are the rows, then the columns; the first column is the root.

    `edges[x]` is row x columns + column of the edge to the parent, `flows[x]` what it carries from row to column.
    On an edge of the tree the two `prices` sum to its cost. `demand` is what the flows serve. The columns in the tree
    are `listed`, each at one of the `places`, -1 being none. The rest is scratch:
    the
    subtree in hand, prices outside, the up-paths of the best edge so far with the first edge on each, and offers.
    """

    parents: NDArray[np.int64]
    edges: NDArray[np.int64]
    flows: NDArray[np.int64]
    prices: NDArray[np.int64]
    children: NDArray[np.int64]
    after: NDArray[np.int64]
    before: NDArray[np.int64]
    demand: NDArray[np.int64]
    members: NDArray[np.int64]
    inside: NDArray[np.int64]
    offers: NDArray[np.int64]
    marks: NDArray[np.int64]
    firsts: NDArray[np.int64]
    tops: NDArray[np.int64]
    heads: NDArray[np.int64]
    nexts: NDArray[np.int64]
    listed: NDArray[np.int64]
    places: NDArray[np.int64]
    outside: NDArray[np.int64]
    used: NDArray[np.int64]


def transport_of(tables: Tables, gains: NDArray[np.int64]) -> Transport:
    """The transport in which a pair costs the *gains* of the attributes in which it differs."""
    costs = np.zeros(tables.ties.shape, dtype=np.int32)
    numbers = np.arange(tables.ties.shape[1])
    for place, gain in enumerate(gains.tolist()):
        stride, labels, begin = tables.strides[place], tables.labels[place], tables.cells[place]
        values, others = tables.originals // stride % labels, numbers // stride % labels
        costs += np.where(tables.agrees[begin + values[:, None] * labels + others], 0, gain).astype(np.int32)
    numbers = np.concatenate([tables.originals, numbers])
    agreements, keys = _agreements(tables, gains, numbers)
    return Transport(costs, np.ascontiguousarray(costs.T), tables.supply, agreements, keys)


def _agreements(
    tables: Tables, gains: NDArray[np.int64], numbers: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The cost of agreement in each set of attributes, and the key of each node for it.

    None where these are many, or where labels stand for several values: what agrees with one label can differ.
    """
    keys: list[NDArray[np.int64]] = []
    costs: list[int] = []
    begin = 0
    telling = np.flatnonzero((gains > 0) & (tables.sizes > 1)).tolist()
    if len(telling) > TELLING or (tables.labels > tables.sizes).any():
        return np.zeros(0, dtype=np.int64), np.zeros((len(numbers), 0), dtype=np.int32)
    for chosen in product((False, True), repeat=len(telling)):
        key, count = np.zeros(len(numbers), dtype=np.int64), 1
        for place in compress(telling, chosen):
            key = key * tables.sizes[place] + numbers // tables.strides[place] % tables.sizes[place]
            count *= int(tables.sizes[place])
        keys.append(begin + key)
        costs.append(sum(int(gains[place]) for place, held in zip(telling, chosen, strict=True) if not held))
        begin += count
    return np.array(costs, dtype=np.int64), np.ascontiguousarray(np.stack(keys, axis=1), dtype=np.int32)


def first_basis(transport: Transport) -> Basis:
    """A basis in which all records of the masked file have the first combination."""
    rows, columns = transport.costs.shape
    nodes = rows + columns
    tree = (np.full(nodes, -1, dtype=np.int64) for _ in range(7))
    agreements, keys = len(transport.agreements), int(transport.keys.max(initial=-1)) + 1
    shapes: tuple[Any, ...] = (
        *(columns, nodes, nodes, max(rows, columns), (2, nodes), (2, nodes)),
        *(keys, keys, nodes * agreements, columns, columns, columns, 5),
    )
    basis = Basis(*tree, *(np.zeros(shape, dtype=np.int64) for shape in shapes))
    basis.places[:] = -1
    _plant(transport, basis)
    return basis


def copied(basis: Basis) -> Basis:
    """The same basis, to be changed on its own."""
    return Basis(*(part.copy() for part in basis))


@compiled
def _plant(transport: Transport, basis: Basis) -> None:
    """All rows below the first column, each other column that is in the tree below the row that is cheapest for it."""
    rows, columns = transport.costs.shape
    _list(basis, 0)
    basis.prices[rows], basis.demand[0] = 0, transport.supply.sum()
    for row in range(rows):
        basis.prices[row] = transport.costs[row, 0]
        _hang(basis, row, rows, row * columns, transport.supply[row])
    for column in range(1, columns if len(transport.agreements) else 1):
        _list(basis, column)
        best, cheapest = 0, FAR
        for row in range(rows):
            cost = transport.costs[row, column] - basis.prices[row]
            # Of equal ones the last: the edge of its row to the root gains least.
            if cost <= cheapest:
                best, cheapest = row, cost
        basis.prices[rows + column] = cheapest
        _hang(basis, rows + column, best, best * columns + column, 0)


@lean
def begin_nearer(basis: Basis, start: Basis, demand: NDArray[np.int64]) -> None:
    """Go back to the basis *start* if its demand is nearer to the one that is to be served."""
    gone, there = 0, 0
    for column in range(len(demand)):
        gone += abs(demand[column] - basis.demand[column])
        there += abs(demand[column] - start.demand[column])
    if there >= gone:
        return
    for column in range(len(demand)):
        basis.demand[column] = start.demand[column]
    for node in range(len(basis.parents)):
        basis.parents[node], basis.edges[node] = start.parents[node], start.edges[node]
        basis.flows[node], basis.prices[node] = start.flows[node], start.prices[node]
        basis.children[node], basis.after[node] = start.children[node], start.after[node]
        basis.before[node] = start.before[node]
    for column in range(len(demand)):
        basis.listed[column], basis.places[column] = start.listed[column], start.places[column]
    basis.used[COLUMNS] = start.used[COLUMNS]


@lean
def solve(transport: Transport, basis: Basis, demand: NDArray[np.int64]) -> None:
    """Make the basis that of the best transport to *demand*, which has as many records as there were."""
    rows = len(transport.supply)
    for column in range(len(demand)):
        more = demand[column] - basis.demand[column]
        if more != 0:
            basis.demand[column] = demand[column]
            if basis.places[column] < 0:
                _take_in(transport, basis, column)
            _shift(basis, rows, rows + column, more)
    leaving = _next_below_0(basis)
    while leaving >= 0:
        _pivot(transport, basis, leaving)
        leaving = _next_below_0(basis)
    if not len(transport.agreements):
        for place in range(basis.used[COLUMNS] - 1, -1, -1):
            column = basis.listed[place]
            if column and basis.demand[column] == 0 and basis.children[rows + column] < 0:
                _leave_out(basis, rows, column)


@lean
def _list(basis: Basis, column: int) -> None:
    """Note that a column is in the tree."""
    basis.places[column] = basis.used[COLUMNS]
    basis.listed[basis.used[COLUMNS]] = column
    basis.used[COLUMNS] += 1


@lean
def _take_in(transport: Transport, basis: Basis, column: int) -> None:
    """Hang a column that is not in the tree below the row that is cheapest for it."""
    rows, columns = transport.costs.shape
    node = rows + column
    basis.used[INSIDE] += 1
    basis.members[0], basis.inside[node], basis.prices[node] = node, basis.used[INSIDE], 0
    edge, slack = _cheapest_of_all(transport, basis, 1, False)
    basis.prices[node] = slack
    _hang(basis, node, edge // columns, edge, 0)
    _list(basis, column)


@lean
def _leave_out(basis: Basis, rows: int, column: int) -> None:
    """Take a column out of the tree that no record has and nothing hangs below."""
    node, last = rows + column, basis.used[COLUMNS] - 1
    _cut(basis, node)
    basis.parents[node] = -1
    place = basis.places[column]
    basis.listed[place] = basis.listed[last]
    basis.places[basis.listed[place]] = place
    basis.places[column], basis.used[COLUMNS] = -1, last


@lean
def _next_below_0(basis: Basis) -> int:
    """A node whose flow is below 0, going round from the last one: the least of the next few; -1 if there is none."""
    nodes, found, least, seen = len(basis.parents), -1, 0, 0
    node = basis.used[TURN]
    for _ in range(nodes):
        if basis.flows[node] < least and basis.parents[node] >= 0:
            found, least = node, basis.flows[node]
        seen += found >= 0
        if seen > FEW:
            break
        node = node + 1 if node + 1 < nodes else 0
    basis.used[TURN] = max(found, 0)
    return int(found)


@lean
def _shift(basis: Basis, rows: int, node: int, amount: int) -> None:
    """Let *amount* more flow into a column, or less out of a row, by the edges up to the root."""
    while basis.parents[node] >= 0:
        basis.flows[node] += amount if node >= rows else -amount
        node = basis.parents[node]


@lean
def _pivot(transport: Transport, basis: Basis, leaving: int) -> None:
    """Take the edge above node *leaving*, whose flow is below 0, out of the tree."""
    rows, columns = transport.costs.shape
    amount = -basis.flows[leaving]
    count = _gather(basis, leaving)
    # The edge that enters leads from the part where the leaving one ends to the part where it begins.
    by_row = leaving >= rows
    edge, slack = _cheapest(transport, basis, count, by_row)
    row, column = edge // columns, rows + edge % columns
    for place in range(count):
        node = basis.members[place]
        basis.prices[node] += slack if (node < rows) == by_row else -slack
    _shift(basis, rows, row, amount)
    _shift(basis, rows, column, -amount)
    if by_row:
        _turn(basis, leaving, row, column, edge, amount)
    else:
        _turn(basis, leaving, column, row, edge, amount)
    basis.used[PIVOTS] += 1


@lean
def _gather(basis: Basis, top: int) -> int:
    """List and stamp the subtree below *top*; how many nodes it has."""
    basis.used[INSIDE] += 1
    stamp = basis.used[INSIDE]
    basis.members[0], basis.inside[top] = top, stamp
    count, done = 1, 0
    while done < count:
        child = basis.children[basis.members[done]]
        done += 1
        while child >= 0:
            basis.members[count], basis.inside[child] = child, stamp
            count += 1
            child = basis.after[child]
    return count


@lean
def _cheapest(transport: Transport, basis: Basis, count: int, by_row: bool) -> tuple[int, int]:
    """The cheapest edge between rows inside the subtree and columns outside, or rows outside and columns inside.

    The edge, and what it costs beyond the prices of its ends.
    """
    rows, columns = transport.costs.shape
    if by_row and not len(transport.agreements):
        return _cheapest_of_listed(transport, basis, count)
    size, lines = columns if by_row else rows, 0
    for place in range(count):
        lines += (basis.members[place] < rows) == by_row
    if not len(transport.agreements) or lines * size < DENSE * (lines + size) * len(transport.agreements):
        return _cheapest_of_all(transport, basis, count, by_row)
    return _cheapest_by_agreement(transport, basis, count, by_row)


@lean
def _cheapest_of_all(transport: Transport, basis: Basis, count: int, by_row: bool) -> tuple[int, int]:
    """The same by looking at all edges: best where few nodes are inside."""
    rows, columns = transport.costs.shape
    stamp = basis.used[INSIDE]
    first, size = (rows, columns) if by_row else (0, rows)
    for place in range(size):
        outside = basis.inside[first + place] != stamp
        basis.offers[place] = basis.prices[first + place] if outside else -FAR
    best, slack = -1, FAR
    for place in range(count):
        node = basis.members[place]
        if (node < rows) != by_row:
            continue
        line = transport.costs[node] if by_row else transport.across[node - rows]
        least = FAR
        for other in range(size):
            least = min(least, line[other] - basis.offers[other])
        if least - basis.prices[node] > slack:
            continue
        if least - basis.prices[node] < slack:
            best, slack = -1, least - basis.prices[node]
        for other in range(size):
            if line[other] - basis.offers[other] == least:
                edge = node * columns + other if by_row else other * columns + node - rows
                best = _cheaper(basis, rows, columns, edge, best)
    return best, slack


@lean
def _cheapest_of_listed(transport: Transport, basis: Basis, count: int) -> tuple[int, int]:
    """The same between rows inside and the columns outside that are in the tree."""
    rows, columns = transport.costs.shape
    stamp, size = basis.used[INSIDE], 0
    for place in range(basis.used[COLUMNS]):
        column = basis.listed[place]
        if basis.inside[rows + column] != stamp:
            basis.outside[size], basis.offers[size] = column, basis.prices[rows + column]
            size += 1
    best, slack = -1, FAR
    for place in range(count):
        node = basis.members[place]
        if node >= rows:
            continue
        line, least = transport.costs[node], FAR
        for other in range(size):
            least = min(least, line[basis.outside[other]] - basis.offers[other])
        if least - basis.prices[node] > slack:
            continue
        if least - basis.prices[node] < slack:
            best, slack = -1, least - basis.prices[node]
        for other in range(size):
            column = basis.outside[other]
            if line[column] - basis.offers[other] == least:
                best = _cheaper(basis, rows, columns, node * columns + column, best)
    return best, slack


@lean
def _cheapest_by_agreement(transport: Transport, basis: Basis, count: int, by_row: bool) -> tuple[int, int]:
    """The same by what nodes agree in: for each key the greatest price outside, and a list of nodes that have it."""
    rows, columns = transport.costs.shape
    agreements = len(transport.agreements)
    _offer(transport, basis, by_row)
    best, slack = -1, FAR
    for place in range(count):
        node = basis.members[place]
        if (node < rows) != by_row:
            continue
        least = FAR
        for agreement in range(agreements):
            least = min(least, transport.agreements[agreement] - basis.tops[transport.keys[node, agreement]])
        if least - basis.prices[node] > slack:
            continue
        if least - basis.prices[node] < slack:
            best, slack = -1, least - basis.prices[node]
        for agreement in range(agreements):
            key = transport.keys[node, agreement]
            if transport.agreements[agreement] - basis.tops[key] == least:
                entry = basis.heads[key]
                while entry >= 0:
                    other = entry // agreements
                    edge = node * columns + other - rows if by_row else other * columns + node - rows
                    best = _cheaper(basis, rows, columns, edge, best)
                    entry = basis.nexts[entry]
    return best, slack


@lean
def _offer(transport: Transport, basis: Basis, by_row: bool) -> None:
    """For each key the greatest price of the columns outside the subtree, or of the rows, and who has it."""
    rows, agreements, stamp = len(transport.supply), len(transport.agreements), basis.used[INSIDE]
    basis.tops[:] = -FAR
    for node in range(rows if by_row else 0, len(basis.parents) if by_row else rows):
        if basis.inside[node] == stamp:
            continue
        price = basis.prices[node]
        for agreement in range(agreements):
            key, entry = transport.keys[node, agreement], node * agreements + agreement
            if price > basis.tops[key]:
                basis.tops[key], basis.heads[key], basis.nexts[entry] = price, entry, -1
            elif price == basis.tops[key]:
                basis.nexts[entry] = basis.heads[key]
                basis.heads[key] = entry


@lean
def _cheaper(basis: Basis, rows: int, columns: int, edge: int, best: int) -> int:
    """The cheaper of two edges that have the same slack; *best* is -1 if there is none yet, else it is marked."""
    if best >= 0 and (edge == best or not _is_cheaper(basis, rows, columns, edge, best)):
        return best
    _mark(basis, rows, columns, edge)
    return edge


@lean
def _mark(basis: Basis, rows: int, columns: int, edge: int) -> None:
    """Mark the paths from both ends of an edge up to the root; for each node the first edge on the way to it.

    Twice its number, and 1 more where it is added in the price of the row, or left out of that of the column.
    """
    basis.used[PATHS] += 1
    stamp = basis.used[PATHS]
    for end in range(2):
        node = edge // columns if end == 0 else rows + edge % columns
        first = FAR
        while node >= 0:
            basis.marks[end, node], basis.firsts[end, node] = stamp, first
            first = min(first, 2 * basis.edges[node] + (1 if (node < rows) == (end == 0) else 0))
            node = basis.parents[node]


@lean
def _is_cheaper(basis: Basis, rows: int, columns: int, edge: int, best: int) -> bool:
    """Whether *edge* costs less than *best*, the marked one, by the small amounts of the edges on their circle.

    The first edge of the circle decides: each adds its amount or takes it away.
    """
    stamp = basis.used[PATHS]
    first = min(2 * edge, 2 * best + 1)
    for end in range(2):
        node = edge // columns if end == 0 else rows + edge % columns
        while basis.marks[end, node] != stamp:
            first = min(first, 2 * basis.edges[node] + (1 if (node < rows) == (end == 0) else 0))
            node = basis.parents[node]
        if basis.firsts[end, node] < FAR:
            first = min(first, basis.firsts[end, node] ^ 1)
    return first & 1 == 0


@lean
def _turn(basis: Basis, top: int, node: int, above: int, edge: int, flow: int) -> None:
    """Hang the subtree below *top* by its *node* below another one, *above*."""
    while True:
        parent, old_edge, old_flow = basis.parents[node], basis.edges[node], basis.flows[node]
        _cut(basis, node)
        _hang(basis, node, above, edge, flow)
        if node == top:
            return
        node, above, edge, flow = parent, node, old_edge, old_flow


@lean
def _cut(basis: Basis, node: int) -> None:
    """Take a node out of the children of its parent."""
    before, after = basis.before[node], basis.after[node]
    if after >= 0:
        basis.before[after] = before
    if before >= 0:
        basis.after[before] = after
    else:
        basis.children[basis.parents[node]] = after


@lean
def _hang(basis: Basis, node: int, parent: int, edge: int, flow: int) -> None:
    """Put a node below a *parent*, by an *edge* with its *flow*."""
    head = basis.children[parent]
    basis.after[node], basis.before[node] = head, -1
    if head >= 0:
        basis.before[head] = node
    basis.children[parent] = node
    basis.parents[node], basis.edges[node], basis.flows[node] = parent, edge, flow
