"""All nodes of small lattices, known before a search begins: by an evaluator, and by counting rows without one."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import product

import numpy as np

from tabular.errors import NoSolution
from tabular.lattice.searches import searches
from tabular.lattice.searching import Question, run
from tabular.lattice.space import Lattice, Limits, as_nodes, as_tuples
from tabular.loop import never
from tests.tabular.lattice.slow import SlowEvaluator


class KnownNodes:
    """An evaluator that has looked at all nodes; it notes for which ones it is asked."""

    def __init__(self, evaluator):
        self.lattice, self.limits, self.rows = evaluator.lattice, evaluator.limits, evaluator.rows
        self.judged_by_classes = evaluator.judged_by_classes
        self.distinct_values = evaluator.distinct_values
        self.loss_without_suppression = evaluator.loss_without_suppression
        self._readings = evaluator.evaluate(self.lattice.everything())
        self._places = {node: place for place, node in enumerate(self._readings.tuples())}
        self.asked = []

    @classmethod
    def of(cls, problem, limits, *, class_label=None):
        # What nobody asks for is not measured, for the evaluator is slow.
        sensitive = None if limits.l is None and limits.t is None else "sensitive"
        return cls(SlowEvaluator(*problem, limits=limits, sensitive=sensitive, class_label=class_label))

    def evaluate(self, nodes):
        wanted = as_tuples(as_nodes(nodes, len(self.lattice.heights)))
        self.asked += wanted
        return self._readings.take([self._places[node] for node in wanted])


class Huge:
    """An evaluator of a lattice that nobody can go through."""

    def __init__(self, attributes):
        self.lattice = Lattice(tuple(f"q{place}" for place in range(attributes)), (9,) * attributes)
        self.limits, self.rows = Limits(k=2), 10

    def evaluate(self, nodes):
        raise AssertionError("Nothing is to be looked at.")


@dataclass(frozen=True)
class Counted:
    """A node by counting alone."""

    satisfies: bool
    glm: float
    precision: float


def counted(problem, limits):
    """Every node by counting rows: nothing of this shares code with the evaluators."""
    table, hierarchies = problem
    rows = len(table)
    allowed = min(int(np.floor(round(limits.suppression * rows, 9))), rows - 1)
    sensitive = table.columns["sensitive"].tolist()
    cells, leaves = [], []
    for name, hierarchy in hierarchies.items():
        codes = table.columns[name].tolist()
        texts = [[level.labels[group] for group in level.groups.tolist()] for level in hierarchy.levels]
        cells.append([[words[code] for code in codes] for words in texts])
        leaves.append([Counter(words) for words in texts])
    found = {}
    for node in product(*(range(len(each)) for each in cells)):
        columns = [each[level] for each, level in zip(cells, node, strict=True)]
        classes = list(zip(*columns, strict=True))
        sizes, values = Counter(classes), defaultdict(set)
        for key, value in zip(classes, sensitive, strict=True):
            values[key].add(value)
        goes = _goes(classes, sizes, values, limits, allowed)
        found[node] = Counted(
            sum(goes) <= allowed,
            _general_loss(classes, goes, node, leaves, [len(table.attribute(name).domain) for name in hierarchies]),
            sum(level / (len(each) - 1) for level, each in zip(node, cells, strict=True) if len(each) > 1) / len(node),
        )
    return found


def _goes(classes, sizes, values, limits, allowed):
    if limits.k is not None or limits.l is not None:
        return [sizes[key] < (limits.k or 1) or len(values[key]) < (limits.l or 1) for key in classes]
    least = next(size for size in range(1, len(classes) + 1) if sum(sizes[key] <= size for key in classes) > allowed)
    return [sizes[key] < least for key in classes]


def _general_loss(classes, goes, node, leaves, domains):
    total = 0.0
    for key, gone in zip(classes, goes, strict=True):
        for label, level, counts, size in zip(key, node, leaves, domains, strict=True):
            total += 1 if gone else (counts[level][label] - 1) / max(size - 1, 1)
    return total


def satisfying(nodes):
    """Of counted nodes those that satisfy."""
    return sorted(node for node, each in nodes.items() if each.satisfies)


def minimal(nodes):
    """Of *nodes* those that have no other below them."""
    return sorted(
        node
        for node in nodes
        if not any(other != node and all(low <= high for low, high in zip(other, node, strict=True)) for other in nodes)
    )


def searched(name, evaluator, metric="glm", *, objectives=(), seed=0, stop=never, **options):
    """What a search finds, or None where no node satisfies."""
    question = Question(evaluator, metric, tuple(objectives))
    try:
        return run(name, searches[name].method(**options), question, rng=np.random.default_rng(seed), stop=stop)
    except NoSolution:
        return None
