"""Buckets of a table's nodes, each rolled up from a finer node that is kept, and what is counted of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular.classes import equivalence_classes
from tabular.hierarchy import Hierarchy
from tabular.lattice.chain.consistency import Standing
from tabular.lattice.chain.packing import Bucketed, Packing, lost, put_together
from tabular.lattice.chain.withholding import withheld
from tabular.lattice.evaluator.row_keys import UNIT, WORD, Ranked
from tabular.lattice.limits import Limits
from tabular.lattice.space import Node, Nodes
from tabular.table import Table

#: So many nodes are kept, and their buckets in so many bytes in all, with those of the rows.
_NODES = 512
_BYTES = 1 << 28


@dataclass(frozen=True, eq=False)
class Counts:
    """What was counted of nodes, a place each: of the rows kept, and the *leaves* and *bits* of those that go."""

    least: NDArray[np.int64]
    suppressed: NDArray[np.int64]
    classes: NDArray[np.int64]
    squares: NDArray[np.int64]
    leaves: NDArray[np.int64]
    bits: NDArray[np.float64]


class Buckets:
    """The buckets of all nodes of a table, by the trails of its persons."""

    def __init__(
        self,
        table: Table,
        hierarchies: Mapping[str, Hierarchy],
        standing: Standing,
        limits: Limits,
        sensitive: str | None,
    ) -> None:
        self._hierarchies, self._standing = list(hierarchies.values()), standing
        self._k, self._l = limits.k or 1, limits.l or 0
        self._columns = [table.columns[name] for name in hierarchies]
        self._sensitive = table.columns[sensitive] if sensitive is not None and self._l else None
        self._ranked = [Ranked.of(each) for each in self._hierarchies]
        columns = [each.ranks[codes] for each, codes in zip(self._ranked, self._columns, strict=True)]
        counts = [
            np.bincount(ranks, minlength=len(each.ranks)) for ranks, each in zip(columns, self._ranked, strict=True)
        ]
        self._packing = Packing.of(self._ranked, counts)
        bottom = np.zeros(len(self._columns), dtype=np.int16)
        # Each row as a bucket of its own; they are put together on the way up.
        rows = Bucketed(
            self._packing.keys(columns),
            standing.trails,
            np.ones(len(table), dtype=np.int64),
            _bits(self._sensitive, len(table)),
        )
        self._kept = _Kept(bottom, rows)

    def counts(self, nodes: Nodes) -> Counts:
        """What there is to count of *nodes*."""
        least, suppressed, classes, squares, bits = (np.zeros(len(nodes), dtype=np.int64) for _ in range(5))
        leaves = np.zeros(nodes.shape, dtype=np.int64)
        for place, node in enumerate(nodes):
            fine, source = self._kept.nearest(node)
            buckets = put_together(source, fine, node, self._packing.coding, True)
            self._kept.keep(node, buckets)
            goes, suppressed[place] = self._withheld(buckets)
            bits[place] = lost(buckets, goes, node, self._packing.coding, leaves[place])
            left = buckets._replace(sizes=buckets.sizes - goes)
            sizes = put_together(left, node, node, self._packing.coding, False).sizes
            least[place], classes[place] = min(sizes.tolist(), default=0), len(sizes)
            squares[place] = (sizes**2).sum()
        return Counts(least, suppressed, classes, squares, leaves, bits / UNIT)

    def rows_that_go(self, node: Node) -> NDArray[np.bool_]:
        """Which rows go at a *node*: the last ones of each bucket, but for those that keep l values in it."""
        columns = [
            each.groups[level][each.ranks[column]]
            for each, level, column in zip(self._ranked, node, self._columns, strict=True)
        ]
        trails = self._standing.trails
        found = equivalence_classes([trails, *columns])
        labels, number = found.labels, len(found.sizes)
        firsts = np.zeros(number, dtype=np.int64)
        firsts[labels[::-1]] = np.arange(len(labels))[::-1]
        present, stays = np.zeros((number, 0), dtype=np.int64), np.zeros(len(labels), dtype=np.bool_)
        if self._sensitive is not None:
            of_rows = _bits(self._sensitive, len(labels))
            present = np.zeros((number, of_rows.shape[1]), dtype=np.int64)
            np.bitwise_or.at(present, labels, of_rows)
            stays = first_values(labels, self._sensitive, number, self._l)
        keys = self._packing.keys([column[firsts] for column in columns])
        goes, _ = self._withheld(Bucketed(keys, trails[firsts], found.sizes.astype(np.int64), present))
        # Within a bucket, those that need not stay go first, and the last rows before the others.
        order = np.lexsort((-np.arange(len(labels)), stays, labels))
        rank = np.arange(len(labels)) - np.repeat(np.cumsum(found.sizes) - found.sizes, found.sizes)
        out = np.zeros(len(labels), dtype=np.bool_)
        out[order] = rank < goes[labels[order]]
        return out

    def fewest_that_go(self, node: Node, previous: Node, quiet: NDArray[np.bool_]) -> int:
        """How few rows can go where *quiet* ones are told apart as at a *node* that is below the *previous* one.

        Of each trail those quiet rows that are too few even with all others of it; and where anybody is gone, as many
        as make k with those who are not in the table.
        """
        trails = self._standing.trails
        columns = [
            self._hierarchies[place].levels[low].groups[self._columns[place][quiet]]
            for place, (low, high) in enumerate(zip(node, previous, strict=True))
            if low < high
        ]
        found = equivalence_classes([trails[quiet], *columns])
        owners = np.zeros(len(found.sizes), dtype=np.int64)
        owners[found.labels] = trails[quiet]
        absent, silent = self._standing.absent, self._standing.silent
        others = np.bincount(trails[~quiet], minlength=len(absent))
        lonely = found.sizes + others[owners] < self._k
        go = np.bincount(owners[lonely], weights=found.sizes[lonely], minlength=len(absent)).astype(np.int64)
        return int(np.where((absent + go > 0) & ~silent, np.maximum(go, self._k - absent), go).sum())

    def _withheld(self, buckets: Bucketed) -> tuple[NDArray[np.int64], int]:
        """How many rows of each bucket go, and of all."""
        goes = np.zeros(len(buckets.sizes), dtype=np.int64)
        distinct = np.bitwise_count(buckets.present).sum(axis=1, dtype=np.int64)
        standing = self._standing
        total = withheld(
            *(buckets.keys, buckets.sizes, distinct, buckets.trails, standing.absent, standing.silent),
            *(self._k, self._l, goes),
        )
        return goes, total


class _Kept:
    """Buckets of nodes that were looked at, for others to be put together from; of the first ones only."""

    def __init__(self, bottom: NDArray[np.int16], rows: Bucketed) -> None:
        self._levels, self._buckets = bottom[None], [rows]
        self._sizes, self._bytes = np.array([len(rows.sizes)]), _bytes_of(rows)

    def nearest(self, node: NDArray[np.int16]) -> tuple[NDArray[np.int16], Bucketed]:
        """The node with the fewest buckets from which *node* can be put together."""
        places = np.flatnonzero((self._levels <= node).all(axis=1))
        place = int(places[np.argmin(self._sizes[places])])
        return self._levels[place], self._buckets[place]

    def keep(self, node: NDArray[np.int16], buckets: Bucketed) -> None:
        """Keep the *buckets* of a *node* while there is room."""
        held = self._bytes + _bytes_of(buckets)
        if len(self._buckets) < _NODES and held <= _BYTES:
            self._bytes = held
            self._levels = np.concatenate([self._levels, node[None]])
            self._buckets.append(buckets)
            self._sizes = np.append(self._sizes, len(buckets.sizes))


def _bytes_of(buckets: Bucketed) -> int:
    return sum(array.nbytes for array in buckets)


def first_values(labels: NDArray[np.int64], values: NDArray[np.int32], buckets: int, most: int) -> NDArray[np.bool_]:
    """For each bucket the first row of each of its first so many distinct *values*."""
    size = int(values.max()) + 1
    pairs, rows = np.unique(labels * size + values, return_index=True)
    owners = pairs // size
    rows = rows[np.lexsort((rows, owners))]
    distinct = np.bincount(owners, minlength=buckets)
    rank = np.arange(len(rows)) - np.repeat(np.cumsum(distinct) - distinct, distinct)
    found = np.zeros(len(labels), dtype=np.bool_)
    found[rows[rank < most]] = True
    return found


def _bits(values: NDArray[np.int32] | None, rows: int) -> NDArray[np.int64]:
    """One bit for the value of each row, in as many words as it takes."""
    if values is None:
        return np.zeros((rows, 0), dtype=np.int64)
    found = np.zeros((rows, int(values.max()) // WORD + 1), dtype=np.int64)
    found[np.arange(rows), values // WORD] = np.int64(1) << (values % WORD).astype(np.int64)
    return found
