"""Global median: Mondrian's parts, which share the middle of their range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabular.attributes import ORDINAL
from tabular.protections.contract import Protection, protections
from tabular.protections.mondrian import ends_of, parts_of
from tabular.registry import option
from tabular.table import Table


@protections.add(
    "global-median",
    cites="Mares Soler (2013), section 5.3.1",
    limits="the middle of a range need not be a value that occurs; of two middles the lower one is taken",
)
@dataclass(frozen=True, kw_only=True)
class GlobalMedian(Protection):
    """Cut the records at medians into parts of k or more and give each the middle category of its part's range."""

    kinds: ClassVar[tuple[str, ...]] = (ORDINAL,)
    promises_k: ClassVar[bool] = True

    k: int = option(3, low=1, help="fewest records of a part")

    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """The middle of all categories of the domain between the ends of a range; draws nothing."""
        parts = parts_of(table, attributes, self.k, relaxed=False)
        columns = dict(table.columns)
        for name in attributes:
            lows, highs = ends_of(table.columns[name], parts)
            columns[name] = ((lows + highs) // 2)[parts].astype(np.int32)
        return Table(table.attributes, columns, table.sets)
