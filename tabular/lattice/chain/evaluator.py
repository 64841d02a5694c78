"""The evaluator of nodes whose release has to keep k together with the releases before."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.anonymity import Anonymity
from tabular.errors import InvalidParameter, named
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.chain.buckets import Buckets
from tabular.lattice.chain.consistency import Standing, refuse_broken
from tabular.lattice.chain.history import History
from tabular.lattice.chain.labels import published_groups
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.evaluator.row_keys import Coding, Floats, Numbers
from tabular.lattice.generalisation_loss import classification_loss
from tabular.lattice.limits import Limits
from tabular.lattice.metrics import CLASS_LABEL, METRICS, SENSITIVE
from tabular.lattice.space import Node, Nodes, as_tuples
from tabular.table import Table


class DynamicEvaluator(Evaluator):
    """Measures nodes where all releases are to keep k together.

    A node satisfies where the fewest rows that have to go for that are no more than may go. They are never less than
    those that have to go for the new release alone, and never more at a coarser node: what a search takes for granted
    of `Evaluator`, bounds of single attributes and monotone limits among it, holds here, too. The losses only grow
    with the rows that go, so that what the levels alone cost stays a lower bound.
    """

    #: Two nodes with the same classes too small can differ: in one the rest of a class goes with them.
    judged_by_classes = False

    def __init__(
        self, table: Table, hierarchies: Mapping[str, Hierarchy], history: History, *, limits: Limits, **options: Any
    ) -> None:
        """As `Evaluator`; metrics that depend on which rows of a class go, not on how many alone, take much longer."""
        if limits.k is None:
            raise InvalidParameter(f"What several releases say together is measured by k; give {named('k')}.")
        if set(history.names) != set(hierarchies):
            raise InvalidParameter("A history is of the quasi-identifiers it was begun with.")
        refuse_broken(history, limits.k)
        self.history, self.standing = history, Standing.of(history, table)
        super().__init__(table, {name: hierarchies[name] for name in history.names}, limits=limits, **options)

    def suppressed_rows(self, node: Node) -> NDArray[np.bool_]:
        """Which rows of the table go at a *node*."""
        return self._buckets.rows_that_go(node)

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

    def _metrics(self, names: frozenset[str] | None) -> frozenset[str]:
        # The buckets know whether a class keeps l; how many values it has takes a look at all rows.
        found = super()._metrics(names)
        return found if names is None or "l" in names else found - {"l"}

    def _prepare(self) -> Coding:
        sensitive = None if self.sensitive is None else self.table.columns[self.sensitive]
        self._buckets = Buckets(self._columns, self.standing, self.limits, sensitive)
        return self._buckets.coding

    def _count(self, nodes: Nodes, metrics: frozenset[str]) -> tuple[Numbers, Floats]:
        return self._buckets.count(nodes), np.zeros((len(nodes), 0))

    def _values_of_classes(
        self, nodes: Nodes, metrics: frozenset[str], whole: Numbers, other: Floats
    ) -> dict[str, NDArray[Any]]:
        """The metrics of the sensitive values and the class labels, by the rows that are left at each node."""
        of_rows = {name for name in metrics if METRICS[name].needs in (SENSITIVE, CLASS_LABEL)}
        if not of_rows:
            return {}
        found = [self._metrics_of_rows(node) for node in as_tuples(nodes) or [self.lattice.top]]
        names = [name for name in found[0] if name in {*of_rows, "t"}]
        return {name: np.array([each[name] for each in found])[: len(nodes)] for name in names}

    def _metrics_of_rows(self, node: Node) -> dict[str, Any]:
        """The metrics of the sensitive values and the class labels of the rows that do not go at a *node*.

        The sensitive attribute may be generalised, too; its values count as they were.
        """
        masked, names, suppressed = self.table, list(self.hierarchies), self.suppressed_rows(node)
        for hierarchy, level in zip(self.hierarchies.values(), node, strict=True):
            masked = hierarchy.generalised(masked, level)
        values: dict[str, Any] = {}
        if self.sensitive is not None and suppressed.all():
            values.update(l=0, l_entropy=0.0, l_recursive=inf, t=0.0, s_l=0)
        elif self.sensitive is not None:
            classes = Anonymity.of(masked, names, suppressed=suppressed)
            plain = masked.with_labels(self.sensitive, self.table.columns[self.sensitive], ())
            found = Anonymity(plain, classes.quasi_identifiers, classes.kept, classes.classes)
            spread = found.diversity(self.sensitive)
            values.update(
                l=spread.distinct,
                l_entropy=spread.entropy,
                l_recursive=spread.recursive(self.recursive),
                t=spread.closeness,
                s_l=int(found.value_counts(self.sensitive).sum()),
            )
        if self.class_label is not None:
            values["cm"] = classification_loss(masked, names, self.class_label, suppressed=suppressed)
        return values

    def _general_loss(self, nodes: Nodes, lost: Numbers | int = 0, suppressed: Numbers | int = 0) -> Floats:
        # The levels first, then the cells of suppressed rows: in the last digit as bounds by the levels are.
        beyond = np.reshape(suppressed, (-1, 1)) - lost / self._others
        return super()._general_loss(nodes) + np.add.accumulate(beyond, axis=1)[:, -1]
