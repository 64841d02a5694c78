"""Criteria of re-identification: the chance to find the owner of a row, by what the attacker knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tabular.criteria import LOWER, Criterion, criteria
from tabular.criteria.anonymity import Anonymity
from tabular.table import Table

CITES = "El Emam and Dankar (2008)"


@criteria.add("prosecutor-risk", cites=CITES, limits="of the row that is easiest to find: 1 / k")
@dataclass(frozen=True, kw_only=True)
class ProsecutorRisk(Criterion):
    """Greatest chance to find a row whose owner is known to be in the table."""

    safer: ClassVar[str] = LOWER

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """1 over the rows of the smallest class."""
        return classes.prosecutor_risk


@criteria.add(
    "journalist-risk",
    cites=CITES,
    limits="without a population table the people of the table are all there are, and it is the prosecutor's risk",
)
@dataclass(frozen=True, kw_only=True)
class JournalistRisk(Criterion):
    """Greatest chance to find a row whose owner is only known to be in the population."""

    safer: ClassVar[str] = LOWER

    population: Table | None = None

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """1 over the fewest people of the population who share the values of a class."""
        return classes.prosecutor_risk if self.population is None else classes.journalist_risk(self.population)


@criteria.add(
    "marketer-risk",
    cites="Dankar and El Emam (2010)",
    limits="an expected share of all rows; without a population table the people of the table are all there are",
)
@dataclass(frozen=True, kw_only=True)
class MarketerRisk(Criterion):
    """Expected share of rows whose owners are found when all are sought."""

    safer: ClassVar[str] = LOWER

    population: Table | None = None

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """The mean over the rows of 1 over those, of the table or the population, who share their values."""
        return classes.marketer_risk if self.population is None else classes.marketer_risk_in(self.population)
