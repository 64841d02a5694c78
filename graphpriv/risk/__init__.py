"""Disclosure risk: which users can be found again in a masked graph by what surrounds them (eq 6.9 and 6.10)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.risk.comparison import Comparison
from graphpriv.risk.disclosure import Disclosure
from graphpriv.risk.scenarios import SCENARIOS, user_labels
from tabular.registry import Method, Registry


@dataclass(frozen=True, kw_only=True)
class Attacker(Method):
    """Who looks for the neighbourhoods of original users in a masked graph."""

    def disclose(
        self,
        original: SocialGraph,
        masked: SocialGraph,
        mapping: NDArray[np.int64] | None,
        scenarios: Mapping[str, tuple[str, ...]],
        *,
        workers: int | None = None,
    ) -> dict[str, Disclosure]:
        """What this attacker finds in each scenario."""
        return self.disclose_in(Comparison.of(original, masked, mapping, workers=workers), scenarios)

    @abstractmethod
    def disclose_in(self, comparison: Comparison, scenarios: Mapping[str, tuple[str, ...]]) -> dict[str, Disclosure]:
        """The same for two graphs that other attackers look at as well."""


#: The attackers, by name.
attackers: Registry[Attacker] = Registry("attacker")
attackers.load(__name__)

__all__ = [
    "SCENARIOS",
    "Attacker",
    "Comparison",
    "Disclosure",
    "attackers",
    "user_labels",
]
