"""Ways to build a hierarchy: from rows that spell it out, or from the values of a column."""

from __future__ import annotations

import datetime
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

from tabular.attributes import ANY, Attribute, Value, is_number, text_of
from tabular.errors import InvalidHierarchy, InvalidInput, InvalidParameter, named
from tabular.hierarchies.hierarchy import Hierarchy, hierarchy_of_rows
from tabular.registry import Method, Registry, option

#: Longer texts are no codes, and would make as many levels.
_LONGEST = 100
#: The first level has at most so many intervals where no widths are given.
_MOST = 32


@dataclass(frozen=True, kw_only=True)
class Builder(Method):
    """A way to build a hierarchy over the domain of an attribute."""

    @abstractmethod
    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; a missing value stays apart from the others until the last level."""


hierarchies: Registry[Builder] = Registry("kind of hierarchy")


def build(attribute: Attribute, kind: str, **parameters: Any) -> Hierarchy:
    """The hierarchy of a *kind* over the domain of *attribute*.

    >>> size = Attribute(name="size", kind="ordinal", domain=(1, 2, 3, 4, 5))
    >>> build(size, "balanced", fan_out=2).levels[1].labels
    ('[1,2]', '[3,4]', '5')
    """
    return hierarchies[kind].make(parameters).build(attribute)


def with_missing(attribute: Attribute, labels: Sequence[Sequence[str]]) -> Hierarchy:
    """The hierarchy in which *labels* has one label for each value present, level by level.

    A last level with one label for all is added; until then a missing value stays apart.
    """
    levels: list[list[str]] = []
    for words in labels:
        place = iter(words)
        levels.append(["" if value is None else next(place) for value in attribute.domain])
    return Hierarchy.of(attribute.name, attribute.domain, [*levels, [ANY] * len(attribute.domain)])


def present(attribute: Attribute) -> list[Value]:
    """The values of the domain without the missing one."""
    return [value for value in attribute.domain if value is not None]


@hierarchies.add(
    "balanced",
    cites="Iyengar (2002), on hierarchies made of an order",
    limits="ordered attributes only; each run holds the same number of values, not of rows",
)
@dataclass(frozen=True, kw_only=True)
class Balanced(Builder):
    """Merge neighbouring values of an order, the same number at each level."""

    fan_out: int = option(2, help="how many groups of the level below a group merges", low=2, high=1_000_000)

    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; each label names the first and the last value under it."""
        if not attribute.is_ordered:
            raise InvalidInput(f"{attribute.name!r} is nominal: neighbours need an order, so give it one in a schema.")
        texts = [text_of(value) for value in present(attribute)]
        levels = []
        width = self.fan_out
        while width < len(texts):
            ends = [(begin, min(begin + width, len(texts)) - 1) for begin in range(0, len(texts), width)]
            names = [texts[low] if low == high else f"[{texts[low]},{texts[high]}]" for low, high in ends]
            levels.append([names[code // width] for code in range(len(texts))])
            width *= self.fan_out
        return with_missing(attribute, levels)


@hierarchies.add(
    "csv",
    cites="the hierarchy files of ARX (Prasser and Kohlmayer 2015)",
    limits="every value of the column needs a row; each level merges groups of the one below, the last merges all",
)
@dataclass(frozen=True, kw_only=True)
class Rows(Builder):
    """Read the levels from rows: one row per value, one column per level, as in ARX files."""

    rows: Sequence[Sequence[str]] = option(help="the rows: the value, then its label on each level")

    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; rows for values that the column lacks are left out."""
        return hierarchy_of_rows(self.rows, attribute)


@hierarchies.add(
    "date",
    cites="date hierarchies as in ARX (Prasser and Kohlmayer 2015)",
    limits="years 1 to 9999; dates that are not written like 2024-01-31 need a format",
)
@dataclass(frozen=True, kw_only=True)
class Dates(Builder):
    """Merge dates into days, months, years and decades."""

    format: str = option("", help="how dates are written, such as %d/%m/%Y; empty: 2024-01-31, with or without a time")

    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; days are a level only where the values have a time, too."""
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
            raise InvalidInput(f"{attribute.name!r} holds a value that is no date written as {wanted}.") from None


@hierarchies.add(
    "places",
    cites="Mares Soler (2013), section 6.2.1",
    limits="a short path stays as it is until the longer ones are as short; the paths must be passed in",
)
@dataclass(frozen=True, kw_only=True)
class Places(Builder):
    """Merge places into the regions they lie in, step by step along their paths."""

    paths: Mapping[str, Sequence[str]] = option(
        help="the places above each value, nearest first, such as Barcelona: Catalonia, Spain, Europe"
    )

    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; a place is known by its whole path, so two of one name stay apart."""
        if not isinstance(self.paths, Mapping):
            raise InvalidParameter(f"{named('paths')} must give, for each value, the places above it.", owner="Places")
        downwards = []
        for number, value in enumerate(present(attribute), start=1):
            above = self.paths.get(text_of(value))
            if not isinstance(above, Sequence) or isinstance(above, str):
                raise InvalidHierarchy(f"Hierarchy of {attribute.name}: value {number} of the column has no path.")
            downwards.append((*map(str, reversed(list(above))), text_of(value)))
        longest = max(map(len, downwards), default=0)
        levels = []
        for kept in range(longest - 1, 0, -1):
            nodes = [path[:kept] for path in downwards]
            names = Counter(node[-1] for node in set(nodes))
            levels.append([node[-1] if names[node[-1]] == 1 else ", ".join(reversed(node)) for node in nodes])
        return with_missing(attribute, levels)


@hierarchies.add(
    "range",
    cites="Samarati (2001); interval hierarchies as in ARX (Prasser and Kohlmayer 2015)",
    limits="numbers only; each width must be a multiple of the one before",
)
@dataclass(frozen=True, kw_only=True)
class Ranges(Builder):
    """Group numbers into intervals, with one width per level."""

    widths: str = option("", help="interval width at each level, such as 5,10,20; empty: chosen from the data")
    origin: float = option(0.0, help="a number at which an interval begins", low=-1e15, high=1e15)

    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; an interval contains its lower end but not its upper end."""
        numbers = [_decimal(attribute, value) for value in present(attribute)]
        widths = self._given() or _found(numbers)
        whole = all(number == number.to_integral_value() for number in (*numbers, *widths, self._origin))
        return with_missing(attribute, [self._labels(numbers, width, whole) for width in widths])

    @property
    def _origin(self) -> Decimal:
        return Decimal(repr(float(self.origin)))

    def _labels(self, numbers: Sequence[Decimal], width: Decimal, whole: bool) -> list[str]:
        signed = bool(numbers) and min(numbers) < 0
        labels = []
        for number in numbers:
            low = self._origin + ((number - self._origin) / width).to_integral_value(rounding="ROUND_FLOOR") * width
            if whole:
                last = low + width - 1
                joint = " to " if signed or low < 0 else "-"
                labels.append(f"{_plain(low)}{joint}{_plain(last)}" if last > low else _plain(low))
            else:
                labels.append(f"[{_plain(low)}, {_plain(low + width)})")
        return labels

    def _given(self) -> list[Decimal]:
        widths = []
        for text in filter(None, (part.strip() for part in self.widths.split(","))):
            try:
                width = Decimal(text)
            except InvalidOperation:
                width = Decimal("NaN")
            if not width.is_finite() or width <= 0 or abs(width.adjusted()) > 15:
                raise InvalidParameter.wrong(
                    "widths", must="be numbers above 0, such as 5,10,20", was=text, owner="Ranges"
                )
            widths.append(width)
        for narrow, wide in pairwise(widths):
            if wide <= narrow or wide % narrow:
                raise InvalidParameter(
                    f"each of the {named('widths')} must be a multiple of the one before; {wide} is none of {narrow}.",
                    owner="Ranges",
                )
        return widths


def _found(numbers: Sequence[Decimal]) -> list[Decimal]:
    """Round widths that suit the range of *numbers*, each twice the one before."""
    spread = max(numbers) - min(numbers) if numbers else Decimal(0)
    if not spread:
        return []
    unit = Decimal(1).scaleb((spread / _MOST).adjusted())
    width = next(unit * step for step in (1, 2, 5, 10) if unit * step * _MOST >= spread)
    if all(number == number.to_integral_value() for number in numbers):
        width = max(width, Decimal(2)).to_integral_value(rounding="ROUND_CEILING")
    widths = [width]
    while widths[-1] * 2 <= spread:
        widths.append(widths[-1] * 2)
    return widths


def _decimal(attribute: Attribute, value: Value) -> Decimal:
    if not is_number(value) or abs(float(value)) > 1e15:  # type: ignore[arg-type]
        raise InvalidInput(f"Intervals need numbers up to 1e15; {attribute.name!r} holds a value that is none.")
    return Decimal(value) if isinstance(value, int) else Decimal(repr(float(value)))  # type: ignore[arg-type]


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


@hierarchies.add(
    "star",
    cites="Samarati and Sweeney (1998); Sweeney (2002)",
    limits="for codes that go from general to specific; only the first 100 characters count",
)
@dataclass(frozen=True, kw_only=True)
class Stars(Builder):
    """Mask the characters of a code with stars, more of them at each level."""

    step: int = option(1, help="how many more characters each level masks", low=1, high=100)
    side: str = option("right", help="which end is masked first", choices=("right", "left"))

    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; shorter texts are padded with spaces at the side that is masked first."""
        texts = [text_of(value)[:_LONGEST] for value in present(attribute)]
        length = max(map(len, texts), default=0)
        levels = []
        for hidden in range(self.step, length, self.step):
            stars = ANY * hidden
            if self.side == "right":
                levels.append([f"{text.ljust(length)[:-hidden].rstrip()}{stars}" for text in texts])
            else:
                levels.append([f"{stars}{text.rjust(length)[hidden:].lstrip()}" for text in texts])
        return with_missing(attribute, levels)
