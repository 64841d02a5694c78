"""Criteria of how like the whole table each class is in its sensitive values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tabular.criteria import LOWER, Criterion, criteria
from tabular.criteria.anonymity import Anonymity


@criteria.add(
    "t",
    cites="Li, Li and Venkatasubramanian (2007)",
    limits="ordinal and continuous values lie in a row in the order of the domain, nominal ones are all 1 apart; no "
    "distance by hierarchy",
)
@dataclass(frozen=True, kw_only=True)
class Closeness(Criterion):
    """Greatest earth mover's distance between the sensitive values of a class and of the table."""

    of_values: ClassVar[bool] = True
    safer: ClassVar[str] = LOWER

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """The t of t-closeness."""
        return classes.diversity(sensitive).closeness


@criteria.add(
    "beta", cites="Cao and Karras (2012), basic beta-likeness", limits="bounds gains only; losses count nothing"
)
@dataclass(frozen=True, kw_only=True)
class Likeness(Criterion):
    """Greatest relative gain of a sensitive value's share from the table to a class."""

    of_values: ClassVar[bool] = True
    safer: ClassVar[str] = LOWER

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """The beta of basic beta-likeness."""
        return classes.diversity(sensitive).likeness


@criteria.add(
    "enhanced-beta",
    cites="Cao and Karras (2012), enhanced beta-likeness",
    limits="infinite where a value gains more than -log of its share in the table: then no beta is enough",
)
@dataclass(frozen=True, kw_only=True)
class EnhancedLikeness(Criterion):
    """Least beta of enhanced beta-likeness, which keeps frequent values below certainty, too."""

    of_values: ClassVar[bool] = True
    safer: ClassVar[str] = LOWER

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """The beta of basic beta-likeness, where there is one."""
        return classes.diversity(sensitive).enhanced_likeness


@criteria.add(
    "delta",
    cites="Brickell and Shmatikov (2008)",
    limits="natural logarithms; of the values that stand in the class: one that is absent from it would count infinite",
)
@dataclass(frozen=True, kw_only=True)
class Disclosure(Criterion):
    """Greatest |log| of the ratio of a sensitive value's shares in a class and in the table."""

    of_values: ClassVar[bool] = True
    safer: ClassVar[str] = LOWER

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """The delta of delta-disclosure privacy."""
        return classes.diversity(sensitive).disclosure
