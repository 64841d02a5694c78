"""Criteria of the sizes of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tabular.criteria import LOWER, Criterion, criteria
from tabular.criteria.anonymity import Anonymity


@criteria.add(
    "k",
    cites="Samarati and Sweeney (1998); Sweeney (2002)",
    limits="says nothing of what the rows of a class have in common; suppressed rows are left out",
)
@dataclass(frozen=True, kw_only=True)
class SmallestClass(Criterion):
    """Rows of the smallest class: the k of k-anonymity."""

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """The size of the smallest class."""
        return classes.k


@criteria.add(
    "average-class-size",
    cites="LeFevre, DeWitt and Ramakrishnan (2006)",
    limits="a mean over classes, not over rows, and not divided by k",
)
@dataclass(frozen=True, kw_only=True)
class MeanClass(Criterion):
    """Mean number of rows of a class."""

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """The rows kept over the classes."""
        return len(classes.kept) / len(classes.classes.sizes)


@criteria.add(
    "uniqueness",
    cites="Bethlehem, Keller and Pannekoek (1990)",
    limits="uniqueness in the table, which is more than in the population it was drawn from",
)
@dataclass(frozen=True, kw_only=True)
class Uniqueness(Criterion):
    """Share of rows that are alone in their class."""

    safer: ClassVar[str] = LOWER

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """The classes of one row over the rows."""
        return classes.uniqueness


@criteria.add(
    "s-k",
    cites="Dewri, Ray, Ray and Whitley (2010), spread of the property class size",
    limits="grows with the square of the classes, so that a few large ones hide many small ones",
)
@dataclass(frozen=True, kw_only=True)
class SpreadOfSizes(Criterion):
    """Sum of the sizes of the rows' classes."""

    def value(self, classes: Anonymity, sensitive: str) -> float:
        """A suppressed row contributes 0."""
        return int(classes.class_sizes().sum())
