"""What two neighbours, or one with all others, have around them: whoever stands for them in a target has as much.

For any two neighbours are counted those that both are linked with, those that neither is, and those that only the one
or only the other is. Taking neighbours away only lowers these counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.containment.bits import ones
from graphpriv.risk.containment.shapes import BitRows, Shapes
from graphpriv.risk.containment.spaces import PLACES
from graphpriv.risk.workers import even_bounds, in_chunks
from tabular.kernels import compiled

#: Kinds of counts for two neighbours: linked with both, with neither, with the one only, with the other only.
KINDS = 4

#: Words of one neighbour's sign: the links of those it is linked with, then each kind, with those it is not linked with
#: and with those it is. The thresholds of the eight counts in each word; counts above 127 stay there.
WORDS = 1 + 2 * KINDS
_MARKS = np.array([1, 2, 3, 5, 8, 12, 18, 27], dtype=np.int64)

#: Thresholds for two neighbours.
_THRESHOLDS = np.array([1, 2, 3, 4, 6, 8, 11, 15, 20, 28], dtype=np.int64)
LEVELS = len(_THRESHOLDS)

#: Around a centre with more neighbours than this no signs are written; around one with more than that no rows, nor
#: around one whose places fit into a word: there they save less than they take.
_MOST_SIGNS, _MOST_ROWS = 512, 256

#: Room for rows and for signs, in words of 64 bits each, and for levels, in pairs of four bytes each.
_ROOM = 1 << 25

_1 = np.uint64(1)
_FIELDS = np.uint64(0x8080808080808080)
_FULL = np.uint64(0x7F7F7F7F7F7F7F7F)


class Surroundings(NamedTuple):
    """Signs of single neighbours, levels of pairs of them, and for each level who reaches it with a neighbour."""

    #: For each neighbour, as far as there is room, words of eight counts.
    signs: NDArray[np.uint64]
    #: For each node where its levels start, and its rows: -1 where it has none.
    starts: NDArray[np.int64]
    rows_at: NDArray[np.int64]
    #: For each pair and kind how many thresholds the count reaches.
    levels: NDArray[np.uint8]
    #: For each neighbour, kind and threshold who reaches it with this one.
    rows: NDArray[np.uint64]


def surroundings_of(shapes: Shapes, rows: BitRows, wanted: NDArray[np.bool_], workers: int) -> Surroundings:
    """The surroundings of all neighbours in the *wanted* shapes."""
    sizes = np.diff(shapes.offsets)
    # What is in no row, or among too many, needs as much as it offers: so does all that could contain it.
    counted = (sizes <= _MOST_SIGNS) & (rows.starts[:-1] >= 0)
    counted_in_pairs = counted & wanted & (sizes <= _MOST_ROWS)
    words = np.where(counted_in_pairs & (sizes > PLACES), KINDS * LEVELS * sizes * ((sizes + 63) >> 6), 0)
    order = np.argsort(words, kind="stable")
    words[order[np.cumsum(words[order]) > _ROOM]] = 0
    # Levels are of use for patterns no larger than a target with rows.
    largest = int(sizes[words > 0].max(initial=0))
    pairs = np.where(counted_in_pairs & (sizes <= largest), sizes**2, 0)
    order = np.argsort(pairs, kind="stable")
    pairs[order[np.cumsum(pairs[order]) > _ROOM]] = 0
    starts, rows_at = (np.concatenate([[0], np.cumsum(each)])[:-1].astype(np.int64) for each in (pairs, words))
    starts[pairs == 0], rows_at[words == 0] = -1, -1
    around = Surroundings(
        signs=np.zeros((min(len(shapes.types), _ROOM // WORDS), WORDS), dtype=np.uint64),
        starts=starts,
        rows_at=rows_at,
        levels=np.zeros(KINDS * int(pairs.sum()), dtype=np.uint8),
        rows=np.zeros(int(words.sum()), dtype=np.uint64),
    )
    bounds = even_bounds(np.where(counted, sizes**2, 0))
    in_chunks(lambda start, stop: write_surroundings(shapes, rows, counted, around, start, stop), bounds, workers)
    return around


@compiled
def write_surroundings(
    shapes: Shapes, rows: BitRows, counted: NDArray[np.bool_], around: Surroundings, start: int, stop: int
) -> None:
    """Write what is around the neighbours of the shapes from *start* to *stop*."""
    marks, thresholds = levels_of(_MARKS), levels_of(_THRESHOLDS)
    # How many counts reach each number of the marks, and no more of them.
    counts = np.zeros((WORDS, len(_MARKS) + 1), dtype=np.int64)
    for at in range(start, stop):
        base, count = shapes.offsets[at], shapes.offsets[at + 1] - shapes.offsets[at]
        words = (count + 63) >> 6
        if not counted[at]:
            around.signs[base : base + count] = _FULL
            continue
        apart, first = rows.ways * words, rows.starts[at]
        pairs, levels = around.starts[at], around.rows_at[at]
        for place in range(count):
            counts[:] = 0
            own = first + place * apart
            for other in range(count):
                if other == place:
                    continue
                its, bit = first + other * apart, np.uint64(other & 63)
                unlinked = (rows.bits[own + (other >> 6)] >> bit) & _1 == _1
                neither = 0
                for word in range(words):
                    neither += ones(rows.bits[own + word] & rows.bits[its + word])
                # Linked with both are all but those not linked with one of them; these two are no such ones.
                both = shapes.degrees[base + place] + shapes.degrees[base + other] + neither - count
                if unlinked:
                    both += 2
                linked = 0 if unlinked else 1
                found = (
                    both, neither,
                    shapes.degrees[base + place] - both - linked, shapes.degrees[base + other] - both - linked,
                )  # fmt: skip
                if linked:
                    counts[0, marks[shapes.degrees[base + other]]] += 1
                for kind in range(KINDS):
                    counts[1 + 2 * kind + linked, marks[found[kind]]] += 1
                    high = thresholds[found[kind]]
                    if pairs >= 0:
                        around.levels[KINDS * (pairs + place * count + other) + kind] = high
                    if levels >= 0:
                        row = levels + (place * KINDS + kind) * LEVELS * words + (other >> 6)
                        for level in range(high):
                            around.rows[row + level * words] |= _1 << bit
            if base + place >= len(around.signs):
                continue
            for kind in range(WORDS):
                packed, reaching = np.uint64(0), 0
                for field in range(len(_MARKS) - 1, -1, -1):
                    reaching += counts[kind, field + 1]
                    packed |= np.uint64(min(reaching, 127)) << np.uint64(8 * field)
                around.signs[base + place, kind] = packed


@compiled
def levels_of(thresholds: NDArray[np.int64]) -> NDArray[np.uint8]:
    """For each count that a neighbour may have how many of the *thresholds* it reaches."""
    levels = np.zeros(_MOST_SIGNS + 1, dtype=np.uint8)
    for threshold in thresholds:
        levels[threshold:] += np.uint8(1)
    return levels


@compiled
def offers(around: Surroundings, wanted: int, offered: int) -> bool:
    """Whether one neighbour has as much of each as another one needs; where there was no room it has."""
    if max(wanted, offered) >= len(around.signs):
        return True
    for kind in range(WORDS):
        # No field may fall short: then no borrow clears its highest bit.
        if ((around.signs[offered, kind] | _FIELDS) - around.signs[wanted, kind]) & _FIELDS != _FIELDS:
            return False
    return True
