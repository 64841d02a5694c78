"""Measures of a masked table against its original: what was lost, and what it still gives away."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabular.attributes import CONTINUOUS
from tabular.registry import Method, Registry
from tabular.table import Table

#: What information loss is the mean of.
LOSSES = ("ctbil", "dbil", "ebil")

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


@dataclass(frozen=True, kw_only=True)
class Measure(Method):
    """A way to compare a masked table with its original."""

    @abstractmethod
    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """Compare the two by *attributes*; row i of both is the same record."""


measures: Registry[Measure] = Registry("measure")
measures.load(__name__)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The readings of all measures by name, and what they come to together, in percent."""

    readings: Mapping[str, Reading]

    @property
    def is_numeric(self) -> bool:
        """Whether the attributes were read as numbers."""
        return "pil" in self.readings

    @property
    def information_loss(self) -> float:
        """The mean of CTBIL, DBIL and EBIL (Mares Soler 2013, eq 4.9); of numbers PIL."""
        if self.is_numeric:
            return self._percent("pil")
        return sum(self._percent(name) for name in LOSSES) / len(LOSSES)

    @property
    def disclosure_risk(self) -> float:
        """The mean of ID and the better linkage, DBRL or PRL (eq 4.10); of numbers of ID and the mean linkage."""
        return self._risk(0.0)

    @property
    def disclosure_risk_bound(self) -> float:
        """How far `disclosure_risk` can be from the exact value; 0 where PRL was solved exactly."""
        bound = self.readings["prl-numbers" if self.is_numeric else "prl"].bound
        return max(self._risk(bound) - self._risk(0.0), self._risk(0.0) - self._risk(-bound))

    @property
    def score_mean(self) -> float:
        """The mean of loss and risk (eq 3.2)."""
        return (self.information_loss + self.disclosure_risk) / 2

    @property
    def score_max(self) -> float:
        """The greater of loss and risk (eq 3.4)."""
        return max(self.information_loss, self.disclosure_risk)

    def _risk(self, off: float) -> float:
        """The risk if PRL is *off* by so much."""
        nearest, one_to_one = ("dbrl-numbers", "prl-numbers") if self.is_numeric else ("dbrl", "prl")
        near, assigned = self._percent(nearest), min(max(self._percent(one_to_one) + off, 0.0), 100.0)
        return (self._percent("id") + ((near + assigned) / 2 if self.is_numeric else max(near, assigned))) / 2

    def _percent(self, name: str) -> float:
        percent = self.readings[name].percent
        if percent is None:
            raise ValueError(f"{name} has no percentage.")
        return percent


def summary(original: Table, masked: Table, attributes: Sequence[str]) -> Summary:
    """Take every measure of *masked* against *original*; row i of both is the same record.

    Attributes that are all continuous are measured as numbers; among others a continuous one counts as ordinal.
    """
    kinds = {original.attribute(name).kind for name in attributes}
    names = ("id", *NUMERIC) if kinds == {CONTINUOUS} else [name for name in measures if name not in NUMERIC]
    return Summary(readings={name: measures[name].method().measure(original, masked, attributes) for name in names})


__all__ = ["NUMERIC", "Measure", "Reading", "Summary", "measures", "summary"]
