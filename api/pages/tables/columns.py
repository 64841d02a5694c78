"""What a form shows and says of the columns of a table: kind, role, order and bounds of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabular.attributes import KINDS, NOMINAL, ORDINAL, ROLES, is_number, text_of
from tabular.errors import InvalidInput
from tabular.files.columns import CODES, NUMBERS, TEXT, WHOLE

__all__ = ["KINDS", "ROLES", "Row", "rows_of", "said"]

#: What stands between the values of an order, from the lowest to the highest.
_BELOW = "<"

#: An order of more values is not proposed, since nobody would read it.
_PROPOSED = 60

#: A column that holds one of these has no order of its own.
_UNORDERED = (TEXT, CODES)


@dataclass(frozen=True)
class Row:
    """One column in a form."""

    number: int
    described: Mapping[str, Any]
    said: Mapping[str, Any]
    order: str = ""

    @property
    def name(self) -> str:
        """What the column is called."""
        return str(self.described["name"])

    @property
    def kind(self) -> str:
        """Its kind, as it was said or found."""
        return str(self.said.get("kind") or self.described["kind"])

    @property
    def role(self) -> str:
        """Its role, as it was said or proposed; empty if neither."""
        return str(self.said.get("role") or self.described["role"] or self.described["proposed"] or "")

    @property
    def has_bounds(self) -> bool:
        """Whether it can have bounds."""
        return self.kind != NOMINAL and self.described["holds"] in (NUMBERS, WHOLE) and "order" not in self.said

    @property
    def bounds(self) -> tuple[str, str]:
        """Its bounds as texts."""
        low, high = self.said.get("bounds") or ("", "")
        return _plain(low), _plain(high)

    @property
    def holds(self) -> str:
        """What it holds, in a few words."""
        missing = f", {self.described['missing']:,} missing" if self.described["missing"] else ""
        values = self.described["values"]
        return f"{self.described['holds']}, {values:,} value{'s' * (values != 1)}{missing}"

    @property
    def doubts(self) -> list[str]:
        """What of it is a guess, and why."""
        told = list(self.described["doubts"])
        if self.described["proposed"] and not self.said.get("role"):
            told.append(f"the role {self.described['proposed']} is a guess from its name and values")
        return told


def rows_of(
    described: Sequence[Mapping[str, Any]],
    schema: Mapping[str, Any],
    values: Callable[[str], Sequence[Any]],
    *,
    first: int = 0,
) -> list[Row]:
    """The rows of a form for columns, of which the *first* has that number; *values* gives those of a column."""
    attributes = schema.get("attributes", {})
    found = []
    for number, each in enumerate(described, first):
        row = Row(number, each, attributes.get(each["name"], {}))
        if row.kind == ORDINAL and each["holds"] in _UNORDERED:
            row = Row(number, each, row.said, _order(row, values))
        found.append(row)
    return found


def said(form: Mapping[str, str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """A *schema* with what a form says of columns in place of what it said of them before."""
    attributes = {name: dict(entry) for name, entry in schema.get("attributes", {}).items()}
    for key, name in form.items():
        if key.startswith("column-"):
            entry = _said(form, key.removeprefix("column-"), attributes.get(name, {}), name)
            attributes.pop(name, None)
            if entry:
                attributes[name] = entry
    others = {key: value for key, value in schema.items() if key != "attributes"}
    return {**others, "attributes": attributes} if attributes else others


def _said(form: Mapping[str, str], number: str, before: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What a form says of one column."""
    kind, role = form.get(f"kind-{number}", ""), form.get(f"role-{number}", "")
    order = [each.strip() for each in form.get(f"order-{number}", "").split(_BELOW)]
    found = {key: value for key, value in before.items() if key in ("title", "order", "values", "bounds")}
    if kind != ORDINAL:
        found.pop("order", None)
    elif any(order):
        found["order"] = order
    if kind != NOMINAL:
        found.pop("values", None)
    found |= {key: value for key, value in (("kind", kind), ("role", role)) if value}
    bounds = [form.get(f"{end}-{number}", "").strip() for end in ("low", "high")]
    if f"low-{number}" in form or kind == NOMINAL:
        found.pop("bounds", None)
    if any(bounds) and kind != NOMINAL and "order" not in found:
        found["bounds"] = [_number(each, name) for each in bounds]
    return found


def _number(text: str, name: str) -> float | int:
    try:
        number = float(text)
    except ValueError:
        raise InvalidInput(f"Column {name!r}: bounds must be two numbers, from and to; {text!r} is none.") from None
    return int(number) if number.is_integer() else number


def _order(row: Row, values: Callable[[str], Sequence[Any]]) -> str:
    """The order of a column of texts, as it was said or as a proposal to be put right."""
    known = row.said.get("order") or [each for each in values(row.name)[: _PROPOSED + 1] if each is not None]
    return f" {_BELOW} ".join(map(text_of, known)) if row.said.get("order") or len(known) <= _PROPOSED else ""


def _plain(value: Any) -> str:
    return f"{value:g}" if is_number(value) and abs(value) < 1e6 else str(value)
