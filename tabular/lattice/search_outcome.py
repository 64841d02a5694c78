"""One search from its request to its outcome: the document of what was found and, if wanted, a table to release."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tabular.errors import InvalidParameter, NoSolution, UnknownName, named
from tabular.hierarchies.hierarchy import Hierarchy, generalised
from tabular.lattice.chain.history import HISTORY, History, already_told, document_of
from tabular.lattice.chain.search import DynamicEvaluator
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.front import checked_epsilon, convergence_error, representation_ratio
from tabular.lattice.metrics import Readings
from tabular.lattice.release import BY_HIERARCHY, ReleasedNode, released
from tabular.lattice.search_request import ReleaseRequest, SearchRequest
from tabular.lattice.searches import searches
from tabular.lattice.searches.contract import count_in_words
from tabular.lattice.searching import Finds, Question, Result, run
from tabular.lattice.space import Lattice, Node
from tabular.loop import ALONE, Parts, Progress, Report, Stop, after_evaluations, after_seconds, key_of, silent
from tabular.protections.full_domain import read_levels
from tabular.release import (
    LABELS,
    LABELS_OF_HIERARCHIES,
    Released,
    drawn_order,
    effective_parameters,
    release_table,
    version,
)
from tabular.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame

#: So many nodes of a front are told while it is searched.
_WATCHED = 60

#: What is always said of a solution, in this order; None where there is no sensitive column or class label.
ALWAYS = ("node", "k", "l", "t", "s_k", "s_l", "glm", "cm", "precision", "suppressed")

#: A report lists so many solutions and moments; more than that nobody reads, and the document has them.
REPORTED, MOMENTS = 500, 100

#: For a report the exact front is computed in lattices of up to so many nodes.
SMALL = 100_000

_LIMITS = ("k", "l", "t", "suppression")
_MOMENT = ("seconds", "evaluated", "best", "lower_bound")

#: A name in quotes, a quote in it written twice, or one without commas; the last equals sign parts it from its level.
_LEVEL = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^",][^,]*?))\s*=\s*([^",=]*?)\s*(,|$)')


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchOutcome:
    """What a search found, as plain values, and the release if one was wanted."""

    document: dict[str, Any]
    release: Released | None = None

    def to_frame(self) -> DataFrame:
        """One row for each solution: its levels, as `choose` takes them, and the metrics that are known."""
        from pandas import DataFrame

        names = [each["name"] for each in self.document["quasi_identifiers"]]
        found = [
            {"levels": levels_as_text(names, each["node"]), **{name: each[name] for name in ALWAYS[1:]}}
            for each in self.document["solutions"]
        ]
        return DataFrame(found, columns=["levels", *ALWAYS[1:]]).dropna(axis="columns", how="all")

    def in_words(self, most: int) -> dict[str, Any]:
        """What people read: how many nodes there are, and the levels of *most* solutions and of the release."""
        document = self.document
        names = [each["name"] for each in document["quasi_identifiers"]]
        released = document.get("release", {"levels": {}})["levels"]
        return {
            "lattice_nodes": count_in_words(document["lattice_nodes"]),
            "levels": [levels_as_text(names, each["node"]) for each in document["solutions"][:most]],
            "released_levels": levels_as_text(released, released.values()),
        }

    def _repr_html_(self) -> str:
        """The front as a chart, or a table of the best solutions."""
        from tabular.report.kit.page import chart_snippet, frame_snippet

        count = len(self.document["solutions"])
        if not self.document["objectives"]:
            return frame_snippet(f"Solutions, the best first: {count:,}.", self.to_frame())
        from tabular.report.kit.figures import Figures
        from tabular.report.reports import front_chart

        return chart_snippet(front_chart(Figures(for_report(self.document))), f"The front: {count:,} solutions.")


def find_generalisation(
    request: SearchRequest,
    table: Table,
    hierarchies: Mapping[str, Hierarchy],
    *,
    rng: np.random.Generator,
    history: History | None = None,
    file: str = "",
    report: Report = silent,
    best: Callable[[Mapping[str, Any]], None] = lambda figures: None,
    stop: Callable[[], bool] = lambda: False,
    parts: Parts = ALONE,
) -> SearchOutcome:
    """Find the generalisation of *table* that loses least within the limits, or the front of several objectives.

    *hierarchies* may hold more values than the table. *history* are the earlier releases, where the request names one.
    *file* is where the table was read. *best* is told the least loss so far, with the bound below it, or the front so
    far; *stop* ends the search with that.

    >>> from tabular.lattice import Limits
    >>> ages = Table.from_columns({"age": ["21", "22", "35", "36"]})
    >>> decades = Hierarchy.of("age", ["21", "22", "35", "36"], [["20s", "20s", "30s", "30s"], ["*"] * 4])
    >>> request = SearchRequest(quasi_identifiers=("age",), limits=Limits(k=2), release=ReleaseRequest())
    >>> found = find_generalisation(request, ages, {"age": decades}, rng=np.random.default_rng())
    >>> found.document["solutions"][0]["node"], found.release.table.values("age")
    ([1], ['20s', '20s', '30s', '30s'])
    """
    request.check()
    table = request.fitted(table, file=file)
    if (request.previous is None) != (history is None):
        raise InvalidParameter(f"{named('previous')}: a request that names a release needs its history, and no other.")
    for name in request.quasi_identifiers:
        if name not in hierarchies:
            raise UnknownName.among("hierarchy", name, hierarchies)
    whole = {name: hierarchies[name] for name in request.quasi_identifiers}
    work = _Work(request, table, whole, history, report, best, parts)
    node = work.checked_choice()
    is_alone = request.release is not None and request.release.alone
    result = work.looked_at(node) if is_alone and node is not None else work.searched(rng, stop)
    report("Reading all figures of the solutions", 0, 0)
    solutions = work.evaluator.in_full(result.solutions.nodes)
    document = work.document(result, solutions, file)
    if request.release is None:
        return SearchOutcome(document=document)
    choice = Choice.of(request.release.choose, node, solutions, work.evaluator)
    released_node = work.released(choice, request.release)
    place = None if choice.place is None else choice.place + 1
    document["release"] = {"place": place, **released_node.document()}
    return SearchOutcome(document=document, release=work.release(released_node, request.release, rng))


def for_report(document: Mapping[str, Any]) -> dict[str, Any]:
    """The *document* as a report takes it: the best solutions, and moments from first to last, where there are many.

    Of a front the course says nothing, since it has no best.
    """
    found, moments = document["solutions"], document["moments"] if document["metric"] is not None else []
    kept = np.unique(np.linspace(0, len(moments) - 1, MOMENTS).round().astype(int)).tolist() if moments else []
    return {
        **document,
        "solutions": found[:REPORTED],
        "solutions_found": len(found),
        "moments": [moments[place] for place in kept],
    }


class _Ending:
    """The reasons to end a search that could go on; *said* is the one that ended it, in words."""

    def __init__(self, request: SearchRequest, stop: Callable[[], bool]) -> None:
        self.stops: list[tuple[str, Stop]] = [("The search was interrupted.", lambda progress: stop())]
        if request.seconds is not None:
            words = f"The time limit ended the search, {named('seconds')} {request.seconds:g}: give it more."
            self.stops.append((words, after_seconds(request.seconds)))
        if request.budget is not None:
            # Wherever nothing is found it is said that more evaluations can help.
            self.stops.append(("", after_evaluations(request.budget)))
        self.said = ""

    def __call__(self, progress: Progress) -> bool:
        words = next((words for words, stop in self.stops if stop(progress)), None)
        self.said = words or ""
        return words is not None


class Watched:
    """Tells the front of several *objectives* as it grows: each time it changed, up to so many of its nodes."""

    def __init__(self, objectives: Sequence[str], tell: Callable[[Mapping[str, Any]], None]) -> None:
        self._objectives, self._tell = tuple(objectives), tell
        self._seen: Readings | None = None

    def __call__(self, finds: Finds) -> None:
        found = finds.solutions
        if not self._objectives or found is None or found is self._seen:
            return
        self._seen = found
        ordered = found.ordered(self._objectives)
        places = np.unique(np.linspace(0, len(found) - 1, min(len(found), _WATCHED)).round().astype(int)).tolist()
        named_here = ("node", *self._objectives)
        front = [{name: each[name] for name in named_here} for each in map(ordered.document, places)]
        self._tell({"objectives": list(self._objectives), "found": len(found), "front": front})


class _Work:
    """One search of one table, step by step."""

    def __init__(
        self,
        request: SearchRequest,
        table: Table,
        whole: Mapping[str, Hierarchy],
        history: History | None,
        report: Report,
        best: Callable[[Mapping[str, Any]], None],
        parts: Parts,
    ) -> None:
        self.request, self.table, self.whole, self.history = request, table, whole, history
        self.report, self.best, self.parts = report, best, parts
        parameters: dict[str, Any] = {
            "limits": request.limits,
            "sensitive": request.sensitive,
            "class_label": request.class_label,
            "metrics": request.ranks,
        }
        self.evaluator = (
            Evaluator(table, whole, **parameters)
            if history is None
            else DynamicEvaluator(table, whole, history, **parameters)
        )
        self.question = Question(self.evaluator, request.loss, request.objectives)

    def checked_choice(self) -> Node | None:
        """The node that was chosen by its levels; what cannot be released is refused before the search."""
        request, evaluator = self.request, self.evaluator
        if request.release is None:
            return None
        node = chosen_node(request.release.choose, evaluator.lattice)
        top = {name: each.height for name, each in evaluator.hierarchies.items()}
        nobody = np.zeros(len(self.table), dtype=np.bool_)
        coarsest = generalised(self.table, evaluator.hierarchies, top, suppressed=nobody)
        release_table(coarsest, identifiers=request.release.identifiers)
        if node is not None:
            require_limits(node, evaluator)
        return node

    def looked_at(self, node: Node) -> Result:
        """A node that was chosen, as a search that looked at nothing else."""
        readings = self.evaluator.evaluate([node])
        return Result(self.request.entry.name, self.question, 1, readings, None, None, True, 0.0, (), {})

    def searched(self, rng: np.random.Generator, stop: Callable[[], bool]) -> Result:
        """What the search finds until it ends or is stopped."""
        request, search = self.request, self.request.search()
        most = request.budget or getattr(search, "evaluations", 0) or 0

        def tell(progress: Progress) -> None:
            self.report("Searching", progress.evaluated, max(most, progress.evaluated) if most else 0)
            if progress.best is not None and isfinite(progress.best):
                self.best({"loss": progress.best, "lower_bound": progress.lower_bound})

        front = Watched(self.request.objectives, self.best)
        self.report("Searching", 0, most)
        ending = _Ending(request, stop)
        try:
            return run(
                request.entry.name,
                search,
                self.question,
                rng=rng,
                stop=ending,
                most=request.budget,
                report=tell,
                watch=front,
                parts=self.parts,
                key=self._key(rng),
            )
        except NoSolution as error:
            text = error.worded(named)
            raise NoSolution(f"{text} {ending.said}" if ending.said else text) from None

    def _key(self, rng: np.random.Generator) -> str:
        """A digest of all that the search and its readings depend on."""
        before = None if self.history is None else document_of(self.history)
        hierarchies = [each.key for each in self.whole.values()]
        return key_of(self.request, self.table.key, hierarchies, before, rng.bit_generator.state)

    def document(self, result: Result, solutions: Readings, file: str) -> dict[str, Any]:
        """Everything that was found; *solutions* are those of the *result* with all their metrics."""
        request, limits = self.request, self.request.limits
        document = {
            "version": version(),
            "file": Path(file).name,
            "rows": len(self.table),
            "quasi_identifiers": [
                {"name": name, "values": len(each.domain), "height": each.height}
                for name, each in self.evaluator.hierarchies.items()
            ],
            "sensitive": request.sensitive,
            "class_label": request.class_label,
            "limits": {
                **{name: getattr(limits, name) for name in _LIMITS},
                "suppressible": limits.suppressible(len(self.table)),
            },
            **result.document(),
            "parameters": _parameters(request),
            "solutions": [_solution(solutions, place) for place in range(len(solutions))],
            "moments": [{name: getattr(each, name) for name in _MOMENT} for each in result.moments],
        }
        if self.history is not None:
            releases = {name: getattr(self.history, name) for name in ("releases", "matched", "k")}
            document["previous"] = releases | document.get("previous", {})
        if self._wants_exact_front():
            self.report("Computing the exact front", 0, 0)
            document |= self._compared(result.solutions)
        return document

    def _wants_exact_front(self) -> bool:
        request = self.request
        if request.exact is not None:
            return request.exact
        is_heuristic = bool(request.objectives) and request.entry.method.draws
        return request.for_report and is_heuristic and self.evaluator.lattice.size <= SMALL

    def _compared(self, found: Readings) -> dict[str, Any]:
        """The exact front, and how near *found* comes to it."""
        objectives, rng = self.request.objectives, np.random.default_rng(0)
        exact = run("exhaustive", searches["exhaustive"].method(), self.question, rng=rng).solutions
        values, theirs = (-each.costs(objectives) for each in (exact, found))
        epsilon = checked_epsilon(self.request.algorithm_parameters.get("epsilon"), objectives)
        total, mean = convergence_error(values, theirs)
        entries = [exact.document(place) for place in range(len(exact))]
        return {
            "exact_front": [{name: each[name] for name in ("node", *objectives)} for each in entries],
            "comparison": {
                "representation_ratio": representation_ratio(values, theirs, epsilon),
                "convergence_error": total,
                "mean_convergence_error": mean,
            },
        }

    def released(self, choice: Choice, release: ReleaseRequest) -> ReleasedNode:
        """The generalised table of the chosen node, counted anew."""
        return released(
            self.table,
            {name: self.whole[name] for name in self.evaluator.hierarchies},
            choice.node,
            self.request.limits,
            self.evaluator.suppressed_rows(choice.node),
            choice.metrics,
            sensitive=self.request.sensitive,
            labels=release.labels,
        )

    def release(self, node: ReleasedNode, release: ReleaseRequest, rng: np.random.Generator) -> Released:
        """What is given away; suppressed rows stand as `*` or are left out."""
        request, drops = self.request, self.request.drops_suppressed
        # The record of later releases holds the labels of the hierarchies: no others may have been written.
        by_hierarchy = release.labels == BY_HIERARCHY
        history = self._extended(node) if self.history is not None or (release.record and by_hierarchy) else None
        rows = np.flatnonzero(~node.suppressed) if drops else np.arange(len(self.table))
        order = rows[drawn_order(rng, len(rows))] if release.shuffle else rows
        limits = {name: value for name in _LIMITS if (value := getattr(request.limits, name)) is not None}
        counted = node.recounted
        findings: dict[str, Any] = {
            "promises_k": counted.k >= 2,
            "k": counted.k,
            "suppressed": 0 if drops else counted.suppressed,
            "left_out": len(self.table) - len(rows),
        }
        if request.sensitive is not None:
            findings |= {"sensitive": request.sensitive, "l": counted.l, "t": counted.t}
        if self.history is not None and history is not None:
            findings |= {"releases": history.releases, "k_over_releases": history.k}
        return Released(
            table=node.table,
            columns=request.quasi_identifiers,
            method="full-domain",
            order=order if release.shuffle or drops else None,
            parameters={"levels": ",".join(f"{name}={level}" for name, level in node.node.items()), **limits},
            findings=findings | {"attributes": node.public(self.whole)},
            labels=LABELS_OF_HIERARCHIES if by_hierarchy else LABELS,
            identifiers=release.identifiers,
            private={HISTORY: document_of(history)} if history is not None and by_hierarchy else {},
        )

    def _extended(self, node: ReleasedNode) -> History:
        """The releases with this one; that they break k together is a bug, and nothing goes out."""
        request = self.request
        before = self.history or History.begun(request.quasi_identifiers, key=request.key)
        levels, left_out = tuple(node.node.values()), request.drops_suppressed
        after = before.extended(self.table, self.whole, levels, node.suppressed, silent=left_out)
        if self.history is not None and request.limits.k is not None and already_told(after, request.limits.k):
            raise RuntimeError("A release does not keep k together with those before it.")
        return after


def _parameters(request: SearchRequest) -> dict[str, Any]:
    """The parameters of the algorithm that take effect, and the budgets."""
    given = request.algorithm_parameters
    listed = {name: list(value) for name, value in given.items() if isinstance(value, tuple)}
    budgets = {"evaluations": request.budget, "seconds": request.seconds}
    return {
        **effective_parameters(request.search(), given),
        **listed,
        **{name: value for name, value in budgets.items() if value is not None},
    }


def _solution(solutions: Readings, place: int) -> dict[str, Any]:
    """One solution with the keys that are always there first."""
    found = solutions.document(place)
    found.pop("satisfies")
    return {name: found.pop(name, None) for name in ALWAYS} | found


@dataclass(frozen=True, eq=False)
class Choice:
    """A node with its metrics, and its place among the solutions, from 0 on, if it is one of them."""

    node: Node
    metrics: Mapping[str, Any]
    place: int | None

    @classmethod
    def of(cls, choose: str | None, node: Node | None, solutions: Readings, evaluator: Evaluator) -> Choice:
        """The *node* if there is one, else the one at the place that *choose* says, else the best."""
        if node is not None:
            place = next((at for at, each in enumerate(solutions.tuples()) if each == node), None)
            found = evaluator.in_full([node]) if place is None else solutions.take([place])
            return cls(node, found.document(0), place)
        at = 1 if choose is None else int(choose)
        if not 1 <= at <= len(solutions):
            raise InvalidParameter(f"{named('choose')} {choose}: the list has places 1 to {len(solutions)}.")
        return cls(solutions.tuples()[at - 1], solutions.document(at - 1), at - 1)


def chosen_node(choose: str | None, lattice: Lattice) -> Node | None:
    """The node whose levels *choose* says; None where it says a place or nothing."""
    if choose is None or choose.strip().isdecimal():
        return None
    where = f"{named('choose')} {choose!r}:"
    said = levels_in_text(choose) if "=" in choose else choose
    levels = read_levels(said, lattice.names, parameter="choose")
    for name, height in zip(lattice.names, lattice.heights, strict=True):
        if name not in levels:
            raise InvalidParameter(f"{where} the level of {name!r} is missing.")
        if not 0 <= levels[name] <= height:
            raise InvalidParameter(f"{where} the levels of {name!r} are 0 to {height}; there is no {levels[name]}.")
    return tuple(levels[name] for name in lattice.names)


def require_limits(node: Node, evaluator: Evaluator) -> None:
    """Refuse to release a *node* that does not satisfy the limits."""
    found = evaluator.in_full([node])
    if not found.satisfying[0]:
        at = ", ".join(f"{name}={level}" for name, level in zip(evaluator.lattice.names, node, strict=True))
        t = f" and t is {found['t'][0]:.4f}" if evaluator.limits.t is not None else ""
        raise NoSolution(
            f"{named('choose')}: the node {at} does not satisfy the limits: {found['suppressed'][0]} rows would have "
            f"to go, {evaluator.limits.suppressible(evaluator.rows)} may{t}. Choose a higher one, or raise "
            f"{named('suppression')}."
        )


def levels_in_text(text: str) -> dict[str, str]:
    """The level of each column that *text* lists, as in `age=1,sex=0`; a name that holds a comma stands in quotes.

    >>> levels_in_text('age=1, "income, net"=2,a=b=0')
    {'age': '1', 'income, net': '2', 'a=b': '0'}
    """
    levels: dict[str, str] = {}
    place = 0
    while place < len(text) or not levels or text.endswith(","):
        found = _LEVEL.match(text, place)
        if found is None:
            raise InvalidParameter(
                f"{named('choose')} {text!r}: it takes the levels of the columns as in 'age=1,sex=0'; a name with a "
                "comma stands in quotes."
            )
        quoted, plain, level, _ = found.groups()
        name = plain if quoted is None else quoted.replace('""', '"')
        if name in levels:
            raise InvalidParameter(f"{named('choose')} {text!r}: the level of {name!r} appears twice.")
        levels[name] = level
        place = found.end()
    return levels


def levels_as_text(names: Iterable[str], levels: Iterable[int]) -> str:
    """The levels of columns as they can be typed again.

    >>> levels_as_text(["age", "income, net"], [1, 2])
    'age=1,"income, net"=2'
    """
    return ",".join(f"{_quoted(name)}={level}" for name, level in zip(names, levels, strict=True))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(mark in name for mark in ',"') or name != name.strip() else name
