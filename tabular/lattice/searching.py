"""One loop for all searches: ask for nodes, tell what was found of them, stop when it is time."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from tabular.errors import NoSolution
from tabular.lattice.evaluator.readings import Readings
from tabular.lattice.fronts.front import non_dominated
from tabular.lattice.limits import Limits
from tabular.lattice.metrics import checked_loss, checked_objectives
from tabular.lattice.space import Lattice, Node, Nodes, as_nodes
from tabular.registry import Method, Registry


class Evaluates(Protocol):
    """What says of nodes what they are worth: the evaluator, or a table of all nodes made before."""

    lattice: Lattice
    limits: Limits
    rows: int
    #: Whether the k and l of its classes alone decide if a node satisfies: not where other releases count, too.
    judged_by_classes: bool

    @property
    def distinct_values(self) -> Sequence[Sequence[int]]:
        """By attribute and level how many labels the rows have."""
        ...

    def evaluate(self, nodes: Sequence[Node] | Nodes) -> Readings:
        """The readings of *nodes*, one each, in their order."""
        ...

    def lower_levels(self) -> Node:
        """For each attribute the lowest level of a node that satisfies the limits, by what it alone says."""
        ...

    def loss_without_suppression(self, metric: str, nodes: Sequence[Node] | Nodes) -> NDArray[np.float64]:
        """What the levels alone cost, by GLM, precision or non-uniform entropy; computes no classes."""
        ...


@dataclass(frozen=True, eq=False)
class Question:
    """What is sought: the best node by one *metric*, or a front of *objectives*; with the evaluator to ask."""

    evaluator: Evaluates
    metric: str = "glm"
    objectives: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checked_loss(self.metric)
        if self.objectives:
            checked_objectives(self.objectives)

    @property
    def lattice(self) -> Lattice:
        """The lattice that is searched."""
        return self.evaluator.lattice

    @property
    def limits(self) -> Limits:
        """What a node must satisfy."""
        return self.evaluator.limits

    @property
    def ranks(self) -> tuple[str, ...]:
        """By what solutions are put in order."""
        return self.objectives or (self.metric,)


@dataclass(eq=False)
class Finds:
    """What a search has so far: it can be stopped at any time, and this is its answer."""

    solutions: Readings | None = None
    #: No node that satisfies the limits has less of the metric; proven, whatever is still open.
    lower_bound: float | None = None
    #: How many nodes satisfy the limits, where all were looked at or follow from those that were.
    satisfying: int | None = None
    #: Of the nodes that do not satisfy the limits, the one that breaks them by the fewest rows.
    nearest: Readings | None = None
    #: Nodes whose classes the search computed itself, as often as it did; those it yields are counted for it.
    counted: int = 0
    #: What else a search has to say of its course, as plain values.
    remarks: dict[str, Any] = field(default_factory=dict)

    def offer(self, readings: Readings, metric: str) -> None:
        """Keep the best of *readings* that satisfies the limits, if it is better than what there is; ties go by level.

        For searches that seek one node; the others put their `solutions` themselves.
        """
        good = readings.take(readings.satisfying)
        if len(good):
            best = good.ordered((metric,)).take([0])
            both = best if self.solutions is None else Readings.together([self.solutions.take([0]), best])
            self.solutions = both.ordered((metric,)).take([0])

    def keep(self, readings: Readings, question: Question) -> None:
        """Put what satisfies the limits to the solutions; of a front what no other dominates stays."""
        good = readings.take(readings.satisfying)
        if not len(good):
            return
        found = good if self.solutions is None else Readings.together([self.solutions, good])
        if question.objectives:
            found = found.take(non_dominated(found.costs(question.objectives)))
        self.solutions = found

    def note_nearest(self, readings: Readings) -> None:
        """Keep the node that comes nearest to satisfying the limits."""
        bad = np.flatnonzero(~readings.satisfying)
        if not len(bad):
            return
        # As a rule a look at the rows that would have to go settles it.
        if self.nearest is not None and readings["suppressed"][bad].min() > self.nearest["suppressed"][0]:
            return
        both = readings.take(bad)
        both = both if self.nearest is None else Readings.together([self.nearest, both])
        # Of two that break t alone, the one with the lesser t.
        beyond = [both["t"]] if "t" in both else []
        order = np.lexsort([*both.nodes.T[::-1], *beyond, both["suppressed"]])
        self.nearest = both.take(order[:1])

    def best(self, metric: str) -> float | None:
        """The least of the *metric* among the solutions."""
        if self.solutions is None or not len(self.solutions):
            return None
        return float(self.solutions[metric].min())


#: What a search is while it runs: it yields nodes and gets their readings; it ends by returning.
Course = Generator[Sequence[Node] | Nodes, Readings, None]


@dataclass(frozen=True, kw_only=True)
class Search(Method):
    """A way to go through the lattice."""

    #: Whether it seeks a front of objectives, one node by a metric, or can do both.
    seeks_front: ClassVar[bool] = False
    seeks_one: ClassVar[bool] = True
    #: Whether it draws at random.
    draws: ClassVar[bool] = False
    #: Whether it asks for no node twice, so that none needs to be remembered.
    asks_once: ClassVar[bool] = False

    @abstractmethod
    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """Go through the lattice, keeping what was found in *finds* so that it is right at every yield.

        Nodes may be asked for again: that costs nothing and does not count. None at all may be yielded, too, to let
        the loop look at the time.
        """

    def check(self, question: Question) -> None:
        """Refuse a question this search cannot answer, naming those that can."""
        return


searches: Registry[Search] = Registry("algorithm")


@dataclass(frozen=True)
class Progress:
    """How far a search is."""

    evaluated: int
    seconds: float
    asked: int
    best: float | None
    lower_bound: float | None
    #: How many times in turn nothing new was asked for.
    idle: int = 0


Stop = Callable[[Progress], bool]


def never(progress: Progress) -> bool:
    """Go on until the search ends by itself."""
    return False


def after_evaluations(count: int) -> Stop:
    """Stop when *count* distinct nodes are evaluated."""
    return lambda progress: progress.evaluated >= count


def after_seconds(seconds: float) -> Stop:
    """Stop when so much time has gone."""
    return lambda progress: progress.seconds >= seconds


def any_of(*stops: Stop) -> Stop:
    """Stop when one of *stops* says so."""
    return lambda progress: any(stop(progress) for stop in stops)


@dataclass(frozen=True, eq=False)
class Moment:
    """One place in the course of a search."""

    seconds: float
    evaluated: int
    best: float | None
    lower_bound: float | None


@dataclass(frozen=True, eq=False)
class Result:
    """What a search found, and how it went."""

    algorithm: str
    question: Question
    evaluated: int
    solutions: Readings
    lower_bound: float | None
    satisfying: int | None
    ended: bool
    seconds: float
    moments: tuple[Moment, ...]
    remarks: dict[str, Any]

    @property
    def gap(self) -> float | None:
        """By how much the best solution's metric can at most exceed the optimum's."""
        if self.lower_bound is None or not len(self.solutions):
            return None
        return max(0.0, float(self.solutions[self.question.metric].min()) - self.lower_bound)

    def document(self) -> dict[str, Any]:
        """The result as plain values."""
        return {
            "algorithm": self.algorithm,
            "metric": None if self.question.objectives else self.question.metric,
            "objectives": list(self.question.objectives),
            "lattice_nodes": self.question.lattice.size,
            "satisfying": self.satisfying,
            "evaluated": self.evaluated,
            "seconds": self.seconds,
            "ended": self.ended,
            "solutions": [self.solutions.document(place) for place in range(len(self.solutions))],
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            **self.remarks,
        }


def run(
    name: str,
    search: Search,
    question: Question,
    *,
    rng: np.random.Generator,
    stop: Stop = never,
    most: int | None = None,
    report: Callable[[Progress], None] = lambda progress: None,
    clock: Callable[[], float] = time.monotonic,
) -> Result:
    """Ask *search* for nodes and tell it their readings, until it ends or *stop* says so.

    Each node is evaluated once, however often it is asked for; the seed alone decides what is asked. With *most* no
    more nodes are evaluated: of the last ones asked for the first few, which join the answer as they are.
    """
    search.check(question)
    began, finds = clock(), Finds()
    memory = Memory(question.evaluator, forgets=search.asks_once)
    course = search.course(question, finds, rng)
    moments: list[Moment] = []
    progress = Progress(0, 0.0, 0, None, None)
    ended = False
    try:
        nodes = next(course)
        while not stop(progress):
            allowed = memory.first(nodes, None if most is None else most - finds.counted)
            readings = memory.evaluate(allowed)
            finds.note_nearest(readings)
            if len(allowed) < len(nodes):
                _keep_last(readings, question, finds)
                break
            nodes = course.send(readings)
            progress = _after(progress, memory, finds, question, clock() - began)
            _note(moments, progress)
            report(progress)
    except StopIteration:
        ended = True
        _note(moments, _after(progress, memory, finds, question, clock() - began))
    finally:
        course.close()
    if finds.solutions is None or not len(finds.solutions):
        # What draws at random can end without having seen all nodes.
        raise nothing_found(question, finds, ended=ended and (not search.draws or finds.satisfying == 0))
    return Result(
        name,
        question,
        len(memory) + finds.counted,
        finds.solutions.ordered(question.ranks),
        finds.lower_bound,
        finds.satisfying,
        ended,
        clock() - began,
        tuple(moments),
        finds.remarks,
    )


def _keep_last(readings: Readings, question: Question, finds: Finds) -> None:
    """Let the last readings count that the search itself is not told."""
    if question.objectives:
        finds.keep(readings, question)
    else:
        finds.offer(readings, question.metric)


class Memory:
    """An evaluator that remembers: what was asked for before is not evaluated again, unless it *forgets*."""

    def __init__(self, evaluator: Evaluates, *, forgets: bool = False) -> None:
        self._evaluator, self._forgets, self._evaluated = evaluator, forgets, 0
        self._places: dict[bytes, tuple[Readings, int]] = {}

    def __len__(self) -> int:
        return self._evaluated

    def first(self, nodes: Sequence[Node] | Nodes, most: int | None) -> Sequence[Node] | Nodes:
        """The first of *nodes*, as many as can be asked for without evaluating more than *most* in all."""
        if most is None or len(self) + len(nodes) <= most:
            return nodes
        asked = as_nodes(nodes, len(self._evaluator.lattice.heights))
        room, fresh = most - len(self), set[bytes]()
        for place, row in enumerate(asked):
            key = row.tobytes()
            if key not in self._places:
                fresh.add(key)
            if len(fresh) > room:
                return nodes[:place]
        return nodes

    def evaluate(self, nodes: Sequence[Node] | Nodes) -> Readings:
        """The readings of *nodes*, one each, in their order."""
        asked = np.ascontiguousarray(as_nodes(nodes, len(self._evaluator.lattice.heights)))
        if self._forgets or not len(asked):
            self._evaluated += len(asked)
            return self._evaluator.evaluate(asked)
        keys = [row.tobytes() for row in asked]
        fresh = {key: place for place, key in enumerate(keys) if key not in self._places}
        if fresh:
            found = self._evaluator.evaluate(asked[list(fresh.values())])
            self._places.update((key, (found, place)) for place, key in enumerate(fresh))
            self._evaluated = len(self._places)
            if len(fresh) == len(keys):
                return found
        return gathered([self._places[key] for key in keys])


def gathered(places: Sequence[tuple[Readings, int]]) -> Readings:
    """Single readings put together."""
    return Readings(
        np.stack([found.nodes[place] for found, place in places]),
        {name: np.array([found[name][place] for found, place in places]) for name in places[0][0].values},
    )


def nothing_found(question: Question, finds: Finds, *, ended: bool) -> NoSolution:
    """Say that no node satisfies the limits, which comes nearest, and what would help."""
    limits, suppressible = question.limits, question.limits.suppressible(question.evaluator.rows)
    asked = ", ".join(f"{name}={value}" for name in ("k", "l", "t") if (value := getattr(limits, name)) is not None)
    where = "No node satisfies" if ended else "No node was found that satisfies"
    text = f"{where} {asked} with at most {suppressible} rows suppressed"
    if finds.nearest is not None:
        names, gone = question.lattice.names, int(finds.nearest["suppressed"][0])
        node = ", ".join(f"{name}={level}" for name, level in zip(names, finds.nearest.nodes[0].tolist(), strict=True))
        breaks = f"{gone} rows would have to go" if gone > suppressible else f"t is {finds.nearest['t'][0]:.4f}"
        text += f"; the nearest is {node}, where {breaks}"
    ways = [" or ".join(name for name in ("k", "l") if getattr(limits, name) is not None)]
    ways = [f"lower {name}" for name in ways if name]
    ways += ["raise t"] if limits.t is not None else []
    ways += ["raise the suppression"] + ([] if ended else ["look at more nodes"])
    advice = " or ".join([", ".join(ways[:-1]), ways[-1]] if len(ways) > 1 else ways)
    return NoSolution(f"{text}. {advice[0].upper()}{advice[1:]}.")


def _after(before: Progress, memory: Memory, finds: Finds, question: Question, seconds: float) -> Progress:
    evaluated = len(memory) + finds.counted
    return Progress(
        evaluated=evaluated,
        seconds=seconds,
        asked=before.asked + 1,
        best=None if question.objectives else finds.best(question.metric),
        lower_bound=finds.lower_bound,
        idle=before.idle + 1 if evaluated == before.evaluated else 0,
    )


def _note(moments: list[Moment], progress: Progress) -> None:
    """Keep a moment where the best or the bound is other than before; and the last one."""
    moment = Moment(progress.seconds, progress.evaluated, progress.best, progress.lower_bound)
    same = len(moments) > 1 and all(
        (each.best, each.lower_bound) == (moment.best, moment.lower_bound) for each in moments[-2:]
    )
    if same:
        moments[-1] = moment
    else:
        moments.append(moment)
