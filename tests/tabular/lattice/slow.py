"""The evaluator in its obvious form: each node's table is made and measured, one metric after the other."""

from __future__ import annotations

import numpy as np

from benchmarks.kgen_metrics import precision
from tabular.anonymity import Anonymity
from tabular.lattice.metrics import Readings
from tabular.lattice.space import Lattice, Limits, as_nodes, as_tuples, lower_bounds
from tests.tabular.lattice.class_losses import (
    classification_loss,
    discernibility,
    general_loss,
    non_uniform_entropy,
    normalized_average_class_size,
)


class SlowEvaluator:
    """Makes the generalised table of every node; counts the nodes it made."""

    def __init__(self, table, hierarchies, *, limits=None, sensitive=None, class_label=None, values=2):
        self.table = table
        self.hierarchies = {name: each.over(table.attribute(name).domain) for name, each in hierarchies.items()}
        self.lattice = Lattice.of(self.hierarchies)
        self.limits = limits or Limits()
        self.sensitive, self.class_label, self.values = sensitive, class_label, values
        self.rows = len(table)
        self.judged_by_classes = True
        self.evaluated = 0

    def evaluate(self, nodes):
        nodes = as_nodes(nodes, len(self.lattice.heights))
        self.evaluated += len(nodes)
        found = [self.reading(node) for node in as_tuples(nodes)]
        return Readings(nodes, {name: np.array([each[name] for each in found]) for name in self.names})

    @property
    def names(self):
        return list(self.reading(self.lattice.top))

    @property
    def distinct_values(self):
        """By attribute and level how many labels the rows have."""
        return [
            [len(set(level.groups[self.table.columns[name]].tolist())) for level in hierarchy.levels]
            for name, hierarchy in self.hierarchies.items()
        ]

    def lower_levels(self):
        """For each attribute the lowest level that can be enough for k."""
        return tuple(
            lower_bounds(self.table, self.hierarchies, self.limits.k or 1, suppression=self.limits.suppression).values()
        )

    def loss_without_suppression(self, metric, nodes):
        """What the levels alone cost: the metric of the table in which nothing is suppressed."""
        return np.array([self._plain_loss(metric, node) for node in as_tuples(as_nodes(nodes, len(self.hierarchies)))])

    def _plain_loss(self, metric, node):
        names = list(self.hierarchies)
        if metric == "precision":
            return precision(node, self.lattice)
        if metric == "non_uniform_entropy":
            return non_uniform_entropy(self.table, self.generalised(node), names)
        return general_loss(self.generalised(node), names)

    def generalised(self, node):
        table = self.table
        for hierarchy, level in zip(self.hierarchies.values(), node, strict=True):
            table = hierarchy.generalised(table, level)
        return table

    def suppressed_rows(self, node):
        """Which rows go, row by row: those of classes that break k or l, or that are below the node's own k."""
        table, names = self.generalised(node), list(self.hierarchies)
        found = Anonymity.of(table, names)
        sizes = found.class_sizes()
        if not self.limits.are_fixed:
            return sizes < self.own_k(sizes)
        small = sizes < (self.limits.k or 1)
        if self.limits.l is not None:
            sensitive = self.table.columns[self.sensitive]
            for label in set(found.classes.labels.tolist()):
                rows = found.classes.labels == label
                if len(set(sensitive[rows].tolist())) < self.limits.l:
                    small |= rows
        return small

    def own_k(self, sizes):
        """The smallest s such that more rows than may go lie in classes of up to s rows."""
        limit = self.limits.suppressible(self.rows)
        return next(size for size in range(1, self.rows + 1) if (sizes <= size).sum() > limit)

    def reading(self, node):
        table, names = self.generalised(node), list(self.hierarchies)
        out = self.suppressed_rows(node)
        gone, everything = int(out.sum()), bool(out.all())
        found = None if everything else Anonymity.of(table, names, suppressed=out)
        values = {
            "k": 0 if everything else found.k,
            "suppressed": gone,
            "satisfies": gone <= self.limits.suppressible(self.rows),
            "s_k": 0 if everything else int(found.class_sizes().sum()),
            "glm": general_loss(table, names, suppressed=out),
            "precision": precision(node, self.lattice),
            "discernibility": discernibility(table, names, suppressed=out),
            "normalized_average_class_size": 0.0
            if everything
            else normalized_average_class_size(table, names, self.limits.k or 1, suppressed=out),
            "non_uniform_entropy": non_uniform_entropy(self.table, table, names, suppressed=out),
        }
        if self.sensitive is not None:
            values.update(self.diversity(None if everything else self.of_values(found, out)))
            if self.limits.t is not None:
                values["satisfies"] &= values["t"] <= self.limits.t
        if self.class_label is not None:
            labelled = table.with_labels(self.class_label, self.table.columns[self.class_label], ())
            values["cm"] = classification_loss(labelled, names, self.class_label, suppressed=out)
        return values

    def of_values(self, found, out):
        # The sensitive attribute may be a quasi-identifier as well: then its own values count, not its labels.
        plain = self.table.columns[self.sensitive]
        return Anonymity(
            found.table.with_labels(self.sensitive, plain, ()), found.quasi_identifiers, found.kept, found.classes
        )

    def diversity(self, found):
        if found is None:
            return {"l": 0, "l_entropy": 0.0, "l_recursive": np.inf, "t": 0.0, "s_l": 0}
        spread = found.diversity(self.sensitive)
        return {
            "l": spread.distinct,
            "l_entropy": spread.entropy,
            "l_recursive": spread.recursive(self.values),
            "t": spread.closeness,
            "s_l": int(found.value_counts(self.sensitive).sum()),
        }
