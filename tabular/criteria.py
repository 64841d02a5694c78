"""Criteria of a table as it stands: k, l, t and the risks of re-identification, and the check of all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tabular.anonymity import Anonymity, spread, suppressed_rows
from tabular.attributes import Attribute, text_of
from tabular.errors import InvalidInput
from tabular.registry import Method, Registry, option
from tabular.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "HIGHER",
    "LOWER",
    "Anonymity",
    "Check",
    "Criterion",
    "check",
    "criteria",
    "key_of",
    "spread",
    "suppressed_rows",
]

HIGHER, LOWER = "higher", "lower"

L_DIVERSITY = "Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007)"
RISKS = "El Emam and Dankar (2008)"
#: The numbers of a document that are not criteria.
COUNTS = ("rows", "suppressed", "classes")


@dataclass(frozen=True, kw_only=True)
class Criterion(Method):
    """A number that tells how safe a table is, given the classes of its rows."""

    #: Whether it looks at a sensitive attribute.
    of_values: ClassVar[bool] = False
    #: Which values are the safer ones.
    safer: ClassVar[str] = HIGHER

    @abstractmethod
    def value(self, anonymity: Anonymity, sensitive: str) -> float:
        """The value of the criterion; the *sensitive* attribute counts if the criterion is `of_values`."""


criteria: Registry[Criterion] = Registry("criterion")


def define(
    name: str,
    summary: str,
    value: Callable[[Anonymity, str], float],
    *,
    cites: str,
    limits: str,
    safer: str = HIGHER,
    of_values: bool = False,
) -> None:
    """Enter a criterion without parameters; *summary* is the sentence that lists and help texts show."""
    body = {
        "__doc__": summary,
        "__module__": __name__,
        "safer": safer,
        "of_values": of_values,
        "value": lambda self, anonymity, sensitive: value(anonymity, sensitive),
    }
    criteria.add(name, cites=cites, limits=limits)(type(name, (Criterion,), body))


def key_of(name: str) -> str:
    """The key a criterion has in a document."""
    return name.replace("-", "_")


_of_values = partial(define, of_values=True)
define(
    "k",
    "Rows of the smallest class: the k of k-anonymity.",
    lambda anonymity, _: anonymity.k,
    cites="Samarati and Sweeney (1998); Sweeney (2002)",
    limits="does not tell what the rows of a class have in common; suppressed rows are left out",
)
define(
    "average-class-size",
    "Mean number of rows of a class.",
    lambda anonymity, _: len(anonymity.kept) / len(anonymity.classes.sizes),
    cites="LeFevre, DeWitt and Ramakrishnan (2006)",
    limits="a mean over classes, not over rows, and not divided by k",
)
define(
    "uniqueness",
    "Share of rows that are alone in their class.",
    lambda anonymity, _: anonymity.uniqueness,
    safer=LOWER,
    cites="Bethlehem, Keller and Pannekoek (1990)",
    limits="uniqueness in the table, which is greater than in the population the table was drawn from",
)
define(
    "s-k",
    "Sum over the rows of the size of their class.",
    lambda anonymity, _: int(anonymity.class_sizes().sum()),
    cites="Dewri, Ray, Ray and Whitley (2010), spread of the property class size",
    limits="grows with the square of the classes, so that a few large ones hide many small ones",
)
_of_values(
    "l",
    "Fewest distinct sensitive values in a class: the l of distinct l-diversity.",
    lambda anonymity, sensitive: anonymity.diversity(sensitive).distinct,
    cites=L_DIVERSITY,
    limits="a value counts however rare it is in the class; a missing value is one",
)
_of_values(
    "entropy-l",
    "Least exponential of the entropy of a class's sensitive values.",
    lambda anonymity, sensitive: anonymity.diversity(sensitive).entropy,
    cites=L_DIVERSITY,
    limits="not rounded down to a whole number",
)


@criteria.add(
    "recursive-c",
    cites=L_DIVERSITY,
    limits="the table has recursive (c,l)-diversity for every c above it; unless an l is given it is the distinct l",
)
@dataclass(frozen=True, kw_only=True)
class RecursiveDiversity(Criterion):
    """Greatest ratio of a class's commonest sensitive value to its l-th commonest and all rarer ones."""

    of_values: ClassVar[bool] = True
    safer: ClassVar[str] = LOWER

    l: int | None = option(None, low=1, help="l of recursive (c,l)-diversity")  # noqa: E741

    def value(self, anonymity: Anonymity, sensitive: str) -> float:
        """The ratio; infinite where a class has fewer values than l."""
        found = anonymity.diversity(sensitive)
        return found.recursive(found.distinct if self.l is None else int(self.l))


