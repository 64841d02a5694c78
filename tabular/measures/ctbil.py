"""CTBIL and ACTBIL: changes of the counts in contingency tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum, prod

import numpy as np
from numpy.typing import NDArray

from tabular.classes import equivalence_classes
from tabular.labels import Members
from tabular.measures.comparison import Column, Combinations, paired_columns
from tabular.measures.contract import Measure, Reading, measures
from tabular.registry import option
from tabular.table import Table

CITES = "Mares Soler (2013), eq 2.10 and 2.11; Torra and Domingo-Ferrer (2001)"

#: A table with more cells than this for each record is counted by the cells that occur.
DENSE = 16


@measures.add("ctbil", cites=CITES, limits="the mass of a label that stands for a set is split evenly over its values")
@dataclass(frozen=True, kw_only=True)
class ContingencyLoss(Measure):
    """Share of records that lie in another cell, over all contingency tables of up to K attributes."""

    dimensions: int = option(2, low=1, help="K, the attributes of the largest tables")

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """Eq 2.10, in percent of its maximum: twice the records times the tables."""
        differences = _differences(paired_columns(original, masked, attributes), self.dimensions)
        return Reading.share(fsum(differences), of=2 * len(original) * len(differences))


@measures.add(
    "actbil",
    cites=CITES,
    limits="falls as domains grow, since most cells stay empty; its percentage is that of CTBIL",
)
@dataclass(frozen=True, kw_only=True)
class AverageContingencyLoss(Measure):
    """Mean difference of a cell, over all contingency tables of up to K attributes."""

    dimensions: int = option(2, low=1, help="K, the attributes of the largest tables")

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """Eq 2.11: CTBIL over the number of cells; so is its maximum."""
        columns = paired_columns(original, masked, attributes)
        differences = _differences(columns, self.dimensions)
        cells = sum(prod(column.size for column in table) for table in _tables(columns, self.dimensions))
        total = fsum(differences)
        return Reading(raw=total / cells, percent=100 * total / (2 * len(original) * len(differences)))


def _tables(columns: Sequence[Column], dimensions: int) -> Iterator[tuple[Column, ...]]:
    for size in range(1, min(dimensions, len(columns)) + 1):
        yield from combinations(columns, size)


def _differences(columns: Sequence[Column], dimensions: int) -> list[float]:
    return [difference(table) for table in _tables(columns, dimensions)]


def difference(columns: Sequence[Column]) -> float:
    """The absolute differences of one contingency table, summed over its cells."""
    sizes = [column.size for column in columns]
    if not any(column.sets for column in columns) and prod(sizes) <= DENSE * len(columns[0].original) + 4096:
        before = np.ravel_multi_index([column.original for column in columns], sizes)
        after = np.ravel_multi_index([column.masked for column in columns], sizes)
        cells = prod(sizes)
        return float(np.abs(np.bincount(before, minlength=cells) - np.bincount(after, minlength=cells)).sum())
    original = Combinations.of([column.original for column in columns])
    codes, masses = _spread(columns)
    both = np.concatenate([original.codes, codes])
    signed = np.concatenate([original.counts.astype(np.float64), -masses])
    cells_of = equivalence_classes(list(both.T)).labels
    return fsum(np.abs(np.bincount(cells_of, weights=signed)).tolist())


def _spread(columns: Sequence[Column]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The cells of the masked file's table and their masses, every set spread evenly over its values."""
    masked = Combinations.of([column.masked for column in columns])
    codes, masses = masked.codes, masked.counts.astype(np.float64)
    for axis, column in enumerate(columns):
        if column.sets:
            rows, values, shares = _shared_out(codes[:, axis], column.sets, column.size)
            codes, masses = codes[rows], masses[rows] * shares
            codes[:, axis] = values
            cells = equivalence_classes(list(codes.T))
            place = np.empty(len(cells.sizes), dtype=np.int64)
            place[cells.labels] = np.arange(len(codes))
            codes, masses = codes[place], np.bincount(cells.labels, weights=masses).astype(np.float64)
    return codes, masses


def _shared_out(
    labels: NDArray[np.int32], sets: Sequence[Members], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """For each label its values, one a row: the position of the label, the value, and the value's share."""
    members = np.concatenate([np.arange(size, dtype=np.int32), *(np.array(each, dtype=np.int32) for each in sets)])
    counts = np.concatenate([np.ones(size, dtype=np.int64), np.array([len(each) for each in sets])])
    starts = np.concatenate([[0], np.cumsum(counts)])[:-1]
    repeats = counts[labels]
    rows = np.repeat(np.arange(len(labels)), repeats)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    return rows, members[starts[labels][rows] + within], 1 / repeats[rows]
