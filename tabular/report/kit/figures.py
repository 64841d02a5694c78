"""The numbers of a document on their way into a report: each with its exact value, none forgotten."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from tabular.report.kit.markup import Markup, element, foreign, join

#: A step into a document: a key of an object or a position in a list.
Step = str | int


class Figures:
    """Reads a document and remembers what was shown, so that the rest can be listed at the end."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._shown: set[str] = set()

    def get(self, *path: Step) -> Any:
        """What stands at *path*, or None where there is nothing."""
        found: Any = self._document
        for step in path:
            if isinstance(found, Mapping):
                found = found.get(step)
            elif isinstance(found, list | tuple) and isinstance(step, int) and step < len(found):
                found = found[step]
            else:
                return None
        return found

    def number(self, *path: Step) -> float | None:
        """The number at *path*, or None where there is no finite one."""
        found = self.get(*path)
        if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
            return None
        return found

    def keys(self, *path: Step, known: tuple[str, ...] = ()) -> list[str]:
        """The keys of the object at *path*: the *known* ones in their order, then the others in theirs."""
        found = self.get(*path)
        if not isinstance(found, Mapping):
            return []
        return [key for key in known if key in found] + [str(key) for key in found if key not in known]

    def cell(self, *path: Step) -> Markup:
        """A table cell: numbers with four decimals, the exact value beside."""
        value = self.get(*path)
        if value is None:
            return element("td", _unknown(), class_="number")
        kind = "number" if isinstance(value, int | float) else None
        if isinstance(value, list | tuple):
            items = [self.inline(*path, position) for position in range(len(value))]
            return element("td", [[", " if position else None, item] for position, item in enumerate(items)] or "none")
        return element("td", shown(value), class_=kind, **self._marks(path, value))

    def inline(self, *path: Step, words: str | None = None) -> Markup:
        """A figure in a sentence: *words* stand for it, its exact value beside."""
        value = self.get(*path)
        if value is None:
            return _unknown()
        return element("span", words or shown(value), class_="figure", **self._marks(path, value))

    def share(self, *path: Step) -> Markup:
        """A share in a sentence, as a percentage."""
        value = self.number(*path)
        return _unknown() if value is None else self.inline(*path, words=percent(value))

    def rest(self) -> list[tuple[Step, ...]]:
        """The paths of everything that holds a value and has not been shown."""
        return [path for path in _leaves(self._document) if pointer(path) not in self._shown]

    def _marks(self, path: tuple[Step, ...], value: Any) -> dict[str, Any]:
        key = pointer(path)
        self._shown.add(key)
        exact = value if isinstance(value, str) else json.dumps(value)
        marks = {"data_key": key, "data_value": exact}
        return marks if isinstance(value, str) else marks | {"title": exact}


def pointer(path: tuple[Step, ...]) -> str:
    """A path as a JSON pointer (RFC 6901).

    >>> pointer(("rows", 0, "a/b"))
    '/rows/0/a~1b'
    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def shown(value: Any) -> object:
    """A value as tables show it: four decimals, thousands apart.

    >>> shown(0.25), shown(1638), shown(True)
    ('0.2500', '1,638', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4f}" if math.isfinite(value) else "not a number"
    if isinstance(value, str):
        return foreign(value)
    return join(json.dumps(value))


def percent(share: float) -> str:
    """A share in per cent, never rounded to none or to all.

    >>> percent(0.0314), percent(0.0), percent(0.0001), percent(0.9999), percent(1.0)
    ('3.1\\xa0%', '0\\xa0%', 'under 0.1\\xa0%', 'over 99.9\\xa0%', '100\\xa0%')
    """
    if share in (0, 1):
        return f"{share:.0%}".replace("%", "\u00a0%")
    if 0 < share < 0.0005:
        return "under 0.1\u00a0%"
    if 0.9995 <= share < 1:
        return "over 99.9\u00a0%"
    return f"{100 * share:.1f}\u00a0%"


def _unknown() -> Markup:
    return element("span", "not known", class_="unknown")


def _leaves(value: Any, path: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from _leaves(below, (*path, key))
    elif isinstance(value, list | tuple):
        for position, below in enumerate(value):
            yield from _leaves(below, (*path, position))
    elif value is not None:
        yield path
