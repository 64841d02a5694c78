"""Identifiers in a release: dropped or starred, and refused where a column may be one unnoticed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter, named
from tabular.labels import ANY
from tabular.table import Table

#: So many distinct values are no coincidence, however few of the rows have one.
_MANY = 10

IDENTIFIER = "identifier"


def release_table(table: Table, *, identifiers: Literal["drop", "star"] | str = "drop") -> Table:
    """*table* as it may be released: identifiers dropped or starred; refused if another column looks like one.

    >>> ids = Attribute(name="name", role="identifier")
    >>> table = Table.from_columns({"name": ["Ann", "Bo"], "sex": ["f", "f"]}, [ids])
    >>> release_table(table).names, release_table(table, identifiers="star").values("name")
    (('sex',), ['*', '*'])
    """
    if identifiers not in ("drop", "star"):
        raise InvalidParameter.wrong("identifiers", must="be drop or star", was=identifiers)
    for name in distinct_columns(table):
        if table.attribute(name).role is None:
            raise InvalidInput(
                f"Column {name!r}: all its values are distinct, so it may say who somebody is, and it has no role; "
                f"say one, such as {named('role')} {name}=identifier (dropped) or {name}=insensitive (kept)."
            )
    names = table.with_role(IDENTIFIER)
    kept = tuple(attribute for attribute in table.attributes if identifiers == "star" or attribute.name not in names)
    if not kept:
        raise InvalidInput("All columns are identifiers: nothing is left to be written.")
    return Table(
        tuple(
            Attribute(name=each.name, role=IDENTIFIER, domain=(ANY,)) if each.name in names else each for each in kept
        ),
        {
            each.name: np.zeros(len(table), dtype=np.int32) if each.name in names else table.columns[each.name]
            for each in kept
        },
        {each.name: table.sets[each.name] for each in kept if each.name not in names},
    )


def distinct_columns(table: Table) -> Sequence[str]:
    """The columns whose values are all distinct, if half of the rows or ten of them have a value.

    Missing values and the label for any value do not count.
    """
    return [attribute.name for attribute in table.attributes if _is_distinct(table, attribute)]


def _is_distinct(table: Table, attribute: Attribute) -> bool:
    codes = table.columns[attribute.name]
    size = len(attribute.domain)
    nothing = [size + place for place, members in enumerate(table.sets[attribute.name]) if len(members) == size]
    if None in attribute.codes:
        nothing.append(attribute.codes[None])
    present = codes[~np.isin(codes, nothing)]
    many = len(present) > 0 and (len(present) * 2 >= len(codes) or len(present) >= _MANY)
    return many and len(np.unique(present)) == len(present)
