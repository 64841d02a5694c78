"""Dates: day, month, year, decade."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from tabular.attributes import Attribute, Value
from tabular.errors import InvalidInput
from tabular.hierarchies.contract import Builder, hierarchies, present, with_missing
from tabular.hierarchy import Hierarchy
from tabular.labels import text_of
from tabular.registry import option


@hierarchies.add(
    "date",
    cites="date hierarchies as in ARX (Prasser and Kohlmayer 2015)",
    limits="years 1 to 9999; other ways to write a date than 2024-01-31 need a format",
)
@dataclass(frozen=True, kw_only=True)
class Dates(Builder):
    """Join dates by day, month, year and decade."""

    format: str = option("", help="how a date is written, such as %d/%m/%Y; empty: 2024-01-31, with or without a time")

    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; a day is a level only where the values say more than the day."""
        days = [self._day(attribute, value) for value in present(attribute)]
        levels = [
            [f"{day.year:04}-{day.month:02}" for day in days],
            [f"{day.year:04}" for day in days],
            [f"{day.year // 10:03}0s" for day in days],
        ]
        texts = [day.isoformat() for day in days]
        if texts != list(map(text_of, present(attribute))):
            levels.insert(0, texts)
        return with_missing(attribute, levels)

    def _day(self, attribute: Attribute, value: Value) -> datetime.date:
        if isinstance(value, datetime.datetime):
            return value.date()
        if isinstance(value, datetime.date):
            return value
        text = text_of(value)
        try:
            if self.format:
                return datetime.datetime.strptime(text, self.format).date()
            return datetime.datetime.fromisoformat(text).date()
        except ValueError:
            wanted = self.format or "2024-01-31"
            raise InvalidInput(f"{attribute.name!r} holds {text!r}, which is no date written as {wanted}.") from None
