"""One evolution from its request to its outcome: generations, stop rules, checkpoints, and what came of it.

What the loop counts is quick and made to be improved on; what is reported of the first and of the last is measured anew
by `tabular.measures.summary`, with attackers that no score counts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from tabular import loop
from tabular.comparison import pareto_front
from tabular.compiling import working_clock
from tabular.errors import InvalidInput, NoSolution, named
from tabular.evolution.checkpoint import Checkpoint, Keeper
from tabular.evolution.contract import Evolution, Individual, Population, Task, evolutions
from tabular.evolution.fitness.contract import SCORES
from tabular.loop import ALONE, Parts, Progress, Report, Standing, silent
from tabular.measures import Summary, summary
from tabular.release import Released, counted_k, drawn_order, release_table, version
from tabular.table import Table

if TYPE_CHECKING:
    from tabular.files.schema import Schema

#: So many generations there are if nothing else says when to stop; those of the thesis.
GENERATIONS = 1000

#: A checkpoint is kept no sooner than so many seconds after the last one, and takes at most this share of the time.
_OFTEN, _SHARE = 2.0, 0.05

#: Who watches sees so many generations of the history.
SHOWN = 60

#: Who watches is told no more often than this, in seconds; of the whole population less often.
_WATCHED, _SHOWN_EVERY = 0.2, 1.0


@dataclass(frozen=True, kw_only=True)
class EvolutionRequest:
    """What shall evolve, towards what, and for how long."""

    what: str
    columns: tuple[str, ...]
    score: str = SCORES[0]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    generations: int | None = None
    seconds: float | None = None
    #: Stop when the best score is this or less.
    target: float | None = None
    #: Stop after so many generations without a better best.
    patience: int | None = None
    population: str | None = None
    drop_best: float = 0.0
    accept_unchanged: bool = False
    identifiers: str = "drop"
    shuffle: bool = False

    def evolution(self) -> Evolution:
        """What evolves, with its parameters."""
        return evolutions[self.what].make(self.parameters)

    @property
    def most(self) -> int | None:
        """The greatest number of generations; a run that nothing else ends has the thesis's."""
        others = (self.seconds, self.target, self.patience)
        return GENERATIONS if self.generations is None and others == (None,) * 3 else self.generations

    def run_of(self, table: Table) -> dict[str, Any]:
        """What makes this run of *table* another one than others; when it stops does not."""
        return {
            "version": version(),
            "what": self.what,
            "table": table.key,
            "columns": list(self.columns),
            "score": self.score,
            "param": [f"{name}={value}" for name, value in sorted(self.parameters.items())],
            "drop_best": self.drop_best,
            "accept_unchanged": self.accept_unchanged,
            "population": "given" if self.population else None,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Evolved:
    """What came of a run: the document, the release of the best, and the whole population."""

    document: dict[str, Any]
    release: Released
    #: Those that may be released, the best first, each with its place in the document's list.
    members: Sequence[tuple[int, Individual]]
    #: Makes the release of one of them.
    released: Callable[[Individual, np.random.Generator], Released]
    #: Whether it was stopped before its time, so that it could go on.
    is_unfinished: bool
    measures: Summary

    def _repr_html_(self) -> str:
        return self.release._repr_html_()


def evolve(
    request: EvolutionRequest,
    table: Table,
    *,
    rng: np.random.Generator,
    file: str = "the table",
    schema: Schema | None = None,
    keeper: Keeper | None = None,
    seed: str = "",
    resumed: Checkpoint | None = None,
    workers: int | None = None,
    report: Report = silent,
    best: Callable[[Mapping[str, Any]], None] = lambda figures: None,
    stop: Callable[[], bool] = lambda: False,
    parts: Parts = ALONE,
) -> Evolved:
    """Let what *request* names evolve from *table*, or go on from where it *resumed*, and measure what came of it."""
    evolution = request.evolution()
    task = Task(
        table=table, columns=request.columns, score=request.score, file=file, population=request.population,
        schema=schema, drop_best=request.drop_best, accept_unchanged=request.accept_unchanged, workers=workers,
        parts=parts, report=report,
    )  # fmt: skip
    evolution.check(task)
    release_table(table, identifiers=request.identifiers)
    if resumed is not None:
        resumed.refuse_other(request.run_of(table), keeper.where if keeper is not None else "the checkpoint")
    run = _Run(request, task, evolution, rng, resumed)
    run.go(keeper, seed, report, best, stop)
    return run.outcome(report)


class _Run:
    """One run: its population, its history, and how long it took."""

    def __init__(
        self, request: EvolutionRequest, task: Task, evolution: Evolution, rng: np.random.Generator,
        resumed: Checkpoint | None,
    ) -> None:  # fmt: skip
        self.request, self.task, self.began = request, task, working_clock()
        self.evolution = evolution
        # The order of the release does not depend on how long the evolution was.
        own, self._order = rng.spawn(2)
        self.stopped = False
        if resumed is None:
            self.generation, self.spent, self.last_better = 0, 0.0, 0
            self.population: Population = evolution.begin(task, own)
            self.start = self._start()
            self.history = [self._row()]
        else:
            self._take_up(resumed)

    def _take_up(self, resumed: Checkpoint) -> None:
        """Go on from where another run stood."""
        document = resumed.document
        try:
            self.population = self.evolution.resume(self.task, resumed.population)
            self.generation, self.spent = int(document["generation"]), float(document["seconds"])
            self.last_better, self.start = int(document["last_better"]), dict(document["start"])
            self.history = [[float(each) for each in row] for row in resumed.history.tolist()]
            self.figures()
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError):
            raise InvalidInput(
                f"What the checkpoint holds is not what such a run keeps; begin anew without {named('resume')}."
            ) from None

    def go(
        self, keeper: Keeper | None, seed: str, report: Report, best: Callable[[Mapping[str, Any]], None],
        stop: Callable[[], bool],
    ) -> None:  # fmt: skip
        """Generation after generation, until a rule says so or somebody does."""
        request, most = self.request, self.request.most
        watched = drawn = kept = monotonic()
        cost = 0.0

        def stops(progress: Progress) -> bool:
            # What the starting population took counts as well.
            late = request.seconds is not None and working_clock() - self.began >= request.seconds
            self.stopped = stop() or late
            # Who helps with parts has done them: the generations follow one another, and one process does them.
            return self._has_ended() or self.stopped or self.task.parts.helps

        def told(progress: Progress) -> None:
            nonlocal watched, drawn, kept, cost
            self._note()
            now = monotonic()
            if now - watched >= _WATCHED:
                watched = now
                report("Evolving", self.generation, most or 0)
            if now - drawn >= _SHOWN_EVERY:
                drawn = now
                best(self.figures())
            if keeper is not None and now - kept >= max(_OFTEN, cost / _SHARE):
                keeper.keep(self.checkpoint(seed))
                kept = monotonic()
                cost = kept - now

        report("Evolving", self.generation, most or 0)
        best(self.figures())
        loop.run(self._steps(), self._evaluate, self._standing, stop=stops, report=told)
        best(self.figures())
        if keeper is not None and self.stopped:
            keeper.keep(self.checkpoint(seed))

    def _steps(self) -> Generator[None, Any, None]:
        while True:
            self.population.tell((yield))

    def _evaluate(self, _: None) -> Any:
        # The loop asks ahead of its report. A checkpoint lies between two generations, before anything is drawn for
        # the next one, so that the population is asked no sooner than here.
        return self.population.evaluate(self.population.ask())

    def _standing(self) -> Standing:
        return Standing(self.population.evaluated, self.history[-1][1])

    def _has_ended(self) -> bool:
        """Whether the run is at its end, however it got there."""
        request, most = self.request, self.request.most
        return (
            (most is not None and self.generation >= most)
            or (request.target is not None and self.history[-1][1] <= request.target)
            or (request.patience is not None and self.generation - self.last_better >= request.patience)
        )

    def _note(self) -> None:
        """Take a generation into the history."""
        self.generation += 1
        row = self._row()
        if row[1] < self.history[-1][1]:
            self.last_better = self.generation
        self.history.append(row)

    def _row(self) -> list[float]:
        # Of the members that may be released: what the others lose says nothing of how far it is.
        scores = self.population.scores
        known = scores[np.isfinite(scores)] if np.isfinite(scores).any() else scores
        return [float(self.generation), float(known.min()), float(known.mean()), float(known.max())]

    def figures(self) -> dict[str, Any]:
        """What who watches sees: the scores, and the population as points of loss and risk."""
        began = ((each["information_loss"], each["disclosure_risk"]) for each in self.start["population"])
        places = np.linspace(0, len(self.history) - 1, min(SHOWN, len(self.history))).round().astype(int)
        history = [_shown_row(self.history[place], 3) for place in places.tolist()]
        _, best, mean, worst = _shown_row(self.history[-1])
        return {
            "generation": self.generation, "best": best, "mean": mean, "worst": worst,
            "fitness": self.evolution.fitness_name, "history": history,
            "start": _rounded(began), "population": _rounded(self.population.points()),
        }  # fmt: skip

    def checkpoint(self, seed: str) -> Checkpoint:
        """Where the run stands."""
        return Checkpoint(
            run=self.request.run_of(self.task.table),
            seed=seed,
            document={
                "generation": self.generation,
                "seconds": self.seconds,
                "last_better": self.last_better,
                "start": self.start,
            },
            history=np.array(self.history, dtype=np.float64),
            population=self.population.kept(),
        )

    @property
    def seconds(self) -> float:
        """How long it took, with the runs it goes on from."""
        return self.spent + working_clock() - self.began

    def _start(self) -> dict[str, Any]:
        """What is said of the starting population."""
        population = self.population
        places = _releasable(population, self.task)
        # Where a search is held to limits, its members can become others that may be released.
        if not places and np.isfinite(population.scores).any():
            raise _nothing_releasable(population)
        best = population.individual(places[0] if places else 0)
        found = _measured(self.task.table, best, self.task.columns)
        return {
            "initial": found.document(),
            "initial_withheld": None if places else best.withheld,
            "population": _listed(population, self.task),
            "left_out": [dict(vars(each)) for each in population.left_out],
        }

    def outcome(self, report: Report) -> Evolved:
        """The best is measured anew and made ready for release."""
        report("Measuring", 0, 0)
        request, task, population = self.request, self.task, self.population
        places = _releasable(population, task)
        if not places:
            raise _nothing_releasable(population)
        members = [(place, population.individual(place)) for place in places]
        chosen = members[0][1]
        measures = _measured(task.table, chosen, task.columns)
        final = measures.document()
        withheld = _withheld(population, places)
        document = {
            "version": version(),
            "what": request.what,
            "score": request.score,
            "fitness": self.evolution.fitness_name,
            "initial": self.start["initial"],
            "final": final,
            "generations": self.generation,
            "evaluations": population.evaluated,
            "seconds": self.seconds,
            "ended": not self.stopped,
            "history": [_shown_row(row) for row in self.history],
            "population": {"initial": self.start["population"], "final": _listed(population, task)},
            "left_out": self.start["left_out"],
            "withheld": withheld,
            "began_as": chosen.origin,
            "remarks": [
                *_of_start(self.start.get("initial_withheld")),
                *remarks(self.start["initial"], final, request.score),
                *chosen.remarks,
            ],
            **chosen.about,
        }
        return Evolved(
            document=document,
            release=self._released(chosen, self._order, measures),
            members=members,
            released=self._released,
            is_unfinished=self.stopped and not self._has_ended(),
            measures=measures,
        )

    def _released(self, individual: Individual, rng: np.random.Generator, measures: Summary | None = None) -> Released:
        """One member as it is given away, in an order of its own."""
        request, table = self.request, self.task.table
        masked = individual.masked()
        found = measures or _measured(table, individual, request.columns)
        bound = found.disclosure_risk_bound
        counted = counted_k(masked, request.columns)
        return Released(
            table=masked,
            columns=request.columns,
            method=f"evolution of {request.what}",
            # What it began as can name a file of the owner or be the formula; that and what is read back lead back.
            parameters={"score": request.score, "generations": self.generation},
            findings={
                "promises_k": False,
                "k": counted.k,
                "suppressed": counted.suppressed,
                "exact_values": {},
                **found.scores(),
                **({"disclosure_risk_bound": bound} if bound else {}),
                "highest_linkage": found.highest_linkage,
            },
            order=drawn_order(rng, len(table)) if request.shuffle else None,
            matrices=individual.matrices,
            identifiers=request.identifiers,
            private={"began_as": individual.origin, **individual.about, **individual.private},
        )


