"""RSRL: linkage by distance within the reach of rank swapping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular.intervals import first_and_last
from tabular.measures.contract import Column, measures
from tabular.measures.linkage.nearest import Labels, NearestLinkage
from tabular.registry import option


@measures.add(
    "rsrl",
    cites="Mares Soler (2013), section 2.4.2; Nin, Herranz and Torra (2008)",
    limits="meaningful for rank-swapped files only, and with the reach of the swapping; a record whose "
    "original lies outside the window is not linked",
)
@dataclass(frozen=True, kw_only=True)
class RankSwappingLinkage(NearestLinkage):
    """Share of masked records whose nearest original within reach of a swap is their own.

    A value is within reach if records with the two values can stand so near to each other, in the order of the
    domain, that a swap exchanges them; a set is if the span of its values is.
    """

    percent: float = option(5.0, low=0, high=100, help="how far a swap reaches, in percent of the records")

    def labels(self, columns: Sequence[Column]) -> Labels:
        """The labels of *columns*, each with the window of values it can have been swapped from."""
        reach = round(len(columns[0].original) * self.percent / 100)
        windows = [_windows(column, reach) for column in columns]
        lows, highs = (np.concatenate([window[side] for window in windows]) for side in (0, 1))
        return Labels.of(columns)._replace(nearest=lows, farthest=highs)


def _windows(column: Column, reach: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each label the first value within reach, and the first beyond it."""
    frequencies = np.bincount(column.original, minlength=column.size)
    ends = np.cumsum(frequencies)
    starts = ends - frequencies
    values = np.arange(column.size)
    # Records of value v stand at starts[v] to ends[v] - 1. A value nobody has is within reach of itself.
    lows = np.minimum(np.searchsorted(ends - 1, starts - reach, side="left"), values)
    highs = np.maximum(np.searchsorted(starts, ends - 1 + reach, side="right"), values + 1)
    first, last = first_and_last(column.sets)
    return np.concatenate([lows, lows[first]]), np.concatenate([highs, highs[last]])
