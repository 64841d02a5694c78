"""Attributes of a table: the role of a column, its kind, and the domain of its values."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, TypeAlias

from tabular.errors import InvalidInput
from tabular.registry import check

#: A plain value of a cell; None is a missing one.
Value: TypeAlias = Hashable

ROLES = ("identifier", "quasi-identifier", "sensitive", "class-label", "insensitive")

#: Types whose values are always plain.
_PLAIN: frozenset[type] = frozenset((str, int, float, bool, type(None)))

NOMINAL, ORDINAL, CONTINUOUS = KINDS = ("nominal", "ordinal", "continuous")


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """A column's name, its role (None: unknown), its kind, and its domain in order.

    An empty domain stands for the values of the column. A missing value is a category of its own: it stands in the
    domain of a table only if it occurs there, at the place that was given or else at the end of the order.
    """

    name: str
    role: str | None = None
    kind: str = NOMINAL
    domain: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        owner = f"Attribute {self.name!r}"
        check(owner, "kind", self.kind, {"choices": KINDS})
        if self.role is not None:
            check(owner, "role", self.role, {"choices": ROLES})
        domain = plain_values(self.domain, f"The domain of {self.name!r}")
        if len(set(domain)) < len(domain):
            raise InvalidInput(f"{owner}: a value stands twice in the domain.")
        if self.kind == CONTINUOUS and not all(map(is_number, _unusual(domain, (int, float, type(None))))):
            raise InvalidInput(f"{owner} is continuous, so its domain holds numbers only.")
        object.__setattr__(self, "domain", domain)

    @property
    def is_ordered(self) -> bool:
        """Whether the order of the domain means something."""
        return self.kind != NOMINAL

    @cached_property
    def codes(self) -> dict[Value, int]:
        """The code of each value: its place in the domain."""
        return {value: code for code, value in enumerate(self.domain)}


def is_number(value: Any) -> bool:
    """Whether *value* is a number; a truth value is not."""
    # Called for every value of long domains: comparing types is faster than isinstance with an abstract class.
    return type(value) in (int, float) or (isinstance(value, Real) and not isinstance(value, bool))


def plain_values(values: Iterable[Any], what: str) -> tuple[Value, ...]:
    """The plain values of a column or domain; a missing one is None."""
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    if not isinstance(listed, list):
        raise InvalidInput(f"{what} must be a sequence of values, not a single one.")
    if not all(isinstance(value, Hashable) for value in _unusual(listed, _PLAIN)):
        row, value = next(pair for pair in enumerate(listed) if not isinstance(pair[1], Hashable))
        raise InvalidInput(f"{what}, row {row + 1}: a cell holds one plain value, not a {type(value).__name__}.")
    # A value that differs from itself is NaN.
    return tuple([None if value is None or value != value else value for value in listed])


def _unusual(values: Sequence[Any], usual: Collection[type]) -> list[Any]:
    """The values whose type is not a *usual* one; long columns hardly ever have any."""
    if set(map(type, values)).issubset(usual):
        return []
    return [value for value in values if type(value) not in usual]


def resolved(attribute: Attribute, values: Iterable[Value]) -> Attribute:
    """*attribute* with the domain of a table in which *values* occur."""
    occurring = set(values)
    if attribute.domain:
        domain = tuple(value for value in attribute.domain if value is not None or None in occurring)
    else:
        domain = _in_order(attribute, occurring - {None})
    if None in occurring and None not in domain:
        domain = (*domain, None)
    return Attribute(name=attribute.name, role=attribute.role, kind=attribute.kind, domain=domain)


def widened(attribute: Attribute, values: Iterable[Value]) -> Attribute:
    """A continuous *attribute* with the numbers among *values* in its domain; a missing value keeps to the end."""
    known = set(attribute.domain)
    new = {value for value in values if is_number(value) and value not in known}
    if not new:
        return attribute
    # Usually two sorted runs, which are merged quickly.
    numbers = sorted([*(value for value in attribute.domain if value is not None), *sorted(new)])  # type: ignore[type-var]
    domain = (*numbers, None) if None in known else tuple(numbers)
    return Attribute(name=attribute.name, role=attribute.role, kind=attribute.kind, domain=domain)


def inferred(name: str, values: Iterable[Value]) -> Attribute:
    """The attribute of a column without a description: whole numbers are ordinal, other numbers continuous."""
    present = [value for value in values if value is not None]
    if not present or not all(is_number(value) for value in present):
        return Attribute(name=name)
    whole = all(float(value).is_integer() for value in present)  # type: ignore[arg-type]
    return Attribute(name=name, kind=ORDINAL if whole else CONTINUOUS)


def _in_order(attribute: Attribute, values: Iterable[Value]) -> tuple[Value, ...]:
    # Sorted, so that the codes do not depend on the order of the rows.
    found = list(values)
    if attribute.kind == ORDINAL and any(isinstance(value, str) for value in found):
        raise InvalidInput(f"{attribute.name!r} is ordinal and holds text: give its domain in order.")
    try:
        return tuple(sorted(found, key=_place))
    except TypeError:
        raise InvalidInput(f"The values of {attribute.name!r} have no order: give its domain.") from None


def _place(value: Any) -> tuple[str, Any]:
    number = type(value) in (int, float) or isinstance(value, Real)
    return ("", value) if number else (type(value).__name__, value)
