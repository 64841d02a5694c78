"""The classes of nodes, each rolled up from a finer node, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled, inlined
from tabular.lattice.evaluator.class_metrics import LOST, KernelOptions, measure
from tabular.lattice.evaluator.rollup import (
    UNIT,
    Coding,
    KeyedClasses,
    RankedColumn,
    Scratch,
    coding_of,
    roll_pairs_up,
    roll_up,
)
from tabular.lattice.front import nowhere_above
from tabular.lattice.space import Floats, Levels, Nodes, Numbers
from tabular.loop import on_threads, processors

#: So many nodes are kept at most, and so many bytes of them in all, or a few times those of the distinct rows.
_NODES = 2048
_BYTES = 128 << 20

#: Nodes half the way are rolled up where there are more distinct rows than this; some at first, then one for so many.
_FAR = 2000
_HALFWAY, _NODES_A_HALFWAY = 8, 4

#: From so many nodes on they are gone through in order; fewer are each rolled up from the best of those kept.
_MANY = 128

#: Both inner attributes have labels of up to so many bits together.
_INSIDE = 14

#: Beside the inner attributes so many others have their levels where nodes are rolled up half the way.
_RAISED = 3

#: Logarithms are at hand for up to so many rows.
_LOGARITHMS = 1 << 22

#: What is counted of classes: groups, classes, pairs of sensitive values, pairs of labels.
KINDS = 4


class _Sized(Protocol):
    @property
    def sizes(self) -> NDArray[Any]: ...


#: Arrays of the classes of a node, the rows of each among them.
Arrays = TypeVar("Arrays", bound=_Sized)


class ClassCache(Generic[Arrays]):
    """The classes of nodes, the oldest forgotten first."""

    def __init__(self, base: Arrays, attributes: int, first: Sequence[int] = ()) -> None:
        """Nodes half the way to another have its levels in the *first* attributes."""
        self._base, self._first = base, np.array(first, dtype=np.int64)
        #: Nodes half the way so far, and for how many others one was thought of.
        self._halfway = self._asked = 0
        self._bottom = np.zeros(attributes, dtype=np.int16)
        self._levels = np.zeros((_NODES, attributes), dtype=np.int16)
        self._sizes = np.full(_NODES, np.iinfo(np.int64).max)
        self._classes: list[Arrays | None] = [None] * _NODES
        self._next = self._used = 0
        self._held = 0
        self._room = max(_BYTES, 4 * _bytes(base))

    def nearest(self, node: Levels) -> tuple[Levels, Arrays]:
        """The node with the fewest classes from which *node* can be rolled up."""
        places = np.flatnonzero((self._levels[: self._used] <= node).all(axis=1))
        if places.size:
            place = int(places[np.argmin(self._sizes[places])])
            found = self._classes[place]
            if found is not None:
                return self._levels[place], found
        return self._bottom, self._base

    def halfway(self, fine: Levels, source: Arrays, node: Levels) -> Levels | None:
        """A node on the way from *fine* to *node* that others will share, where the way is far and there are few such.

        From the distinct rows to a node of few classes is far, and so it is to the next; but most nodes that are looked
        at one after the other agree in some attributes, and what those alone leave is kept and is much less.
        """
        if len(self._base.sizes) <= _FAR or 4 * len(source.sizes) <= 3 * len(self._base.sizes):
            return None
        self._asked += 1
        if self._halfway > _HALFWAY + self._asked // _NODES_A_HALFWAY:
            return None
        found = fine.copy()
        found[self._first] = node[self._first]
        if (found == fine).all() or (found == node).all():
            return None
        self._halfway += 1
        return found

    def keep(self, node: Levels, classes: Arrays) -> None:
        """Keep the *classes* of a *node*."""
        # A node of nearly as many classes as there are distinct rows saves nothing.
        if 4 * len(classes.sizes) > 3 * len(self._base.sizes) + 64:
            return
        self._forget(self._next)
        self._levels[self._next], self._sizes[self._next] = node, len(classes.sizes)
        self._classes[self._next] = classes
        self._held += _bytes(classes)
        self._used = max(self._used, self._next + 1)
        self._next = (self._next + 1) % _NODES
        oldest = self._next
        while self._held > self._room:
            self._forget(oldest)
            oldest = (oldest + 1) % _NODES

    def _forget(self, place: int) -> None:
        classes = self._classes[place]
        if classes is not None:
            self._held -= _bytes(classes)
            self._classes[place], self._sizes[place] = None, np.iinfo(np.int64).max


def _bytes(classes: object) -> int:
    """What the arrays of *classes* take."""
    return classes.nbytes if isinstance(classes, np.ndarray) else sum(map(_bytes, cast("Iterable[object]", classes)))


class Workspace(NamedTuple):
    """Room to work in: for classes one behind the other, for a roll-up, and for rows by the size of their class."""

    classes: KeyedClasses
    scratch: Scratch
    rows_by_size: Numbers


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
        self, base: KeyedClasses, layout: Layout, rows: int, suppressible: int, workers: int | None = None
    ) -> None:
        """*base* are the distinct ones of so many *rows*, as `distinct_rows` has them."""
        self._layout, self._attributes, self._suppressible = layout, len(layout.order), suppressible
        self._workers = workers or processors()
        self._base = base
        most = np.arange(min(rows, _LOGARITHMS) + 1 if len(base.sensitive) else 1, dtype=np.float64)
        self._logs = np.rint(np.log2(np.maximum(most, 1)) * most * UNIT).astype(np.int64)
        beside = [place for place in (layout.coding.second, layout.coding.inner) if place >= 0]
        self._cache = ClassCache(self._base, self._attributes, [*beside, *layout.order[:_RAISED]])
        self._bottom = np.zeros(self._attributes, dtype=np.int16)

    def count(self, nodes: Nodes, options: KernelOptions) -> tuple[Numbers, Floats]:
        """The whole and the other numbers of *nodes*, a row each; each node is rolled up once."""
        whole = np.zeros((len(nodes), LOST + self._attributes + 1), dtype=np.int64)
        other = np.zeros((len(nodes), 3))
        if len(nodes) >= _MANY:
            self._in_order(nodes, options, whole, other)
        else:
            self._one_by_one(nodes, options, whole, other)
        return whole, other

    def _in_order(self, nodes: Nodes, options: KernelOptions, whole: Numbers, other: Floats) -> None:
        """All *nodes* in the order of their levels, a part of them in each thread."""
        order = np.lexsort([nodes[:, place] for place in reversed(self._layout.order)])
        depth = int(nodes.max(axis=0).sum())

        def go(part: Numbers) -> None:
            coding, work = self._layout.coding, self._workspace(depth)
            walk(self._base, self._bottom, nodes, part, coding, options, self._logs, work, whole, other)

        parts = np.array_split(order, self._workers * 4 if self._workers > 1 else 1)
        list(on_threads(go, parts, self._workers))

    def _one_by_one(self, nodes: Nodes, options: KernelOptions, whole: Numbers, other: Floats) -> None:
        """Each of *nodes* from the nearest finer one that is kept."""
        coding, sizes = self._layout.coding, self._single.rows_by_size
        for place, node in enumerate(nodes):
            fine, source = self._cache.nearest(node)
            halfway = self._cache.halfway(fine, source, node)
            if halfway is not None:
                fine, source = halfway, self._rolled_up(fine, source, halfway, options)
            found = self._rolled_up(fine, source, node, options)
            measure(found, node, coding, options, self._logs, sizes, whole[place], other[place])

    def _rolled_up(self, fine: Levels, source: KeyedClasses, node: Levels, options: KernelOptions) -> KeyedClasses:
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
def part_of(classes: KeyedClasses, begin: Numbers, end: Numbers) -> KeyedClasses:
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
def _everything(classes: KeyedClasses) -> Numbers:
    numbers = np.empty(KINDS, dtype=np.int64)
    numbers[0], numbers[1] = len(classes.keys), len(classes.sizes)
    numbers[2], numbers[3] = len(classes.sensitive), len(classes.labels)
    return numbers


@compiled
def step(
    source: KeyedClasses,
    fine: Levels,
    coarse: Levels,
    coding: Coding,
    options: KernelOptions,
    work: Workspace,
    begin: Numbers,
    end: Numbers,
) -> None:
    """Roll node *coarse* up from *fine* into the workspace from mark *begin* on, and set mark *end*."""
    target = part_of(work.classes, begin, _everything(work.classes))
    with_pairs = len(source.sensitive) > 0 or len(source.labels) > 0
    scratch = work.scratch
    groups, classes = roll_up(source, fine, coarse, coding, scratch, target, with_pairs)
    end[0], end[1], end[2], end[3] = begin[0] + groups, begin[1] + classes, begin[2], begin[3]
    if len(source.sensitive):
        end[2] += roll_pairs_up(source.sensitive, scratch.owners, options.size, scratch.table, target.sensitive)
    if len(source.labels):
        end[3] += roll_pairs_up(source.labels, scratch.owners, options.label_size, scratch.table, target.labels)


@compiled
def walk(
    base: KeyedClasses,
    bottom: Levels,
    nodes: Levels,
    order: Numbers,
    coding: Coding,
    options: KernelOptions,
    logs: Numbers,
    work: Workspace,
    whole: Numbers,
    other: Floats,
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
        while length and not nowhere_above(nodes, chain[length - 1], nodes, place):
            length -= 1
        if length:
            source, fine = part_of(work.classes, marks[length - 1], marks[length]), nodes[chain[length - 1]]
        else:
            source, fine = base, bottom
        step(source, fine, node, coding, options, work, marks[length], marks[length + 1])
        rolled += 1
        found = part_of(work.classes, marks[length], marks[length + 1])
        measure(found, node, coding, options, logs, work.rows_by_size, whole[place], other[place])
        fits = True
        for kind in range(KINDS):
            fits = fits and marks[length + 1, kind] + most[kind] <= limits[kind]
        if fits:
            chain[length] = place
            length += 1
    return rolled


def _spread(rows: Numbers) -> float:
    """The entropy of a column."""
    shares = rows[rows > 0] / max(int(rows.sum()), 1)
    return float(-(shares * np.log(shares)).sum())
