"""An evolution that is easy to reckon with: numbers that count down, and now and then fall by chance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from tabular import Table
from tabular.attributes import Attribute
from tabular.evolution.contract import (
    Evolution,
    Individual,
    Population,
    evolutions,
    generator_document,
    generator_of,
    score_of,
)
from tabular.loop import document_of, of_document
from tabular.registry import option

NAME = "counters"


def table():
    """Twelve records with two columns."""
    rows = [(f"{'abc'[row % 3]}", "xy"[row % 2]) for row in range(12)]
    columns = {"one": [row[0] for row in rows], "two": [row[1] for row in rows]}
    return Table.from_columns(columns, [Attribute(name="one"), Attribute(name="two")])


class Counters(Population):
    """Members with a loss that falls by up to one in a generation, and a risk that stays."""

    fails_at: ClassVar[int | None] = None

    def __init__(self, method, task, rng, losses):
        self.method, self.task, self.rng = method, task, rng
        self.losses = np.array(losses, dtype=np.float64)
        self.evaluated = len(self.losses)

    @property
    def scores(self):
        return np.array([score_of(loss, 1.0, self.task.score) for loss in self.losses])

    def ask(self):
        return int(self.rng.integers(len(self.losses)))

    def evaluate(self, candidates):
        if self.evaluated == Counters.fails_at:
            raise KeyboardInterrupt
        return candidates, max(self.losses[candidates] - self.rng.random(), 0.0)

    def tell(self, readings):
        self.losses[readings[0]] = readings[1]
        self.evaluated += 1

    def kept(self):
        document = {"rng": generator_document(self.rng), "evaluated": self.evaluated}
        return {**of_document(document), "losses": self.losses}

    def points(self):
        return np.stack([self.losses, np.ones(len(self.losses))], axis=1)

    def individual(self, place):
        return Individual(
            origin=f"counter {place}",
            information_loss=self.losses[place],
            disclosure_risk=1.0,
            withheld="it is the first" if place == 0 and self.method.withholds else None,
            masked=partial(self._masked, place),
        )

    def _masked(self, place):
        codes = self.task.table.columns["one"].copy()
        codes[: place + 2] = (codes[: place + 2] + 1) % 3
        return self.task.table.with_codes(one=codes)


@dataclass(frozen=True, kw_only=True)
class CountDown(Evolution):
    """Counts down."""

    members: int = option(3, low=1, help="how many")
    withholds: bool = option(False, help="whether the first may not be released")

    def begin(self, task, rng):
        return Counters(self, task, rng, [50.0 + place for place in range(self.members)])

    def resume(self, task, values):
        document = document_of(values)
        population = Counters(self, task, generator_of(document["rng"]), values["losses"])
        population.evaluated = document["evaluated"]
        return population


def enter():
    """Enter it; whoever does takes it out again."""
    evolutions.add(NAME)(CountDown)
