"""Formulas as a population that asks, is told, and can be kept and released."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.evolution.contract import Individual, Population, Task
from tabular.evolution.formulas.layer import Member, Worth
from tabular.evolution.formulas.layers import Layers
from tabular.evolution.formulas.weighing import Weigher
from tabular.evolution.matrices.guards import Matrices, ReadBack
from tabular.loop import Values, of_document, on_threads
from tabular.matrices.formulas import Formula
from tabular.protections.pram import PRAM
from tabular.table import Table


class Luck(NamedTuple):
    """The seeds of the files that are drawn to judge formulas, and of those that are released."""

    replicas: int
    release: int


class FormulaPopulation(Population):
    """The formulas of all layers, the best first; *gains* are the weights that drawn files are linked by."""

    def __init__(self, task: Task, layers: Layers, weigher: Weigher, luck: Luck, gains: Sequence[int]) -> None:
        self._task, self._layers, self._weigher = task, layers, weigher
        self._luck, self._gains = luck, list(gains)
        self._take_stock()

    @property
    def layers(self) -> Layers:
        """What breeds them."""
        return self._layers

    @property
    def members(self) -> Sequence[Member]:
        """The formulas, the best first."""
        return tuple(self._members)

    @property
    def scores(self) -> NDArray[np.float64]:
        return np.array([np.inf if each.worth.refused else each.worth.loss for each in self._members])

    def points(self) -> NDArray[np.float64]:
        return np.array([member.worth[1:3] for member in self._members])

    def ask(self) -> list[Formula]:
        return self._layers.ask()

    def evaluate(self, candidates: list[Formula]) -> list[Worth]:
        return list(on_threads(self._weigher.worth, candidates, self._task.workers))

    def tell(self, readings: list[Worth]) -> None:
        self._layers.tell(readings)
        self._take_stock()

    def drop_best(self, percent: float) -> None:
        """Leave out the best of each layer, so many percent of it."""
        self._layers.drop_best(percent)
        self._take_stock()

    def _take_stock(self) -> None:
        self._members, self.evaluated = self._layers.members, self._layers.evaluated

    def kept(self) -> Values:
        return of_document(
            {"layers": self._layers.document(), "luck": list(map(str, self._luck)), "gains": self._gains}
        )

    def individual(self, place: int) -> Individual:
        member = self._members[place]
        matrices = self._weigher.matrices(member.formula)
        text = str(member.formula)
        read_back = ReadBack(matrices, self._weigher.frequencies, self._weigher.guards.limits)
        return Individual(
            origin=text,
            information_loss=member.worth.information_loss,
            disclosure_risk=member.worth.disclosure_risk,
            withheld=self._weigher.complaint(member.formula),
            masked=lambda: self._masked(text, matrices),
            matrices=matrices,
            about={"formula": text, **read_back.about},
            remarks=read_back.remarks,
        )

    def _masked(self, text: str, matrices: Matrices) -> Table:
        """The table as a formula masks it by its *matrices*; the same each time, and wherever the formula stands."""
        digest = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        rng = np.random.default_rng((self._luck.release, digest))
        return PRAM(matrix=matrices).protect(self._task.table, self._task.columns, rng)