_of_values(
    "alpha",
    "Greatest share of a class that has the same sensitive value: the alpha of (alpha,k)-anonymity.",
    lambda anonymity, sensitive: anonymity.diversity(sensitive).largest_share,
    safer=LOWER,
    cites="Wong, Li, Fu and Wang (2006)",
    limits="looks at the commonest value of a class, whichever it is",
)


_of_values(
    "s-l",
    "Sum over the rows of how often their sensitive value occurs in their class.",
    lambda anonymity, sensitive: int(anonymity.value_counts(sensitive).sum()),
    cites="Dewri, Ray, Ray and Whitley (2010), spread of the property count of the sensitive value",
    limits="greatest where all rows of large classes share a value, which is no diversity",
)


_of_values(
    "t",
    "Greatest earth mover's distance between the sensitive values of a class and of the table.",
    lambda anonymity, sensitive: anonymity.diversity(sensitive).closeness,
    safer=LOWER,
    cites="Li, Li and Venkatasubramanian (2007)",
    limits="ordinal and continuous values are as far apart as their ranks, nominal ones all 1 apart; no distance by "
    "hierarchy",
)


_of_values(
    "beta",
    "Greatest relative gain of a sensitive value's share from the table to a class.",
    lambda anonymity, sensitive: anonymity.diversity(sensitive).likeness,
    safer=LOWER,
    cites="Cao and Karras (2012), basic beta-likeness",
    limits="bounds gains only, not losses",
)


_of_values(
    "enhanced-beta",
    "Least beta of enhanced beta-likeness, which keeps frequent values below certainty, too.",
    lambda anonymity, sensitive: anonymity.diversity(sensitive).enhanced_likeness,
    safer=LOWER,
    cites="Cao and Karras (2012), enhanced beta-likeness",
    limits="infinite where a value gains more than -log of its share in the table: then no beta is enough",
)


_of_values(
    "delta",
    "Greatest |log| of the ratio of a sensitive value's shares in a class and in the table.",
    lambda anonymity, sensitive: anonymity.diversity(sensitive).disclosure,
    safer=LOWER,
    cites="Brickell and Shmatikov (2008)",
    limits="natural logarithms; covers the values that occur in the class: an absent one would make it infinite",
)


define(
    "prosecutor-risk",
    "Greatest chance to find a row whose owner is known to be in the table.",
    lambda anonymity, _: anonymity.prosecutor_risk,
    safer=LOWER,
    cites=RISKS,
    limits="the risk of the row that is easiest to find: 1 / k",
)


define(
    "journalist-risk",
    "Greatest chance to find a row whose owner is only known to be in the population.",
    lambda anonymity, _: anonymity.journalist_risk,
    safer=LOWER,
    cites=RISKS,
    limits="without a population table it is the prosecutor's risk",
)


define(
    "marketer-risk",
    "Expected share of rows whose owners an attacker finds who looks for all of them.",
    lambda anonymity, _: anonymity.marketer_risk,
    safer=LOWER,
    cites="Dankar and El Emam (2010)",
    limits="without a population table the people of the table count as the population",
)


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
        from tabular.report.kit.page import frame_snippet

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
