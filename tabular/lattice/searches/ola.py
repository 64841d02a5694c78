"""Optimal lattice anonymization: halve sublattices, and let each node speak for all above or below it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabular.lattice.metrics import Readings
from tabular.lattice.searches.contract import ListingSearch, searches
from tabular.lattice.searching import Course, Finds, Question
from tabular.lattice.space import Lattice, Node, as_tuples

_SATISFIES, _OPEN, _BREAKS = 1, 0, -1


@searches.add(
    "ola",
    cites="El Emam and others (2009)",
    limits="finds the best of all only where the metric is monotone: precision always, the others without "
    "suppression; takes t only without suppression",
)
@dataclass(frozen=True, kw_only=True)
class Ola(ListingSearch):
    """Find all minimal nodes that satisfy the limits by halving sublattices, and rank them by the metric.

    A look at one node decides others: all nodes above one that satisfies the limits do, as no row leaves a class that
    keeps them; all below one that breaks them do, too. In a sublattice whose bottom breaks the limits and whose top
    satisfies them, it looks at the nodes half way up that are still open; one that satisfies is the top of the next
    sublattice, one that does not is its bottom. Every node of the sublattice is below or above some node half way, and
    so in a smaller sublattice or decided: at the end all nodes are.

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
        self._lattice = lattice
        self._tags = np.full(lattice.shape, _OPEN, dtype=np.int8)
        self._heights = lattice.node_heights.reshape(lattice.shape)

    @property
    def satisfying(self) -> int:
        """How many nodes are known to satisfy."""
        return int((self._tags == _SATISFIES).sum())

    def note(self, node: Node, *, satisfies: bool) -> None:
        """Take in what was found of a *node*, and what follows for those above or below it."""
        if satisfies:
            self._tags[self._lattice.box(node, self._lattice.top)] = _SATISFIES
        else:
            self._tags[self._lattice.box(self._lattice.bottom, node)] = _BREAKS

    def is_tagged(self, node: Node, tag: int) -> bool:
        """Whether this is what is known of a *node*."""
        return bool((self._tags[self._lattice.box(node, node)] == tag).all())

    def is_decided(self, low: Node, high: Node) -> bool:
        """Whether all is known of the nodes from *low* to *high*."""
        # An open one is 0.
        return bool(self._tags[self._lattice.box(low, high)].all())

    def half_way(self, low: Node, high: Node) -> list[Node]:
        """The nodes of the middle height from *low* to *high*."""
        places = np.argwhere(self._heights[self._lattice.box(low, high)] == (sum(low) + sum(high)) // 2)
        nodes = np.zeros((len(places), len(low)), dtype=np.int16)
        nodes[:, self._lattice.free] = places
        return as_tuples(nodes + np.array(low, dtype=np.int16))


def _ask(node: Node, known: _Known, finds: Finds) -> Generator[list[Node], Readings, None]:
    """Come to know *node*, without a look if it follows from others."""
    if known.is_tagged(node, _OPEN):
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
        if known.is_tagged(node, _SATISFIES):
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
