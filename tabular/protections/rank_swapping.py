"""Rank swapping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidParameter, named
from tabular.kernels import compiled
from tabular.protections.contract import Protection, protections
from tabular.registry import option
from tabular.table import Table


@protections.add(
    "rank-swapping",
    cites="Moore (1996); Mares Soler (2013), section 2.3.4",
    limits="promises no k; columns are swapped one by one, which weakens the relations between them; nominal columns "
    "are swapped along the order of their domain, which has no meaning; an attacker who knows the reach looks within "
    "it (measure rsrl)",
)
@dataclass(frozen=True, kw_only=True)
class RankSwapping(Protection):
    """Exchange values between records that lie close in rank.

    Each record, from the lowest value up, swaps with one not yet swapped among the next *percent* of the records, each
    as probable as the others; one that finds none keeps its value. Records of equal value stand in random order.
    """

    keeps_frequencies: ClassVar[bool] = True

    percent: float = option(5.0, low=0, high=100, help="how far a swap reaches, in percent of the records")

    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """The table with the values of each of *attributes* swapped, one column after the other."""
        reach = round(len(table) * self.percent / 100)
        if self.percent and not reach:
            raise InvalidParameter(
                f"{self.percent:g} % of {len(table)} records is less than one: nothing would be swapped. "
                f"Raise {named('percent')} above {50 / len(table):.4g}.",
                must=f"be above {50 / len(table):.4g}",
                was=self.percent,
            )
        return table.with_codes(**{name: swapped(table.columns[name], reach, rng) for name in attributes})


def swapped(codes: NDArray[np.int32], reach: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """The values after each was swapped with a free one at most *reach* ranks above it."""
    # Ties in the order of the file would let the last records of a value alone reach the next one.
    order = rng.permutation(len(codes))
    by_rank = order[np.argsort(codes[order], kind="stable")]
    partners = partners_in_reach(rng.random(len(codes)), reach)
    new = np.empty_like(codes)
    new[by_rank] = codes[by_rank[partners]]
    return new


@compiled
def partners_in_reach(uniform: NDArray[np.float64], reach: int) -> NDArray[np.int64]:
    """For each rank its partner, or itself; *uniform* numbers choose among the free ones."""
    ranks = len(uniform)
    partners = np.arange(ranks)
    # The free ranks within reach in any order, and the place of each among them.
    free = np.empty(ranks, dtype=np.int64)
    place = np.full(ranks, -1, dtype=np.int64)
    count, entered = 0, 1
    for low in range(ranks if reach > 0 else 0):
        while entered < ranks and entered <= low + reach:
            free[count] = entered
            place[entered] = count
            count += 1
            entered += 1
        if place[low] >= 0:
            # It is no longer above: the last of the free ranks takes its place.
            count -= 1
            place[free[count]] = place[low]
            free[place[low]] = free[count]
        if partners[low] == low and count:
            chosen = int(uniform[low] * count)
            high = free[chosen]
            count -= 1
            place[free[count]] = chosen
            free[chosen] = free[count]
            place[high] = -1
            partners[low], partners[high] = high, low
    return partners
