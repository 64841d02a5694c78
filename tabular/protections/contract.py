"""What every protection of a table is, and where they are entered."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabular.attributes import KINDS
from tabular.registry import Method, Registry
from tabular.table import Table


@dataclass(frozen=True, kw_only=True)
class Protection(Method):
    """A way to mask some columns of a table, row by row; what it promises is data, and tests hold it to that."""

    #: The kinds of attribute it takes.
    kinds: ClassVar[tuple[str, ...]] = KINDS
    #: Whether k records or more agree, k being a parameter of the method; see `k_holds_over`.
    promises_k: ClassVar[bool] = False
    #: Whether each column keeps the frequencies of its values.
    keeps_frequencies: ClassVar[bool] = False

    @abstractmethod
    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """A new table with other codes in the columns *attributes*: the same rows in the same order, in its domains.

        Continuous attributes alone can gain numbers, as means are. It can count on what
        `tabular.protections.protect` checks: one or more rows, columns that exist, none of them twice, of its kinds,
        that hold values and no sets, and k <= rows.
        """

    def k_holds_over(self, attributes: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """The groups of columns over which k holds: of a masked table, k rows or more agree in all of a group."""
        return (tuple(attributes),) if self.promises_k else ()


protections: Registry[Protection] = Registry("protection")
