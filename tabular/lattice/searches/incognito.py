"""Incognito: from single attributes to all of them, with what satisfies on each subset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabular.lattice.searches.contract import ListingSearch, searches
from tabular.lattice.searching import Course, Finds, Question
from tabular.lattice.space import Flags, Lattice, Numbers

#: How many nodes are asked for at once, at most.
_BATCH = 65_536


@searches.add(
    "incognito",
    cites="LeFevre, DeWitt and Ramakrishnan (2005)",
    limits="reads the metric of every node that satisfies; takes t only without suppression",
)
@dataclass(frozen=True, kw_only=True)
class Incognito(ListingSearch):
    """Find every node that satisfies the limits, going from single attributes to all of them, one more per round.

    An attribute is left out by generalising it to its top, where it tells no rows apart. So the levels of a subset are
    a node with the other attributes at the top, and each node is met once: in the round of as many attributes as it
    has below their tops.

    A row whose class over some attributes keeps k and l is, over fewer of them or at higher levels, in a class that
    holds this one: it has as many rows and as many values. So the rows that have to go are never more, and

    - subset property: levels can satisfy the limits only if they do on all subsets with one attribute less; all others
      are known to fail without a look;
    - roll-up: in a round, from the lowest height up, whatever is a step above levels that satisfy does so, too.

    t without suppression has both properties: the distance is convex, so that no union of classes is further off than
    its parts. So it finds the whole set, as `exhaustive` does. It reads nodes known by roll-up at the end, for their
    metric, and `evaluated` counts them as well; the remark `tested` says how many it looked at before.
    """

    needs_monotone: ClassVar[bool] = True
    asks_once: ClassVar[bool] = True

    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """Go round by round, the top alone first; then read what was known without a look."""
        lattice = question.lattice
        steps, satisfies = _strides(lattice), np.zeros(lattice.size, dtype=np.bool_)
        by_rollup: list[Numbers] = []
        tested = 0
        for places in _rounds(lattice):
            levels = lattice.at(places).astype(np.int64)
            candidates, known = _judged(levels, places, lattice, steps, satisfies)
            satisfies[places[known]] = True
            by_rollup.append(places[known])
            for part in _batches(places[candidates & ~known]):
                readings = yield lattice.at(part)
                satisfies[part] = readings.satisfying
                finds.keep(readings, question)
                tested += len(part)
        finds.satisfying = int(satisfies.sum())
        finds.remarks["tested"] = tested
        for part in _batches(np.sort(np.concatenate(by_rollup))):
            readings = yield lattice.at(part)
            finds.keep(readings, question)
        finds.lower_bound = finds.best(question.metric)


def _batches(places: Numbers) -> list[Numbers]:
    return [places[start : start + _BATCH] for start in range(0, len(places), _BATCH)]


def _strides(lattice: Lattice) -> Numbers:
    """How far apart two nodes stand, in the order of the levels, that are a level of an attribute apart."""
    sizes = np.array([*lattice.heights[1:], 0], dtype=np.int64) + 1
    return np.cumprod(sizes[::-1])[::-1]


def _rounds(lattice: Lattice) -> Iterator[Numbers]:
    """The places of the nodes: by how many attributes are below their tops, then by height."""
    counts = np.zeros(1, dtype=np.int32)
    for height in lattice.heights:
        counts = (counts[:, None] + (np.arange(height + 1) < height)).ravel()
    keys = counts * (sum(lattice.heights) + 1) + lattice.node_heights
    order = np.argsort(keys, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)


def _judged(
    levels: Numbers, places: Numbers, lattice: Lattice, steps: Numbers, satisfies: Flags
) -> tuple[Flags, Flags]:
    """Which nodes satisfy on all subsets with an attribute less, and which are a step above one that satisfies."""
    candidates, known = np.ones(len(places), dtype=np.bool_), np.zeros(len(places), dtype=np.bool_)
    for attribute, (height, step) in enumerate(zip(lattice.heights, steps.tolist(), strict=True)):
        level = levels[:, attribute]
        below_top = level < height
        candidates &= ~below_top | satisfies[places + step * (height - level)]
        # Judged in this round if it has as many attributes below their tops; if one more, nothing is known of it yet.
        lowered = level > 0
        known |= lowered & satisfies[places - step * lowered]
    return candidates, known
