"""Bottom coding: the last categories of the order become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabular.attributes import ORDINAL
from tabular.protections.contract import Protection, protections
from tabular.protections.joining import with_joined
from tabular.registry import option
from tabular.table import Table


@protections.add(
    "bottom-coding",
    cites="Hundepool and others (1998); Mares Soler (2013), section 2.3.5",
    limits="promises no k, and the joined categories can still be rare; joins the last categories of the order, as "
    "the thesis has it, where common use has the first ones; a missing value is a category where it stands in the "
    "order, at the end unless the domain has it elsewhere",
)
@dataclass(frozen=True, kw_only=True)
class BottomCoding(Protection):
    """Join the *count* last categories of each column's order into one label."""

    kinds: ClassVar[tuple[str, ...]] = (ORDINAL,)

    count: int = option(2, low=2, help="categories to join, fewer than the domain has")

    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """The table with the last categories of each of *attributes* joined."""
        for name in attributes:
            categories = np.arange(len(table.attribute(name).domain))[::-1]
            table = with_joined(table, name, categories, self.count)
        return table
