"""Counting k again, from the cells as they are written, by code that shares nothing with the protections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tabular.labels import ANY, text_of
from tabular.protections import Protection
from tabular.table import Table


@dataclass(frozen=True)
class Counted:
    """The size of the smallest group of equal rows; *suppressed* rows, with `*` in all columns, do not count."""

    k: int
    suppressed: int = 0


def counted_k(table: Table, names: Sequence[str]) -> Counted:
    """The k of *table* over the columns *names*, by its cells as text; if all rows are `*`, none is suppressed.

    A column with a single value says nothing, and needs no `*` in a suppressed row.

    >>> counted_k(Table.from_columns({"a": ["x", "x", "*"], "b": ["y", "y", "*"]}), ["a", "b"])
    Counted(k=2, suppressed=1)
    """
    rows = Counter(zip(*(map(text_of, table.values(name)) for name in names), strict=True))
    domains = [table.attribute(name).domain for name in names]
    nothing = tuple(ANY if len(domain) != 1 else text_of(domain[0]) for domain in domains)
    suppressed = rows.pop(nothing) if len(rows) > 1 and nothing in rows else 0
    return Counted(min(rows.values(), default=0), suppressed)


def verify(table: Table, protection: Protection, names: Sequence[str]) -> Counted:
    """The k of a masked table over all columns *names*; a broken promise is a bug, and nothing is released."""
    promised = getattr(protection, "k", 0) if protection.promises_k else 0
    for group in protection.k_holds_over(names):
        if counted_k(table, group).k < promised:
            raise RuntimeError("A protection did not keep the k it promises.")
    return counted_k(table, names)
