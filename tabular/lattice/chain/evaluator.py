"""The evaluator of nodes that have to go together with what was released before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidParameter
from tabular.hierarchy import Hierarchy
from tabular.lattice.chain.buckets import Buckets
from tabular.lattice.chain.consistency import Standing, refuse_broken
from tabular.lattice.chain.history import History
from tabular.lattice.chain.labels import published_groups
from tabular.lattice.chain.of_rows import metrics_of_rows
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.evaluator.readings import Readings
from tabular.lattice.limits import Limits
from tabular.lattice.metrics import CLASS_LABEL, METRICS, SENSITIVE
from tabular.lattice.space import Node, Nodes, as_nodes, as_tuples
from tabular.table import Table


class DynamicEvaluator:
    """Says of nodes what they are worth if all releases are to keep k together.

    A node satisfies where the fewest rows that have to go for that are no more than may go. They are never less than
    those that have to go for the new release alone, and never more at a coarser node: what a search takes for granted
    of `Evaluator`, bounds of single attributes and monotone limits among it, holds here, too. The losses only grow
    with the rows that go, so that what the levels alone cost stays a lower bound.
    """

    def __init__(
        self,
        table: Table,
        hierarchies: Mapping[str, Hierarchy],
        history: History,
        *,
        limits: Limits,
        sensitive: str | None = None,
        class_label: str | None = None,
        metrics: Iterable[str] | None = None,
        recursive: int = 2,
        workers: int | None = None,
    ) -> None:
        """As `Evaluator`; metrics that depend on which rows of a class go, not on how many alone, take much longer."""
        if limits.k is None:
            raise InvalidParameter("What several releases say together is measured by k; give k (--k).")
        if set(history.names) != set(hierarchies):
            raise InvalidParameter("A history is of the quasi-identifiers it was begun with.")
        refuse_broken(history, limits.k)
        names = None if metrics is None else tuple(metrics)
        ordered = {name: hierarchies[name] for name in history.names}
        self.plain = Evaluator(
            table,
            ordered,
            limits=limits,
            sensitive=sensitive,
            class_label=class_label,
            metrics=names,
            recursive=recursive,
            workers=workers,
        )
        self.table, self.hierarchies, self.history = table, self.plain.hierarchies, history
        self.lattice, self.limits, self.rows = self.plain.lattice, limits, self.plain.rows
        self.sensitive, self.class_label, self.recursive = sensitive, class_label, recursive
        # Two nodes with the same classes too small can differ: in one the rest of a class goes with them.
        self.judged_by_classes = False
        self.standing = Standing.of(history, table)
        self.evaluated = 0
        self._named = names
        self._of_rows = self._metrics_of_rows(names)
        self._buckets = Buckets(table, self.hierarchies, self.standing, limits, sensitive)

    def evaluate(self, nodes: Sequence[Node] | Nodes) -> Readings:
        """The readings of *nodes*, one each, in their order."""
        asked = np.ascontiguousarray(as_nodes(nodes, len(self.lattice.heights)))
        for node in as_tuples(asked):
            if node not in self.lattice:
                raise InvalidParameter(f"{node} is no node: the levels go up to {self.lattice.heights}.")
        found = self._buckets.counts(asked)
        self.evaluated += len(asked)
        suppressed = found.suppressed
        values: dict[str, NDArray[Any]] = {
            "k": found.least,
            "suppressed": suppressed,
            "satisfies": suppressed <= self.limits.suppressible(self.rows),
            "s_k": found.squares,
            "glm": self.plain.loss_without_suppression("glm", asked) + self._cells_lost(found.leaves, suppressed),
            "precision": self.plain.loss_without_suppression("precision", asked),
            "discernibility": found.squares + suppressed * self.rows,
            "normalized_average_class_size": (self.rows - suppressed)
            / np.maximum(found.classes, 1)
            / (self.limits.k or 1),
        }
        if "non_uniform_entropy" in self.plain.metrics:
            values["non_uniform_entropy"] = (
                self.plain.loss_without_suppression("non_uniform_entropy", asked) + found.bits
            )
        if self._of_rows and not len(asked):
            return self._nothing
        if self._of_rows:
            values |= self._row_by_row(asked)
            if self.limits.t is not None:
                values["satisfies"] = values["satisfies"] & (values["t"] <= self.limits.t)
        return Readings(asked, values)

    def in_full(self, nodes: Sequence[Node] | Nodes) -> Readings:
        """All metrics of *nodes*, of the few that are shown."""
        full = DynamicEvaluator(
            self.table,
            self.hierarchies,
            self.history,
            limits=self.limits,
            sensitive=self.sensitive,
            class_label=self.class_label,
            recursive=self.recursive,
        )
        return full.evaluate(nodes)

    def suppressed_rows(self, node: Node) -> NDArray[np.bool_]:
        """Which rows of the table go at a *node*."""
        return self._buckets.rows_that_go(node)

    def loss_without_suppression(self, metric: str, nodes: Sequence[Node] | Nodes) -> NDArray[np.float64]:
        """What the levels alone cost: no more than the *metric* of a node or of any above it."""
        return self.plain.loss_without_suppression(metric, nodes)

    def lower_levels(self) -> Node:
        """For each attribute the lowest level of a node that satisfies k, whatever was released before."""
        return self.plain.lower_levels()

    @property
    def distinct_values(self) -> list[list[int]]:
        """How many labels occur, by attribute and level."""
        return self.plain.distinct_values

    @property
    def previous(self) -> Node | None:
        """The node of the last release; None where there is none, or only one of other levels."""
        if not self.history.publications:
            return None
        node = self.history.publications[-1].node
        return node if node in self.lattice else None

    @cached_property
    def quiet(self) -> NDArray[np.bool_]:
        """Which rows were published in the last release with the labels that they would get again at its node."""
        if self.previous is None:
            return np.zeros(self.rows, dtype=np.bool_)
        last, persons = self.history.publications[-1], self.standing.persons
        said = np.where(persons >= 0, last.of(len(self.history.persons))[persons] if len(last.said) else -1, -1)
        same = said >= 0
        each = list(self.hierarchies.values())
        groups = published_groups(last, each)
        for place, (hierarchy, level) in enumerate(zip(each, self.previous, strict=True)):
            now = hierarchy.levels[level].groups[self.table.columns[hierarchy.name]]
            same[same] = groups[said[same], place] == now[same]
        return same

    @property
    def changed(self) -> int:
        """How many persons of the last release have other labels now, at its node."""
        if not self.history.publications:
            return 0
        last = self.history.publications[-1].of(len(self.history.persons))
        known = self.standing.persons >= 0
        published = last[self.standing.persons[known]] >= 0
        return int((published & ~self.quiet[known]).sum())

    def at_least_suppressed(self, node: Node) -> int:
        """Rows that have to go at each node N such that the lower levels of N and of the last release are *node*'s.

        The quiet rows of one trail have one tuple of the last release. So those of them that N puts together are those
        that the lower levels of both put together. If they are less than k with all other rows of their trail, they go;
        and who goes, or is not in the table, needs k to go. No node below *node* needs fewer.
        """
        if self.previous is None:
            return 0
        return self._buckets.fewest_that_go(node, self.previous, self.quiet)

    @cached_property
    def _nothing(self) -> Readings:
        """The readings of no nodes, with all metrics there are."""
        found, before = self.evaluate([self.lattice.top]).take([]), self.evaluated
        self.evaluated = before - 1
        return found

    def _metrics_of_rows(self, names: tuple[str, ...] | None) -> bool:
        """Whether metrics are wanted that depend on which rows go."""
        apart = {name for name, each in METRICS.items() if each.needs in (SENSITIVE, CLASS_LABEL)}
        if names is None:
            return bool(apart & self.plain.metrics)
        return bool(apart & set(names)) or self.limits.t is not None

    def _row_by_row(self, nodes: Nodes) -> dict[str, NDArray[Any]]:
        found = [
            metrics_of_rows(
                self.table,
                self.hierarchies,
                node,
                self.suppressed_rows(node),
                sensitive=self.sensitive,
                class_label=self.class_label,
                recursive=self.recursive,
            )
            for node in as_tuples(nodes)
        ]
        wanted = [name for name in (found[0] if found else ()) if self._named is None or name in {*self._named, "t"}]
        return {name: np.array([each[name] for each in found]) for name in wanted}

    def _cells_lost(self, leaves: NDArray[np.int64], suppressed: NDArray[np.int64]) -> NDArray[np.float64]:
        """What the cells of suppressed rows cost beyond their labels."""
        lost = np.zeros(len(suppressed))
        for place, hierarchy in enumerate(self.hierarchies.values()):
            lost += suppressed - leaves[:, place] / max(len(hierarchy.domain) - 1, 1)
        return lost
