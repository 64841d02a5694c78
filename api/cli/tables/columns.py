"""Names of columns as options give them."""

from __future__ import annotations

import csv
from collections.abc import Iterable

from tabular.errors import InvalidParameter, UnknownName
from tabular.table import Table


def names_in(option: str, text: str) -> tuple[str, ...]:
    """The columns that *text* lists, commas between them; a name that holds a comma stands in quotes.

    >>> names_in("--columns", 'age, "income, net",sex')
    ('age', 'income, net', 'sex')
    """
    try:
        listed = next(csv.reader([text], skipinitialspace=True, strict=True), [])
    except csv.Error:
        raise InvalidParameter(f"{option} {text!r}: the quotes do not match.") from None
    names = tuple(name.strip() for name in listed)
    if not names or "" in names:
        raise InvalidParameter(f"{option} {text!r}: name one or more columns, with commas between them.")
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise InvalidParameter(f"{option} {text!r}: {twice!r} stands there twice.")
    return names


def require_columns(table: Table, names: Iterable[str], file: str) -> None:
    """Refuse names that are no columns of the table of a *file*."""
    for name in names:
        if name not in table.names:
            raise UnknownName(f"{file}: {UnknownName.among('column', name, table.names)}")
