"""Algorithm 6 of Mares Soler (2013): sets of transition matrices, one matrix a column, each set improved by itself.

In a generation each matrix of a set is altered, one after the other, by a mutation or a crossover with the same chance,
and the altered one stays where the set is better with it: nearer to what may be released, or as near and of less loss.
Where files are drawn to judge them, both are judged by the same luck, drawn anew in each generation: a set that was
lucky once is not kept for that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tabular.evolution.contract import MOST_EQUAL, Individual, Population, Task, generator_document, generator_of
from tabular.evolution.matrices.expectation import Expectation
from tabular.evolution.matrices.genotype import Genes, crossed, encoded, mutated
from tabular.evolution.matrices.guards import Limits, ReadBack, complaint, excess
from tabular.evolution.matrices.objectives import WORST, Matrices, Objective
from tabular.evolution.matrices.shape import Shape
from tabular.loop import Values, document_of, of_document, on_threads
from tabular.protections.pram import drawn
from tabular.table import Table

#: How often a matrix is mutated, and otherwise crossed with itself.
MUTATION = 0.5


#: Other genomes for columns, in the order in which they are tried.
Alterations: TypeAlias = list[tuple[str, Genes]]


@dataclass(frozen=True, eq=False)
class Member:
    """A set of matrices by column, with their genomes, and what it loses by the objective."""

    origin: str
    genes: Mapping[str, Genes]
    matrices: Matrices
    #: How far it is beyond what may be released.
    excess: float = 0.0
    loss: float = np.inf

    @property
    def rank(self) -> tuple[float, float]:
        """The better, the lower: one that may be released is better than any that may not, whatever it loses."""
        return self.excess, self.loss


@dataclass(frozen=True, eq=False)
class Setting:
    """What members are made by, and judged by: the shape of each column's matrices, the guard, and the objective."""

    shapes: Mapping[str, Shape]
    objective: Objective
    #: What is shown of a member, whatever it is judged by.
    expectation: Expectation
    #: The limits of what is read back; None where nothing is guarded.
    limits: Limits | None
    #: The weights of agreement that PRL goes by on drawn files, in millionths.
    gains: tuple[int, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are masked."""
        return tuple(self.shapes)

    @property
    def changing(self) -> tuple[str, ...]:
        """The columns that have matrices to choose from."""
        return tuple(name for name, shape in self.shapes.items() if len(shape.frequencies) > 1)

    def member(self, origin: str, genes: Mapping[str, Genes]) -> Member | None:
        """The member with these genomes, not yet judged; None where a matrix has no inverse."""
        matrices = {name: self.shapes[name].of_genes(each) for name, each in genes.items()}
        found = {name: matrix for name, matrix in matrices.items() if matrix is not None}
        return None if len(found) < len(matrices) else Member(origin, genes, found, self.excess(found))

    def altered(self, member: Member, name: str, genes: Genes) -> Member | None:
        """*member* with another genome for the column *name*; None where its matrix cannot be used."""
        matrix = self.shapes[name].of_genes(genes)
        if matrix is None:
            return None
        matrices = {**member.matrices, name: matrix}
        return replace(
            member, genes={**member.genes, name: genes}, matrices=matrices, excess=self.excess(matrices), loss=np.inf
        )

    def known_member(self, origin: str, genes: Mapping[str, Genes], loss: float) -> Member:
        """The member that was made of these genomes once, and its loss."""
        matrices = {name: self.shapes[name].of_genes(each) for name, each in genes.items()}
        known = {name: each for name, each in matrices.items() if each is not None}
        return Member(origin, genes, known, self.excess(known), loss)

    def excess(self, matrices: Matrices) -> float:
        """How far *matrices* are beyond what may be released."""
        return 0.0 if self.limits is None else excess(matrices, self.frequencies, self.limits)

    def complaint(self, matrices: Matrices) -> str | None:
        """Why *matrices* should not be used for a release; None where nothing speaks against them."""
        return None if self.limits is None else complaint(matrices, self.frequencies, self.limits)

    @property
    def frequencies(self) -> dict[str, NDArray[np.int64]]:
        """How often each category occurs, by column."""
        return {name: shape.frequencies for name, shape in self.shapes.items()}


class MatrixPopulation(Population):
    """Members, and what will alter them."""

    def __init__(
        self, task: Task, setting: Setting, members: Sequence[Member], rng: np.random.Generator, release: int
    ) -> None:
        self._task, self._setting, self._rng = task, setting, rng
        self._members, self._release = list(members), release
        self._drawn: dict[int, tuple[Member, Table]] = {}

    @classmethod
    def begin(
        cls, task: Task, setting: Setting, starts: Sequence[Member], rng: np.random.Generator
    ) -> MatrixPopulation:
        """The members of *starts*, judged; the best of them left out where the task says so."""
        release, seed = (int(each) for each in rng.integers(2**62, size=2))
        found = cls(task, setting, [], rng, release)
        judged = [replace(each, loss=loss) for each, loss in zip(starts, found._losses(starts, seed), strict=True)]
        gone = min(int(len(judged) * task.drop_best / 100), len(judged) - 1)
        best = set(sorted(range(len(judged)), key=lambda place: judged[place].rank)[:gone])
        found._members = [each for place, each in enumerate(judged) if place not in best]
        found.evaluated = len(judged)
        return found

    @classmethod
    def resume(cls, task: Task, setting: Setting, values: Values) -> MatrixPopulation:
        """The population that `kept` gave *values* of."""
        document = document_of(values)
        members = []
        for place, (origin, loss) in enumerate(zip(document["origins"], values["losses"].tolist(), strict=True)):
            genes = {name: values[f"genes {number}"][place] for number, name in enumerate(setting.columns)}
            members.append(setting.known_member(origin, genes, loss))
        found = cls(task, setting, members, generator_of(document["generator"]), int(document["release"]))
        found.evaluated = int(document["evaluated"])
        return found

    def kept(self) -> Values:
        document = {
            "generator": generator_document(self._rng),
            "origins": [each.origin for each in self._members],
            "evaluated": self.evaluated,
            "release": str(self._release),
            "gains": list(self._setting.gains),
        }
        genes = {
            f"genes {number}": np.stack([each.genes[name] for each in self._members])
            for number, name in enumerate(self._setting.columns)
        }
        losses = np.array([each.loss for each in self._members])
        return {**of_document(document), "losses": losses, **genes}

    @property
    def scores(self) -> NDArray[np.float64]:
        return np.array([each.loss if each.excess == 0 and each.loss < WORST else np.inf for each in self._members])

    @property
    def members(self) -> Sequence[Member]:
        """The sets of matrices."""
        return tuple(self._members)

    def ask(self) -> tuple[list[Alterations], int]:
        """What each member's matrices may become, column by column, and the seed of this generation's luck."""
        asked = [self._alterations(each) for each in self._members]
        return asked, int(self._rng.integers(2**62))

    def evaluate(self, candidates: tuple[list[Alterations], int]) -> list[tuple[Member, int]]:
        """What becomes of each member, and how often it was judged."""
        asked, seed = candidates
        pairs = list(zip(self._members, asked, strict=True))
        return list(on_threads(lambda pair: self._improved(*pair, seed), pairs, self._task.workers))

    def tell(self, readings: Sequence[tuple[Member, int]]) -> None:
        self._members = [member for member, _ in readings]
        self.evaluated += sum(judged for _, judged in readings)

    def points(self) -> NDArray[np.float64]:
        found = [self._setting.expectation.measured(each.matrices) for each in self._members]
        return np.array([(each.information_loss, each.disclosure_risk) for each in found])

    def individual(self, place: int) -> Individual:
        member = self._members[place]
        expected = self._setting.expectation.measured(member.matrices)
        read_back = ReadBack(member.matrices, self._setting.frequencies, self._setting.limits)
        return Individual(
            origin=member.origin,
            information_loss=expected.information_loss,
            disclosure_risk=expected.disclosure_risk,
            withheld=self._withheld(place),
            masked=lambda: self._masked(place),
            matrices=dict(member.matrices),
            about=read_back.about,
            remarks=read_back.remarks,
        )

    def _alterations(self, member: Member) -> Alterations:
        """Another genome for each column that has matrices to choose from."""
        found, rng = [], self._rng
        for name in self._setting.changing:
            genes, window = member.genes[name], self._setting.shapes[name].window
            found.append((name, mutated(genes, rng, window) if rng.random() < MUTATION else crossed(genes, rng)))
        return found

    def _improved(self, member: Member, alterations: Alterations, seed: int) -> tuple[Member, int]:
        """*member* with those of the *alterations* that make it better, each tried on top of those before it."""
        setting, judged = self._setting, 0
        if setting.objective.is_drawn:
            member, judged = replace(member, loss=setting.objective.loss(member.matrices, seed)), 1
        for name, genes in alterations:
            other = None if (genes == member.genes[name]).all() else setting.altered(member, name, genes)
            # One that is further beyond what may be released loses whatever it is judged; that need not be known.
            if other is not None and other.excess <= member.excess:
                judged += 1
                other = replace(other, loss=setting.objective.loss(other.matrices, seed))
                if other.rank < member.rank:
                    member = other
        return member, judged

    def _losses(self, members: Sequence[Member], seed: int) -> list[float]:
        judge: Callable[[Member], float] = lambda each: self._setting.objective.loss(each.matrices, seed)  # noqa: E731
        return list(on_threads(judge, members, self._task.workers))

    def _masked(self, place: int) -> Table:
        """The table as this member masks it; the same each time."""
        member, table = self._members[place], self._task.table
        if place not in self._drawn or self._drawn[place][0] is not member:
            rng = np.random.default_rng((self._release, place))
            codes = {name: drawn(table.columns[name], matrix, rng) for name, matrix in member.matrices.items()}
            self._drawn[place] = member, table.with_codes(**codes)
        return self._drawn[place][1]

    def _withheld(self, place: int) -> str | None:
        """Why this member is not released unless asked for."""
        why = self._setting.complaint(self._members[place].matrices)
        if why is not None or self._setting.limits is None:
            return why
        masked, table = self._masked(place), self._task.table
        equal = np.mean([(masked.columns[name] == table.columns[name]).mean() for name in self._setting.columns])
        if equal <= MOST_EQUAL:
            return None
        return f"equals the original in {100 * equal:.1f} % of the protected cells; {100 * MOST_EQUAL:g} % are the most"


def member_of(setting: Setting, origin: str, matrices: Mapping[str, NDArray[Any]]) -> Member | None:
    """The member that begins with *matrices*, as far as their shape allows them."""
    return setting.member(origin, {name: encoded(matrix) for name, matrix in matrices.items()})
