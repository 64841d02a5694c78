"""What evolves: a population that asks, is told and can be kept, and the registry of what may evolve.

`evolving.py` is the one way to let any of them evolve: it counts generations, stops, keeps checkpoints, and measures
what came of it anew.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidParameter, named
from tabular.evolution.fitness.contract import SCORES, score_of
from tabular.loop import ALONE, Parts, Report, Values, silent
from tabular.registry import Method, Registry
from tabular.table import Table

if TYPE_CHECKING:
    from tabular.comparison import LeftOut
    from tabular.files.schema import Schema

#: A result that equals the original in more than this share of the protected cells is withheld unless asked for.
MOST_EQUAL = 0.95


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """What is to be improved, by which score, and from what it starts."""

    table: Table
    columns: tuple[str, ...]
    score: str = "max"
    #: The file of the table, for errors.
    file: str = "the table"
    #: A folder to start from instead of what the evolution makes itself, and what is known of its files.
    population: str | None = None
    schema: Schema | None = None
    #: The best of the starting population are left out, so many percent of it.
    drop_best: float = 0.0
    #: Whether a result may be released that gives nearly everything away.
    accept_unchanged: bool = False
    #: How many threads evaluate the starting population; None takes all processors.
    workers: int | None = None
    parts: Parts = ALONE
    report: Report = silent


@dataclass(frozen=True, kw_only=True, eq=False)
class Individual:
    """One member of a population as it could be released; loss and risk in percent, as the evolution counts them."""

    #: What it began as, such as 'rank-swapping percent=4'.
    origin: str
    information_loss: float
    disclosure_risk: float
    #: Why it is withheld unless asked for; None where nothing speaks against it.
    withheld: str | None = None
    #: Makes the masked table, its rows in the order of the original's.
    masked: Callable[[], Table] = field(repr=False)
    #: The transition matrices it was masked with, which lead back to the original.
    matrices: Mapping[str, NDArray[np.float64]] = field(default_factory=dict, repr=False)
    #: What may go out with it, such as a formula.
    about: Mapping[str, Any] = field(default_factory=dict)
    #: What else leads back to the original.
    private: Mapping[str, Any] = field(default_factory=dict, repr=False)
    #: What its owner should know of it, in words.
    remarks: Sequence[str] = ()

    def score(self, name: str) -> float:
        """The score called *name*; lower is better."""
        return score_of(self.information_loss, self.disclosure_risk, name)


class Population(ABC):
    """What one run improves, generation by generation: it asks for evaluations and is told what came of them.

    A generation lies between `ask` and the end of `tell`. All that the next one depends on is in `kept`, with the state
    of its random generator, so that a run that was cut off between two generations goes on as if it had not been.
    """

    #: How many evaluations there were, those of the starting population too.
    evaluated: int = 0
    #: What could not be taken into the starting population.
    left_out: Sequence[LeftOut] = ()

    @property
    @abstractmethod
    def scores(self) -> NDArray[np.float64]:
        """The score of each member; lower is better. It is infinite for one that loses against all others."""

    @abstractmethod
    def ask(self) -> Any:
        """The candidates of the next generation."""

    @abstractmethod
    def evaluate(self, candidates: Any) -> Any:
        """The readings of *candidates*; this changes nothing that `ask` or `tell` draw."""

    @abstractmethod
    def tell(self, readings: Any) -> None:
        """Take in the readings of what was asked for last; this ends the generation."""

    @abstractmethod
    def kept(self) -> Values:
        """All that a later generation depends on, as arrays (a document by `tabular.loop.of_document`)."""

    @abstractmethod
    def points(self) -> NDArray[np.float64]:
        """Loss and risk of each member in percent, a row a member, in the order of `scores`."""

    @abstractmethod
    def individual(self, place: int) -> Individual:
        """The member at a *place* as it could be released."""


@dataclass(frozen=True, kw_only=True)
class Evolution(Method):
    """Something that evolves; its fields are its own parameters."""

    @abstractmethod
    def begin(self, task: Task, rng: np.random.Generator) -> Population:
        """The starting population, evaluated; all it will draw comes from *rng*, which it keeps."""

    @abstractmethod
    def resume(self, task: Task, values: Values) -> Population:
        """The population that `Population.kept` gave *values* of, with its generator as it stood."""

    @property
    def fitness_name(self) -> str | None:
        """What it lowers, in words; None where that is the score."""
        return None

    def check(self, task: Task) -> None:
        """Refuse a *task* that this evolution cannot take, before anything is computed."""
        if task.score not in SCORES:
            raise InvalidParameter.wrong("score", must=f"be one of {', '.join(SCORES)}", was=task.score)
        if not len(task.table):
            raise InvalidParameter(f"{task.file}: the table has no records; there is nothing to evolve.")
        for name in task.columns:
            if task.table.attribute(name).role == "identifier":
                raise InvalidParameter(
                    f"{named('columns')}: {name!r} is an identifier; it is dropped or starred, and not protected."
                )


#: What may evolve, by the name that `what` gives it.
evolutions: Registry[Evolution] = Registry("evolution")


def generator_document(rng: np.random.Generator) -> dict[str, Any]:
    """The state of a generator as plain values; its numbers are longer than JSON's."""
    document: dict[str, Any] = _with_texts(rng.bit_generator.state)
    return document


def generator_of(document: Mapping[str, Any]) -> np.random.Generator:
    """The generator whose state `generator_document` wrote.

    >>> rng = np.random.default_rng(1)
    >>> int(generator_of(generator_document(rng)).integers(1000)) == int(rng.integers(1000))
    True
    """
    rng = np.random.Generator(getattr(np.random, document["bit_generator"])())
    rng.bit_generator.state = _with_numbers(document)
    return rng


def _with_texts(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _with_texts(each) for key, each in value.items()}
    return value if isinstance(value, str) else f"{value:d}"


def _with_numbers(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: each if key == "bit_generator" else _with_numbers(each) for key, each in value.items()}
    return int(value)
