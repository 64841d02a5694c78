"""The buckets of nodes, and which of their rows have to go so that all trails keep k: as few as can be.

The persons of one trail so far, n of them, come to some classes of a new release; those of one class are a *bucket*.
What may be left of a bucket is nothing, or at least k rows with l sensitive values: `need` = max(k, l) rows suffice for
both if the bucket has l values. Buckets that have less go. Those who are not in the table any more, and those who go,
are the *gone* of the trail; unless nothing was ever published of it, they must be 0 or at least k. Where they are not:

- the buckets that stay can spare the rows above their need; if that is enough, so many go as are lacking, no more;
- else no bucket can stay as it is and the gone be enough: one goes as a whole, the smallest. It alone is enough, for it
  has at least k rows. Where no bucket is left, all n are gone, and n is at least k by the rule for the releases before.

Each step is forced or the least that does, and trails do not touch each other: no release at this node suppresses
fewer rows. The number never rises with the levels: what goes at a node may go at any coarser one, where buckets of a
trail only merge, so that what is left of each is still nothing or enough, and the gone of each trail are the same. So
the nodes that keep the rule with a given number of suppressed rows are closed upwards.

Rows, of buckets and trails and of what goes or can be spared, come to no more than those of the table and the persons
of all releases before. Sums of squares, leaves and bits are bounded as in `class_metrics`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled
from tabular.lattice.chain.history import Standing
from tabular.lattice.evaluator.class_metrics import CLASSES, LOST, S_K, SUPPRESSED, K
from tabular.lattice.evaluator.node_classes import ClassCache
from tabular.lattice.evaluator.rollup import MIX, WORD, Coding, RankedColumn, coding_of, labels_at, packed, slots_for
from tabular.lattice.space import Flags, Levels, Limits, Node, Nodes, Numbers
from tabular.table import equivalence_classes


@compiled
def withheld(
    keys: Numbers,
    sizes: Numbers,
    distinct: Numbers,
    trails: Numbers,
    absent: Numbers,
    silent: Flags,
    k: int,
    l: int,  # noqa: E741
    goes: Numbers,
) -> int:
    """Write into *goes* how many rows of each bucket have to go; how many in all is given back.

    `distinct` are the sensitive values of each bucket, if there is an l; `keys` put buckets of one size in order.
    """
    gone, spare = absent.copy(), np.zeros(len(absent), dtype=np.int64)
    need, total = max(k, l), 0
    for row in range(len(sizes)):
        trail = trails[row]
        goes[row] = 0
        if sizes[row] < k or (l and distinct[row] < l):
            goes[row] = sizes[row]
            gone[trail] += sizes[row]
            total += sizes[row]
        else:
            spare[trail] += sizes[row] - need
    owing = 0
    lacks = np.zeros(len(absent), dtype=np.int64)
    for trail in range(len(absent)):
        if not silent[trail] and 0 < gone[trail] < k:
            lacks[trail] = k - gone[trail]
            owing += 1
    if not owing:
        return total
    # The buckets that stay, of each trail that owes some: one after the other.
    first, following = np.full(len(absent), -1, dtype=np.int64), np.empty(len(sizes), dtype=np.int64)
    for row in range(len(sizes)):
        if lacks[trails[row]] and not goes[row]:
            following[row] = first[trails[row]]
            first[trails[row]] = row
    for trail in range(len(absent)):
        if lacks[trail] and spare[trail] >= lacks[trail]:
            total += lacks[trail]
            _spare(keys, sizes, first[trail], following, need, lacks[trail], goes)
        elif lacks[trail] and first[trail] >= 0:
            least = _extreme(keys, sizes, first[trail], following, goes, False)
            goes[least] = sizes[least]
            total += sizes[least]
    return total


@compiled
def _spare(
    keys: Numbers, sizes: Numbers, first: int, following: Numbers, need: int, lacking: int, goes: Numbers
) -> None:
    """Take the rows that lack from the largest buckets of a trail, as far as they can spare them."""
    while lacking:
        largest = _extreme(keys, sizes, first, following, goes, True)
        goes[largest] = min(sizes[largest] - need, lacking)
        lacking -= goes[largest]


@compiled
def _extreme(keys: Numbers, sizes: Numbers, first: int, following: Numbers, goes: Numbers, largest: bool) -> int:
    """The largest or the smallest bucket of a trail of which nothing goes yet; of several that with the lowest key."""
    found, row = -1, first
    while row >= 0:
        if not goes[row]:
            if found < 0:
                found = row
            elif sizes[row] == sizes[found]:
                for word in range(keys.shape[1]):
                    if keys[row, word] != keys[found, word]:
                        if keys[row, word] < keys[found, word]:
                            found = row
                        break
            elif (sizes[row] > sizes[found]) == largest:
                found = row
        row = following[row]
    return found


class Bucketed(NamedTuple):
    """The buckets of one node.

    The last word of a key is the trail. `present` has a bit for each sensitive value in a bucket, if any.
    """

    keys: Numbers
    sizes: Numbers
    present: Numbers

    @property
    def trails(self) -> Numbers:
        """The trail of each bucket."""
        return np.ascontiguousarray(self.keys[:, -1])


class Buckets:
    """The buckets of all nodes of a table, by the trails of its persons."""

    def __init__(
        self, columns: Sequence[RankedColumn], standing: Standing, limits: Limits, sensitive: NDArray[np.int32] | None
    ) -> None:
        self._columns, self._standing = columns, standing
        self._k, self._l = limits.k or 1, limits.l or 0
        self._sensitive = sensitive if self._l else None
        # All attributes stand in the key, none beside it.
        self.coding = coding_of(columns)
        rows = len(standing.trails)
        # Each row as a bucket of its own; they are put together on the way up.
        keys = self._keys([each.ranks for each in columns], standing.trails)
        whole = Bucketed(keys, np.ones(rows, dtype=np.int64), _bits(self._sensitive, rows))
        self._kept = ClassCache(whole, len(columns))

    def count(self, nodes: Nodes) -> Numbers:
        """The whole numbers of *nodes*, a row each, as `class_metrics` has them."""
        attributes = nodes.shape[1]
        whole = np.zeros((len(nodes), LOST + attributes + 1), dtype=np.int64)
        for numbers, node in zip(whole, nodes, strict=True):
            fine, source = self._kept.nearest(node)
            buckets = put_together(source, fine, node, self.coding, True)
            self._kept.keep(node, buckets)
            goes, numbers[SUPPRESSED] = self._withheld(buckets)
            numbers[LOST + attributes] = lost(buckets.keys, goes, node, self.coding, numbers[LOST:])
            left = buckets._replace(sizes=buckets.sizes - goes)
            sizes = put_together(left, node, node, self.coding, False).sizes
            numbers[K], numbers[CLASSES], numbers[S_K] = min(sizes.tolist(), default=0), len(sizes), (sizes**2).sum()
        return whole

    def rows_that_go(self, node: Node) -> Flags:
        """Which rows go at a *node*: the last ones of each bucket, but for those that keep l values in it."""
        columns, trails = labels_at(node, self._columns), self._standing.trails
        found = equivalence_classes([trails, *columns])
        labels, number = found.labels, len(found.sizes)
        present, stays = np.zeros((number, 0), dtype=np.int64), np.zeros(len(labels), dtype=np.bool_)
        if self._sensitive is not None:
            of_rows = _bits(self._sensitive, len(labels))
            present = np.zeros((number, of_rows.shape[1]), dtype=np.int64)
            np.bitwise_or.at(present, labels, of_rows)
            stays = first_values(labels, self._sensitive, number, self._l)
        keys = self._keys([column[found.firsts] for column in columns], trails[found.firsts])
        goes, _ = self._withheld(Bucketed(keys, found.sizes.astype(np.int64), present))
        # Within a bucket, those that need not stay go first, and the last rows before the others.
        order = np.lexsort((-np.arange(len(labels)), stays, labels))
        rank = np.arange(len(labels)) - np.repeat(np.cumsum(found.sizes) - found.sizes, found.sizes)
        out = np.zeros(len(labels), dtype=np.bool_)
        out[order] = rank < goes[labels[order]]
        return out

    def fewest_that_go(self, node: Node, previous: Node, quiet: Flags) -> int:
        """How few rows can go where *quiet* ones are told apart as at a *node* that is below the *previous* one.

        Of each trail those quiet rows that are too few even with all others of it; and where anybody is gone, as many
        as make k with those who are not in the table.
        """
        trails = self._standing.trails
        columns = [
            each.labels[low][each.ranks[quiet]]
            for each, low, high in zip(self._columns, node, previous, strict=True)
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

    def _keys(self, columns: Sequence[Numbers], trails: Numbers) -> Numbers:
        """The keys of rows with these labels, the trails behind them."""
        return np.column_stack([packed(columns, range(len(columns)), self.coding), trails])

    def _withheld(self, buckets: Bucketed) -> tuple[Numbers, int]:
        """How many rows of each bucket go, and of all."""
        goes = np.zeros(len(buckets.sizes), dtype=np.int64)
        distinct = np.bitwise_count(buckets.present).sum(axis=1, dtype=np.int64)
        standing = self._standing
        total = withheld(
            *(buckets.keys, buckets.sizes, distinct, buckets.trails, standing.absent, standing.silent),
            *(self._k, self._l, goes),
        )
        return goes, total


def first_values(labels: Numbers, values: NDArray[np.int32], buckets: int, most: int) -> Flags:
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


def _bits(values: NDArray[np.int32] | None, rows: int) -> Numbers:
    """One bit for the value of each row, in as many words as it takes."""
    if values is None:
        return np.zeros((rows, 0), dtype=np.int64)
    found = np.zeros((rows, int(values.max()) // WORD + 1), dtype=np.int64)
    found[np.arange(rows), values // WORD] = np.int64(1) << (values % WORD).astype(np.int64)
    return found


@compiled
def put_together(source: Bucketed, fine: Levels, coarse: Levels, coding: Coding, by_trail: bool) -> Bucketed:
    """The buckets of node *coarse*, given those of node *fine*; not *by_trail*, its classes."""
    number, words, parts = len(source.sizes), source.keys.shape[1], source.present.shape[1]
    slots = slots_for(number)
    table = np.full(slots, -1, dtype=np.int32)
    keys = np.empty((number + 1, words), dtype=np.int64)
    sizes, present = np.zeros(number, dtype=np.int64), np.zeros((number, parts), dtype=np.int64)
    count = 0
    for row in range(number):
        if not source.sizes[row]:
            continue
        # The key is made where it will stay, if no bucket has it yet.
        for word in range(words):
            keys[count, word] = source.keys[row, word]
        for place in range(len(fine)):
            if fine[place] != coarse[place]:
                word, shift, mask = coding.word[place], coding.shift[place], coding.mask[place]
                label = (keys[count, word] >> shift) & mask
                joint = np.int64(coding.maps[coding.offsets[place, fine[place], coarse[place]] + label])
                keys[count, word] = (keys[count, word] & ~(mask << shift)) | (joint << shift)
        if not by_trail:
            keys[count, words - 1] = 0
        # Written out as in `_join_groups`: to call a shared look-up took a third more time.
        mixed = np.int64(0)
        for word in range(words):
            mixed = (mixed ^ keys[count, word]) * MIX
            mixed ^= (mixed >> 31) & 0x1FFFFFFFF
        slot = mixed & (slots - 1)
        while True:
            found = table[slot]
            if found < 0:
                table[slot] = found = count
                count += 1
                break
            agree = True
            for word in range(words):
                if keys[found, word] != keys[count, word]:
                    agree = False
                    break
            if agree:
                break
            slot = (slot + 1) & (slots - 1)
        sizes[found] += source.sizes[row]
        for part in range(parts):
            present[found, part] |= source.present[row, part]
    return Bucketed(keys[:count].copy(), sizes[:count].copy(), present[:count].copy())


@compiled
def lost(keys: Numbers, goes: Numbers, node: Levels, coding: Coding, leaves: Numbers) -> int:
    """Add to *leaves* what stands under the labels of rows that go, by attribute; their bits are given back."""
    bits = 0
    for row in range(len(goes)):
        if goes[row]:
            for place in range(len(node)):
                label = (keys[row, coding.word[place]] >> coding.shift[place]) & coding.mask[place]
                entry = coding.starts[place, node[place]] + label
                leaves[place] += goes[row] * coding.leaves[entry]
                bits += int(goes[row] * coding.bits[entry])
    return bits
