"""Names of columns as options give them."""

from __future__ import annotations

import csv
import re
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


#: A name in quotes, a quote in it written twice, or one without commas; the last equals sign parts it from its level.
_LEVEL = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^",][^,]*?))\s*=\s*([^",=]*?)\s*(,|$)')


def levels_in_text(option: str, text: str) -> dict[str, str]:
    """The level of each column that *text* lists, as in `age=1,sex=0`; a name that holds a comma stands in quotes.

    >>> levels_in_text("--choose", 'age=1, "income, net"=2,a=b=0')
    {'age': '1', 'income, net': '2', 'a=b': '0'}
    """
    levels: dict[str, str] = {}
    place = 0
    while place < len(text) or not levels or text.endswith(","):
        found = _LEVEL.match(text, place)
        if found is None:
            raise InvalidParameter(
                f"{option} {text!r}: it takes the levels of the columns as in 'age=1,sex=0'; a name with a comma "
                "stands in quotes."
            )
        quoted, plain, level, _ = found.groups()
        name = plain if quoted is None else quoted.replace('""', '"')
        if name in levels:
            raise InvalidParameter(f"{option} {text!r}: the level of {name!r} stands there twice.")
        levels[name] = level
        place = found.end()
    return levels


def levels_as_text(names: Iterable[str], levels: Iterable[int]) -> str:
    """The levels of columns as they can be typed again.

    >>> levels_as_text(["age", "income, net"], [1, 2])
    'age=1,"income, net"=2'
    """
    return ",".join(f"{_quoted(name)}={level}" for name, level in zip(names, levels, strict=True))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(mark in name for mark in ',"') or name != name.strip() else name


def require_columns(table: Table, names: Iterable[str], file: str) -> None:
    """Refuse names that are no columns of the table of a *file*."""
    for name in names:
        if name not in table.names:
            raise UnknownName(f"{file}: {UnknownName.among('column', name, table.names)}")
