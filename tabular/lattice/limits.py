"""What a release must keep: the rows of a class, the values in it, and how many rows may be suppressed for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabular.errors import NoSolution, named
from tabular.registry import Method, option
from tabular.table import Table, suppression_limit


@dataclass(frozen=True, kw_only=True)
class Limits(Method):
    """The least k and l, the greatest t, and the share of the rows that may be suppressed.

    With k or l given, the classes that break one of them are suppressed, and a node satisfies where these are no more
    rows than may go. A row in a class that keeps both is in such a class on every coarser node, too: so the nodes that
    satisfy k and l are closed upwards, whatever may be suppressed. t is asked of the rows that are left.

    With neither, each node has the k of property-based generalisation (Dewri and others 2010, section 6): the smallest
    size s such that more rows than may be suppressed lie in classes of up to s rows; smaller classes are suppressed.
    """

    k: int | None = option(None, low=1, help="rows of a class, at least")
    l: int | None = option(None, low=1, help="distinct sensitive values of a class, at least")  # noqa: E741
    t: float | None = option(None, low=0, high=1, help="distance of a class's sensitive values from all, at most")
    suppression: float = option(0.0, low=0, high=1, help="share of the rows that may be suppressed")

    @property
    def are_fixed(self) -> bool:
        """Whether classes are suppressed for k and l that are given; else each node has a k of its own."""
        return self.k is not None or self.l is not None

    @property
    def are_monotone(self) -> bool:
        """Whether all nodes above one that satisfies do so: t breaks that where rows can be suppressed."""
        return self.t is None or self.suppression == 0

    def suppressible(self, rows: int) -> int:
        """How many of *rows* may be suppressed; never all."""
        return min(suppression_limit(self.suppression, rows), rows - 1)


def refuse_unreachable(table: Table, limits: Limits, sensitive: str | None = None) -> None:
    """Refuse a k or an l that not even all rows together have.

    The top of the lattice puts all rows into one class, which has their number for k, all sensitive values for l and
    0 for t, and suppresses none: whatever it does not satisfy, no node does.
    """
    rows = len(table)
    if limits.k is not None and limits.k > rows > 0:
        raise NoSolution(
            f"No release with k={limits.k} exists: the table has {rows} records. The nearest limit that is met is "
            f"k={rows}, by the node that makes them all alike. Lower {named('k')} or add records."
        )
    if limits.l is not None and sensitive is not None and rows:
        values = len(np.unique(table.columns[sensitive]))
        if limits.l > values:
            raise NoSolution(
                f"No release with l={limits.l} exists: column {sensitive!r} has {values} distinct values. The nearest "
                f"limit that is met is l={values}, by the node that makes all records alike. Lower {named('l')}."
            )