def _rounded(points: Iterable[Sequence[float]]) -> list[list[float]]:
    """Loss and risk as who watches sees them."""
    return [[round(float(value), 3) for value in point] for point in points]


def _shown_row(row: Sequence[float], digits: int | None = None) -> list[Any]:
    """A row of the history; of what has no bound there is no figure."""
    figures = (each if digits is None else round(each, digits) for each in row[1:])
    return [int(row[0]), *(each if np.isfinite(each) else None for each in figures)]


def _releasable(population: Population, task: Task) -> list[int]:
    """The places of those that may be released, the best first; equal ones in their order."""
    order = np.argsort(population.scores, kind="stable").tolist()
    return [place for place in order if task.accept_unchanged or population.individual(place).withheld is None]


def _nothing_releasable(population: Population) -> NoSolution:
    best = population.individual(int(np.argmin(population.scores)))
    return NoSolution(
        f"Nothing may be released: each of the {len(population.scores)} members is withheld, and the best one "
        f"{best.withheld}. {named('accept_unchanged')} releases it all the same."
    )


def _withheld(population: Population, releasable: Sequence[int]) -> list[dict[str, Any]]:
    """Those that are withheld, and why."""
    gone = sorted(set(range(len(population.scores))) - set(releasable))
    found = [population.individual(place) for place in gone]
    return [{"origin": each.origin, "reason": each.withheld} for each in found]


