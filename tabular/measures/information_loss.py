"""Information loss: of counts (CTBIL, ACTBIL), of distances (DBIL) and of what a masked value tells (EBIL)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import fsum, log, prod

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Members, paired_distances
from tabular.errors import InvalidInput
from tabular.intervals import runs_of, sizes_of
from tabular.kernels import compiled, inlined
from tabular.measures.contract import Column, Combinations, Measure, Reading, checked_matrix, measures, paired_columns
from tabular.registry import option
from tabular.table import Table, equivalence_classes

CITES = "Mares Soler (2013), eq 2.10 and 2.11; Torra and Domingo-Ferrer (2001)"

#: A table with more cells than this for each record is counted by the cells that occur.
DENSE = 16

#: Sets are spread over so many cells at most; past that their masses are looked up where they are needed.
SPREAD = 2**22


@measures.add("ctbil", cites=CITES, limits="the mass of a label that stands for a set is split evenly over its values")
@dataclass(frozen=True, kw_only=True)
class ContingencyLoss(Measure):
    """Share of records that lie in another cell, over all contingency tables of up to K attributes."""

    dimensions: int = option(2, low=1, help="K, the attributes of the largest tables")

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """Eq 2.10, in percent of its maximum: twice the records times the tables."""
        tables = _tables(paired_columns(original, masked, attributes), self.dimensions)
        differences = [difference(table) for table in tables]
        return Reading.share(fsum(differences), of=2 * len(original) * len(differences))


@measures.add(
    "actbil",
    cites=CITES,
    limits="falls as domains grow, since most cells stay empty; its percentage is that of CTBIL",
)
@dataclass(frozen=True, kw_only=True)
class AverageContingencyLoss(ContingencyLoss):
    """Mean difference of a cell, over all contingency tables of up to K attributes."""

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """Eq 2.11: CTBIL over the number of cells; so is its maximum."""
        ctbil = super().measure(original, masked, attributes)
        tables = _tables(paired_columns(original, masked, attributes), self.dimensions)
        return replace(ctbil, raw=ctbil.raw / sum(prod(column.size for column in table) for table in tables))


def _tables(columns: Sequence[Column], dimensions: int) -> Iterator[tuple[Column, ...]]:
    for size in range(1, min(dimensions, len(columns)) + 1):
        yield from combinations(columns, size)


def difference(columns: Sequence[Column]) -> float:
    """The absolute differences of one contingency table, summed over its cells."""
    sizes = [column.size for column in columns]
    if not any(column.sets for column in columns) and prod(sizes) <= DENSE * len(columns[0].original) + 4096:
        before = np.ravel_multi_index([column.original for column in columns], sizes)
        after = np.ravel_multi_index([column.masked for column in columns], sizes)
        cells = prod(sizes)
        return float(np.abs(np.bincount(before, minlength=cells) - np.bincount(after, minlength=cells)).sum())
    original = Combinations.of([column.original for column in columns])
    if len(columns) <= 2 and _cells(columns) > SPREAD:
        return _difference_by_runs(columns, original)
    codes, masses = _spread(columns)
    both = np.concatenate([original.codes, codes])
    signed = np.concatenate([original.counts.astype(np.float64), -masses])
    cells_of = equivalence_classes(list(both.T)).labels
    return fsum(np.abs(np.bincount(cells_of, weights=signed)).tolist())


def _cells(columns: Sequence[Column]) -> float:
    """How many cells the masked file's combinations have with every set spread over its values."""
    masked = Combinations.of([column.masked for column in columns])
    cells = np.ones(len(masked))
    for axis, column in enumerate(columns):
        cells *= np.concatenate([np.ones(column.size), sizes_of(column.sets)])[masked.codes[:, axis]]
    return float(cells.sum())


