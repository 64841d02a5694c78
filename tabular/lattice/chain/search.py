"""D-KGEN: the search goes on from the node of the last release, and each node is measured with the releases before."""

from __future__ import annotations

import heapq
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.anonymity import Anonymity
from tabular.errors import InvalidParameter, named
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.chain.buckets import Buckets
from tabular.lattice.chain.history import History, Standing, refuse_broken
from tabular.lattice.chain.previous import published_groups
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.evaluator.rollup import Coding
from tabular.lattice.metrics import ADDITIVE, CLASS_LABEL, METRICS, SENSITIVE, Readings
from tabular.lattice.searches.kgen import Kgen
from tabular.lattice.searching import Course, Finds, Question
from tabular.lattice.space import Flags, Floats, Limits, Node, Nodes, Numbers, as_tuples
from tabular.table import Table

#: From so many nodes not above the last release's it does not go on: each takes going through all rows.
_ROOTS = 64

#: It looks at the last release's node, and if that breaks the limits at the top.
_FEWEST = 2

#: So many nodes are queued at most; where better ones may be above still more, that is too far to go.
_QUEUED = 50_000

#: After so many steps without a node to look at the loop is let look at the time.
_STEPS = 128


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
            raise InvalidParameter(f"Several releases together are measured by k; give {named('k')}.")
        if set(history.names) != set(hierarchies):
            raise InvalidParameter("A history keeps the quasi-identifiers it began with.")
        refuse_broken(history, limits.k)
        self.history, self.standing = history, Standing.of(history, table)
        super().__init__(table, {name: hierarchies[name] for name in history.names}, limits=limits, **options)

    def suppressed_rows(self, node: Node) -> Flags:
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
    def quiet(self) -> Flags:
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
        if suppressed.all():
            nothing = {"l": 0, "l_entropy": 0.0, "l_recursive": inf, "t": 0.0, "s_l": 0}
            return {"cm": self.rows} | (nothing if self.sensitive is not None else {})
        values: dict[str, Any] = {}
        classes = Anonymity.of(masked, names, suppressed=suppressed)
        if self.sensitive is not None:
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
            labels = classes.diversity(self.class_label)
            values["cm"] = int(suppressed.sum() + labels.rows.sum() - labels.majorities.sum())
        return values


