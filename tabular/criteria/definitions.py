"""The criteria: sizes of classes, sensitive values within classes, likeness to the whole table, re-identification."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from tabular.criteria.anonymity import Anonymity
from tabular.criteria.contract import LOWER, Criterion, criteria, define
from tabular.registry import option

L_DIVERSITY = "Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007)"
RISKS = "El Emam and Dankar (2008)"

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
    "Sum over the rows of how often their sensitive value stands in their class.",
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
