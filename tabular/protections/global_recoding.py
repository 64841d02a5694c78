"""Global recoding: the least frequent categories become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabular.attributes import NOMINAL, ORDINAL
from tabular.protections.contract import Protection, protections
from tabular.protections.joining import with_joined
from tabular.registry import option
from tabular.table import Table


@protections.add(
    "global-recoding",
    cites="Hundepool and others (1998); Mares Soler (2013), section 2.3.5",
    limits="promises no k, and the joined categories can still be rare; what is not joined stays as it is; of ordinal "
    "columns the joined categories need not lie side by side",
)
@dataclass(frozen=True, kw_only=True)
class GlobalRecoding(Protection):
    """Join the *count* least frequent categories of each column into one label.

    Of equally frequent categories the first of the domain is joined first; those that do not occur are the rarest.
    """

    kinds: ClassVar[tuple[str, ...]] = (NOMINAL, ORDINAL)

    count: int = option(2, low=2, help="categories to join, fewer than the domain has")

    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """The table with the rarest categories of each of *attributes* joined."""
        for name in attributes:
            frequencies = np.bincount(table.columns[name], minlength=len(table.attribute(name).domain))
            table = with_joined(table, name, np.argsort(frequencies, kind="stable"), self.count)
        return table
