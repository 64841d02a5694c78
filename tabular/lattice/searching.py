"""Search a lattice: what is sought, what was found so far, and the loop that counts each node once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tabular import loop
from tabular.compiling import working_clock
from tabular.errors import NoSolution
from tabular.lattice.front import non_dominated
from tabular.lattice.metrics import Readings, checked_loss, checked_objectives
from tabular.lattice.recalling import Kept, Recall
from tabular.lattice.space import Lattice, Limits, Node, Nodes, as_nodes
from tabular.loop import ALONE, Parts, Progress, Standing, Stop, never

if TYPE_CHECKING:
    from tabular.lattice.evaluator.evaluator import Evaluator
    from tabular.lattice.searches.contract import Search

#: What a search is while it runs: it yields nodes and gets their readings; it ends by returning.
Course = Generator[Sequence[Node] | Nodes, Readings, None]


@dataclass(frozen=True, eq=False)
class Question:
    """What is sought: the best node by one *metric*, or a front of *objectives*; with the evaluator to ask."""

    evaluator: Evaluator
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
    def suppressible(self) -> int:
        """How many rows may be suppressed."""
        return self.limits.suppressible(self.evaluator.rows)

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
    #: Where it keeps what it computed itself, and recalls it after it was cut off.
    kept: Kept = field(default_factory=Kept)

    def offer(self, readings: Readings, metric: str) -> None:
        """Keep the best of *readings* that satisfies the limits, if it is better than what there is; ties go by level.

        For searches that seek one node; the others put their `solutions` themselves.
        """
        good = readings.take(readings.satisfying)
        if len(good):
            both = good if self.solutions is None else Readings.together([self.solutions, good])
            self.solutions = both.ordered((metric,)).take([0])

    def keep(self, readings: Readings, question: Question) -> None:
        """Add what satisfies the limits to the solutions; of a front only what no other dominates stays."""
        good = readings.take(readings.satisfying)
        if not len(good):
            return
        found = good if self.solutions is None else Readings.together([self.solutions, good])
        if question.objectives:
            found = found.take(non_dominated(found.places(question.objectives)))
        self.solutions = found

    def take_in(self, readings: Readings, question: Question) -> None:
        """Keep the front of several objectives, or the best node by one metric."""
        if question.objectives:
            self.keep(readings, question)
        else:
            self.offer(readings, question.metric)

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
    moments: tuple[Progress, ...]
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
    watch: Callable[[Finds], None] = lambda finds: None,
    clock: Callable[[], float] = working_clock,
    parts: Parts = ALONE,
    key: str = "",
) -> Result:
    """Ask *search* for nodes and tell it their readings, until it ends or *stop* says so; *watch* sees what it has.

    Each node is evaluated once, however often it is asked for; the seed alone decides what is asked. With *most* no
    more nodes are evaluated: of the last ones asked for the first few, which join the answer as they are. What it is
    told is kept in *parts*, under a *key* that names all it depends on.
    """
    search.check(question)
    recall = Recall(question.evaluator.evaluate, parts, key)
    finds, memory = Finds(kept=Kept(parts, key)), Memory(question.evaluator, recall, forgets=search.asks_once)

    def evaluate(nodes: Sequence[Node] | Nodes) -> Readings:
        readings = memory.evaluate(nodes, None if most is None else most - finds.counted)
        finds.note_nearest(readings)
        if len(readings) < len(nodes):
            finds.take_in(readings, question)
            raise loop.Enough
        return readings

    def standing() -> Standing:
        best = None if question.objectives else finds.best(question.metric)
        return Standing(len(memory) + finds.counted, best, finds.lower_bound)

    def tell(progress: Progress) -> None:
        # What it is told again was reported when it was told first.
        if not recall.is_at_it and not finds.kept.is_at_it:
            watch(finds)
            report(progress)

    course = search.course(question, finds, rng)
    trace = loop.run(course, evaluate, standing, stop=stop, report=tell, clock=clock)
    watch(finds)
    if finds.solutions is None or not len(finds.solutions):
        # What draws at random can end without having seen all nodes.
        raise _nothing_found(question, finds, ended=trace.ended and (not search.draws or finds.satisfying == 0))
    return Result(
        name,
        question,
        len(memory) + finds.counted,
        finds.solutions.ordered(question.ranks),
        finds.lower_bound,
        finds.satisfying,
        trace.ended,
        trace.seconds,
        trace.moments,
        finds.remarks,
    )


class Memory:
    """An evaluator that remembers: what was asked for before is not evaluated again, unless it *forgets*."""

    def __init__(self, evaluator: Evaluator, evaluate: Callable[[Nodes], Readings], *, forgets: bool = False) -> None:
        self._evaluator, self._evaluate, self._forgets, self._evaluated = evaluator, evaluate, forgets, 0
        self._places: dict[bytes, tuple[Readings, int]] = {}

    def __len__(self) -> int:
        return self._evaluated

    def evaluate(self, nodes: Sequence[Node] | Nodes, most: int | None = None) -> Readings:
        """The readings of *nodes* in their order: of the first alone, where all would exceed *most* evaluations."""
        asked = np.ascontiguousarray(as_nodes(nodes, len(self._evaluator.lattice.heights)))
        room = len(asked) if most is None else max(0, most - len(self))
        if self._forgets:
            asked = asked[:room]
            self._evaluated += len(asked)
            return self._evaluate(asked)
        keys = [row.tobytes() for row in asked]
        fresh: dict[bytes, int] = {}
        for place, key in enumerate(keys):
            if key not in self._places and key not in fresh:
                if len(fresh) == room:
                    keys = keys[:place]
                    break
                fresh[key] = place
        if fresh:
            found = self._evaluate(asked[list(fresh.values())])
            self._places.update((key, (found, place)) for place, key in enumerate(fresh))
            self._evaluated = len(self._places)
            if len(fresh) == len(keys):
                return found
        return Readings.gathered([self._places[key] for key in keys]) if keys else self._evaluate(asked[:0])


def _nothing_found(question: Question, finds: Finds, *, ended: bool) -> NoSolution:
    """Say that no node satisfies the limits, which comes nearest, and what would help."""
    limits, suppressible = question.limits, question.suppressible
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