@dataclass(frozen=True, kw_only=True)
class DynamicKgen(Kgen):
    """Go on from the node of the last release, as far as a better one is possible; evolve nodes where that is far.

    Which nodes can be better is known from three bounds:

    - *The top.* Where it breaks the limits every node does: it needs the fewest suppressed rows.
    - *From below.* Let P be the node of the last release. At a node N, most rows are told apart as they are at the
      lower levels of N and P, whatever N itself is (see `DynamicEvaluator.at_least_suppressed`). So a node that is not
      above P can satisfy the limits only if the lower levels of both, M, leave few enough of these rows too lonely;
      and that fails for all nodes below one at which it fails. As a rule it fails one step below P, for P was the best.
      What is left is above P, or above one of the few M where it does not fail.
    - *From above.* What the levels alone cost is no more than a node or any above it costs. So, from each M in the
      order of that cost, a node is looked at only while its levels cost less than the best node found. Nodes below one
      that breaks the limits break them: of those only the steps are taken that lead out from below it.

    When none is left the best is the best of all, which is said. How much changed decides how many nodes that takes.
    Where half of the evaluations do not suffice (nodes of which only such rows were told apart count as well), where
    the steps on the way are too many, or where the metric has no such bound, the rest goes to KGEN's evolution.
    """

    def check(self, question: Question) -> None:
        """Refuse a front, and an evaluator that knows of no release before."""
        super().check(question)
        _dynamic(question)

    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """Go up from the last node to the first that satisfies, then look at all that may be better."""
        evaluator = _dynamic(question)
        start = evaluator.previous
        finds.remarks["previous"] = _said(evaluator)
        if start is None or not question.limits.are_monotone or self.evaluations < _FEWEST:
            yield from super().course(question, finds, rng)
            return
        walk = _Walk(question, evaluator, finds, max(_FEWEST, self.evaluations // 2))
        if not (yield from walk.satisfies(start)) and not (yield from walk.satisfies(question.lattice.top)):
            return
        yield from walk.climb(start)
        if question.metric in ADDITIVE and (yield from walk.finish(start)):
            finds.remarks["previous"]["proven"] = True
            return
        if walk.looked < self.evaluations:
            rest = replace(self, evaluations=self.evaluations - walk.looked)
            yield from super(DynamicKgen, rest).course(question, finds, rng)


class _Walk:
    """Nodes are looked at one by one, each once, and no more than may be."""

    def __init__(self, question: Question, evaluator: DynamicEvaluator, finds: Finds, most: int) -> None:
        self.metric, self.lattice, self.evaluator = question.metric, question.lattice, evaluator
        self.limit = question.limits.suppressible(evaluator.rows)
        self.finds, self.most = finds, most
        self.seen: dict[Node, tuple[bool, int]] = {}
        #: The highest of the nodes that break the limits.
        self.broken: Nodes = np.zeros((0, len(self.lattice.heights)), dtype=np.int16)

    @property
    def looked(self) -> int:
        """How many nodes were looked at."""
        return len(self.seen) + self.finds.counted

    @property
    def has_room(self) -> bool:
        """Whether another node may be looked at."""
        return self.looked < self.most

    def satisfies(self, node: Node) -> Generator[list[Node], Readings, bool]:
        """Look at a *node*: whether it satisfies the limits."""
        if node not in self.seen:
            readings = yield [node]
            self.finds.offer(readings, self.metric)
            good = bool(readings.satisfying[0])
            self.seen[node] = good, int(readings["suppressed"][0])
            if not good:
                lower = (self.broken <= readings.nodes).all(axis=1)
                self.broken = np.concatenate([self.broken[~lower], readings.nodes])
        return self.seen[node][0]

    def climb(self, node: Node) -> Generator[list[Node], Readings, None]:
        """From a *node* up to one that satisfies: always the step after which the fewest rows have to go."""
        while self.has_room and not (yield from self.satisfies(node)):
            above = self.lattice.successors(node)
            for each in above:
                if each not in self.seen and not self.has_room:
                    return
                yield from self.satisfies(each)
            costs = dict(zip(above, self.costs(above), strict=True))
            node = min(above, key=lambda each: (self.seen[each][1], costs[each], each))

    def finish(self, start: Node) -> Generator[list[Node] | Nodes, Readings, bool]:
        """Look at all nodes that may be better than what was found; whether there was room for that.

        Those above *start* come first: what breaks the limits there speaks for nodes below it, too.
        """
        roots, complete = yield from self.roots(start)
        others = [root for root in roots if root != start]
        ahead = min(self.costs(others), default=np.inf)
        ended = yield from self.above([start], ahead if complete else None)
        ended = ended and (yield from self.above(others, np.inf if complete else None))
        if ended and complete:
            self.finds.lower_bound = self.best
        return ended and complete

    def above(self, roots: Sequence[Node], ahead: float | None) -> Generator[list[Node] | Nodes, Readings, bool]:
        """Look at the nodes above *roots*, the cheapest levels first, while they cost less than the best.

        Each is queued once; the least cost in the queue is a bound for all that is left of them, and *ahead* for the
        others; None if there are others nobody knows of. Whether it came to an end.
        """
        queue = list(zip(self.costs(roots), roots, strict=True))
        heapq.heapify(queue)
        queued, steps = set(roots), 0
        while queue and queue[0][0] < self.best:
            if not self.has_room or len(queued) > _QUEUED:
                return False
            steps += 1
            if not steps % _STEPS:
                yield []
            cost, node = heapq.heappop(queue)
            if ahead is not None:
                self.finds.lower_bound = min(cost, ahead, self.best)
            if not len(self.broken_above(node)):
                yield from self.satisfies(node)
            higher = [each for each in self.next_above(node) if each not in queued]
            queued.update(higher)
            for each in zip(self.costs(higher), higher, strict=True):
                if each[0] < self.best:
                    heapq.heappush(queue, each)
        return True

    def broken_above(self, node: Node) -> Nodes:
        """The nodes at or above *node* that are known to break the limits, so that it does, too."""
        return self.broken[(self.broken >= np.array(node, dtype=np.int16)).all(axis=1)]

    def next_above(self, node: Node) -> list[Node]:
        """The lowest nodes above *node* that may satisfy the limits: all others that may are above one of them.

        Below a node that breaks them that is each one in which a single attribute is a level higher than there.
        """
        broken = self.broken_above(node)
        if not len(broken):
            return self.lattice.successors(node)
        highest: list[int] = broken[np.argmax(broken.sum(axis=1))].tolist()
        return [
            (*node[:place], level + 1, *node[place + 1 :])
            for place, level in enumerate(highest)
            if level < self.lattice.heights[place]
        ]

    def roots(self, start: Node) -> Generator[list[Node], Readings, tuple[list[Node], bool]]:
        """The nodes below *start*, and itself, from which all that can satisfy are reached; whether these are all."""
        found, tried, open_nodes = [start], {start}, [start]
        while open_nodes:
            for below in self.lattice.predecessors(open_nodes.pop()):
                if below in tried:
                    continue
                if not self.has_room or len(found) >= _ROOTS:
                    return sorted(found), False
                tried.add(below)
                # The classes of the quiet rows are made for this, so the node counts as looked at.
                self.finds.counted += 1
                if self.evaluator.at_least_suppressed(below) <= self.limit:
                    found.append(below)
                    open_nodes.append(below)
                yield []
        return sorted(found), True

    def costs(self, nodes: Sequence[Node]) -> list[float]:
        """What the levels of *nodes* alone cost."""
        metric = self.metric if self.metric in ADDITIVE else "precision"
        found: list[float] = self.evaluator.loss_without_suppression(metric, nodes).tolist()
        return found

    @property
    def best(self) -> float:
        """The least of the metric that was found."""
        found = self.finds.best(self.metric)
        return np.inf if found is None else found


def _said(evaluator: DynamicEvaluator) -> dict[str, Any]:
    """What there is to say of the releases before, as plain values."""
    standing, history = evaluator.standing, evaluator.history
    return {
        "releases": history.releases,
        "matched": history.matched,
        "node": None if evaluator.previous is None else list(evaluator.previous),
        "added": standing.added,
        "removed": standing.removed,
        "changed": evaluator.changed,
        "proven": False,
    }


def _dynamic(question: Question) -> DynamicEvaluator:
    if not isinstance(question.evaluator, DynamicEvaluator):
        raise InvalidParameter(f"The dynamic search continues from an earlier release; give {named('previous')}.")
    return question.evaluator
