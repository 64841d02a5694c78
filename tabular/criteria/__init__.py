"""Criteria of a table as it stands: how well its rows hide among each other, and who can still be found."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tabular.criteria.anonymity import Anonymity
from tabular.errors import InvalidInput
from tabular.registry import Method, Registry
from tabular.table import Table

HIGHER, LOWER = "higher", "lower"

#: Parameters that are given to every criterion that has them.
POPULATION = "population"


@dataclass(frozen=True, kw_only=True)
class Criterion(Method):
    """Something to say of a table, given its classes."""

    #: Whether it looks at a sensitive attribute.
    of_values: ClassVar[bool] = False
    #: Which values are the safer ones.
    safer: ClassVar[str] = HIGHER

    @abstractmethod
    def value(self, classes: Anonymity, sensitive: str) -> float:
        """The value of the criterion; the *sensitive* attribute counts if the criterion is `of_values`."""


criteria: Registry[Criterion] = Registry("criterion")
criteria.load(__name__)


def key_of(name: str) -> str:
    """The key a criterion has in a document."""
    return name.replace("-", "_")


@dataclass(frozen=True, kw_only=True)
class Check:
    """What all criteria say of a table; of a sensitive attribute one number each."""

    classes: Anonymity
    of_rows: Mapping[str, float]
    of_values: Mapping[str, Mapping[str, float]]

    def worst(self, name: str) -> float:
        """The least safe value of a criterion, over the sensitive attributes."""
        if name in self.of_rows:
            return self.of_rows[name]
        pick = min if criteria[name].method.safer == HIGHER else max
        return pick(found[name] for found in self.of_values.values())

    def document(self) -> dict[str, Any]:
        """Everything as plain values; None stands for what cannot be had, such as an infinite beta.

        Of several sensitive attributes the criteria give the least safe value, and `by_attribute` that of each.
        `class_sizes` are pairs of a size and how many classes have it.
        """
        sizes, times = np.unique(self.classes.classes.sizes, return_counts=True)
        return {
            "rows": len(self.classes.table),
            "suppressed": len(self.classes.table) - len(self.classes.kept),
            "classes": len(self.classes.classes.sizes),
            "quasi_identifiers": list(self.classes.quasi_identifiers),
            "sensitive": list(self.of_values),
            **{
                key_of(name): _plain(self.worst(name)) if name in self.of_rows or self.of_values else None
                for name in criteria
            },
            "by_attribute": {
                attribute: {key_of(name): _plain(value) for name, value in found.items()}
                for attribute, found in self.of_values.items()
            },
            "class_sizes": [list(each) for each in zip(sizes.tolist(), times.tolist(), strict=True)],
        }


def check(
    table: Table,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    *,
    suppressed: NDArray[np.bool_] | None = None,
    population: Table | None = None,
) -> Check:
    """Take every criterion of *table*; suppressed rows are left out of all but the sums, where they count 0.

    Without a *population* the people who could be meant are those of the table.
    """
    if isinstance(sensitive, str) or len(set(sensitive)) < len(sensitive):
        raise InvalidInput("The sensitive attributes are a list of columns, none of them twice.")
    if len(set(quasi_identifiers)) < len(quasi_identifiers) and not isinstance(quasi_identifiers, str):
        raise InvalidInput("The quasi-identifiers are a list of columns, none of them twice.")
    both = sorted(set(sensitive) & set(quasi_identifiers))
    if both:
        raise InvalidInput(f"Column {both[0]!r} cannot be a quasi-identifier and sensitive at once.")
    classes = Anonymity.of(table, quasi_identifiers, suppressed=suppressed)
    made = {name: criteria[name].method(**_given(name, population)) for name in criteria}
    return Check(
        classes=classes,
        of_rows={name: each.value(classes, "") for name, each in made.items() if not each.of_values},
        of_values={
            attribute: {name: each.value(classes, attribute) for name, each in made.items() if each.of_values}
            for attribute in sensitive
        },
    )


def _given(name: str, population: Table | None) -> dict[str, Any]:
    takes_one = POPULATION in criteria[name].method.__dataclass_fields__
    return {POPULATION: population} if takes_one else {}


def _plain(value: float) -> float | None:
    return value if isfinite(value) else None


__all__ = ["HIGHER", "LOWER", "Check", "Criterion", "check", "criteria", "key_of"]
