"""Filters of candidates: features that a target needs at least as often as the pattern it is to contain.

Features are neighbours of a type, and neighbours of a type with one, two, … links of a kind to those of another type.

They are numbers of 64 bits that include the centre's label. A collision can only let a candidate through, which the
search then rejects.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.colour_refinement import mixed
from graphpriv.risk.containment.nodes import Nodes
from graphpriv.risk.containment.shapes import Shapes
from graphpriv.risk.neighbourhoods import Neighbourhoods
from graphpriv.risk.workers import even_bounds, in_chunks
from tabular.kernels import compiled

_LINK = np.uint64(0xA0761D6478BD642F)
_OWN = np.uint64(0x8EBC6AF09C88C6E3)
_COUNT = np.uint64(0xE7037ED1A0B428DB)

#: For each entry of a neighbourhood so many pairs are looked at; with more, what they rule out is not worth it.
_PAIRS_AN_ENTRY = 32

_0, _1, _2, _7, _15, _58 = (np.uint64(value) for value in (0, 1, 2, 7, 15, 58))
#: The highest bit of each of sixteen fields of four bits.
_FREE_BITS = np.uint64(0x8888888888888888)

#: A feature of fewer targets is kept as a list.
_FEW = 64

#: How many tokens are looked up at a time.
_BATCH = 1 << 18


class Needs(NamedTuple):
    """The features that each pattern needs, and the targets that have each feature."""

    #: For each node where its features start, and the features.
    offsets: NDArray[np.int64]
    features: NDArray[np.int64]
    #: For each feature where its targets start, and the targets, rising.
    starts: NDArray[np.int64]
    targets: NDArray[np.int32]
    #: For each feature that many targets have, these as bits from the start of their label; -1 for the others.
    bits_at: NDArray[np.int64]
    bits: NDArray[np.uint64]


def needs_of(shapes: Shapes, nodes: Nodes, workers: int) -> Needs:
    """Look for what the patterns among the *nodes* need among the targets."""
    wanted, wanted_offsets, lengths = _tokens(shapes, True, workers)
    lengths = np.where(nodes.users > 0, lengths, 0)
    kept = np.concatenate([[0], np.cumsum(lengths)])
    # The tokens of all patterns without the gaps that are left after each.
    places = np.arange(kept[-1]) + np.repeat(wanted_offsets[:-1] - kept[:-1], lengths)
    names, features = np.unique(wanted[places], return_inverse=True)
    size = 1 << max(int(2 * len(names)).bit_length(), 4)
    table, numbers = np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.int32)
    fill_table(names, table, numbers)
    offered, offered_offsets, _ = _tokens(shapes, False, workers)
    numbered = np.empty(len(offered), dtype=np.int32)
    in_chunks(
        lambda start, stop: look_up(offered, table, numbers, numbered, start, stop),
        np.linspace(0, len(offered), len(offered) // _BATCH + 2).astype(np.int64),
        workers,
    )
    numbered[np.repeat(nodes.weights == 0, np.diff(offered_offsets))] = -1
    starts = np.zeros(len(names) + 2, dtype=np.int64)
    posted = np.empty(int((numbered >= 0).sum()), dtype=np.int32)
    post(numbered, offered_offsets, starts, posted)
    starts = starts[:-1]
    widths = np.zeros(len(names), dtype=np.int64)
    some = np.flatnonzero(np.diff(starts))
    first = posted[starts[some]]
    widths[some] = (nodes.ends[first] - nodes.bases[first] + 63) >> 6
    # Bits take no more words than the list has entries.
    widths[np.diff(starts) < np.maximum(widths, _FEW)] = 0
    bits_at = np.concatenate([[0], np.cumsum(widths)])[:-1].astype(np.int64)
    bits_at[widths == 0] = -1
    bits = np.zeros(int(widths.sum()), dtype=np.uint64)
    post_bits(starts, posted, nodes, bits_at, bits)
    return Needs(kept.astype(np.int64), features.astype(np.int64), starts, posted, bits_at, bits)


def _tokens(
    shapes: Shapes, most_only: bool, workers: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    counts = np.diff(shapes.offsets)
    links = shapes.rows[shapes.offsets[1:]] - shapes.rows[shapes.offsets[:-1]]
    offsets = np.concatenate([[0], np.cumsum(counts + links)]).astype(np.int64)
    tokens, lengths = np.empty(int(offsets[-1]), dtype=np.uint64), np.empty(len(counts), dtype=np.int64)
    in_chunks(
        lambda start, stop: count_features(shapes, most_only, offsets, tokens, lengths, start, stop),
        even_bounds(counts + links),
        workers,
    )
    return tokens, offsets, lengths


@compiled
def count_features(
    shapes: Shapes,
    most_only: bool,
    offsets: NDArray[np.int64],
    tokens: NDArray[np.uint64],
    lengths: NDArray[np.int64],
    start: int,
    stop: int,
) -> None:
    """Write, for each centre, a token for the first, second, … time a feature occurs, or for the last time only."""
    most = 0
    for at in range(start, stop):
        most = max(most, offsets[at + 1] - offsets[at])
    size = 16
    while size < 2 * most:
        size *= 2
    names, counts = np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.int64)
    # The count of one neighbour's links of a kind, and whose count it is.
    kinds, own_counts = np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.int64)
    owners = np.zeros(size, dtype=np.int64)
    used = np.empty(most, dtype=np.int64)
    owner = 0
    for at in range(start, stop):
        base, write, distinct = shapes.offsets[at], offsets[at], 0
        centre = mixed(np.uint64(shapes.labels[at]))
        fold = 16
        while fold < 2 * (offsets[at + 1] - offsets[at]):
            fold *= 2
        for place in range(shapes.offsets[at + 1] - base):
            owner += 1
            own = mixed(centre + np.uint64(shapes.types[base + place]))
            first = shapes.rows[base + place]
            for link in range(first - 1, first + shapes.degrees[base + place]):
                # The neighbour itself, before its links.
                name = own
                if link >= first:
                    other = shapes.types[base + shapes.inner[link]]
                    kind = mixed(own ^ (np.uint64(other * 4 + shapes.codes[link]) * _LINK))
                    slot = np.int64(kind & np.uint64(fold - 1))
                    while owners[slot] == owner and kinds[slot] != kind:
                        slot = (slot + 1) & (fold - 1)
                    if owners[slot] != owner:
                        owners[slot], kinds[slot], own_counts[slot] = owner, kind, 0
                    own_counts[slot] += 1
                    name = mixed(kind + np.uint64(own_counts[slot]) * _OWN)
                if name == _0:
                    name = _LINK
                slot = np.int64(name & np.uint64(fold - 1))
                while names[slot] != _0 and names[slot] != name:
                    slot = (slot + 1) & (fold - 1)
                if names[slot] == _0:
                    names[slot] = name
                    used[distinct] = slot
                    distinct += 1
                counts[slot] += 1
                if not most_only:
                    tokens[write] = mixed(name + np.uint64(counts[slot]) * _COUNT)
                    write += 1
        for known in range(distinct):
            slot = used[known]
            if most_only:
                tokens[write] = mixed(names[slot] + np.uint64(counts[slot]) * _COUNT)
                write += 1
            names[slot] = _0
            counts[slot] = 0
        lengths[at] = write - offsets[at]


@compiled
def fill_table(names: NDArray[np.uint64], table: NDArray[np.uint64], numbers: NDArray[np.int32]) -> None:
    """Enter the distinct *names* with their numbers, counted from 1."""
    for number in range(len(names)):
        slot = np.int64(names[number] & np.uint64(len(table) - 1))
        while numbers[slot] > 0:
            slot = (slot + 1) & (len(table) - 1)
        table[slot], numbers[slot] = names[number], number + 1


@compiled
def look_up(
    tokens: NDArray[np.uint64],
    table: NDArray[np.uint64],
    numbers: NDArray[np.int32],
    found: NDArray[np.int32],
    start: int,
    stop: int,
) -> None:
    """The number of each token, -1 where no pattern needs it."""
    for at in range(start, stop):
        slot = np.int64(tokens[at] & np.uint64(len(table) - 1))
        while numbers[slot] > 0 and table[slot] != tokens[at]:
            slot = (slot + 1) & (len(table) - 1)
        found[at] = numbers[slot] - 1


@compiled
def post(
    numbered: NDArray[np.int32], offsets: NDArray[np.int64], starts: NDArray[np.int64], targets: NDArray[np.int32]
) -> None:
    """List for each feature the targets that have it."""
    for at in range(len(numbered)):
        if numbered[at] >= 0:
            starts[numbered[at] + 2] += 1
    for feature in range(1, len(starts)):
        starts[feature] += starts[feature - 1]
    for target in range(len(offsets) - 1):
        for at in range(offsets[target], offsets[target + 1]):
            feature = numbered[at]
            if feature >= 0:
                targets[starts[feature + 1]] = target
                starts[feature + 1] += 1


@compiled
def post_bits(
    starts: NDArray[np.int64],
    posted: NDArray[np.int32],
    nodes: Nodes,
    bits_at: NDArray[np.int64],
    bits: NDArray[np.uint64],
) -> None:
    """Write the targets that have a common feature as bits."""
    for feature in range(len(bits_at)):
        if bits_at[feature] >= 0:
            base, end = nodes.bases[posted[starts[feature]]], nodes.ends[posted[starts[feature]]]
            for at in range(starts[feature], starts[feature + 1]):
                # A feature includes the centre's label, so that others come up by accident only.
                if base <= posted[at] < end:
                    place = posted[at] - base
                    bits[bits_at[feature] + (place >> 6)] |= _1 << np.uint64(place & 63)


def possible_nodes(around: Neighbourhoods, centres: NDArray[np.int64], nodes: Nodes) -> NDArray[np.bool_]:
    """The patterns that may lie in a target of their label, and the targets in which one may lie."""
    worth, wanted = (nodes.users > 0) & (nodes.highs < nodes.ends), (nodes.weights > 0) & (nodes.bases < nodes.lows)
    if (nodes.ends - nodes.highs)[worth].sum() <= _PAIRS_AN_ENTRY * len(around.types):
        return pairs_by_signs(around, centres, nodes)
    return worth | wanted


@compiled
def pairs_by_signs(around: Neighbourhoods, centres: NDArray[np.int64], nodes: Nodes) -> NDArray[np.bool_]:
    """Compare signs of the neighbours' types: what a pattern has, and how often, a target must have as well."""
    kept = np.zeros(len(centres), dtype=np.bool_)
    signs, tallies = np.zeros(len(centres), dtype=np.uint64), np.zeros(len(centres), dtype=np.uint64)
    for node in range(len(centres)):
        signs[node], tallies[node] = signs_of(around, centres[node])
    for pattern in range(len(centres)):
        if nodes.users[pattern] > 0:
            sign, tally = signs[pattern], tallies[pattern]
            for target in range(nodes.highs[pattern], nodes.ends[pattern]):
                # No field of the target's tally may fall short: then no borrow clears its highest bit.
                if (
                    nodes.weights[target] > 0
                    and sign & ~signs[target] == _0
                    and ((tallies[target] | _FREE_BITS) - tally) & _FREE_BITS == _FREE_BITS
                ):
                    kept[pattern] = True
                    kept[target] = True
    return kept


@compiled
def signs_of(around: Neighbourhoods, centre: int) -> tuple[np.uint64, np.uint64]:
    """Which types occur around a centre, one of 64 bits each, and how often up to seven, in 16 fields of four bits."""
    sign, tally = _0, _0
    for entry in range(around.offsets[centre], around.offsets[centre + 1]):
        kind = mixed(np.uint64(around.types[entry]))
        sign |= _1 << (kind >> _58)
        shift = (kind & _15) << _2
        if (tally >> shift) & _7 < _7:
            tally += _1 << shift
    return sign, tally
