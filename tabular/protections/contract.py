"""The base class of protections of a table, their registry, and the checks that all of them share."""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tabular.attributes import KINDS
from tabular.errors import InvalidInput, InvalidParameter
from tabular.registry import Method, Registry
from tabular.table import Table, check_k


@dataclass(frozen=True, kw_only=True)
class Protection(Method):
    """A way to mask some columns of a table, row by row; what it promises is data, and tests hold it to that."""

    #: The kinds of attribute it takes.
    kinds: ClassVar[tuple[str, ...]] = KINDS
    #: Whether k records or more agree, k being a parameter of the method; see `k_holds_over`.
    promises_k: ClassVar[bool] = False
    #: Whether each column keeps the frequencies of its values.
    keeps_frequencies: ClassVar[bool] = False

    @abstractmethod
    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """A new table with other codes in the columns *attributes*: the same rows in the same order, in its domains.

        Continuous attributes alone can gain numbers, as means are. It can count on what
        `tabular.protections.protect` checks: one or more rows, columns that exist, none of them twice, of its kinds,
        that hold values and no sets, and k <= rows.
        """

    def k_holds_over(self, attributes: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """The groups of columns over which k holds: of a masked table, k rows or more agree in all of a group."""
        return (tuple(attributes),) if self.promises_k else ()


protections: Registry[Protection] = Registry("protection")


def method_in(text: str, *, parameter: str = "method", owner: str | None = None) -> tuple[str, dict[str, Any]]:
    """The name of a protection and its parameters, as a *text* such as 'rank-swapping percent=10' has them."""
    try:
        name, *words = shlex.split(text) or [""]
    except ValueError:
        must = "close each quotation mark"
        raise InvalidParameter.wrong(parameter, must=must, was=text, owner=owner) from None
    known = {each.name: each for each in protections[name].parameters}
    parameters: dict[str, Any] = {}
    for word in words:
        key, _, value = word.partition("=")
        parameters[key] = known[key].read(value) if key in known else value
    return name, parameters


def protect(
    table: Table, method: str, attributes: Sequence[str], *, rng: np.random.Generator, **parameters: object
) -> Table:
    """Mask the columns *attributes* of *table* by the protection called *method*; the same seed masks them the same.

    The rows keep their order, the other columns stay, and *table* is left as it was.
    """
    protection = protections[method].make(parameters)
    columns = check_columns(table, attributes, method, protection.kinds)
    if protection.promises_k:
        check_k(getattr(protection, "k", None), len(table))
    return protection.protect(table, columns, rng)


def check_columns(table: Table, attributes: Sequence[str], method: str, kinds: Sequence[str]) -> tuple[str, ...]:
    """The columns to mask, or an error where *method* cannot take them."""
    if isinstance(attributes, str) or not attributes or len(set(attributes)) < len(attributes):
        raise InvalidInput("A protection needs a list of one or more columns, none of them twice.")
    for name in attributes:
        attribute = table.attribute(name)
        if attribute.kind not in kinds:
            raise InvalidInput(
                f"Column {name!r} is {attribute.kind}, and {method} takes {' or '.join(kinds)} columns only: "
                f"{_way_out(attribute.kind, kinds)}"
            )
        if table.sets[name]:
            raise InvalidInput(
                f"Column {name!r} holds labels that stand for sets, as a table does that was masked before; "
                f"protect the original, which holds values."
            )
    if not len(table):
        raise InvalidInput("The table has no records; there is nothing to protect.")
    return tuple(attributes)


def _way_out(kind: str, kinds: Sequence[str]) -> str:
    others = [entry.name for entry in protections.entries() if kind in entry.method.kinds]
    instead = f"take another method ({', '.join(others)})" if others else "leave it out"
    if kind == "nominal":
        return f"give it the kind {kinds[0]} and its values in order, or {instead}."
    if kind == "continuous":
        return f"put its numbers into ranges first, or {instead}."
    return f"give it the kind {kinds[0]} if that is what it is, or {instead}."
