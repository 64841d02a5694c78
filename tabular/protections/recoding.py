"""Recoding: the highest, the lowest or the rarest categories of a column become one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import CONTINUOUS, NOMINAL, ORDINAL, Attribute, Members, is_number
from tabular.errors import InvalidParameter, named
from tabular.intervals import Span, Spans, on_a_grid, with_round_ends
from tabular.protections.contract import Protection, protections
from tabular.registry import option
from tabular.table import Table

CITES = "Hundepool and others (1998); Mares Soler (2013), section 2.3.5"

#: So many records or more lie in the cells of the grid on both sides of a threshold that a count gives.
_RECORDS = 3

USUAL, THESIS = ORDERS = ("usual", "thesis")


@dataclass(frozen=True, kw_only=True)
class Recoding(Protection):
    """Join *count* categories of each column into one label."""

    kinds: ClassVar[tuple[str, ...]] = (ORDINAL, CONTINUOUS)

    count: int = option(2, low=2, help="number of categories to join, fewer than the domain has")

    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """The table with categories of each of *attributes* joined; draws nothing."""
        for name in attributes:
            attribute, codes = table.attribute(name), table.columns[name]
            joined = self.joined(table, attribute)
            if len(joined):
                size = len(attribute.domain)
                table = table.with_labels(name, np.where(np.isin(codes, joined), size, codes), [joined])
        return table

    def joined(self, table: Table, attribute: Attribute) -> Members:
        """The categories of a column that become one, ascending."""
        self._check_size(attribute.name, len(attribute.domain))
        ranked = self.ranked(table, attribute.name)[: self.count].tolist()
        return with_round_ends(attribute, [tuple(sorted(ranked))])[0]

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


@dataclass(frozen=True, kw_only=True)
class EndCoding(Recoding):
    """Join the categories at one end of each column's order, or the numbers beyond a threshold."""

    order: str = option(
        USUAL,
        choices=ORDERS,
        help="usual: top joins the last categories of the order; thesis: the first, as Mares Soler (2013) has it",
    )

    #: The parameter that gives a threshold.
    threshold: ClassVar[str] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        given = getattr(self, self.threshold)
        if given is not None and _number(given) is None:
            raise InvalidParameter.wrong(self.threshold, must="be a number", was=given, owner=type(self).__name__)
        if given is not None and self.order == THESIS:
            raise InvalidParameter(
                f"{named('order')} {THESIS} is about categories, {named(self.threshold)} about numbers: give one."
            )

    def joined(self, table: Table, attribute: Attribute) -> Members:
        """The categories at the end of the order, or all numbers beyond the threshold."""
        limit = _number(getattr(self, self.threshold))
        if limit is not None:
            return self._beyond(attribute, limit)
        joined = super().joined(table, attribute)
        # Of many numbers most are one person's alone, and so would be a threshold between two of them.
        if attribute.kind == CONTINUOUS and isinstance(joined, Span):
            return self._on_a_grid(table, attribute, joined)
        return joined

    def _on_a_grid(self, table: Table, attribute: Attribute, joined: Span) -> Members:
        """The numbers that are *joined*, and as many more as it takes to a round number among enough records.

        Where there is none, all of them: any threshold would tell of a few.
        """
        counts = np.bincount(table.columns[attribute.name], minlength=len(attribute.domain))
        members = np.array([counts[list(joined)].sum()])
        return on_a_grid(attribute, Spans.of([joined]), members, counts, _RECORDS)[0]

    @abstractmethod
    def reach(self, limit: float) -> tuple[float, float]:
        """The numbers that are joined, from and to."""

    def ranked(self, table: Table, name: str) -> NDArray[np.integer]:
        """The categories from the end that is joined; a missing value is neither high nor low but for the thesis."""
        domain = table.attribute(name).domain
        codes = np.arange(len(domain))
        if self.order == THESIS:
            return codes if self.joins_last else codes[::-1]
        missing = np.array([value is None for value in domain], dtype=np.bool_)
        present = codes[~missing]
        return np.concatenate([present[::-1] if self.joins_last else present, codes[missing]])

    #: Whether the last categories of the order are joined.
    joins_last: ClassVar[bool] = True

    def _beyond(self, attribute: Attribute, limit: float) -> Members:
        low, high = self.reach(limit)
        codes = []
        for code, value in enumerate(attribute.domain):
            if value is not None and not is_number(value):
                raise InvalidParameter(
                    f"Column {attribute.name!r} holds no numbers: {named(self.threshold)} cannot be used; give "
                    f"{named('count')}."
                )
            if value is not None and low <= value <= high:  # type: ignore[operator]
                codes.append(code)
        if not codes:
            return ()
        if len(codes) == len(attribute.domain):
            raise InvalidParameter(
                f"Column {attribute.name!r}: all values lie beyond {named(self.threshold)}; nothing would be left to "
                f"tell apart. Leave the column out."
            )
        is_run = codes[-1] - codes[0] + 1 == len(codes)
        return Span(codes[0], codes[-1], low, high) if is_run else tuple(codes)


def _number(given: object) -> float | None:
    """*given* as a finite number; None if it is none."""
    try:
        number = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if isfinite(number) and not isinstance(given, bool) else None


@protections.add(
    "bottom-coding",
    cites=CITES,
    limits="promises no k, and the joined values can still be rare; what is joined comes from the data unless a "
    "threshold is given",
)
@dataclass(frozen=True, kw_only=True)
class BottomCoding(EndCoding):
    """Join the *count* lowest categories of each column into one label, or all numbers up to *below*."""

    below: float | str | None = option(
        None, help="for numbers: join all up to this one, in place of a count; in the usual order"
    )

    threshold: ClassVar[str] = "below"
    joins_last: ClassVar[bool] = False

    def reach(self, limit: float) -> tuple[float, float]:
        """All numbers up to *limit*."""
        return -inf, limit


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
    limits="promises no k, and the joined values can still be rare; what is joined comes from the data unless a "
    "threshold is given",
)
@dataclass(frozen=True, kw_only=True)
class TopCoding(EndCoding):
    """Join the *count* highest categories of each column into one label, or all numbers from *above* on."""

    above: float | str | None = option(
        None, help="for numbers: join all from this one on, in place of a count; in the usual order"
    )

    threshold: ClassVar[str] = "above"

    def reach(self, limit: float) -> tuple[float, float]:
        """All numbers from *limit* on."""
        return limit, inf
