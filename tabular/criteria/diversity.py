"""Criteria of the values within classes: the kinds of l-diversity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tabular.criteria import LOWER, Criterion, criteria
from tabular.criteria.anonymity import Anonymity
from tabular.registry import option

CITES = "Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007)"


@criteria.add("l", cites=CITES, limits="a value counts however rare it is in the class; a missing value is one")
@dataclass(frozen=True, kw_only=True)
class DistinctDiversity(Criterion):
    """Fewest distinct sensitive values in a class: the l of distinct l-diversity."""

    of_values: ClassVar[bool] = True

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """The fewest values."""
        return classes.diversity(sensitive).distinct


@criteria.add("entropy-l", cites=CITES, limits="not rounded down to a whole number")
@dataclass(frozen=True, kw_only=True)
class EntropyDiversity(Criterion):
    """Least exponential of the entropy of a class's sensitive values."""

    of_values: ClassVar[bool] = True

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """The l that as many equally frequent values would have."""
        return classes.diversity(sensitive).entropy


@criteria.add(
    "recursive-c",
    cites=CITES,
    limits="the table has recursive (c,l)-diversity for every c above it; unless an l is given it is the distinct l",
)
@dataclass(frozen=True, kw_only=True)
class RecursiveDiversity(Criterion):
    """Greatest ratio of a class's commonest sensitive value to its l-th commonest and all rarer ones."""

    of_values: ClassVar[bool] = True
    safer: ClassVar[str] = LOWER

    l: int | None = option(None, low=1, help="l of recursive (c,l)-diversity")  # noqa: E741

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """The ratio; infinite where a class has fewer values than l."""
        found = classes.diversity(sensitive)
        return found.recursive(found.distinct if self.l is None else int(self.l))


@criteria.add(
    "alpha",
    cites="Wong, Li, Fu and Wang (2006)",
    limits="looks at the commonest value of a class, whichever it is",
)
@dataclass(frozen=True, kw_only=True)
class LargestShare(Criterion):
    """Greatest share of a class that has the same sensitive value: the alpha of (alpha,k)-anonymity."""

    of_values: ClassVar[bool] = True
    safer: ClassVar[str] = LOWER

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """The share."""
        return classes.diversity(sensitive).largest_share


@criteria.add(
    "s-l",
    cites="Dewri, Ray, Ray and Whitley (2010), spread of the property count of the sensitive value",
    limits="greatest where all rows of large classes share a value, which is no diversity",
)
@dataclass(frozen=True, kw_only=True)
class SpreadOfValues(Criterion):
    """Sum over the rows of how often their sensitive value stands in their class."""

    of_values: ClassVar[bool] = True

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """A suppressed row contributes 0."""
        return int(classes.value_counts(sensitive).sum())
