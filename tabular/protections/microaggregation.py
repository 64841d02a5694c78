"""Microaggregation: groups of k similar records, which share the middle of their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import CONTINUOUS, Attribute, widened
from tabular.errors import InvalidParameter, UnknownName, named
from tabular.grouping.group_sizes import with_varied_sizes
from tabular.grouping.mdav import mdav
from tabular.grouping.points import domain_numbers, points_of
from tabular.protections.contract import Protection, protections
from tabular.registry import option
from tabular.table import Table

FIXED, VARIABLE = SIZES = ("fixed", "variable")


@protections.add(
    "microaggregation",
    cites="Domingo-Ferrer and Torra (2005); Mares Soler (2013), section 2.3.2 and Alg. 4",
    limits="k holds over each group of columns, not over several groups together; a heuristic, since the best "
    "groups of several columns are NP-hard to find (for one ordered column variable sizes give the best)",
)
@dataclass(frozen=True, kw_only=True)
class Microaggregation(Protection):
    """Form groups of k similar records by MDAV and give each record its group's mean, median or mode."""

    promises_k: ClassVar[bool] = True

    k: int = option(3, low=1, help="fewest records of a group")
    groups: str | int | Sequence[Sequence[str]] | None = option(
        None, help="columns protected together: a number, or names as in 'a,b;c'; all of them if not given"
    )
    univariate: bool = option(False, help="protect each column alone, in place of groups")
    sizes: str = option(
        FIXED, choices=SIZES, help="fixed: groups of k; variable: groups of k to 2k - 1, where that loses less"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.univariate and self.groups is not None:
            raise InvalidParameter(
                f"Give {named('groups')} or {named('univariate')}, not both.", owner="Microaggregation"
            )

    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """Each group of columns by itself; draws nothing."""
        for names in self.k_holds_over(attributes):
            points = points_of(table, names)
            groups = mdav(points, self.k)
            if self.sizes == VARIABLE:
                groups = with_varied_sizes(points, groups, self.k)
            table = aggregated(table, names, groups)
        return table

    def k_holds_over(self, attributes: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """The columns that are protected together."""
        names = tuple(attributes)
        if self.univariate:
            return tuple((name,) for name in names)
        if self.groups is None:
            return (names,)
        if isinstance(self.groups, int) or (isinstance(self.groups, str) and self.groups.strip().isdecimal()):
            size = int(self.groups)
            if size < 1:
                must = "have at least 1 column"
                raise InvalidParameter.wrong("groups", must=must, was=size, owner="Microaggregation")
            return tuple(names[start : start + size] for start in range(0, len(names), size))
        if isinstance(self.groups, str):
            return _by_name(names, [part.split(",") for part in self.groups.split(";")])
        return _by_name(names, self.groups)


def _by_name(names: tuple[str, ...], groups: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    found = tuple(tuple(name if name in names else name.strip() for name in group) for group in groups)
    listed = [name for group in found for name in group]
    for name in listed:
        if name not in names:
            raise UnknownName.among("column to protect", name, names)
    for name in names:
        if listed.count(name) != 1:
            raise InvalidParameter.wrong("groups", must=f"name {name!r} once", was=groups, owner="Microaggregation")
    return found


def aggregated(table: Table, attributes: Sequence[str], groups: NDArray[np.int64]) -> Table:
    """*table* with the middle of its group for each record: mean, lower median or lowest mode."""
    described = {attribute.name: attribute for attribute in table.attributes}
    columns = dict(table.columns)
    for name in attributes:
        attribute = described[name]
        if attribute.kind == CONTINUOUS:
            described[name], middles = _means(attribute, columns[name], groups)
        elif attribute.is_ordered:
            middles = _medians(columns[name], groups)
        else:
            middles = _modes(columns[name], groups, len(attribute.domain))
        columns[name] = middles[groups].astype(np.int32)
    return Table(tuple(described.values()), columns, table.sets)


def _medians(codes: NDArray[np.int32], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """The lower median of each group."""
    sizes = np.bincount(groups)
    order = np.lexsort((codes, groups))
    return np.asarray(codes[order[np.cumsum(sizes) - sizes + (sizes - 1) // 2]], dtype=np.int64)


def _modes(codes: NDArray[np.int32], groups: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The commonest code of each group, of several the lowest."""
    keys, counts = np.unique(groups * size + codes, return_counts=True)
    order = np.lexsort((keys, -counts, keys // size))
    owners = keys[order] // size
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    return np.asarray(keys[order[first]] % size, dtype=np.int64)


#: The power of two that no group has as many records as.
_FAR = 60


def _means(
    attribute: Attribute, codes: NDArray[np.int32], groups: NDArray[np.int64]
) -> tuple[Attribute, NDArray[np.int64]]:
    """The mean of each group's numbers, missing where more than half of them are, and a domain that has them."""
    numbers = domain_numbers(attribute)[codes]
    # Missing ones last; the others in order, so that a sum does not depend on the order of the rows.
    order = np.lexsort((numbers, groups))
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    present = sizes - np.bincount(groups[np.isnan(numbers)], minlength=len(sizes))
    lows, highs = numbers[order[starts]], numbers[order[starts + np.maximum(present, 1) - 1]]
    # Sums of numbers near the greatest there are would overflow; powers of two are taken out and put back exactly.
    far = _FAR if np.nanmax(np.abs(numbers), initial=0.0) > 2.0 ** (1023 - _FAR) else 0
    sums = np.add.reduceat(np.ldexp(np.where(np.isnan(numbers[order]), 0.0, numbers[order]), -far), starts)
    # Rounding must not carry a mean of equal numbers away from them.
    means = np.clip(np.ldexp(sums / np.maximum(present, 1), far), lows, highs)
    absent = 2 * present < sizes
    attribute = widened(attribute, means[~absent].tolist())
    domain = domain_numbers(attribute)
    ascending = np.argsort(domain, kind="stable")
    # A missing value sorts last, as in the domain.
    middles = ascending[np.searchsorted(domain[ascending], np.where(absent, np.nan, means))]
    return attribute, middles
