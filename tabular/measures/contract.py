"""The base class of measures of a masked table, and their registry."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from tabular.registry import Method, Registry
from tabular.table import Table

#: The measures of continuous attributes, which read values as numbers.
NUMERIC = ("pil", "dbrl-numbers", "prl-numbers")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a measure returns: the paper's formula and, where it has such a scale, a percentage.

    The true percentage lies within *bound* of the one given; where it is 0 the reading is exact.
    """

    raw: float
    percent: float | None = None
    bound: float = 0.0

    @classmethod
    def share(cls, raw: float, of: float) -> Reading:
        """The reading of a formula whose greatest value is *of*."""
        return cls(raw=raw, percent=100 * raw / of)


@dataclass(frozen=True, kw_only=True)
class Measure(Method):
    """A way to compare a masked table with its original."""

    @abstractmethod
    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """Compare the two by *attributes*; row i of both is the same record."""


measures: Registry[Measure] = Registry("measure")
