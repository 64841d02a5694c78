"""The attacker who knows a user's whole closed neighbourhood."""

from __future__ import annotations

from dataclasses import dataclass

from graphpriv.risk.comparison import Comparison
from graphpriv.risk.contract import Attacker, Told, attackers, untold
from graphpriv.risk.disclosure import Disclosure
from tabular.registry import option

#: One step in so many goes to the classes of equal neighbourhoods.
COMPARING = 16


@attackers.add(
    "ego",
    cites="Mares Soler (2013), eq 6.9 and 6.10; colour refinement after Weisfeiler and Leman (1968), "
    "individualisation after McKay and Piperno (2014)",
    limits="Knows all neighbours and all links among them; a neighbourhood that gained or lost one is not found. "
    "Very regular neighbourhoods may exhaust the steps; their users count as undecided.",
)
@dataclass(frozen=True, kw_only=True)
class Ego(Attacker):
    """Find the masked users whose whole neighbourhood is the same as a user's."""

    steps: int = option(2_500_000_000, low=1, high=10**15, help="steps that comparing all users of a scenario may take")

    @classmethod
    def within(cls, steps: int, spare: int = 0) -> Ego:
        """Classes of equal neighbourhoods are what `subgraph` starts from, found with as many steps: it spares none."""
        return cls(steps=max(1, steps // COMPARING))

    def disclosed(self, comparison: Comparison, attributes: tuple[str, ...], report: Told = untold) -> Disclosure:
        """Take the masked users in a user's class for its candidates."""
        return comparison.classes(attributes, steps=self.steps).disclosure(comparison.mapping)
