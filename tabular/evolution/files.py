"""Protected files as a population: what each generation draws, and who takes whose place (Algorithm 5).

An offspring takes its parent's place if it scores better: deterministic crowding, elitist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tabular.comparison import LeftOut
from tabular.evolution.contract import MOST_EQUAL, Individual, Population, Task, generator_document
from tabular.evolution.fitness import Allowed, Segment, all_allowed
from tabular.evolution.genes import Genes
from tabular.evolution.operators import leaders, selected, selection_weights, two_points
from tabular.evolution.renaming import ROUNDED, remark
from tabular.loop import Values, of_document, on_threads, processors
from tabular.table import Table

if TYPE_CHECKING:
    from tabular.evolution.records import Records

#: Either operator in a generation; or both, each with its own probability, as Schaffer et al. (1989) have them.
EITHER, BOTH, EVERYWHERE = "either", "both", "everywhere"

#: In which order of its values a file is cut into stretches.
ANY, BY_RECORD, BY_COLUMN = "any", "records", "columns"

#: Files of so many genes are judged so fast that threads only cost time.
FEW_GENES = 20_000

#: How likely a generation crosses, and how likely a file, or a value, mutates, if nothing else is said.
_CROSSOVER = {EITHER: 0.5, BOTH: 0.95, EVERYWHERE: 0.95}
_MUTATION = {BOTH: 0.01, EVERYWHERE: 0.01}


class FileScores(Protocol):
    """What a protected file comes to, in percent."""

    @property
    def information_loss(self) -> float: ...

    @property
    def disclosure_risk(self) -> float: ...

    def score(self, kind: str) -> float: ...


class FileState(Protocol):
    """A protected file that changes step by step, as `tabular.evolution.fitness.State` does."""

    @property
    def scores(self) -> FileScores: ...

    @property
    def codes(self) -> NDArray[Any]: ...

    def segment(self, first: int, last: int) -> Segment: ...

    def replaced(self, segment: Segment) -> FileScores: ...

    def better(self, segment: Segment, kind: str, than: float, may: Allowed = all_allowed) -> FileScores | None: ...

    def undo(self) -> FileScores: ...

    def keep(self) -> None: ...


class FileFitness(Protocol):
    """What judges protected files of one original, as `tabular.evolution.fitness.Fitness` does."""

    @property
    def gains(self) -> NDArray[np.int64]: ...

    @property
    def codes(self) -> NDArray[Any]: ...

    def held(self, population: Iterable[NDArray[Any]]) -> FileFitness: ...

    def state(self, codes: NDArray[Any]) -> FileState: ...

    def table_of(self, codes: NDArray[Any]) -> Table: ...


class Offspring(NamedTuple):
    """A file that differs from its parent in one stretch of genes."""

    parent: int
    genes: Segment


class Files(Population):
    """Protected files of one original, each with the state of its measures."""

    def __init__(
        self, method: Records, task: Task, fitness: FileFitness, genes: Genes, origins: tuple[str, ...],
        left_out: Sequence[LeftOut], rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self.method, self.task, self.fitness, self.genes = method, task, fitness, genes
        self.origins, self.left_out = origins, left_out
        self.generation = 0
        self._rng = rng
        self._original = np.ascontiguousarray(fitness.codes).reshape(-1)
        self._mutable = genes.mutable
        # Where no join can ever be, chance is not asked for one.
        self._joins = method.joins > 0 and genes.can_join
        self._asked: Sequence[Offspring] = ()

    def settle(self, files: Sequence[NDArray[Any]]) -> None:
        """Make *files* the population, and evaluate them."""
        workers = self.task.workers or processors()
        self._states: list[FileState] = []
        for state in on_threads(self.fitness.state, files, workers):
            self._states.append(state)
            self.task.report("Evaluating", len(self._states), len(files))
        self._scores = np.array([self._score(state.scores) for state in self._states])
        self._equal = np.array([int((codes.reshape(-1) == self._original).sum()) for codes in files])
        self._added = np.array([self.genes.added(self.fitness.codes, codes) for codes in files])
        self.evaluated += len(files)

    def only(self, places: NDArray[np.intp]) -> Files:
        """Those at *places*, with weights counted over them."""
        files = [self._states[place].codes for place in places.tolist()]
        origins = tuple(self.origins[place] for place in places.tolist())
        fitness = self.fitness.held(files)
        left = Files(self.method, self.task, fitness, self.genes, origins, self.left_out, self._rng)
        left.settle(files)
        left.evaluated += self.evaluated
        return left

    @property
    def scores(self) -> NDArray[np.float64]:
        return self._scores

    @cached_property
    def _most_equal(self) -> float:
        """More cells than these must not be the original's."""
        return len(self._original) if self.task.accept_unchanged else MOST_EQUAL * len(self._original)

    def ask(self) -> Sequence[Offspring]:
        tries = range(self.method.tries)
        if self.method.operators != EITHER:
            self._asked = [each for _ in tries for each in self._both()]
        elif self._crosses():
            parents = self._parents()
            self._asked = [each for _ in tries for each in self._crossed(*parents)]
        else:
            parent = self._selected()
            self._asked = self._joined(parent) or [self._mutated(parent) for _ in tries]
        return self._asked

    def evaluate(self, candidates: Sequence[Offspring]) -> list[FileScores | None]:
        """The scores of each offspring that may take its parent's place; their parents stay as they are."""
        places: dict[int, list[int]] = {}
        for place, offspring in enumerate(candidates):
            places.setdefault(offspring.parent, []).append(place)
        workers = (self.task.workers or processors()) if len(self._original) > FEW_GENES else 1
        families = [[candidates[place] for place in each] for each in places.values()]
        found: list[FileScores | None] = [None] * len(candidates)
        for each, judged in zip(places.values(), on_threads(self._judged, families, workers), strict=True):
            for place, scores in zip(each, judged, strict=True):
                found[place] = scores
        return found

    def _judged(self, siblings: Sequence[Offspring]) -> list[FileScores | None]:
        """The scores of each offspring of one parent that is better than that one and all before it."""
        parent = siblings[0].parent
        than, found = float(self._scores[parent]), []
        may = partial(self._may_follow, parent) if self.method.added < 100 else all_allowed
        for each in siblings:
            scores = self._states[parent].better(each.genes, self.task.score, than, may)
            if scores is not None:
                than = self._score(scores)
            found.append(scores)
        return found

    def _may_follow(self, parent: int, codes: NDArray[Any]) -> bool:
        """Whether a file hides no more by renaming than it may, or than its *parent* does."""
        added = self.genes.added(self.fitness.codes, codes)
        return added <= max(self.method.added / 100, float(self._added[parent])) + ROUNDED

    def tell(self, readings: Sequence[FileScores | None]) -> None:
        best: dict[int, tuple[float, Offspring]] = {}
        for offspring, scores in zip(self._asked, readings, strict=True):
            # Each is better than the one before.
            if scores is not None:
                best[offspring.parent] = self._score(scores), offspring
        for score, offspring in best.values():
            self._replace(offspring, score)
        self.evaluated += len(readings)
        self.generation += 1
        if self.method.recount and self.generation % self.method.recount == 0:
            self._recount()

    def kept(self) -> Values:
        document = {
            "origins": list(self.origins),
            "left_out": [dict(vars(each)) for each in self.left_out],
            "generator": generator_document(self._rng),
            "evaluated": self.evaluated,
            "generation": self.generation,
            "parameters": dict(vars(self.method)),
            **self.genes.document(),
        }
        files = self.genes.packed(np.stack([state.codes for state in self._states]))
        gains = np.asarray(self.fitness.gains)
        return {**of_document(document), "files": files, "gains": gains, **self.genes.kept()}

    def points(self) -> NDArray[np.float64]:
        found = [(each.scores.information_loss, each.scores.disclosure_risk) for each in self._states]
        return np.array(found, dtype=np.float64)

    def individual(self, place: int) -> Individual:
        state = self._states[place]
        return Individual(
            origin=self.origins[place],
            information_loss=state.scores.information_loss,
            disclosure_risk=state.scores.disclosure_risk,
            withheld=self._reason(place),
            masked=lambda: self.fitness.table_of(state.codes),
            remarks=[said for said in (remark(float(self._added[place])),) if said is not None],
        )

    def _score(self, scores: FileScores) -> float:
        return scores.score(self.task.score)

    def _reason(self, place: int) -> str | None:
        """Why a member is withheld: it is the original but for a few cells."""
        share = self._equal[place] / len(self._original)
        if share <= MOST_EQUAL:
            return None
        return f"{100 * share:.1f} % of the protected cells are the original's, more than {100 * MOST_EQUAL:.0f} %"

    def _both(self) -> Sequence[Offspring]:
        """Perhaps a crossover, and perhaps mutations of what came of it."""
        if self._crosses():
            one, other = self._parents()
            found = list(zip((one, other), self._exchanged(one, other), strict=True))
        else:
            parent = self._selected()
            found = [(parent, self._genes(parent).copy())]
        for _, genes in found:
            self._mutate(genes)
        return self._offspring(found)

    def _offspring(self, found: Iterable[tuple[int, NDArray[Any]]]) -> list[Offspring]:
        """Parents and whole files as offspring; what is as its parent is none."""
        offspring = []
        for parent, genes in found:
            other = np.flatnonzero(genes != self._genes(parent))
            if len(other):
                first, last = int(other[0]), int(other[-1])
                offspring.append(Offspring(parent, Segment(first, genes[first : last + 1].copy())))
        return offspring

    def _genes(self, place: int) -> NDArray[Any]:
        return self._states[place].codes.reshape(-1)

    def _crosses(self) -> bool:
        given, operators = self.method.crossover, self.method.operators
        return self._rng.random() < (_CROSSOVER[operators] if given is None else given) and len(self._states) > 1

    def _selected(self) -> int:
        return selected(selection_weights(self._scores), self._rng)

    def _parents(self) -> tuple[int, int]:
        """One of the leaders, and any other file."""
        weights = selection_weights(self._scores)
        best = leaders(self._scores, self.method.leaders, np.flatnonzero(self._equal <= self._most_equal).tolist())
        one = int(best[selected(weights[best], self._rng)])
        others = np.delete(np.arange(len(weights)), one)
        return one, int(others[selected(weights[others], self._rng)])

    def _crossed(self, one: int, other: int) -> list[Offspring]:
        """Two files exchange a stretch; each offspring is its parent but for that."""
        return self._offspring(zip((one, other), self._exchanged(one, other), strict=True))

    def _exchanged(self, one: int, other: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """The genes of both with a stretch of the other's."""
        mine, theirs = self._genes(one).copy(), self._genes(other).copy()
        by_column = self.method.order == BY_COLUMN or (self.method.order == ANY and self._rng.random() < 0.5)
        first, last = two_points(len(mine), self._rng)
        # A view in the order of the stretch: what is written to it is written to the genes.
        views = [genes.reshape(-1, self.genes.columns).T if by_column else genes for genes in (mine, theirs)]
        stretch = np.zeros(len(mine), dtype=np.bool_)
        stretch[first : last + 1] = True
        chosen = stretch.reshape(views[0].shape)
        views[0][chosen], views[1][chosen] = views[1][chosen], views[0][chosen]
        return mine, theirs

    def _joined(self, parent: int) -> list[Offspring]:
        """Files in which a set has taken the place of its members, each another set; none if chance wants none."""
        if not self._joins or self._rng.random() >= self.method.joins:
            return []
        codes = self._states[parent].codes
        joins = self.genes.joins(codes)
        drawn = self._rng.permutation(len(joins))[: self.method.tries].tolist()
        return self._offspring((parent, joins[place].made(codes).reshape(-1)) for place in drawn)

    def _mutated(self, parent: int) -> Offspring:
        """A file with another value in one gene."""
        segment = self._states[parent].segment
        gene, value = self._mutation(segment)
        return Offspring(parent, Segment(gene, np.array([value], dtype=segment(gene, gene).values.dtype)))

    def _mutation(self, segment: Callable[[int, int], Segment]) -> tuple[int, int]:
        """A random gene that can change, and another value for it."""
        column = int(self._mutable[self._rng.integers(len(self._mutable))])
        gene = int(self._rng.integers(len(self.task.table))) * self.genes.columns + column
        return gene, self.genes.other(gene, int(segment(gene, gene).values[0]), self._rng)

    def _mutate(self, genes: NDArray[Any]) -> None:
        """Change one gene, or each, if chance wants it."""
        operators = self.method.operators
        rate = _MUTATION[operators] if self.method.mutation is None else self.method.mutation
        if operators == EVERYWHERE:
            can = np.zeros(self.genes.columns, dtype=np.bool_)
            can[self._mutable] = True
            chosen = np.flatnonzero((self._rng.random(len(genes)) < rate) & np.tile(can, len(self.task.table)))
            genes[chosen] = self.genes.others(chosen, genes[chosen], self._rng)
        elif self._rng.random() < rate:
            gene, value = self._mutation(lambda first, last: Segment(first, genes[first : last + 1]))
            genes[gene] = value

    def _replace(self, offspring: Offspring, score: float) -> None:
        """An offspring that scores better takes its parent's place, unless it must be withheld."""
        parent = offspring.parent
        state = self._states[parent]
        state.replaced(offspring.genes)
        equal = int((state.codes.reshape(-1) == self._original).sum())
        added = self.genes.added(self.fitness.codes, state.codes)
        if equal > self._most_equal >= self._equal[parent]:
            state.undo()
            return
        state.keep()
        self._scores[parent], self._equal[parent], self._added[parent] = score, equal, added

    def _recount(self) -> None:
        """Count the weights of the linkage over the population as it is now."""
        files = [state.codes for state in self._states]
        self.fitness = self.fitness.held(files)
        self.settle(files)
