"""The contract and registry of measures of information loss."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from graphpriv.pair import Pair
from tabular.registry import Method, Registry


@dataclass(frozen=True)
class Reading:
    """What a measure returns: the loss of each attribute and their mean, 0 where nothing was lost."""

    by_attribute: Mapping[str, float]
    mean: float

    @classmethod
    def of(cls, by_attribute: Mapping[str, float]) -> Reading:
        """The reading with the plain mean over the attributes (eq 6.3 and 6.5)."""
        return cls(by_attribute, sum(by_attribute.values()) / len(by_attribute))


@dataclass(frozen=True, kw_only=True)
class Measure(Method):
    """A way to compare an original with a masked graph."""

    @abstractmethod
    def measure(self, pair: Pair) -> Reading | None:
        """The loss by attribute; None where it cannot be known because the mapping is not."""


measures: Registry[Measure] = Registry("measure")


def information_loss(pair: Pair) -> float | None:
    """The mean of AAMIL, CDIL and DBIL (Mares Soler 2013, eq 6.8); None without a mapping."""
    readings = [measures[name].method().measure(pair) for name in ("aamil", "cdil", "dbil")]
    means = [reading.mean for reading in readings if reading is not None]
    return sum(means) / len(means) if len(means) == len(readings) else None
