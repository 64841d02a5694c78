"""All that the measures need to know of an original file of numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidInput
from tabular.evolution.numbers.units import Units
from tabular.measures.contract import Combinations, deviations
from tabular.measures.interval_disclosure import TOLERANCE as NEAR
from tabular.measures.interval_disclosure import IntervalDisclosure, mid_ranks
from tabular.measures.linkage.nearest import ROUNDING
from tabular.measures.linkage.prl import ToleranceLinkage

#: So many records a file has at most: all pairs of an original and a masked one are weighed.
RECORDS = 5000


class Tables(NamedTuple):
    """The original file, in units, and what a masked number comes to.

    A masked number from `lows` to `highs` of its cell discloses the original's. `scaled` are the originals in standard
    deviations, a masked one is units over `tens` and over `scale`; `along` are the originals by where they lie on one
    `line`, on which none is farther apart than it is. A column's distinct values stand in `values` from
    `starts[c]` on; a number agrees with those within its `reaches`. `places` has, a row a column, the places of the
    originals' values among these; its columns are the originals in code order, record r at `positions[r]`.
    `rows` is which of the distinct originals each position has, and `supply` how many records these have. `shares[t]`
    is 1/t in units of one over `unit`.
    """

    units: NDArray[np.int64]
    middles: NDArray[np.int64]
    tens: NDArray[np.float64]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    scaled: NDArray[np.float64]
    scale: NDArray[np.float64]
    line: NDArray[np.float64]
    along: NDArray[np.int64]
    values: NDArray[np.float64]
    starts: NDArray[np.int64]
    reaches: NDArray[np.float64]
    places: NDArray[np.int32]
    positions: NDArray[np.int64]
    rows: NDArray[np.int64]
    supply: NDArray[np.int64]
    shares: NDArray[np.int64]
    unit: float


def tables_of(units: Units) -> Tables:
    """The tables of the original whose *units* these are."""
    original = units.of_table(units.original)
    records, columns = original.shape
    if records > RECORDS:
        raise InvalidInput(
            f"Files of numbers evolve with up to {RECORDS:,} records, and this one has {records:,}; evolve a part of "
            "it at a time."
        )
    numbers = units.numbers(original)
    scale = deviations(numbers)
    values = [np.unique(column) for column in numbers.T]
    sizes = np.array([len(each) for each in values])
    lows, highs = zip(*(_disclosing(column) for column in original.T), strict=True)
    codes = np.stack([np.searchsorted(own, column) for own, column in zip(values, numbers.T, strict=True)])
    distinct = Combinations.of(list(codes.astype(np.int32)))
    order = np.argsort(distinct.of_row, kind="stable")
    positions = np.empty(records, dtype=np.int64)
    positions[order] = np.arange(records)
    line = (numbers / scale).sum(axis=1) / np.sqrt(columns)
    along = np.argsort(line, kind="stable")
    unit = 2.0 ** (61 - records.bit_length())
    return Tables(
        units=original,
        middles=units.middles,
        tens=units.tens,
        lows=np.stack(lows, axis=1),
        highs=np.stack(highs, axis=1),
        scaled=numbers / scale,
        scale=scale,
        line=line[along],
        along=along.astype(np.int64),
        values=np.concatenate(values),
        starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        reaches=ToleranceLinkage().tolerance * scale * (1 + ROUNDING),
        places=np.ascontiguousarray(codes[:, order], dtype=np.int32),
        positions=positions,
        rows=distinct.of_row[order].astype(np.int64),
        supply=distinct.counts.astype(np.int64),
        shares=np.concatenate([[0], np.rint(unit / np.arange(1, records + 1))]).astype(np.int64),
        unit=unit,
    )


def _disclosing(column: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The least and the greatest masked number that disclose each original one, by mid-ranks.

    A number that the original does not have lies between two ranks: half above the records below it.
    """
    values, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
    reach = IntervalDisclosure().percent * len(column) / 100 + NEAR
    # Between two values there may be others, and below the first and above the last: each has a rank of its own.
    ranks = np.empty(2 * len(values) + 1)
    ranks[1::2], ranks[0::2] = mid_ranks(counts, ()), np.concatenate([[0], np.cumsum(counts)]) + 0.5
    least = np.concatenate([[np.iinfo(np.int64).min], np.stack([values, values + 1], axis=1).ravel()])
    most = np.concatenate([np.stack([values - 1, values], axis=1).ravel(), [np.iinfo(np.int64).max]])
    own = ranks[1::2]
    first, last = np.searchsorted(ranks, own - reach), np.searchsorted(ranks, own + reach, side="right") - 1
    return least[first][inverse], most[last][inverse]
