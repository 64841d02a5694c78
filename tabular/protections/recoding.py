"""Recoding: the first, the last or the rarest categories of a column become one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import NOMINAL, ORDINAL
from tabular.errors import InvalidParameter, named
from tabular.protections.contract import Protection, protections
from tabular.registry import option
from tabular.table import Table

CITES = "Hundepool and others (1998); Mares Soler (2013), section 2.3.5"


@dataclass(frozen=True, kw_only=True)
class Recoding(Protection):
    """Join *count* categories of each column into one label."""

    kinds: ClassVar[tuple[str, ...]] = (ORDINAL,)

    count: int = option(2, low=2, help="number of categories to join, fewer than the domain has")

    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """The table with categories of each of *attributes* joined; draws nothing."""
        for name in attributes:
            size, codes = len(table.attribute(name).domain), table.columns[name]
            self._check_size(name, size)
            joined = self.ranked(table, name)[: self.count]
            table = table.with_labels(name, np.where(np.isin(codes, joined), size, codes), [joined.tolist()])
        return table

    @abstractmethod
    def ranked(self, table: Table, name: str) -> NDArray[np.integer]:
        """All categories of a column; the first are joined."""

    def _check_size(self, name: str, size: int) -> None:
        if size < 3:
            raise InvalidParameter(
                f"Column {name!r} has {size} {'category' if size == 1 else 'categories'}; joining two would leave "
                f"nothing to tell apart. Leave the column out."
            )
        if self.count >= size:
            raise InvalidParameter(
                f"Column {name!r} has {size} categories: {named('count')} must be from 2 to {size - 1}, not "
                f"{self.count}.",
                must=f"be from 2 to {size - 1}",
                was=self.count,
            )


@protections.add(
    "bottom-coding",
    cites=CITES,
    limits="promises no k, and the joined categories can still be rare; joins the last categories of the order, as "
    "the thesis has it, where common use has the first ones; a missing value is a category, the last of the order "
    "unless the domain places it elsewhere",
)
@dataclass(frozen=True, kw_only=True)
class BottomCoding(Recoding):
    """Join the *count* last categories of each column's order into one label."""

    def ranked(self, table: Table, name: str) -> NDArray[np.integer]:
        """The categories from the last to the first."""
        return np.arange(len(table.attribute(name).domain))[::-1]


@protections.add(
    "global-recoding",
    cites=CITES,
    limits="promises no k, and the joined categories can still be rare; the others stay as they are; in ordinal "
    "columns the joined categories need not lie side by side",
)
@dataclass(frozen=True, kw_only=True)
class GlobalRecoding(Recoding):
    """Join the *count* least frequent categories of each column into one label.

    Of equally frequent categories the first of the domain is joined first; those that do not occur are the rarest.
    """

    kinds: ClassVar[tuple[str, ...]] = (NOMINAL, ORDINAL)

    def ranked(self, table: Table, name: str) -> NDArray[np.integer]:
        """The categories from the rarest to the commonest."""
        return np.argsort(np.bincount(table.columns[name], minlength=len(table.attribute(name).domain)), kind="stable")


@protections.add(
    "top-coding",
    cites=CITES,
    limits="promises no k, and the joined categories can still be rare; joins the first categories of the order, as "
    "the thesis has it, where common use has the last ones; a missing value is a category, the last of the order "
    "unless the domain places it elsewhere",
)
@dataclass(frozen=True, kw_only=True)
class TopCoding(Recoding):
    """Join the *count* first categories of each column's order into one label."""

    def ranked(self, table: Table, name: str) -> NDArray[np.integer]:
        """The categories from the first to the last."""
        return np.arange(len(table.attribute(name).domain))