def _difference_by_runs(columns: Sequence[Column], original: Combinations) -> float:
    """The same for one or two columns, with the masked masses looked up where the original has records alone.

    Elsewhere the difference is the mass itself, and all masses together are the records.
    """
    masked = Combinations.of([column.masked for column in columns])
    corners = np.zeros((4, len(masked)), dtype=np.int64)
    cells, masses = np.zeros((2, len(original)), dtype=np.int64), masked.counts.astype(np.float64)
    combinations_of = np.arange(len(masked))
    for axis, column in enumerate(columns):
        owners, runs = runs_of(column.sets)
        values = np.arange(column.size)
        by_label = np.concatenate([values, column.size + owners])
        order = np.argsort(by_label, kind="stable")
        firsts, lasts = np.concatenate([values, runs.firsts])[order], np.concatenate([values, runs.lasts])[order]
        starts = np.searchsorted(by_label[order], np.arange(column.size + len(column.sets) + 1))
        labels = masked.codes[combinations_of, axis]
        masses = masses / np.concatenate([np.ones(column.size), sizes_of(column.sets)])[labels]
        repeats = np.diff(starts)[labels]
        rows = np.repeat(np.arange(len(labels)), repeats)
        at = starts[labels][rows] + np.arange(len(rows)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        combinations_of, masses, corners = combinations_of[rows], masses[rows], corners[:, rows]
        corners[2 * axis], corners[2 * axis + 1] = firsts[at], lasts[at]
        cells[axis] = original.codes[:, axis]
    found = _masses_at(cells, corners, masses, columns[-1].size)
    return fsum((np.abs(original.counts - found) - found).tolist()) + float(masked.counts.sum())


def _masses_at(
    cells: NDArray[np.int64], corners: NDArray[np.int64], masses: NDArray[np.float64], size: int
) -> NDArray[np.float64]:
    """The mass of each of *cells*, which stand in order, under boxes that have *masses* in each of their cells."""
    begins, ends = np.argsort(corners[0], kind="stable"), np.argsort(corners[1], kind="stable")
    found = np.zeros(cells.shape[1])
    _sweep(cells, corners, masses, begins, ends, np.zeros(size + 2), found)
    return found


@compiled
def _sweep(
    cells: NDArray[np.int64],
    corners: NDArray[np.int64],
    masses: NDArray[np.float64],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    tree: NDArray[np.float64],
    found: NDArray[np.float64],
) -> None:
    """Go through the cells in order; a tree of sums holds the boxes that reach the first coordinate in hand."""
    begun, ended = 0, 0
    for cell in range(cells.shape[1]):
        while begun < len(begins) and corners[0, begins[begun]] <= cells[0, cell]:
            box = begins[begun]
            _add_range(tree, corners[2, box], corners[3, box], masses[box])
            begun += 1
        while ended < len(ends) and corners[1, ends[ended]] < cells[0, cell]:
            box = ends[ended]
            _add_range(tree, corners[2, box], corners[3, box], -masses[box])
            ended += 1
        place = cells[1, cell] + 1
        while place > 0:
            found[cell] += tree[place]
            place -= place & -place


@inlined
def _add_range(tree: NDArray[np.float64], first: int, last: int, mass: float) -> None:
    """Add *mass* to all places from *first* to *last* of a Fenwick tree of differences."""
    place = first + 1
    while place < len(tree):
        tree[place] += mass
        place += place & -place
    place = last + 2
    while place < len(tree):
        tree[place] -= mass
        place += place & -place


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


@measures.add(
    "dbil",
    cites="Mares Soler (2013), eq 2.6 to 2.9; Torra and Domingo-Ferrer (2001)",
    limits="looks at each value alone; an ordinal value is at distance 0 from itself, where eq 2.6 gives 1/|D|",
)
@dataclass(frozen=True, kw_only=True)
class DistanceLoss(Measure):
    """Mean distance between a record's original and its masked values."""

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """Eq 2.8, and 100 times the mean over records and attributes."""
        columns = paired_columns(original, masked, attributes)
        # Rounded once, at the end, so that the order of the rows does not show in the last digit.
        distances = [
            paired_distances(each.original, each.masked, each.sets, each.size, ordered=each.ordered) for each in columns
        ]
        return Reading.share(fsum(np.concatenate(distances).tolist()), of=len(original) * len(columns))


@measures.add(
    "ebil",
    cites="Mares Soler (2013), eq 2.12 and 2.13; Kooiman, Willenborg and Gouweleeuw (1997)",
    limits="a permutation of the categories loses nothing; a label that stands for a set is a category of its own",
)
@dataclass(frozen=True, kw_only=True)
class EntropyLoss(Measure):
    """Entropy of the original value given the masked one, as a share of the greatest possible.

    *matrices* are transition matrices by attribute, rows by original value; an attribute that has none is judged by
    the two files.
    """

    matrices: Mapping[str, NDArray[np.float64]] | None = None

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """Eq 2.13 with natural logarithms; in percent of records times log |D|, as the mean over the attributes."""
        columns, known = paired_columns(original, masked, attributes), self.matrices or {}
        losses = [
            entropy_by_matrix(column, known[column.name]) if column.name in known else entropy_by_files(column)
            for column in columns
        ]
        shares = [
            loss / (len(original) * log(column.size)) if column.size > 1 else 0.0
            for loss, column in zip(losses, columns, strict=True)
        ]
        return Reading(raw=fsum(losses), percent=100 * fsum(shares) / len(shares))


def entropy_by_files(column: Column) -> float:
    """Eq 2.13 with P(V = i | V' = j) as the two files have it, summed over the records."""
    keys, together = np.unique(column.masked.astype(np.int64) * column.size + column.original, return_counts=True)
    labels = keys // column.size
    of_label = np.bincount(labels, weights=together)[labels]
    return fsum((together * np.log(of_label / together)).tolist())


def entropy_by_matrix(column: Column, matrix: NDArray[np.float64]) -> float:
    """Eq 2.13 with P(V = i | V' = j) by Bayes from a transition matrix and the original's frequencies."""
    matrix = checked_matrix(column, matrix)
    joint = matrix * np.bincount(column.original, minlength=column.size)[:, None]
    mass = joint.sum(axis=0)
    records = np.bincount(column.masked, minlength=column.size)
    if (records[mass == 0] > 0).any():
        raise InvalidInput(f"Column {column.name!r} holds values that its matrix cannot have made.")
    seen = mass > 0
    posterior = joint[:, seen] / mass[seen]
    entropy = -np.sum(posterior * np.log(posterior, where=posterior > 0, out=np.zeros_like(posterior)), axis=0)
    return fsum((entropy * records[seen]).tolist())
