"""Intervals of numbers, wider from level to level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import pairwise

from tabular.attributes import Attribute, Value, is_number
from tabular.errors import InvalidInput, InvalidParameter
from tabular.hierarchies.contract import Builder, hierarchies, present, with_missing
from tabular.hierarchy import Hierarchy
from tabular.labels import text_of
from tabular.registry import option

#: How many intervals the first level has at most where no widths are given.
_MOST = 32


@hierarchies.add(
    "range",
    cites="Samarati (2001); interval hierarchies as in ARX (Prasser and Kohlmayer 2015)",
    limits="numbers only; each width is a multiple of the one before",
)
@dataclass(frozen=True, kw_only=True)
class Ranges(Builder):
    """Join numbers into intervals, one width a level."""

    widths: str = option("", help="the width of the intervals of each level, such as 5,10,20; empty: found out")
    origin: float = option(0.0, help="where an interval begins", low=-1e15, high=1e15)

    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; an interval takes its lower end and not its upper one."""
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
                raise InvalidParameter(f"Ranges: widths must be numbers above 0, such as 5,10,20, not {text!r}.")
            widths.append(width)
        for narrow, wide in pairwise(widths):
            if wide <= narrow or wide % narrow:
                raise InvalidParameter(
                    f"Ranges: each of the widths must be a multiple of the one before; {wide} is none of {narrow}."
                )
        return widths


def _found(numbers: Sequence[Decimal]) -> list[Decimal]:
    """Round widths for the spread of *numbers*, each twice the one before."""
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
        raise InvalidInput(f"Intervals need numbers up to 1e15; {attribute.name!r} holds {text_of(value)!r}.")
    return Decimal(value) if isinstance(value, int) else Decimal(repr(float(value)))  # type: ignore[arg-type]


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"
