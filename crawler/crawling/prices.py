"""What networks charge, from a dated table that a user can replace; money is whole tenths of a cent."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from importlib.resources import files
from typing import Any

from crawler.crawling.limits import Limits
from tabular.errors import InvalidInput, InvalidParameter
from tabular.files.disk import read_text

#: Tenths of a cent in a dollar.
DOLLAR = 1000

#: What a network may charge for.
KINDS = ("user", "followed", "post")


def tenths(dollars: Any, parameter: str) -> int:
    """An amount in tenths of a cent.

    >>> tenths("0.005", "post"), tenths(12.5, "budget"), tenths(6552, "budget")
    (5, 12500, 6552000)
    """
    try:
        amount = Decimal(str(dollars)) * DOLLAR
        if amount != int(amount) or amount < 0:
            raise ValueError
    except (InvalidOperation, ValueError, OverflowError):
        must = "be an amount in dollars, to a tenth of a cent at the finest"
        raise InvalidParameter.wrong(parameter, must=must, was=dollars) from None
    return int(amount)


def dollars(amount: int) -> str:
    """An amount for people.

    >>> dollars(6_552_000), dollars(5)
    ('$6,552.00', '$0.005')
    """
    whole, rest = divmod(amount, DOLLAR)
    return f"${whole:,}.{rest:03d}" if rest % 10 else f"${whole:,}.{rest // 10:02d}"


@dataclass(frozen=True)
class Estimate:
    """What a crawl may cost: if users follow few, as many as is likely, and as many as can be."""

    low: int
    likely: int
    high: int

    @property
    def document(self) -> dict[str, float]:
        """The figures in dollars."""
        return {name: amount / DOLLAR for name, amount in vars(self).items()}


@dataclass(frozen=True)
class Prices:
    """The prices of one source, by what they are for; a source that charges nothing has none."""

    date: str
    of: Mapping[str, int]
    following: Mapping[str, int]

    @classmethod
    def read(cls, source: str, path: str | None = None, *, charges: bool = False) -> Prices:
        """The prices of a *source*, from the file at *path* or the one that comes with the program.

        A source that *charges* must have a row, or no budget would hold.
        """
        if path is None:
            return cls.parsed(source, files(__package__).joinpath("prices.toml").read_text("utf-8"), "prices.toml")
        prices = cls.parsed(source, read_text(path), path)
        if charges and not prices.of:
            raise InvalidInput(f"{path}: there is no table [{source}], and {source} charges for what it answers.")
        return prices

    @classmethod
    def parsed(cls, source: str, text: str, where: str) -> Prices:
        """The prices of a *source* in the *text* of a table."""
        try:
            table = tomllib.loads(text)
            date, row, following = str(table["date"]), dict(table.get(source, {})), dict(table["following"])
            counts = {name: int(following[name]) for name in ("low", "likely", "high")}
        except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
            raise InvalidInput(f"{where}: this is no table of prices: it has a date, a table [following] with low, "
                               "likely and high, and a table for each source.") from None  # fmt: skip
        unknown = set(row) - set(KINDS)
        if unknown or (row and set(row) != set(KINDS)):
            raise InvalidInput(f"{where}: the table [{source}] has prices of {', '.join(KINDS)}, and of nothing else.")
        return cls(date, {kind: tenths(price, kind) for kind, price in row.items()}, counts)

    def cost(self, **counts: int) -> int:
        """What so many things cost that all come back for the first time that day.

        >>> Prices.read("x").cost(followed=1638 * 400)
        6552000
        """
        return sum(self.of.get(kind, 0) * count for kind, count in counts.items())

    def estimate(self, limits: Limits) -> Estimate:
        """What a crawl within *limits* may cost, before anybody is asked."""
        users, budget = limits.users, limits.budget

        def amount(following: str, posts: int) -> int:
            listed = (
                self.following[following] if limits.follows is None else min(self.following[following], limits.follows)
            )
            cost = self.cost(user=users, followed=users * listed, post=users * posts)
            return cost if budget is None else min(cost, budget)

        return Estimate(amount("low", 0), amount("likely", limits.posts), amount("high", limits.posts))
