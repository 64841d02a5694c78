"""The attacker who knows a user's whole closed neighbourhood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphpriv.risk.comparison import Comparison
from graphpriv.risk.contract import Attacker, attackers
from graphpriv.risk.disclosure import Disclosure
from tabular.registry import option


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

    steps: int = option(20_000_000, low=1, high=10**12, help="steps allowed for comparing two neighbourhoods")

    def disclosed(self, comparison: Comparison, attributes: tuple[str, ...]) -> Disclosure:
        """Take the masked users in a user's class for its candidates."""
        classes = comparison.classes(attributes, budget=self.steps)
        users = len(comparison.original)
        own, masked = classes.of[:users], classes.of[users:]
        candidates = np.bincount(masked, minlength=len(classes.of))[own]
        true_found = None
        if comparison.mapping is not None:
            there = comparison.mapping >= 0
            true_found = there.copy()
            true_found[there] = own[there] == masked[comparison.mapping[there]]
        return Disclosure(candidates > 0, classes.open[:users].copy(), candidates, true_found)
