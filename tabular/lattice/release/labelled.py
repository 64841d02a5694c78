"""The table of a node as it is given away: with the labels of the hierarchies, whichever values occur under them.

A label that names the values which occur, such as `[60,97]`, would tell of the oldest person, and, from release to
release, of who has come and gone. The hierarchy's own label, `60+`, says what the hierarchy says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import NOMINAL, Attribute, Value
from tabular.errors import InvalidHierarchy, InvalidInput
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.labels import ANY
from tabular.table import Table


def labelled(
    table: Table, hierarchies: Mapping[str, Hierarchy], node: Mapping[str, int], *, suppressed: NDArray[np.bool_]
) -> Table:
    """*table* with each column of *node* as the labels of its level, and `*` in all of them where *suppressed*.

    Its domains are the labels that stand in it. A column at level 0 of which nothing is suppressed stays as it is.
    """
    refuse_starred_values(table, node)
    columns, attributes = dict(table.columns), {each.name: each for each in table.attributes}
    for name, height in node.items():
        if not height and not suppressed.any():
            continue
        level, attribute = hierarchies[name].levels[height], table.attribute(name)
        words: tuple[Value, ...] = level.labels if height else attribute.domain
        if height and suppressed.any() and ANY in words and len(words) > 1:
            raise InvalidHierarchy(
                f"Hierarchy of {name}, level {height}: one of its labels is {ANY}, and others are not; in a release "
                f"with suppressed rows, which have {ANY}, it would be taken for them. Call the label something else."
            )
        # The place of `*` in a row that goes; at the top it is the label of all, as a rule.
        star = words.index(ANY) if ANY in words else len(words)
        codes = np.where(suppressed, star, level.groups[table.columns[name]])
        used, places = np.unique(codes, return_inverse=True)
        domain = (*words, ANY)
        columns[name] = places.astype(np.int32)
        attributes[name] = Attribute(
            name=name, role=attribute.role, kind=NOMINAL, domain=tuple(domain[code] for code in used.tolist())
        )
    return Table(tuple(attributes.values()), columns)


def refuse_starred_values(table: Table, names: Iterable[str], *, where: str = "") -> None:
    """Refuse a `*` among the values of a quasi-identifier: nobody could tell it from one that was suppressed."""
    for name in names:
        code = table.attribute(name).codes.get(ANY)
        rows = [] if code is None else np.flatnonzero(table.columns[name] == code).tolist()
        if rows:
            raise InvalidInput(
                f"{where}Column {name!r}, row {rows[0] + 1}: the value is {ANY}, which means any value, as in a table "
                "that was generalised or suppressed before; search in the original."
            )
