"""The evaluator of the lattice: all metrics of nodes, by their classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidInput, InvalidParameter, UnknownName
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.evaluator.class_metrics import (
    CLASSES,
    CLOSENESS,
    DISTINCT,
    ENTROPY,
    LOST,
    MAJORITIES,
    RECURSIVE,
    S_K,
    S_L,
    SUPPRESSED,
    K,
    KernelOptions,
)
from tabular.lattice.evaluator.node_classes import Layout, NodeClasses
from tabular.lattice.evaluator.rollup import Coding, KeyedClasses, RankedColumn, bits_of, distinct_rows, labels_at
from tabular.lattice.metrics import CLASS_LABEL, METRICS, SENSITIVE, Readings
from tabular.lattice.space import (
    MOST_ROWS,
    WHOLE,
    Flags,
    Floats,
    Lattice,
    Limits,
    Node,
    Nodes,
    Numbers,
    as_nodes,
    lower_bounds,
)
from tabular.protections import check_k
from tabular.table import Table, equivalence_classes

#: Sensitive values are noted as bits up to so many.
_BITS = 62

#: Of the sensitive values these are known from which of them occur; the others need their counts.
_OF_PRESENCE = ("l",)


class Evaluator:
    """Measures nodes, and counts them."""

    #: Whether the k and l of its classes alone decide if a node satisfies.
    judged_by_classes: bool = True

    def __init__(
        self,
        table: Table,
        hierarchies: Mapping[str, Hierarchy],
        *,
        limits: Limits | None = None,
        sensitive: str | None = None,
        class_label: str | None = None,
        metrics: Iterable[str] | None = None,
        recursive: int = 2,
        workers: int | None = None,
    ) -> None:
        """*metrics* beside k, s_k, glm and precision are computed if they are named; all that can be if None.

        *recursive* is the l of recursive (c, l)-diversity.
        """
        self.table = table
        self.hierarchies = {
            name: each if each.domain == table.attribute(name).domain else each.over(table.attribute(name).domain)
            for name, each in hierarchies.items()
        }
        self.lattice = Lattice.of(self.hierarchies)
        self.limits = limits or Limits()
        self.sensitive, self.class_label, self.recursive = sensitive, class_label, recursive
        self.rows = len(table)
        self.evaluated = 0
        self._workers = workers
        self._check()
        self.metrics = self._metrics(None if metrics is None else frozenset(metrics))
        self._columns = [RankedColumn.of(each, table.columns[name]) for name, each in self.hierarchies.items()]
        self._bits = bits_of(self._columns)
        self._others = np.array([max(len(each.counts) - 1, 1) for each in self._columns])
        # What a value covered is worth, by attribute, in parts of a cell: whole numbers, of any length where need be.
        self._part = lcm(*self._others.tolist())
        kind = np.int64 if self._part * len(self._others) < WHOLE else object
        self._parts = np.array([self._part // each for each in self._others.tolist()], dtype=kind)
        self._coding = self._prepare()

    def evaluate(self, nodes: Sequence[Node] | Nodes) -> Readings:
        """The readings of *nodes*, one each, in their order."""
        asked = self._checked(nodes)
        self.evaluated += len(asked)
        return self._readings(asked, self.metrics)

    def in_full(self, nodes: Sequence[Node] | Nodes) -> Readings:
        """All metrics of *nodes*, of the few that are shown."""
        return self._readings(self._checked(nodes), self._metrics(None))

    def suppressed_rows(self, node: Node) -> Flags:
        """Which rows of the table go at a *node*, by their classes anew."""
        found = equivalence_classes(labels_at(node, self._columns))
        if not self.limits.are_fixed:
            by_size = np.cumsum(np.bincount(found.sizes, weights=found.sizes))
            least = int(np.argmax(by_size > self.limits.suppressible(self.rows)))
        else:
            least = self.limits.k or 1
        goes = found.sizes < least
        if self.limits.l is not None and self.sensitive is not None:
            size = len(self.table.attribute(self.sensitive).domain)
            pairs = np.unique(found.labels * size + self.table.columns[self.sensitive])
            goes |= np.bincount(pairs // size, minlength=len(goes)) < self.limits.l
        out: Flags = goes[found.labels]
        return out

    def loss_without_suppression(self, metric: str, nodes: Sequence[Node] | Nodes) -> Floats:
        """What the levels alone cost: no more than the *metric* of a node or of any above it; needs no classes.

        A suppressed cell costs at least what any label of it would, and a higher level at least what a lower one does.
        """
        asked = as_nodes(nodes, len(self.lattice.heights))
        if metric == "precision":
            return self.lattice.precision(asked)
        if metric == "glm":
            return Evaluator._general_loss(self, asked)
        if metric == "non_uniform_entropy":
            return self._entropy(asked, np.zeros(len(asked), dtype=np.int64))
        raise InvalidParameter(f"Of {metric} the levels alone say nothing.")

    def lower_levels(self) -> Node:
        """For each attribute the lowest level of a node that satisfies k."""
        k = self.limits.k or 1
        found = lower_bounds(self.table, self.hierarchies, k, suppression=self.limits.suppression)
        return tuple(found.values())

    @property
    def distinct_values(self) -> list[list[int]]:
        """How many labels occur, by attribute and level."""
        return [self._coding.groups[place, : height + 1].tolist() for place, height in enumerate(self.lattice.heights)]

    def _check(self) -> None:
        if not self.rows:
            raise InvalidInput("The table has no records; there is nothing to search for.")
        if self.rows > MOST_ROWS:
            # So far sums are known to stay within 64 bits.
            raise InvalidInput(
                f"The table has {self.rows:,} records; a search takes up to {MOST_ROWS:,}. Search in a part of them."
            )
        for name in self.hierarchies:
            if self.table.sets[name]:
                raise InvalidInput(f"Column {name!r} holds labels that stand for sets; search in the original.")
        for other in (self.sensitive, self.class_label):
            if other is not None and self.table.attribute(other) and self.table.sets[other]:
                raise InvalidInput(f"Column {other!r} holds labels that stand for sets; it must hold values.")
        if self.class_label in self.hierarchies:
            raise InvalidInput(f"Column {self.class_label!r} cannot be a quasi-identifier and the class label.")
        if self.sensitive is None and (self.limits.l is not None or self.limits.t is not None):
            raise InvalidInput("l and t need a sensitive attribute; name one.")
        if self.limits.k is not None:
            check_k(self.limits.k, self.rows)

    def _checked(self, nodes: Sequence[Node] | Nodes) -> Nodes:
        """The *nodes* as one array, or an error where one is outside the lattice."""
        asked = np.ascontiguousarray(as_nodes(nodes, len(self.lattice.heights)))
        outside = (asked < 0) | (asked > np.array(self.lattice.heights))
        if outside.any():
            bad = asked[outside.any(axis=1)][0].tolist()
            raise InvalidParameter(f"{tuple(bad)} is not a node: the levels go up to {self.lattice.heights}.")
        return asked

    def _metrics(self, names: frozenset[str] | None) -> frozenset[str]:
        """The metrics that are computed where *names* are asked for; all that can be if None."""
        has = {SENSITIVE: self.sensitive is not None, CLASS_LABEL: self.class_label is not None}
        if names is None:
            return frozenset(name for name, each in METRICS.items() if has.get(each.needs, True))
        for name in sorted(names):
            if name not in METRICS:
                raise UnknownName.among("metric", name, METRICS)
            if not has.get(METRICS[name].needs, True):
                raise InvalidInput(f"{name} needs the {METRICS[name].needs} attribute; name one.")
        limited = {name for name in ("l", "t") if getattr(self.limits, name) is not None}
        return names | limited | {"k", "s_k", "glm", "precision"}

    def _prepare(self) -> Coding:
        """What all nodes are counted from; the coding of the labels is given back."""
        self._layout = Layout.of(self._columns, self.lattice.heights)
        self._options: dict[frozenset[str], KernelOptions] = {}
        self._classes: dict[tuple[int, bool, int], NodeClasses] = {}
        return self._layout.coding

    def _count(self, nodes: Nodes, metrics: frozenset[str]) -> tuple[Numbers, Floats]:
        """The numbers of *nodes* by their classes, as `class_metrics` has them."""
        options = self._options.get(metrics) or self._options.setdefault(metrics, self._kernel_options(metrics))
        with_counts = options.values or options.size > _BITS
        held = (options.size, with_counts, options.label_size)
        if held not in self._classes:
            base, suppressible = self._distinct_rows(options, with_counts), options.suppressible
            self._classes[held] = NodeClasses(base, self._layout, self.rows, suppressible, self._workers)
        return self._classes[held].count(nodes, options)

    def _distinct_rows(self, options: KernelOptions, with_counts: bool) -> KeyedClasses:
        """The classes of the node that keeps every value; *with_counts* of the sensitive values."""
        columns = self.table.columns
        return distinct_rows(
            *([each.ranks for each in self._columns], self._layout.coding),
            sensitive=columns[self.sensitive] if self.sensitive is not None and options.size else None,
            values=0 if with_counts else options.size,
            labels=columns[self.class_label] if self.class_label is not None and options.label_size else None,
        )

    def _kernel_options(self, metrics: frozenset[str]) -> KernelOptions:
        of_values = {name for name in metrics if METRICS[name].needs == SENSITIVE}
        sensitive = self.table.attribute(self.sensitive) if self.sensitive is not None and of_values else None
        label = self.table.attribute(self.class_label) if self.class_label is not None and "cm" in metrics else None
        return KernelOptions(
            fixed=self.limits.are_fixed,
            k=self.limits.k or 1,
            l=self.limits.l or 0,
            suppressible=self.limits.suppressible(self.rows),
            rows=self.rows,
            bits="non_uniform_entropy" in metrics,
            values=bool(of_values - set(_OF_PRESENCE)),
            size=len(sensitive.domain) if sensitive is not None else 0,
            ordered=sensitive is not None and sensitive.is_ordered,
            recursive=self.recursive,
            label_size=len(label.domain) if label is not None else 0,
        )

    def _readings(self, nodes: Nodes, metrics: frozenset[str]) -> Readings:
        whole, other = self._count(nodes, metrics)
        suppressed, attributes = whole[:, SUPPRESSED], len(self.lattice.heights)
        kept, number = self.rows - suppressed, whole[:, CLASSES]
        values: dict[str, NDArray[Any]] = {
            "k": whole[:, K],
            "suppressed": suppressed,
            "satisfies": suppressed <= self.limits.suppressible(self.rows),
            "s_k": whole[:, S_K],
            "glm": self._general_loss(nodes, whole[:, LOST : LOST + attributes], suppressed),
            "precision": self.lattice.precision(nodes),
            "discernibility": whole[:, S_K] + suppressed * self.rows,
            "normalized_average_class_size": kept / np.maximum(number, 1) / (self.limits.k or 1),
        }
        if "non_uniform_entropy" in metrics:
            values["non_uniform_entropy"] = self._entropy(nodes, whole[:, LOST + attributes])
        values |= self._values_of_classes(nodes, metrics, whole, other)
        if self.limits.t is not None:
            values["satisfies"] = values["satisfies"] & (values["t"] <= self.limits.t)
        return Readings(nodes, values)

    def _values_of_classes(
        self, nodes: Nodes, metrics: frozenset[str], whole: Numbers, other: Floats
    ) -> dict[str, NDArray[Any]]:
        """The metrics of the sensitive values and the class labels."""
        values: dict[str, NDArray[Any]] = {}
        options = self._options[metrics]
        if options.size:
            values["l"] = whole[:, DISTINCT]
        if options.values:
            values["l_entropy"], values["l_recursive"] = other[:, ENTROPY], other[:, RECURSIVE]
            values["t"], values["s_l"] = other[:, CLOSENESS], whole[:, S_L]
        if options.label_size:
            values["cm"] = self.rows - whole[:, MAJORITIES]
        return values

    def _general_loss(self, nodes: Nodes, lost: Numbers | int = 0, suppressed: Numbers | int = 0) -> Floats:
        """GLM; what the levels alone cost where nothing is *lost* under labels of rows that go.

        Whole numbers to the end, so that equal losses have the same digits and none is less than its bound.
        """
        covered = self._coding.all_leaves[np.arange(len(self._others)), nodes] - lost
        cells, rest = np.divmod(covered, self._others)
        parts = rest.astype(self._parts.dtype) @ self._parts
        cells = cells.sum(axis=1) + suppressed * len(self._others) + parts // self._part
        return np.asarray(cells + parts % self._part / self._part, dtype=np.float64)

    def _entropy(self, nodes: Nodes, bits: Numbers) -> Floats:
        total = np.zeros(len(nodes))
        for place in range(nodes.shape[1]):
            total += self._bits[place][nodes[:, place]]
        return total + bits / self._coding.unit
