"""Optimal lattice anonymization: halve sublattices, and let each node speak for all above or below it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabular.lattice.evaluator.readings import Readings
from tabular.lattice.question import Course, Finds, Question
from tabular.lattice.searches.contract import ListingSearch, searches
from tabular.lattice.space import Lattice, Node, as_tuples

_SATISFIES, _OPEN, _BREAKS = 1, 0, -1


@searches.add(
    "ola",
    cites="El Emam and others (2009)",
    limits="the best node is the best of all where the metric is monotone: precision always, the others without "
    "suppression; t without suppression alone",
)
@dataclass(frozen=True, kw_only=True)
class Ola(ListingSearch):
    """Find all minimal nodes that satisfy the limits by halving sublattices, and put them in order by the metric.

    What holds for a node is known of others without a look at them: all above one that satisfies do, as none of their
    rows leaves a class that keeps the limits; all below one that does not satisfy do not. Of a sublattice whose bottom
    breaks the limits and whose top satisfies them the nodes half way up are asked for, so far as they are open; one
    that satisfies is the top of the next sublattice, one that does not is the bottom. Every node of the sublattice is
    below or above some node half way, and so in a smaller sublattice or known: at the end all nodes are known.

    A minimal node satisfies while no node below it does; each node that satisfies is above one of them, or is one. So
    a minimal node is the optimum of a metric that never falls from a node to one above it. Precision is such a metric
    whatever may be suppressed. All others are where no row may go: labels stand for more values, and classes only
    merge, by which neither the squares of their sizes nor the rows outside their majorities fall. With suppression,
    rows that come back from a class that was too small can make a coarser node the better one: then the answer is the
    best of the minimal nodes, and no lower bound is given.
    """

    needs_monotone: ClassVar[bool] = True
    asks_once: ClassVar[bool] = True

    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """Ask for the bottom and the top, then halve what is between them."""
        known, bottom, top = _Known(question.lattice), question.lattice.bottom, question.lattice.top
        yield from _ask(bottom, known, finds)
        yield from _ask(top, known, finds)
        yield from _halve(known, finds, bottom, top)
        finds.satisfying = known.satisfying
        if question.metric == "precision" or not question.suppressible:
            finds.lower_bound = finds.best(question.metric)
        elif finds.solutions is not None:
            finds.remarks["note"] = (
                f"{question.metric} can be less above a minimal node where rows are suppressed: this is the best of "
                "the minimal nodes; `exhaustive` and `optimal` find the best of all."
            )


class _Known:
    """What is known of each node: that it satisfies the limits, that it breaks them, or nothing yet."""

    def __init__(self, lattice: Lattice) -> None:
        # Attributes without a level to go up to need no dimension, of which arrays have 64 at most.
        self._free = [place for place, height in enumerate(lattice.heights) if height]
        self._attributes = len(lattice.heights)
        shape = tuple(lattice.heights[place] + 1 for place in self._free)
        self._tags = np.full(shape, _OPEN, dtype=np.int8)
        self._sums = np.zeros(shape, dtype=np.int32)
        for axis, levels in enumerate(shape):
            self._sums += np.arange(levels, dtype=np.int32).reshape([-1 if each == axis else 1 for each in self._axes])

    @property
    def _axes(self) -> range:
        return range(len(self._free))

    @property
    def satisfying(self) -> int:
        """How many nodes are known to satisfy."""
        return int((self._tags == _SATISFIES).sum())

    def note(self, node: Node, *, satisfies: bool) -> None:
        """Take in what was found of a *node*, and what follows for those above or below it."""
        if satisfies:
            self._tags[tuple(slice(node[place], None) for place in self._free)] = _SATISFIES
        else:
            self._tags[tuple(slice(node[place] + 1) for place in self._free)] = _BREAKS

    def is_open(self, node: Node) -> bool:
        """Whether nothing is known of a *node* yet."""
        return self._tag(node) == _OPEN

    def satisfies(self, node: Node) -> bool:
        """Whether a *node* is known to satisfy."""
        return self._tag(node) == _SATISFIES

    def _tag(self, node: Node) -> int:
        return int(self._tags[tuple(node[place] for place in self._free)])

    def is_decided(self, low: Node, high: Node) -> bool:
        """Whether all is known of the nodes from *low* to *high*."""
        # An open one is 0.
        return bool(self._tags[self._box(low, high)].all())

    def half_way(self, low: Node, high: Node) -> list[Node]:
        """The nodes of the middle height from *low* to *high*."""
        places = np.argwhere(self._sums[self._box(low, high)] == (sum(low) + sum(high)) // 2)
        nodes = np.zeros((len(places), self._attributes), dtype=np.int16)
        nodes[:, self._free] = places
        return as_tuples(nodes + np.array(low, dtype=np.int16))

    def _box(self, low: Node, high: Node) -> tuple[slice, ...]:
        return tuple(slice(low[place], high[place] + 1) for place in self._free)


def _ask(node: Node, known: _Known, finds: Finds) -> Generator[list[Node], Readings, None]:
    """Come to know *node*, without a look if it follows from others."""
    if known.is_open(node):
        readings = yield [node]
        known.note(node, satisfies=bool(readings.satisfying[0]))
        _keep_minimal(finds, readings)


def _halve(known: _Known, finds: Finds, low: Node, high: Node) -> Generator[list[Node], Readings, None]:
    """Come to know all nodes from *low*, which is known, to *high*, which is too."""
    if known.is_decided(low, high):
        return
    # One node at a time: what comes of it, and of the sublattice after it, often decides others of its height.
    for node in known.half_way(low, high):
        yield from _ask(node, known, finds)
        if known.satisfies(node):
            yield from _halve(known, finds, low, node)
        else:
            yield from _halve(known, finds, node, high)


def _keep_minimal(finds: Finds, readings: Readings) -> None:
    """Put a node that satisfies in the place of the solutions above it; it was open, so none is below it."""
    if not readings.satisfying.all():
        return
    if finds.solutions is not None:
        is_above = (finds.solutions.nodes >= readings.nodes[0]).all(axis=1)
        readings = Readings.together([finds.solutions.take(~is_above), readings])
    finds.solutions = readings
