"""The contract and registry of attackers, and the scenarios of what they know."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import ATTRIBUTES, SocialGraph
from graphpriv.risk.comparison import Comparison
from graphpriv.risk.disclosure import Disclosure
from tabular.loop import key_of
from tabular.registry import Method, Registry

#: Mares Soler (2013), section 6.5: each attribute, all topics, all attributes. The empty set is the structure alone.
SCENARIOS: dict[str, tuple[str, ...]] = {
    "location": ("location",),
    "topic1": ("topic1",),
    "topic2": ("topic2",),
    "topic3": ("topic3",),
    "topics": ("topic1", "topic2", "topic3"),
    "all": ATTRIBUTES,
}


#: Takes how many steps are used up, and of how many.
Told = Callable[[int, int], None]


def untold(used: int, of: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, kw_only=True)
class Attacker(Method):
    """Looks for the neighbourhoods of original users in a masked graph."""

    steps: int

    @classmethod
    def within(cls, steps: int, spare: int = 0) -> Attacker:
        """An attacker with its part of the *steps* of a scenario, and with what others could spare."""
        return cls(steps=max(1, steps + spare))

    def disclose(
        self,
        original: SocialGraph,
        masked: SocialGraph,
        mapping: NDArray[np.int64] | None,
        scenarios: Mapping[str, tuple[str, ...]],
        *,
        workers: int | None = None,
    ) -> dict[str, Disclosure]:
        """The disclosure of each scenario."""
        comparison = Comparison.of(original, masked, mapping, workers=workers)
        return {name: self.disclosed(comparison, attributes) for name, attributes in scenarios.items()}

    def found(self, comparison: Comparison, attributes: tuple[str, ...], report: Told = untold) -> Disclosure:
        """As `disclosed`, or what was kept of that."""
        key = key_of(self, comparison.key(attributes))
        return Disclosure.of_values(
            comparison.parts.kept(key, lambda: self.disclosed(comparison, attributes, report).values)
        )

    @abstractmethod
    def disclosed(self, comparison: Comparison, attributes: tuple[str, ...], report: Told = untold) -> Disclosure:
        """The disclosure where these *attributes* are known, on a comparison that attackers share.

        *report* is told how many of the steps are used up, and of how many.
        """


#: The attackers, by name.
attackers: Registry[Attacker] = Registry("attacker")
