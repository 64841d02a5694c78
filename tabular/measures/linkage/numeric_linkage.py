"""Linkage of numbers: to the nearest original, and one to one by agreement within a tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from tabular.measures.comparison import Column, Pairs, deviations, numbers_of, paired_columns
from tabular.measures.contract import Measure, Reading, measures
from tabular.measures.linkage.nearest import Labels
from tabular.measures.linkage.prl import linkage
from tabular.registry import option
from tabular.table import Table

#: Distances that differ by no more than this share are equal.
ROUNDING = 1e-9


@measures.add(
    "dbrl-numbers",
    cites="Domingo-Ferrer and Torra (2001)",
    limits="numbers only; n originals that are equally near count 1/n each",
)
@dataclass(frozen=True, kw_only=True)
class EuclideanLinkage(Measure):
    """Share of masked records whose nearest original is their own, by standardised numbers."""

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """The expected number of records linked rightly, and their share."""
        before, after = numbers_of(original, masked, attributes)
        scale = deviations(before)
        before, after = before / scale, after / scale
        tree = cKDTree(before)
        nearest, _ = tree.query(after)
        reach = nearest * (1 + ROUNDING) + ROUNDING
        tied = tree.query_ball_point(after, reach, return_length=True)
        own = np.sqrt(((before - after) ** 2).sum(axis=1))
        raw = float(np.sum(np.sort(np.where(own <= reach, 1 / tied, 0.0))))
        return Reading.share(raw, of=len(before))


@measures.add(
    "prl-numbers",
    cites="Domingo-Ferrer and Torra (2001); Fellegi and Sunter (1969)",
    limits="numbers only, otherwise as `prl`",
)
@dataclass(frozen=True, kw_only=True)
class ToleranceLinkage(Measure):
    """Share of masked records that one-to-one linkage assigns rightly, numbers agreeing within a tolerance."""

    tolerance: float = option(0.1, low=0, help="how far numbers that agree may differ, in standard deviations")
    steps: int = option(
        10**11, low=1, help="comparisons of two combinations at most; beyond them only a bound is given"
    )

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """The expected number of records assigned rightly, and their share."""
        columns = paired_columns(original, masked, attributes)
        before, _ = numbers_of(original, masked, attributes)
        reaches = self.tolerance * deviations(before) * (1 + ROUNDING)
        domains = [np.array(masked.attribute(name).domain, dtype=np.float64) for name in attributes]
        lows = [np.searchsorted(domain, domain - reach) for domain, reach in zip(domains, reaches, strict=True)]
        highs = [
            np.searchsorted(domain, domain + reach, side="right")
            for domain, reach in zip(domains, reaches, strict=True)
        ]
        return linkage(Pairs.of(columns), _windows(columns, np.concatenate(lows), np.concatenate(highs)), self.steps)


def _windows(columns: Sequence[Column], lows: np.ndarray, highs: np.ndarray) -> Labels:
    """Labels without members, which agree with the values in their window."""
    labels = Labels.of(columns)
    return labels._replace(
        members=np.zeros(0, dtype=np.int32),
        starts=np.zeros_like(labels.starts),
        lows=lows.astype(np.int64),
        highs=highs.astype(np.int64),
    )
