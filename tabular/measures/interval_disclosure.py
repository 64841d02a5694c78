"""ID: original values that lie near their masked ones in rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Members
from tabular.intervals import Spans, codes_in, sizes_of
from tabular.measures.contract import Column, Measure, Reading, measures, paired_columns
from tabular.registry import option
from tabular.table import Table

#: Ranks are halves and means of halves: a rank nearer than this to the border is on it.
TOLERANCE = 1e-9


@measures.add(
    "id",
    cites="Mares Soler (2013), section 2.4.2; Domingo-Ferrer and Torra (2001)",
    limits="a frequent category counts as disclosed however many records share it",
)
@dataclass(frozen=True, kw_only=True)
class IntervalDisclosure(Measure):
    """Share of original values within an interval of ranks around their masked ones.

    Ranks are mid-ranks by the original's frequencies. A set has the mean rank of the records it covers; a nominal
    value is disclosed only by itself.
    """

    percent: float = option(10.0, low=0, high=100, help="how far the interval reaches each way, in percent of records")

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """The number of values disclosed, and their share of all."""
        columns = paired_columns(original, masked, attributes)
        reach = self.percent * len(original) / 100
        raw = sum(int(disclosed(column, reach).sum()) for column in columns)
        return Reading.share(raw, of=len(original) * len(columns))


def disclosed(column: Column, reach: float) -> NDArray[np.bool_]:
    """The records that disclose their original value."""
    if not column.ordered:
        return np.equal(column.original, column.masked)
    ranks = mid_ranks(np.bincount(column.original, minlength=column.size), column.sets)
    near: NDArray[np.bool_] = np.abs(ranks[column.original] - ranks[column.masked]) <= reach + TOLERANCE
    return near


def mid_ranks(frequencies: NDArray[np.int64], sets: Sequence[Members]) -> NDArray[np.float64]:
    """The mean rank of the records in each category, then in each set; an empty set has the mean of its values.

    >>> mid_ranks(np.array([2, 4, 0]), [(0, 1)]).tolist()
    [1.5, 4.5, 6.5, 3.5]
    """
    ranks = np.cumsum(frequencies) - frequencies + (frequencies + 1) / 2
    if isinstance(sets, Spans):
        return np.concatenate([ranks, _ranks_of_spans(frequencies, ranks, sets)])
    of_sets = []
    for members in sets:
        held = codes_in(members)
        weights = frequencies[held] if frequencies[held].any() else np.ones(len(held), dtype=np.int64)
        of_sets.append(float(np.dot(ranks[held], weights) / weights.sum()))
    return np.concatenate([ranks, of_sets])


def _ranks_of_spans(frequencies: NDArray[np.int64], ranks: NDArray[np.float64], spans: Spans) -> NDArray[np.float64]:
    """The mean rank of the records in each span; an empty one has the mean of its values."""

    def sums(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        running = np.concatenate([[0], np.cumsum(numbers)])
        return np.asarray(running[spans.lasts + 1] - running[spans.firsts])

    # Twice the ranks are whole numbers: sums are exact.
    twice = np.rint(2 * ranks).astype(np.int64)
    records = sums(frequencies)
    totals, counts = (
        np.where(records, sums(twice * frequencies), sums(twice)),
        np.where(records, records, sizes_of(spans)),
    )
    return np.asarray(totals / (2 * counts))
