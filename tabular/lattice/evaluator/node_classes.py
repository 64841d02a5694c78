"""The classes of nodes, counted one after the other: each node is rolled up from a finer one, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled, inlined
from tabular.lattice.evaluator.class_cache import ClassCache
from tabular.lattice.evaluator.class_metrics import LOST, KernelOptions, measure
from tabular.lattice.evaluator.rollup import Scratch, roll_pairs_up, roll_up
from tabular.lattice.evaluator.row_keys import (
    UNIT,
    Coding,
    KeyedClasses,
    Numbers,
    RankedColumn,
    coding_of,
    distinct_rows,
)
from tabular.lattice.space import Nodes
from tabular.loop import on_threads, processors

#: From so many nodes on they are gone through in order; fewer are each rolled up from the best of those kept.
_MANY = 128

#: Both inner attributes have labels of up to so many bits together.
_INSIDE = 14

#: Beside the inner attributes so many others have their levels where nodes are rolled up half the way.
_RAISED = 3

#: What is counted of classes: groups, classes, pairs of sensitive values, pairs of labels.
KINDS = 4


class Workspace(NamedTuple):
    """Room to work in: for classes one behind the other, for a roll-up, and for rows by the size of their class."""

    classes: KeyedClasses
    scratch: Scratch
    rows_by_size: NDArray[np.int64]


class Layout(NamedTuple):
    """How the attributes stand in keys, and in which *order* nodes are gone through by their levels, the last first."""

    coding: Coding
    order: list[int]

    @classmethod
    def of(cls, columns: Sequence[RankedColumn], heights: Sequence[int]) -> Layout:
        """The layout in which the two attributes with the most levels, which change most often, stand beside keys."""
        spreads = [_spread(each.counts) for each in columns]
        widths = [each.width for each in columns]
        inner = max(range(len(heights)), key=lambda place: (heights[place], spreads[place]))
        outer = sorted((place for place in range(len(heights)) if place != inner), key=lambda place: -spreads[place])
        fitting = [place for place in outer if widths[place] + widths[inner] <= _INSIDE]
        second = max(fitting, key=lambda place: (heights[place], spreads[place]), default=-1)
        order = [*(place for place in outer if place != second), *([second] if second >= 0 else []), inner]
        return cls(coding_of(columns, inner, second), order)


class NodeClasses:
    """The classes of all nodes of a table, which are counted as they are asked for."""

    def __init__(
        self,
        columns: Sequence[RankedColumn],
        layout: Layout,
        suppressible: int,
        workers: int | None,
        **values: Any,
    ) -> None:
        """*values* of other attributes as `distinct_rows` takes them."""
        self._layout, self._attributes, self._suppressible = layout, len(columns), suppressible
        self._workers = workers or processors()
        self._base = distinct_rows([each.ranks for each in columns], layout.coding, **values)
        most = np.arange(len(columns[0].ranks) + 1 if len(self._base.sensitive) else 1, dtype=np.float64)
        self._logs = np.rint(np.log2(np.maximum(most, 1)) * most * UNIT).astype(np.int64)
        beside = [place for place in (layout.coding.second, layout.coding.inner) if place >= 0]
        self._cache = ClassCache(self._base, self._attributes, [*beside, *layout.order[:_RAISED]])
        self._bottom = np.zeros(self._attributes, dtype=np.int16)

    def count(self, nodes: Nodes, options: KernelOptions) -> tuple[Numbers, NDArray[np.float64]]:
        """The whole and the other numbers of *nodes*, a row each; each node is rolled up once."""
        whole = np.zeros((len(nodes), LOST + self._attributes + 1), dtype=np.int64)
        other = np.zeros((len(nodes), 3))
        if len(nodes) >= _MANY:
            self._in_order(nodes, options, whole, other)
        else:
            self._one_by_one(nodes, options, whole, other)
        return whole, other

    def _in_order(self, nodes: Nodes, options: KernelOptions, whole: Numbers, other: NDArray[np.float64]) -> None:
        """All *nodes* in the order of their levels, a part of them in each thread."""
        order = np.lexsort([nodes[:, place] for place in reversed(self._layout.order)])
        depth = int(nodes.max(axis=0).sum())

        def go(part: Numbers) -> None:
            coding, work = self._layout.coding, self._workspace(depth)
            walk(self._base, self._bottom, nodes, part, coding, options, self._logs, work, whole, other)

        parts = np.array_split(order, self._workers * 4 if self._workers > 1 else 1)
        list(on_threads(go, parts, self._workers))

    def _one_by_one(self, nodes: Nodes, options: KernelOptions, whole: Numbers, other: NDArray[np.float64]) -> None:
        """Each of *nodes* from the nearest finer one that is kept."""
        coding, sizes = self._layout.coding, self._single.rows_by_size
        for place, node in enumerate(nodes):
            fine, source = self._cache.nearest(node)
            halfway = self._cache.halfway(fine, source, node)
            if halfway is not None:
                fine, source = halfway, self._rolled_up(fine, source, halfway, options)
            found = self._rolled_up(fine, source, node, options)
            measure(found, node, coding, options, self._logs, sizes, whole[place], other[place])

    def _rolled_up(
        self, fine: NDArray[np.int16], source: KeyedClasses, node: NDArray[np.int16], options: KernelOptions
    ) -> KeyedClasses:
        begin, end = np.zeros((2, KINDS), dtype=np.int64)
        step(source, fine, node, self._layout.coding, options, self._single, begin, end)
        ends = end[[0, 1, 1, 1, 2, 3]].tolist()
        arrays: tuple[NDArray[Any], ...] = self._single.classes
        found = KeyedClasses._make(array[:to].copy() for array, to in zip(arrays, ends, strict=True))
        self._cache.keep(node, found)
        return found

    @cached_property
    def _single(self) -> Workspace:
        """Room for one node at a time."""
        return self._workspace(0)

    def _workspace(self, depth: int) -> Workspace:
        labels = 1 << self._layout.coding.width + self._layout.coding.second_width
        return workspace_for(self._base, depth, labels, self._suppressible)


def workspace_for(base: KeyedClasses, depth: int, labels: int, suppressible: int) -> Workspace:
    """Room for a walk from *base* along chains of up to *depth* nodes; memory is taken as it is used.

    Chains whose classes do not fit are cut short: their nodes roll up from a finer one that is still there. The inner
    attributes have up to so many *labels* together.
    """
    sizes = (len(base.keys), len(base.sizes), len(base.sensitive), len(base.labels))
    groups, many, of_values, of_labels = (
        number * min(depth + 2, max(6, 2_000_000 // max(number, 1))) for number in sizes
    )
    return Workspace(
        KeyedClasses(
            np.empty((groups, base.keys.shape[1]), dtype=np.int64),
            np.empty(many, dtype=np.int64),
            np.empty(many, dtype=np.int32),
            np.empty(many if len(base.present) else 0, dtype=np.int64),
            np.empty((of_values, 3), dtype=np.int32),
            np.empty((of_labels, 3), dtype=np.int32),
        ),
        Scratch(
            np.empty(4 * max(*sizes, 8), dtype=np.int32),
            np.empty(sizes[1], dtype=np.int32),
            np.empty(sizes[0], dtype=np.int32),
            np.empty(sizes[0], dtype=np.int32),
            np.empty(sizes[0], dtype=np.int32),
            np.empty(sizes[0] + 1, dtype=np.int32),
            np.zeros(labels, dtype=np.int32),
            np.zeros(labels, dtype=np.int64),
            np.zeros(labels, dtype=np.int32),
            np.zeros(labels // 32 + 1, dtype=np.int64),
        ),
        np.zeros(suppressible + 2, dtype=np.int64),
    )


@inlined
def part_of(classes: KeyedClasses, begin: NDArray[np.int64], end: NDArray[np.int64]) -> KeyedClasses:
    """The classes between two marks, each a place for each kind."""
    present = classes.present[begin[1] : end[1]] if len(classes.present) else classes.present
    return KeyedClasses(
        classes.keys[begin[0] : end[0]],
        classes.codes[begin[1] : end[1]],
        classes.sizes[begin[1] : end[1]],
        present,
        classes.sensitive[begin[2] : end[2]],
        classes.labels[begin[3] : end[3]],
    )


@inlined
def _everything(classes: KeyedClasses) -> NDArray[np.int64]:
    return np.array([len(classes.keys), len(classes.sizes), len(classes.sensitive), len(classes.labels)])


@compiled
def step(
    source: KeyedClasses,
    fine: NDArray[np.int16],
    coarse: NDArray[np.int16],
    coding: Coding,
    options: KernelOptions,
    work: Workspace,
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
) -> None:
    """Roll node *coarse* up from *fine* into the workspace from mark *begin* on, and set mark *end*."""
    target = part_of(work.classes, begin, _everything(work.classes))
    with_pairs = len(source.sensitive) > 0 or len(source.labels) > 0
    scratch = work.scratch
    groups, classes = roll_up(source, fine, coarse, coding, scratch, target, with_pairs)
    end[:] = begin
    end[0] += groups
    end[1] += classes
    if len(source.sensitive):
        end[2] += roll_pairs_up(source.sensitive, scratch.owners, options.size, scratch.table, target.sensitive)
    if len(source.labels):
        end[3] += roll_pairs_up(source.labels, scratch.owners, options.label_size, scratch.table, target.labels)


@compiled
def walk(
    base: KeyedClasses,
    bottom: NDArray[np.int16],
    nodes: NDArray[np.int16],
    order: NDArray[np.int64],
    coding: Coding,
    options: KernelOptions,
    logs: NDArray[np.int64],
    work: Workspace,
    whole: NDArray[np.int64],
    other: NDArray[np.float64],
) -> int:
    """Measure *nodes* in *order*; how many were rolled up is given back.

    A chain of nodes, each coarser than the one before, is kept: each new node first ends the chain where it is not
    coarser, and is rolled up from what is then the last one. In the order of their levels that is always a near one.
    """
    limits, most = _everything(work.classes), _everything(base)
    marks = np.zeros((len(order) + 2, KINDS), dtype=np.int64)
    chain = np.empty(len(order) + 1, dtype=np.int64)
    length = rolled = 0
    for place in order:
        node = nodes[place]
        while length and (nodes[chain[length - 1]] > node).any():
            length -= 1
        if length:
            source, fine = part_of(work.classes, marks[length - 1], marks[length]), nodes[chain[length - 1]]
        else:
            source, fine = base, bottom
        step(source, fine, node, coding, options, work, marks[length], marks[length + 1])
        rolled += 1
        found = part_of(work.classes, marks[length], marks[length + 1])
        measure(found, node, coding, options, logs, work.rows_by_size, whole[place], other[place])
        if (marks[length + 1] + most <= limits).all():
            chain[length] = place
            length += 1
    return rolled


def _spread(rows: NDArray[np.int64]) -> float:
    """The entropy of a column."""
    shares = rows[rows > 0] / max(int(rows.sum()), 1)
    return float(-(shares * np.log(shares)).sum())
