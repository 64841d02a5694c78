"""Neighbourhoods laid out for containment: neighbours by type and falling inner degree, their links as rows of bits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.colour_refinement import mixed, sort_by_colour
from graphpriv.risk.neighbourhoods import Neighbourhoods
from graphpriv.risk.workers import even_bounds, in_chunks
from tabular.kernels import compiled, inlined

#: With how many earlier neighbours of the same type and degree one is compared for being a twin.
_TWIN_REACH = 32

#: Rows of bits that take more words than this are not kept.
_MOST_WORDS = 1 << 23

#: Room for all rows of bits, in words; those of the largest neighbourhoods are not kept if there is not enough.
_ROOM = 3 << 24

_1, _2, _7, _60 = np.uint64(1), np.uint64(2), np.uint64(7), np.uint64(60)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Shapes(NamedTuple):
    """The neighbourhoods of some centres, one after the other, neighbours in their new places."""

    #: For each centre where its neighbours start.
    offsets: NDArray[np.int64]
    #: The label of each centre.
    labels: NDArray[np.int32]
    #: Of each neighbour: label and direction as one number, and how many links it has inside.
    types: NDArray[np.int64]
    degrees: NDArray[np.int32]
    #: The first neighbour with which it could change places without any link telling.
    twins: NDArray[np.int32]
    #: Its links by kind, up to seven each, in sixteen fields of four bits whose highest stays free.
    tallies: NDArray[np.uint64]
    #: For each neighbour where its links start; their other ends; how these stand to it.
    rows: NDArray[np.int64]
    inner: NDArray[np.int32]
    codes: NDArray[np.int8]


def shapes_of(found: Neighbourhoods, centres: NDArray[np.int64], workers: int) -> Shapes:
    """The shapes of the given *centres*."""
    counts = found.offsets[centres + 1] - found.offsets[centres]
    links = found.rows[found.offsets[centres + 1]] - found.rows[found.offsets[centres]]
    offsets, starts = _sums(counts), _sums(links)
    entries, total = int(offsets[-1]), int(starts[-1])
    shapes = Shapes(
        offsets=offsets,
        labels=found.labels[centres],
        types=np.empty(entries, dtype=np.int64),
        degrees=np.empty(entries, dtype=np.int32),
        twins=np.empty(entries, dtype=np.int32),
        tallies=np.empty(entries, dtype=np.uint64),
        rows=np.empty(entries + 1, dtype=np.int64),
        inner=np.empty(total, dtype=np.int32),
        codes=np.empty(total, dtype=np.int8),
    )
    shapes.rows[-1] = total
    bounds = even_bounds(counts + links)
    in_chunks(lambda start, stop: lay_out(found, centres, starts, shapes, start, stop), bounds, workers)
    return shapes


def _sums(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    sums = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=sums[1:])
    return sums


@compiled
def lay_out(
    found: Neighbourhoods, centres: NDArray[np.int64], starts: NDArray[np.int64], shapes: Shapes, start: int, stop: int
) -> None:
    """Write the shapes of the centres from *start* to *stop*."""
    most = 0
    for at in range(start, stop):
        most = max(most, shapes.offsets[at + 1] - shapes.offsets[at])
    keys, sums = np.empty(most, dtype=np.uint64), np.empty(most, dtype=np.uint64)
    order, spare = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    moved, mark = np.empty(most, dtype=np.int32), np.zeros(most, dtype=np.int8)
    for at in range(start, stop):
        first, base = found.offsets[centres[at]], shapes.offsets[at]
        count = shapes.offsets[at + 1] - base
        for place in range(count):
            degree = found.rows[first + place + 1] - found.rows[first + place]
            keys[place] = np.uint64((found.types[first + place] << 32) + ((1 << 31) - degree))
        sort_by_colour(keys, order, spare, count)
        for place in range(count):
            moved[order[place]] = place
        write = starts[at]
        for place in range(count):
            old = first + order[place]
            shapes.types[base + place] = found.types[old]
            shapes.degrees[base + place] = found.rows[old + 1] - found.rows[old]
            shapes.rows[base + place] = write
            for link in range(found.rows[old], found.rows[old + 1]):
                shapes.inner[write] = moved[found.inner[link]]
                shapes.codes[write] = found.codes[link]
                write += 1
        # Only now: a row's end is the start of the next one.
        for place in range(count):
            row_end = shapes.rows[base + place + 1] if place + 1 < count else write
            around, tally = np.uint64(0), np.uint64(0)
            for link in range(shapes.rows[base + place], row_end):
                other = shapes.inner[link]
                around += mixed(np.uint64(other * 4 + shapes.codes[link]))
                kind = mixed(np.uint64(shapes.types[base + other] * 4 + shapes.codes[link]))
                shift = (kind >> _60) << _2
                if (tally >> shift) & _7 < _7:
                    tally += _1 << shift
            sums[place] = around
            shapes.tallies[base + place] = tally
        for place in range(count):
            shapes.twins[base + place] = _first_twin(shapes, base, place, sums, mark)


@compiled
def _first_twin(shapes: Shapes, base: int, place: int, sums: NDArray[np.uint64], mark: NDArray[np.int8]) -> int:
    """The first neighbour of the same type with the same links as the one at *place*, their own apart."""
    own = sums[place] + mixed(np.uint64(place * 4 + 3))
    degree, reach = shapes.degrees[base + place], 0
    first_link = shapes.rows[base + place]
    for other in range(place - 1, -1, -1):
        if shapes.types[base + other] != shapes.types[base + place] or shapes.degrees[base + other] != degree:
            break
        if shapes.twins[base + other] != other:
            continue
        reach += 1
        if reach > _TWIN_REACH:
            break
        linked = sums[other] + mixed(np.uint64(other * 4 + 3)) == own
        if sums[other] != sums[place] and not linked:
            continue
        other_link = shapes.rows[base + other]
        for link in range(first_link, first_link + degree):
            mark[shapes.inner[link]] = shapes.codes[link]
        same = not linked or mark[other] == 3
        if linked:
            mark[place] = 3
        for link in range(other_link, other_link + degree):
            same = same and mark[shapes.inner[link]] == shapes.codes[link]
        for link in range(first_link, first_link + degree):
            mark[shapes.inner[link]] = 0
        mark[place] = 0
        mark[other] = 0
        if same:
            return other
    return place


class BitRows(NamedTuple):
    """For each neighbour and each way of being linked, who stands to it that way, as bits.

    Those of a hub would take too much room; it has none (-1), and the search writes a row when it needs one.
    """

    bits: NDArray[np.uint64]
    starts: NDArray[np.int64]
    ways: int


def bit_rows(shapes: Shapes, wanted: NDArray[np.bool_], directed: bool, workers: int) -> BitRows:
    """The rows of the *wanted* shapes."""
    counts, ways = np.diff(shapes.offsets), 4 if directed else 2
    words = counts * ((counts + 63) // 64) * ways
    words[(words > _MOST_WORDS) | ~wanted] = 0
    order = np.argsort(words, kind="stable")
    words[order[np.cumsum(words[order]) > _ROOM]] = 0
    starts = _sums(words)
    rows = BitRows(np.zeros(int(starts[-1]), dtype=np.uint64), starts, ways)
    starts[:-1][(words == 0) & (counts > 0)] = -1
    in_chunks(lambda start, stop: write_bits(shapes, rows, start, stop), even_bounds(words), workers)
    return rows


@inlined
def write_row(
    shapes: Shapes, at: int, place: int, ways: int, words: int, count: int, bits: NDArray[np.uint64], apart: int
) -> None:
    """Write who is not linked with the neighbour at *place*, then who is in each way; the latter must be clear."""
    for word in range(words):
        bits[apart + word] = _ALL >> np.uint64(64 - min(count - word * 64, 64))
    bits[apart + (place >> 6)] ^= _1 << np.uint64(place & 63)
    first = shapes.rows[shapes.offsets[at] + place]
    for link in range(first, first + shapes.degrees[shapes.offsets[at] + place]):
        other = shapes.inner[link]
        way = shapes.codes[link] if ways == 4 else 1
        bit = _1 << np.uint64(other & 63)
        bits[apart + way * words + (other >> 6)] |= bit
        bits[apart + (other >> 6)] ^= bit


@compiled
def write_bits(shapes: Shapes, rows: BitRows, start: int, stop: int) -> None:
    """Write the rows of bits of the centres from *start* to *stop*."""
    for at in range(start, stop):
        count = shapes.offsets[at + 1] - shapes.offsets[at]
        words = (count + 63) >> 6
        if rows.starts[at] >= 0:
            for place in range(count):
                apart = rows.starts[at] + place * rows.ways * words
                write_row(shapes, at, place, rows.ways, words, count, rows.bits, apart)
