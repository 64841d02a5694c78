"""The evaluator of the lattice: distinct rows once, every node rolled up from a finer one, all metrics of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.classes import equivalence_classes
from tabular.errors import InvalidInput, InvalidParameter, UnknownName
from tabular.hierarchy import Hierarchy
from tabular.lattice.bounds import lower_bounds
from tabular.lattice.evaluator.class_cache import Recent
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
    Wanted,
    appraise,
)
from tabular.lattice.evaluator.readings import Readings
from tabular.lattice.evaluator.row_keys import UNIT, Classes, Ranked, bits_of, coding_of, copied, distinct_rows
from tabular.lattice.evaluator.walk import KINDS, Room, room_for, step, walk
from tabular.lattice.limits import Limits
from tabular.lattice.metrics import CLASS_LABEL, METRICS, SENSITIVE
from tabular.lattice.space import Lattice, Node, Nodes, as_nodes
from tabular.protections import check_k
from tabular.table import Table
from tabular.threads import on_threads

#: From so many nodes on they are gone through in order; fewer are each rolled up from the best of those kept.
_MANY = 128

#: Sensitive values are noted as bits up to so many.
_BITS = 62

#: Both inner attributes have labels of up to so many bits together.
_INSIDE = 14

#: Beside the inner attributes so many others have their levels where nodes are rolled up half the way.
_RAISED = 3

#: Of the sensitive values these are known from which of them occur; the others need their counts.
_OF_PRESENCE = ("l",)


class Evaluator:
    """Says of nodes what they are worth, and counts them."""

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
        self.judged_by_classes = True
        self.evaluated = 0
        self._workers = workers or os.cpu_count() or 1
        self._check()
        self.metrics = self._metrics(metrics)
        self._prepare()

    def evaluate(self, nodes: Sequence[Node] | Nodes) -> Readings:
        """The readings of *nodes*, one each, in their order; each is rolled up once."""
        asked = np.ascontiguousarray(as_nodes(nodes, len(self.lattice.heights)))
        outside = (asked < 0) | (asked > np.array(self.lattice.heights))
        if outside.any():
            bad = asked[outside.any(axis=1)][0].tolist()
            raise InvalidParameter(f"{tuple(bad)} is no node: the levels go up to {self.lattice.heights}.")
        whole = np.zeros((len(asked), LOST + len(self.lattice.heights) + 1), dtype=np.int64)
        other = np.zeros((len(asked), 3))
        if len(asked) >= _MANY:
            self._walk(asked, whole, other)
        else:
            self._step(asked, whole, other)
        return self._readings(asked, whole, other)

    def in_full(self, nodes: Sequence[Node] | Nodes) -> Readings:
        """All metrics of *nodes*, of the few that are shown."""
        full = Evaluator(
            self.table,
            self.hierarchies,
            limits=self.limits,
            sensitive=self.sensitive,
            class_label=self.class_label,
            recursive=self.recursive,
            workers=self._workers,
        )
        return full.evaluate(nodes)

    def suppressed_rows(self, node: Node) -> NDArray[np.bool_]:
        """Which rows of the table go at a *node*, by their classes anew."""
        columns = [
            each.levels[level].groups[self.table.columns[name]]
            for (name, each), level in zip(self.hierarchies.items(), node, strict=True)
        ]
        found = equivalence_classes(columns)
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
        out: NDArray[np.bool_] = goes[found.labels]
        return out

    def loss_without_suppression(self, metric: str, nodes: Sequence[Node] | Nodes) -> NDArray[np.float64]:
        """What the levels alone cost: no more than the *metric* of a node or of any above it; needs no classes.

        A suppressed cell costs at least what any label of it would, and a higher level at least what a lower one does.
        """
        asked = as_nodes(nodes, len(self.lattice.heights))
        if metric == "precision":
            return self._precision(asked)
        if metric == "glm":
            return self._general_loss(asked, np.zeros((len(asked), len(self.lattice.heights)), dtype=np.int64), 0)
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
        for name in self.hierarchies:
            if self.table.sets[name]:
                raise InvalidInput(f"Column {name!r} holds labels that stand for sets; search in the original.")
        for other in (self.sensitive, self.class_label):
            if other is not None and self.table.attribute(other) and self.table.sets[other]:
                raise InvalidInput(f"Column {other!r} holds labels that stand for sets; it must hold values.")
        if self.class_label in self.hierarchies:
            raise InvalidInput(f"Column {self.class_label!r} cannot be a quasi-identifier and the class label.")
        if self.sensitive is None and (self.limits.l is not None or self.limits.t is not None):
            raise InvalidInput("l and t are of a sensitive attribute; name one.")
        if self.limits.k is not None:
            check_k(self.limits.k, self.rows)

    def _metrics(self, names: Iterable[str] | None) -> frozenset[str]:
        has = {SENSITIVE: self.sensitive is not None, CLASS_LABEL: self.class_label is not None}
        if names is None:
            return frozenset(name for name, each in METRICS.items() if has.get(each.needs, True))
        wanted = set(names) | {"k", "s_k", "glm", "precision"}
        for name in sorted(wanted):
            if name not in METRICS:
                raise UnknownName.among("metric", name, METRICS)
            if not has.get(METRICS[name].needs, True):
                raise InvalidInput(f"{name} is of the {METRICS[name].needs} attribute; name one.")
        wanted |= {"l"} if self.limits.l is not None else set()
        wanted |= {"t"} if self.limits.t is not None else set()
        return frozenset(wanted)

    def _prepare(self) -> None:
        names, table = list(self.hierarchies), self.table
        ranked = [Ranked.of(each) for each in self.hierarchies.values()]
        columns = [each.ranks[table.columns[name]] for name, each in zip(names, ranked, strict=True)]
        counts = [np.bincount(column, minlength=len(each.ranks)) for column, each in zip(columns, ranked, strict=True)]
        # The two attributes with the most levels change most often, so they come last: rolling them up is quickest.
        spreads = [_spread(rows) for rows in counts]
        inner = max(range(len(names)), key=lambda place: (self.lattice.heights[place], spreads[place]))
        outer = sorted((place for place in range(len(names)) if place != inner), key=lambda place: -spreads[place])
        fitting = [place for place in outer if ranked[place].width + ranked[inner].width <= _INSIDE]
        second = max(fitting, key=lambda place: (self.lattice.heights[place], spreads[place]), default=-1)
        self._order = [*(place for place in outer if place != second), *([second] if second >= 0 else []), inner]
        self._coding, words = coding_of(ranked, counts, inner, second)
        self._bits = bits_of(ranked, counts)
        self._others = np.array([max(len(each.ranks) - 1, 1) for each in ranked])
        self._heights = np.maximum(self.lattice.heights, 1)
        of_values = self.sensitive is not None and bool(
            {name for name in self.metrics if METRICS[name].needs == SENSITIVE}
        )
        size = len(table.attribute(self.sensitive).domain) if self.sensitive is not None and of_values else 0
        beyond = {name for name in self.metrics if METRICS[name].needs == SENSITIVE} - set(_OF_PRESENCE)
        with_counts = of_values and (bool(beyond) or size > _BITS)
        with_label = self.class_label is not None and "cm" in self.metrics
        self._base = distinct_rows(
            columns,
            self._coding,
            words,
            sensitive=table.columns[self.sensitive] if self.sensitive is not None and of_values else None,
            values=0 if with_counts else size,
            labels=table.columns[self.class_label] if self.class_label is not None and with_label else None,
        )
        self._wanted = Wanted(
            fixed=self.limits.are_fixed,
            k=self.limits.k or 1,
            l=self.limits.l or 0,
            suppressible=self.limits.suppressible(self.rows),
            rows=self.rows,
            bits="non_uniform_entropy" in self.metrics,
            values=bool(beyond),
            size=size,
            ordered=self.sensitive is not None and table.attribute(self.sensitive).is_ordered,
            recursive=self.recursive,
            label_size=len(table.attribute(self.class_label).domain)
            if self.class_label is not None and with_label
            else 0,
        )
        most = np.arange(self.rows + 1, dtype=np.float64)
        logs = np.log2(np.maximum(most, 1)) * most if beyond else np.zeros(1)
        self._logs = np.rint(logs * UNIT).astype(np.int64)
        self._recent = Recent(
            self._base, len(names), [*([second] if second >= 0 else []), inner, *self._order[:_RAISED]]
        )
        self._bottom = np.zeros(len(names), dtype=np.int16)

    @cached_property
    def _single(self) -> Room:
        """Room for one node at a time."""
        return self._room(0)

    def _room(self, depth: int) -> Room:
        labels = 1 << self._coding.width + self._coding.second_width
        return room_for(self._base, depth, labels, self._wanted.suppressible)

    def _walk(self, nodes: Nodes, whole: NDArray[np.int64], other: NDArray[np.float64]) -> None:
        """All *nodes* in the order of their levels, a part of them in each thread."""
        order = np.lexsort([nodes[:, place] for place in reversed(self._order)])
        parts = np.array_split(order, self._workers * 4 if self._workers > 1 else 1)

        def go(part: NDArray[np.int64]) -> int:
            return walk(
                self._base,
                self._bottom,
                nodes,
                part,
                self._coding,
                self._wanted,
                self._logs,
                self._room(sum(self.lattice.heights)),
                whole,
                other,
            )

        self.evaluated += sum(on_threads(go, parts, self._workers))

    def _step(self, nodes: Nodes, whole: NDArray[np.int64], other: NDArray[np.float64]) -> None:
        """Each of *nodes* from the nearest finer one that is kept."""
        for place, node in enumerate(nodes):
            fine, source = self._recent.nearest(node)
            stone = self._recent.stone(fine, source, node)
            if stone is not None:
                fine, source = stone, self._rolled_up(fine, source, stone)
            found = self._rolled_up(fine, source, node)
            appraise(
                found, node, self._coding, self._wanted, self._logs, self._single.scratch, whole[place], other[place]
            )
            self.evaluated += 1

    def _rolled_up(self, fine: NDArray[np.int16], source: Classes, node: NDArray[np.int16]) -> Classes:
        begin, end = np.zeros((2, KINDS), dtype=np.int64)
        step(source, fine, node, self._coding, self._wanted, self._single, begin, end)
        found = copied(self._single.classes, end)
        self._recent.keep(node, found)
        return found

    def _readings(self, nodes: Nodes, whole: NDArray[np.int64], other: NDArray[np.float64]) -> Readings:
        suppressed, attributes = whole[:, SUPPRESSED], len(self.lattice.heights)
        kept, number = self.rows - suppressed, whole[:, CLASSES]
        values: dict[str, NDArray[Any]] = {
            "k": whole[:, K],
            "suppressed": suppressed,
            "satisfies": suppressed <= self._wanted.suppressible,
            "s_k": whole[:, S_K],
            "glm": self._general_loss(nodes, whole[:, LOST : LOST + attributes], suppressed),
            "precision": self._precision(nodes),
            "discernibility": whole[:, S_K] + suppressed * self.rows,
            "normalized_average_class_size": kept / np.maximum(number, 1) / self._wanted.k,
        }
        if self._wanted.bits:
            values["non_uniform_entropy"] = self._entropy(nodes, whole[:, LOST + attributes])
        if self._wanted.size:
            values["l"] = whole[:, DISTINCT]
        if self._wanted.values:
            values["l_entropy"], values["l_recursive"] = other[:, ENTROPY], other[:, RECURSIVE]
            values["t"], values["s_l"] = other[:, CLOSENESS], whole[:, S_L]
            if self.limits.t is not None:
                values["satisfies"] = values["satisfies"] & (values["t"] <= self.limits.t)
        if self._wanted.label_size:
            values["cm"] = self.rows - whole[:, MAJORITIES]
        return Readings(nodes, values)

    def _general_loss(
        self, nodes: Nodes, lost: NDArray[np.int64], suppressed: NDArray[np.int64] | int
    ) -> NDArray[np.float64]:
        # Added up from the first attribute to the last as `general_loss` does, so that both agree in the last digit.
        places = np.arange(len(self._others))
        covered = (self._coding.all_leaves[places, nodes] - lost) / self._others + np.reshape(suppressed, (-1, 1))
        total: NDArray[np.float64] = np.add.accumulate(covered, axis=1)[:, -1]
        return total

    def _entropy(self, nodes: Nodes, bits: NDArray[np.int64]) -> NDArray[np.float64]:
        total = np.zeros(len(nodes))
        for place in range(nodes.shape[1]):
            total += self._bits[place][nodes[:, place]]
        return total + bits / UNIT

    def _precision(self, nodes: Nodes) -> NDArray[np.float64]:
        shares: NDArray[np.float64] = np.add.accumulate(nodes / self._heights, axis=1)[:, -1]
        return shares / len(self.lattice.heights)


def _spread(rows: NDArray[np.int64]) -> float:
    """The entropy of a column."""
    shares = rows[rows > 0] / max(int(rows.sum()), 1)
    return float(-(shares * np.log(shares)).sum())