def _listed(population: Population, task: Task) -> list[dict[str, Any]]:
    """Every member with loss and risk, as the evolution counts them, in their order.

    On the front are those that no other beats in both, of all that may be released.
    """
    points = [(float(loss), float(risk)) for loss, risk in population.points()]
    members = [population.individual(place) for place in range(len(points))]
    withheld = [not task.accept_unchanged and each.withheld is not None for each in members]
    free = [place for place, is_withheld in enumerate(withheld) if not is_withheld]
    front = pareto_front([points[place] for place in free]) if free else []
    on_front = {place for place, is_on_it in zip(free, front, strict=True) if is_on_it}
    return [
        {
            "origin": each.origin,
            "information_loss": points[place][0],
            "disclosure_risk": points[place][1],
            "on_front": place in on_front,
            "withheld": withheld[place],
        }
        for place, each in enumerate(members)
    ]


def _measured(table: Table, individual: Individual, columns: Sequence[str]) -> Summary:
    """All measures of one member, by attackers who know how it was made."""
    known = {"informed": {"matrices": individual.matrices}} if individual.matrices else {}
    return summary(table, individual.masked(), columns, parameters=known, method_is_known=True)


def _of_start(withheld: str | None) -> list[str]:
    """What is to be said of a start of which nothing may be released."""
    if withheld is None:
        return []
    return [f"Nothing of the start may be released: what it is compared with {withheld}."]


def remarks(initial: Mapping[str, Any], final: Mapping[str, Any], score: str) -> list[str]:
    """What the score does not see, in words: an attacker who finds more than before."""
    key = f"score_{score}"
    gained = initial[key] - final[key]
    found = []
    for name, who in _UNSEEN.items():
        before, after = initial.get(name), final.get(name)
        if before is not None and after is not None and gained > 0 and after > before + gained:
            found.append(
                f"The score fell by {gained:.2f} points, but {who} links {after:.2f} % of the records, and linked "
                f"{before:.2f} % before: a risk that the score does not count."
            )
    return found


#: The attackers that no score counts.
_UNSEEN = {
    "informed": "an attacker who knows the method",
    "rsrl": "an attacker who looks within the reach of a swap",
}
