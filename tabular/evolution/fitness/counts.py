"""The counts of one protected file, and the sums of all measures; a changed value changes few of them."""

from __future__ import annotations

from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.evolution.fitness.basis import Basis, Transport, solve
from tabular.evolution.fitness.tables import Tables
from tabular.kernels import lean

#: Places of the sums in `Counts.sums`; after them those of DBIL and of EBIL, attribute by attribute.
CTBIL, ID, DBRL, PRL, DBIL = 0, 1, 2, 3, 4

#: The measures in the order of `percents`.
MEASURES = ("ctbil", "dbil", "ebil", "id", "dbrl", "prl")


class Counts(NamedTuple):
    """A protected file: its `codes`, the `combination` of each record and how many records have each: `demand`.

    `held` counts the records of each label, `together` those of an original value and a label; `pairs` those of a
    distinct original and a combination. `changes` and `changes_two` say how many more records than in the original
    have a value, or two, in units of one over `Tables.whole`.
    """

    codes: NDArray[np.int32]
    combination: NDArray[np.int64]
    demand: NDArray[np.int64]
    pairs: NDArray[np.int32]
    held: NDArray[np.int64]
    together: NDArray[np.int64]
    changes: NDArray[np.int64]
    changes_two: NDArray[np.int64]
    sums: NDArray[np.int64]


def counts_for(tables: Tables, codes: NDArray[np.int32]) -> Counts:
    """The counts of a file with these *codes*, still to be made."""
    return Counts(
        codes=np.array(codes, dtype=np.int32, order="C"),
        combination=np.zeros(len(codes), dtype=np.int64),
        demand=np.zeros(tables.ties.shape[1], dtype=np.int64),
        pairs=np.zeros(tables.ties.shape, dtype=np.int32),
        held=np.zeros(int(tables.labels.sum()), dtype=np.int64),
        together=np.zeros(len(tables.distances), dtype=np.int64),
        changes=np.zeros(len(tables.before), dtype=np.int64),
        changes_two=np.zeros(len(tables.before_two), dtype=np.int64),
        sums=np.zeros(DBIL + 2 * len(tables.sizes), dtype=np.int64),
    )


@lean
def count(tables: Tables, counts: Counts, linked: bool) -> None:
    """Count the whole file anew; the pairs of combinations only where it is to be *linked*."""
    records, attributes = counts.codes.shape
    counts.demand[:], counts.together[:] = 0, 0
    if linked:
        counts.pairs[:] = 0
    near = 0
    for record in range(records):
        combination, row = 0, tables.rows[record]
        for place in range(attributes):
            label, labels = counts.codes[record, place], tables.labels[place]
            combination += label * tables.strides[place]
            counts.together[tables.cells[place] + tables.codes[record, place] * labels + label] += 1
        counts.combination[record] = combination
        counts.demand[combination] += 1
        if linked:
            counts.pairs[row, combination] += 1
        near += tables.shares[tables.ties[row, combination]]
    counts.sums[DBRL], counts.sums[PRL] = near, 0
    _sum_values(tables, counts)
    _sum_tables(tables, counts)


@lean
def _sum_values(tables: Tables, counts: Counts) -> None:
    """The sums of DBIL, EBIL and ID, from the pairs of an original value and a label; and how many have each label."""
    attributes, disclosed = len(tables.sizes), 0
    for place in range(attributes):
        labels, begin = tables.labels[place], tables.cells[place]
        distance, entropy = 0, 0
        for label in range(labels):
            of_label = 0
            for original in range(tables.sizes[place]):
                cell = begin + original * labels + label
                together = counts.together[cell]
                of_label += together
                distance += together * tables.distances[cell]
                disclosed += together * tables.disclosed[cell]
                entropy -= tables.logs[together]
            entropy += tables.logs[of_label]
            counts.held[tables.firsts[place] + label] = of_label
        counts.sums[DBIL + place], counts.sums[DBIL + attributes + place] = distance, entropy
    counts.sums[ID] = disclosed


@lean
def _sum_tables(tables: Tables, counts: Counts) -> None:
    """The sum of CTBIL, from the changes of single values and of two together."""
    attributes = len(tables.sizes)
    for cell in range(len(counts.changes)):
        counts.changes[cell] = -tables.before[cell]
    for cell in range(len(counts.changes_two)):
        counts.changes_two[cell] = -tables.before_two[cell]
    for one in range(attributes):
        for label in range(tables.labels[one]):
            _spread(tables, counts, one, label, counts.held[tables.firsts[one] + label])
    for combination in range(len(counts.demand)):
        records = counts.demand[combination]
        if records:
            for one in range(attributes):
                label = combination // tables.strides[one] % tables.labels[one]
                for two in range(one + 1, attributes):
                    other = combination // tables.strides[two] % tables.labels[two]
                    _spread_two(tables, counts, one, label, two, other, records)
    moved = 0
    for cell in range(len(counts.changes)):
        moved += abs(counts.changes[cell])
    for cell in range(len(counts.changes_two)):
        moved += abs(counts.changes_two[cell])
    counts.sums[CTBIL] = moved


