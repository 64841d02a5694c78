"""Evolution of protections: protected files that improve themselves, and whatever else is entered here."""

from __future__ import annotations

from tabular.evolution.contract import Evolution, Individual, Population, Task, evolutions
from tabular.evolution.evolving import EvolutionRequest, Evolved, evolve
from tabular.evolution.genome import from_genome, from_gray_code, genome, gray_code

evolutions.load(__name__)

__all__ = [
    "Evolution", "EvolutionRequest", "Evolved", "Individual", "Population", "Task", "evolutions", "evolve",
    "from_genome", "from_gray_code", "genome", "gray_code",
]  # fmt: skip
