"""The fitness of protected files of numbers: a row a record, a column an attribute, in units of the last decimal.

The genome of a file is its numbers record by record: the gene of row r and column c stands at r x columns + c.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidInput
from tabular.evolution.fitness.contract import Allowed, Segment, all_allowed, score_of
from tabular.evolution.numbers.assignment import (
    Assignment,
    Search,
    assign,
    collect_tight,
    first_assignment,
    search_of,
)
from tabular.evolution.numbers.counts import BITS, Counts, change, combine, copied, count, counts_for, weigh
from tabular.evolution.numbers.tables import Tables, tables_of
from tabular.evolution.numbers.units import Units
from tabular.measures.contract import Numbers
from tabular.measures.linkage.agreement import gains_of
from tabular.measures.linkage.code_order import first_in_code_order
from tabular.measures.linkage.transport import Links
from tabular.measures.pil import SHARES, correlations_of, groups_of, improbability
from tabular.table import Table

#: Where more than one record in so many changes, counting the file anew is quicker.
RECOUNTED = 2

#: Weights of pairs are whole numbers below this.
MOST = 1 << 31


@dataclass(frozen=True, kw_only=True)
class NumberScores:
    """All measures of a protected file of numbers that its scores are made of, in percent."""

    pil: float
    id: float
    dbrl: float
    prl: float = 0.0

    @property
    def information_loss(self) -> float:
        """PIL (Mateo-Sanz, Domingo-Ferrer and Sebe 2005)."""
        return self.pil

    @property
    def disclosure_risk(self) -> float:
        """The mean of ID and the mean linkage (Domingo-Ferrer and Torra 2001)."""
        return (self.id + (self.dbrl + self.prl) / 2) / 2

    def score(self, kind: str) -> float:
        """One score of both; lower is better."""
        return score_of(self.information_loss, self.disclosure_risk, kind)


class Scratch(NamedTuple):
    """What one thread works with: the weights of all pairs of the file it looked at last, and whose they are."""

    weights: NDArray[np.int32]
    held: NDArray[np.int64]
    search: Search
    numbers: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NumberFitness:
    """The measures of protected versions of one file of numbers.

    PRL weighs agreement by *gains*, a whole number of millionths for each attribute, counted from true pairs and held
    until they are counted again, in full evaluations and in states alike.
    """

    units: Units
    gains: NDArray[np.int64]
    #: What whoever measures needs to know of the original file.
    tables: Tables
    _threads: threading.local = field(default_factory=threading.local, repr=False)

    @classmethod
    def of(
        cls, original: Table, attributes: Sequence[str], gains: Sequence[int] | None = None,
        *, decimals: int | None = None,
    ) -> NumberFitness:  # fmt: skip
        """The fitness of protected versions of *original*; without *gains* they are those of the original itself."""
        units = Units.of(original, attributes, decimals)
        tables = tables_of(units)
        held = gains_over(tables, [tables.units]) if gains is None else np.asarray(gains, dtype=np.int64)
        return cls(units, _checked(held), tables)

    def held(self, population: Iterable[NDArray[np.integer]]) -> NumberFitness:
        """The same fitness with weights of agreement counted over a *population*; states are to be made anew."""
        gains = _checked(gains_over(self.tables, population))
        return replace(self, gains=gains, _threads=threading.local())

    @property
    def codes(self) -> NDArray[np.int64]:
        """The original file."""
        return self.tables.units.copy()

    def codes_of(self, table: Table) -> NDArray[np.int64]:
        """The units of a masked *table*."""
        return self.units.of_table(table)

    def table_of(self, codes: NDArray[np.integer]) -> Table:
        """The protected file with these units as a table."""
        return self.units.table_of(np.asarray(codes, dtype=np.int64))

    def full(self, codes: NDArray[np.integer], *, linked: bool = True) -> NumberScores:
        """All measures of a file; the one-to-one linkage only if it is to be *linked*."""
        return self.state(codes, linked=linked).scores

    def state(self, codes: NDArray[np.integer], *, linked: bool = True) -> NumberState:
        """One file that changes step by step."""
        if codes.shape != self.tables.units.shape:
            shape, wanted = (" x ".join(map(str, each)) for each in (codes.shape, self.tables.units.shape))
            raise InvalidInput(f"A protected file has {wanted} rows and columns of units, not {shape}.")
        return NumberState(self, np.asarray(codes, dtype=np.int64), linked)

    @property
    def scratch(self) -> Scratch:
        """What the thread that asks works with."""
        found: Scratch | None = getattr(self._threads, "scratch", None)
        if found is None:
            records, columns = self.tables.units.shape
            held = np.full((records, columns), np.iinfo(np.int64).min)
            weights = np.zeros((records, records), dtype=np.int32)
            found = self._threads.scratch = Scratch(weights, held, search_of(records), np.zeros(columns))
        return found

    def loss(self, counts: Counts) -> float:
        """PIL of the file that has been counted."""
        found = self._statistics(counts)
        groups = zip(*self._expected, found, strict=True)
        return float(np.mean([np.mean(improbability(before, after, errors)) for before, errors, after in groups]))

    @cached_property
    def _expected(self) -> tuple[list[Numbers], list[Numbers]]:
        """The statistics of the original, counted as those of others are, and their standard errors."""
        counts, numbers = counts_for(self.tables.units), self.units.numbers(self.tables.units)
        count(self.tables, counts, self.scratch.numbers)
        return self._statistics(counts), [errors for _, _, errors in groups_of(numbers, numbers)]

    def _statistics(self, counts: Counts) -> list[Numbers]:
        """The statistics of a masked file, in the order of `groups_of`."""
        tens, records = self.tables.tens, len(counts.units)
        sums = counts.sums.tolist()
        low, high = counts.products.tolist()
        columns = len(sums)
        covariance = np.zeros((columns, columns))
        for one in range(columns):
            for two in range(one, columns):
                # Whole numbers of any size: nothing is lost before the division.
                product = records * ((high[one][two] << BITS) + low[one][two]) - sums[one] * sums[two]
                covariance[one, two] = covariance[two, one] = product / (records * (records - 1))
        covariance /= np.outer(tens, tens)
        middles = self.tables.middles.tolist()
        totals = [records * middle + total for middle, total in zip(middles, sums, strict=True)]
        means = np.array([total / records for total in totals]) / tens
        at = SHARES[:, None] * (records - 1)
        below = np.floor(at).astype(np.int64)[:, 0]
        ordered = counts.sorted.T / tens
        lower, upper = ordered[below], ordered[np.minimum(below + 1, records - 1)]
        quantiles = lower + (upper - lower) * (at - below[:, None])
        found = [means, np.diag(covariance), quantiles.ravel()]
        if columns > 1:
            varied = counts.sorted[:, 0] < counts.sorted[:, -1]
            above = np.triu_indices(columns, k=1)
            found += [covariance[above], correlations_of(covariance, varied)[above]]
        return found


def _checked(gains: NDArray[np.int64]) -> NDArray[np.int64]:
    """The gains, none below 0."""
    held: NDArray[np.int64] = np.maximum(gains, 0)
    if int(held.sum()) >= MOST:
        raise InvalidInput("The columns are too many for linking one to one; evolve fewer at a time.")
    return held


class NumberState:
    """One protected file with its scores; a step costs what it changes, and can be undone.

    `replaced` makes a step and tells the scores after it. `undo` takes back the last step, then the one before it, as
    far as the last `keep`.
    """

    def __init__(self, fitness: NumberFitness, units: NDArray[np.int64], linked: bool) -> None:
        self.fitness, self._linked = fitness, linked
        self._assignment = first_assignment(len(units))
        self._counts = self._counted(units)
        self._steps: list[tuple[Counts, Assignment, NumberScores]] = []
        self.scores = self._measured()

    @property
    def codes(self) -> NDArray[np.int64]:
        """A copy of the file as it is now."""
        return self._counts.units.copy()

    def segment(self, first: int, last: int) -> Segment:
        """The genes from *first* to *last*, both included, to be handed to another file."""
        return Segment(first, self._counts.units.reshape(-1)[first : last + 1].copy())

    def changed(self, row: int, column: int, value: int) -> NumberScores:
        """The scores with another *value*, in units, in one cell."""
        gene = row * self._counts.units.shape[1] + column
        return self.replaced(Segment(gene, np.array([value], dtype=np.int64)))

    def replaced(self, segment: Segment) -> NumberScores:
        """The scores with the genes of a *segment*."""
        return self._replaced(segment)

    def _replaced(self, segment: Segment) -> NumberScores:
        before = self._counts
        end = segment.start + len(segment.values)
        if segment.start < 0 or end > before.units.size:
            raise InvalidInput(f"The file has the genes 0 to {before.units.size - 1}; there is no gene {end - 1}.")
        units = before.units.copy()
        units.reshape(-1)[segment.start : end] = segment.values
        self._steps.append((before, self._assignment, self.scores))
        self._assignment = Assignment(*(part.copy() for part in self._assignment))
        rows = np.flatnonzero((units != before.units).any(axis=1))
        if RECOUNTED * len(rows) > len(units):
            self._counts = self._counted(units)
        else:
            self._counts = copied(before)
            for row in rows.tolist():
                change(self.fitness.tables, self._counts, self.fitness.scratch.numbers, row, units[row])
        taken = self._assignment.origins[rows]
        self._assignment.owners[taken[taken >= 0]], self._assignment.origins[rows] = -1, -1
        self.scores = self._measured()
        return self.scores

    def better(self, segment: Segment, kind: str, than: float, may: Allowed = all_allowed) -> NumberScores | None:
        """The scores with the genes of a *segment* if their score is less *than* that; the file stays as it is.

        Linking one to one takes longest and only adds to the risk: it is left out where the rest is too much already,
        or the file *may* not be.
        """
        linked, self._linked = self._linked, False
        found = self._replaced(segment)
        self._linked = linked
        is_better = found.score(kind) < than and may(self._counts.units)
        if linked and is_better:
            found = self._measured()
            is_better = found.score(kind) < than
        self.undo()
        return found if is_better else None

    def undo(self) -> NumberScores:
        """The scores without the last step."""
        if not self._steps:
            raise InvalidInput("There is no step to undo: none was made since the file was kept.")
        self._counts, self._assignment, self.scores = self._steps.pop()
        return self.scores

    def keep(self) -> None:
        """Make all steps final."""
        self._steps.clear()

    def _counted(self, units: NDArray[np.int64]) -> Counts:
        counts = counts_for(units)
        count(self.fitness.tables, counts, self.fitness.scratch.numbers)
        return counts

    def _measured(self) -> NumberScores:
        counts, tables = self._counts, self.fitness.tables
        return NumberScores(
            pil=self.fitness.loss(counts),
            id=100 * int(counts.disclosed.sum()) / counts.units.size,
            dbrl=100 * (int(counts.shares.sum()) / tables.unit) / len(counts.units),
            prl=100 * self._linked_rightly() / len(counts.units) if self._linked else 0.0,
        )

    def _linked_rightly(self) -> float:
        """The records expected to be linked rightly by the best one-to-one linkage."""
        tables, counts, assignment = self.fitness.tables, self._counts, self._assignment
        weights, held, search, _ = self.fitness.scratch
        weigh(tables, self.fitness.gains, counts.units, held, weights)
        records = len(counts.units)
        ends, combinations = np.zeros(records, dtype=np.int64), np.zeros(records, dtype=np.int64)
        size = combine(counts, ends, combinations)
        assign(weights, combinations, assignment, search)
        keys = _tight(weights, assignment, counts.order, ends[:size], tables.rows)
        used, flows = np.unique(tables.rows[assignment.origins] * size + combinations, return_counts=True)
        amounts = np.zeros(len(keys), dtype=np.int64)
        amounts[np.searchsorted(keys, used)] = flows
        links = first_in_code_order(Links(keys // size, keys % size, amounts), len(tables.supply), size)
        true, together = np.unique(tables.rows[tables.positions] * size + combinations, return_counts=True)
        places = np.minimum(np.searchsorted(keys, true), len(keys) - 1)
        carried = np.where(keys[places] == true, links.flows[places], 0)
        demand = np.diff(ends[:size], prepend=0)
        found = carried > 0
        worth = tables.supply[true[found] // size] * demand[true[found] % size]
        return fsum((carried[found] * together[found] / worth).tolist())


def _tight(
    weights: NDArray[np.int32], assignment: Assignment, order: NDArray[np.int64], ends: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> NDArray[np.int64]:  # fmt: skip
    """The pairs of combinations that an optimum may link, as original x masked ones + masked, ascending."""
    room = 8 * len(order)
    while True:
        originals, results = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
        found = collect_tight(weights, assignment, order, ends, originals, results)
        if found >= 0:
            keys: NDArray[np.int64] = np.unique(rows[originals[:found]] * len(ends) + results[:found])
            return keys
        room = min(4 * room, weights.size)


def gains_over(tables: Tables, population: Iterable[NDArray[np.integer]]) -> NDArray[np.int64]:
    """What agreement in each attribute adds to a weight, in millionths, counted over the files of a *population*.

    Agreement of true pairs against agreement of all pairs; never below 0.
    """
    columns = tables.units.shape[1]
    together, apart, files = np.zeros(columns), np.zeros(columns), 0
    for units in population:
        for column in range(columns):
            own = np.sort(tables.units[:, column] / tables.tens[column])
            low, high = (units[:, column] / tables.tens[column] + sign * tables.reaches[column] for sign in (-1, 1))
            first, last = np.searchsorted(own, low), np.searchsorted(own, high, side="right")
            true = tables.units[:, column] / tables.tens[column]
            together[column] += ((low <= true) & (true <= high)).mean()
            apart[column] += float((last - first).sum()) / len(own) ** 2
        files += 1
    if not files:
        raise InvalidInput("Weights of agreement are counted over one or more files; there is none.")
    return np.maximum(gains_of(together / files, apart / files), 0)