@lean
def _spread(tables: Tables, counts: Counts, place: int, label: int, records: int) -> int:
    """Give the members of a label so many *records* evenly; how much farther from 0 all changes are."""
    at = tables.firsts[place] + label
    first, end, moved = tables.parts[at], tables.parts[at + 1], 0
    each = records * (tables.whole // (end - first))
    for member in range(first, end):
        moved += _add(counts.changes, tables.ones[place] + tables.members[member], each)
    return moved


@lean
def _spread_two(tables: Tables, counts: Counts, one: int, label: int, two: int, other: int, records: int) -> int:
    """Give the pairs of members of two labels, the first of the earlier attribute, so many *records* evenly."""
    at, beside = tables.firsts[one] + label, tables.firsts[two] + other
    first, end, size = tables.parts[at], tables.parts[at + 1], tables.sizes[two]
    begin, last = tables.parts[beside], tables.parts[beside + 1]
    each, moved = records * (tables.whole // ((end - first) * (last - begin))), 0
    for member in range(first, end):
        row = tables.twos[one, two] + tables.members[member] * size
        for partner in range(begin, last):
            moved += _add(counts.changes_two, row + tables.members[partner], each)
    return moved


@lean
def change(tables: Tables, counts: Counts, record: int, place: int, label: int) -> None:
    """Give a record another label."""
    before = counts.codes[record, place]
    if before == label:
        return
    attributes, row = len(tables.sizes), tables.rows[record]
    begin = tables.cells[place] + tables.codes[record, place] * tables.labels[place]
    old, new, first = begin + before, begin + label, tables.firsts[place]
    counts.sums[DBIL + place] += tables.distances[new] - tables.distances[old]
    counts.sums[ID] += tables.disclosed[new] - tables.disclosed[old]
    of_old, of_new = counts.held[first + before], counts.held[first + label]
    counts.sums[DBIL + attributes + place] += (
        tables.logs[of_old - 1]
        - tables.logs[of_old]
        + tables.logs[of_new + 1]
        - tables.logs[of_new]
        - tables.logs[counts.together[old] - 1]
        + tables.logs[counts.together[old]]
        - tables.logs[counts.together[new] + 1]
        + tables.logs[counts.together[new]]
    )
    counts.together[old] -= 1
    counts.together[new] += 1
    counts.held[first + before], counts.held[first + label] = of_old - 1, of_new + 1
    moved = _spread(tables, counts, place, before, -1) + _spread(tables, counts, place, label, 1)
    for other in range(attributes):
        held = counts.codes[record, other]
        if place < other:
            moved += _spread_two(tables, counts, place, before, other, held, -1)
            moved += _spread_two(tables, counts, place, label, other, held, 1)
        elif other < place:
            moved += _spread_two(tables, counts, other, held, place, before, -1)
            moved += _spread_two(tables, counts, other, held, place, label, 1)
    counts.sums[CTBIL] += moved
    left = counts.combination[record]
    reached = left + (label - before) * tables.strides[place]
    counts.sums[DBRL] += tables.shares[tables.ties[row, reached]] - tables.shares[tables.ties[row, left]]
    counts.demand[left] -= 1
    counts.demand[reached] += 1
    counts.pairs[row, left] -= 1
    counts.pairs[row, reached] += 1
    counts.combination[record], counts.codes[record, place] = reached, label


@lean
def _add(changes: NDArray[np.int64], cell: int, amount: int) -> int:
    """Add to the change of a cell; how much farther from 0 it is."""
    before = abs(changes[cell])
    changes[cell] += amount
    return int(abs(changes[cell]) - before)


@lean
def link(tables: Tables, counts: Counts, transport: Transport, basis: Basis) -> None:
    """The sum of PRL: the records expected to be linked rightly by the best one-to-one linkage."""
    solve(transport, basis, counts.demand)
    columns, right = len(counts.demand), 0
    for node in range(len(basis.flows)):
        if basis.flows[node] > 0:
            row, column = basis.edges[node] // columns, basis.edges[node] % columns
            true = counts.pairs[row, column]
            if true:
                share = basis.flows[node] * true / (transport.supply[row] * counts.demand[column])
                right += int(np.rint(share * tables.unit))
    counts.sums[PRL] = right


@lean
def percents(tables: Tables, counts: Counts, found: NDArray[np.float64], number: int) -> None:
    """Write the measures in percent, in the order of `MEASURES`, to row *number* of *found*."""
    records, attributes = counts.codes.shape
    distance, entropy = 0.0, 0.0
    for place in range(attributes):
        distance += counts.sums[DBIL + place] / tables.steps[place]
        if tables.sizes[place] > 1:
            lost = counts.sums[DBIL + attributes + place] / tables.log_unit
            entropy += lost / (records * log(tables.sizes[place]))
    found[number, 0] = 100 * (counts.sums[CTBIL] / tables.whole) / (records * attributes * (attributes + 1))
    found[number, 1] = 100 * distance / (records * attributes)
    found[number, 2] = 100 * entropy / attributes
    found[number, 3] = 100 * counts.sums[ID] / (records * attributes)
    found[number, 4] = 100 * (counts.sums[DBRL] / tables.unit) / records
    found[number, 5] = 100 * (counts.sums[PRL] / tables.unit) / records
