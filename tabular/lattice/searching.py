"""Search a lattice: ask a search for nodes, tell it their readings, and count each node once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tabular import loop
from tabular.compiling import working_clock
from tabular.errors import NoSolution
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.evaluator.readings import Readings
from tabular.lattice.question import Finds, Question
from tabular.lattice.searches.contract import Search
from tabular.lattice.space import Node, Nodes, as_nodes
from tabular.loop import Progress, Standing, Stop, never


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
    clock: Callable[[], float] = working_clock,
) -> Result:
    """Ask *search* for nodes and tell it their readings, until it ends or *stop* says so.

    Each node is evaluated once, however often it is asked for; the seed alone decides what is asked. With *most* no
    more nodes are evaluated: of the last ones asked for the first few, which join the answer as they are.
    """
    search.check(question)
    finds, memory = Finds(), Memory(question.evaluator, forgets=search.asks_once)

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

    course = search.course(question, finds, rng)
    trace = loop.run(course, evaluate, standing, stop=stop, report=report, clock=clock)
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

    def __init__(self, evaluator: Evaluator, *, forgets: bool = False) -> None:
        self._evaluator, self._forgets, self._evaluated = evaluator, forgets, 0
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
            return self._evaluator.evaluate(asked)
        keys = [row.tobytes() for row in asked]
        fresh: dict[bytes, int] = {}
        for place, key in enumerate(keys):
            if key not in self._places and key not in fresh:
                if len(fresh) == room:
                    keys = keys[:place]
                    break
                fresh[key] = place
        if fresh:
            found = self._evaluator.evaluate(asked[list(fresh.values())])
            self._places.update((key, (found, place)) for place, key in enumerate(fresh))
            self._evaluated = len(self._places)
            if len(fresh) == len(keys):
                return found
        return Readings.gathered([self._places[key] for key in keys]) if keys else self._evaluator.evaluate(asked[:0])


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
