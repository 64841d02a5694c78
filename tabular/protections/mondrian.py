"""Mondrian: parts of k or more records, each of which publishes the values it covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tabular.grouping.multidimensional import parts_of
from tabular.labels import Members
from tabular.protections.contract import Protection, protections
from tabular.registry import option
from tabular.table import Table

STRICT, RELAXED = CUTS = ("strict", "relaxed")


@protections.add(
    "mondrian",
    cites="LeFevre, DeWitt and Ramakrishnan (2006); Mares Soler (2013), section 2.3.3",
    limits="nominal columns are cut along the order of their domain, which means nothing for them; a label of a "
    "continuous column covers, and is stored with, every number of the column that lies in it",
)
@dataclass(frozen=True, kw_only=True)
class Mondrian(Protection):
    """Cut the records at medians into parts of k or more and give each the range of its part's values."""

    promises_k: ClassVar[bool] = True

    k: int = option(3, low=1, help="records of a part, at least")
    cuts: str = option(
        STRICT, choices=CUTS, help="strict: equal values stay together; relaxed: they may part, parts have less than 2k"
    )

    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """Labels [a,b] of the ends of ordered columns, {a|b} of the values of nominal ones; draws nothing."""
        parts = parts_of(table, attributes, self.k, relaxed=self.cuts == RELAXED)
        columns, sets = dict(table.columns), dict(table.sets)
        for name in attributes:
            attribute = table.attribute(name)
            label = _ranges if attribute.is_ordered else _choices
            columns[name], sets[name] = label(table.columns[name], parts, len(attribute.domain))
        return Table(table.attributes, columns, sets)


def ends_of(codes: NDArray[np.int32], parts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lowest and the highest code of each part."""
    order = np.argsort(parts, kind="stable")
    sizes = np.bincount(parts)
    starts, held = np.cumsum(sizes) - sizes, codes[order].astype(np.int64)
    return np.minimum.reduceat(held, starts), np.maximum.reduceat(held, starts)


def _ranges(
    codes: NDArray[np.int32], parts: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int32], tuple[Members, ...]]:
    lows, highs = ends_of(codes, parts)
    keys, which = np.unique(lows * size + highs, return_inverse=True)
    sets = tuple(tuple(range(key // size, key % size + 1)) for key in keys.tolist())
    return (size + which[parts]).astype(np.int32), sets


def _choices(
    codes: NDArray[np.int32], parts: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int32], tuple[Members, ...]]:
    keys = np.unique(parts * size + codes)
    members = np.split(keys % size, np.flatnonzero(np.diff(keys // size)) + 1)
    found: dict[Members, int] = {}
    which = np.array([found.setdefault(tuple(each.tolist()), len(found)) for each in members])
    return (size + which[parts]).astype(np.int32), tuple(found)
