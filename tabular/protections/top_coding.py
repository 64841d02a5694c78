"""Top coding: the first categories of the order become one."""

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
    "top-coding",
    cites="Hundepool and others (1998); Mares Soler (2013), section 2.3.5",
    limits="promises no k, and the joined categories can still be rare; joins the first categories of the order, as "
    "the thesis has it, where common use has the last ones; a missing value is a category where it stands in the "
    "order, at the end unless the domain has it elsewhere",
)
@dataclass(frozen=True, kw_only=True)
class TopCoding(Protection):
    """Join the *count* first categories of each column's order into one label."""

    kinds: ClassVar[tuple[str, ...]] = (ORDINAL,)

    count: int = option(2, low=2, help="categories to join, fewer than the domain has")

    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """The table with the first categories of each of *attributes* joined."""
        for name in attributes:
            categories = np.arange(len(table.attribute(name).domain))
            table = with_joined(table, name, categories, self.count)
        return table
