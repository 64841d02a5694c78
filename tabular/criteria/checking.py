"""Checking a table as it stands: all criteria in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Attribute, text_of
from tabular.criteria.anonymity import Anonymity, suppressed_rows
from tabular.criteria.contract import HIGHER, criteria, key_of
from tabular.errors import InvalidInput
from tabular.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame

#: The numbers of a document that are not criteria.
COUNTS = ("rows", "suppressed", "classes")


@dataclass(frozen=True, kw_only=True)
class Check:
    """The values of all criteria, by sensitive attribute where they depend on one."""

    anonymity: Anonymity
    of_rows: Mapping[str, float]
    of_values: Mapping[str, Mapping[str, float]]

    @staticmethod
    def paths(sensitive: Sequence[str] = ()) -> list[tuple[str, ...]]:
        """The paths of all numbers of a document with these *sensitive* columns, known before a table is read."""
        by_attribute = [
            ("by_attribute", attribute, key_of(entry.name))
            for attribute in sensitive
            for entry in criteria.entries()
            if entry.method.of_values
        ]
        return [*((key,) for key in (*COUNTS, *map(key_of, criteria))), *by_attribute]

    def worst(self, name: str) -> float:
        """The least safe value of a criterion, over the sensitive attributes."""
        if name in self.of_rows:
            return self.of_rows[name]
        pick = min if criteria[name].method.safer == HIGHER else max
        return pick(found[name] for found in self.of_values.values())

    def to_frame(self) -> DataFrame:
        """One row for each criterion, and for each sensitive attribute where it looks at one."""
        from pandas import DataFrame

        rows: list[tuple[str, str | None, float]] = [(name, None, value) for name, value in self.of_rows.items()]
        rows += [
            (name, attribute, value) for attribute, found in self.of_values.items() for name, value in found.items()
        ]
        return DataFrame(rows, columns=["criterion", "attribute", "value"])

    def _repr_html_(self) -> str:
        from tabular.report.kit.snippet import frame_snippet

        rows, names = len(self.anonymity.table), ", ".join(self.anonymity.quasi_identifiers)
        return frame_snippet(f"Criteria over {names}, {rows:,} rows.", self.to_frame(), most=100)

    def document(self) -> dict[str, Any]:
        """Everything as plain values; None stands for a value that does not exist, such as an infinite beta.

        With several sensitive attributes a criterion is the least safe value, and `by_attribute` has all of them.
        `class_sizes` are pairs of a size and how many classes have it.
        """
        sizes, times = np.unique(self.anonymity.classes.sizes, return_counts=True)
        return {
            "rows": len(self.anonymity.table),
            "suppressed": len(self.anonymity.table) - len(self.anonymity.kept),
            "classes": len(self.anonymity.classes.sizes),
            "quasi_identifiers": list(self.anonymity.quasi_identifiers),
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
    """Take every criterion of *table*; suppressed rows count 0 in sums and are left out elsewhere.

    Without *suppressed* the rows with `*` in all quasi-identifiers count as suppressed. Without a *population* the
    table is the population; both are compared by their values as text.
    """
    for what, names in (("sensitive attributes", sensitive), ("quasi-identifiers", quasi_identifiers)):
        if isinstance(names, str) or len(set(names)) < len(names):
            raise InvalidInput(f"The {what} are a list of columns, none of them twice.")
    both = sorted(set(sensitive) & set(quasi_identifiers))
    if both:
        raise InvalidInput(f"Column {both[0]!r} cannot be a quasi-identifier and sensitive at once.")
    if population is not None:
        table, population = in_common_domains(table, population, quasi_identifiers)
    if suppressed is None:
        suppressed = suppressed_rows(table, quasi_identifiers)
    anonymity = Anonymity.of(table, quasi_identifiers, suppressed=suppressed, population=population)
    made = {entry.name: entry.method() for entry in criteria.entries()}
    return Check(
        anonymity=anonymity,
        of_rows={name: each.value(anonymity, "") for name, each in made.items() if not each.of_values},
        of_values={
            attribute: {name: each.value(anonymity, attribute) for name, each in made.items() if each.of_values}
            for attribute in sensitive
        },
    )


def in_common_domains(table: Table, population: Table, names: Sequence[str]) -> tuple[Table, Table]:
    """Both tables with common domains for the columns *names*: each value, and each set, is its text."""
    texts = [{name: [text_of(value) for value in each.values(name)] for name in names} for each in (table, population)]
    attributes = [Attribute(name=name, domain=tuple(sorted({*texts[0][name], *texts[1][name]}))) for name in names]
    mine, theirs = (Table.from_columns(each, attributes) for each in texts)
    others = [each for each in table.attributes if each.name not in names]
    sets = {each.name: table.sets[each.name] for each in others}
    return Table((*mine.attributes, *others), {**table.columns, **mine.columns}, sets), theirs


def _plain(value: float) -> float | None:
    return value if isfinite(value) else None
