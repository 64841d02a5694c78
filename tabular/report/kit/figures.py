"""The values of a document on their way into a report: numbers with their exact value, none forgotten, texts made fit.

What stands here makes elements of HTML and SVG outside templates.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from markupsafe import Markup, escape

#: What neither HTML nor XML can hold: control characters, lone surrogates, the two non-characters.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

#: Isolates whose direction does not leak into what stands around them.
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"

#: Marks with which a text could turn the direction of what follows it.
_DIRECTION_MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Put the replacement character in place of every character that a page cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)


def join(*parts: object) -> Markup:
    """Join texts and markup into one piece of markup; lists are flattened and None is left out."""
    return Markup("").join(
        part if hasattr(part, "__html__") else escape(clean(str(part))) for part in _flat(parts) if part is not None
    )


def element(tag: str, /, *content: object, **attributes: object) -> Markup:
    """One element; an attribute that is None is left out, `class_` is class, `data_value` data-value.

    >>> print(element("td", "a < b", class_="number", data_value=3, title=None))
    <td class="number" data-value="3">a &lt; b</td>
    """
    written = [
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _attribute(value))
        for key, value in attributes.items()
        if value is not None
    ]
    return Markup("<{0}{1}>{2}</{0}>").format(tag, join(written), join(*content))


def foreign(value: object) -> Markup:
    """A text from the data, kept from turning the direction of the sentence around it."""
    return element("bdi", str(value))


def isolated(value: object) -> str:
    """The same for places that hold no elements: a tooltip, a label of a chart."""
    return f"{_ISOLATE}{_DIRECTION_MARKS.sub('', str(value))}{_END_ISOLATE}"


def shortened(value: object, width: int) -> str:
    """A text cut to *width* columns, where wide characters take two.

    >>> shortened("Technology", 6)
    'Techn…'
    """
    kept, used = [], 0
    for character in " ".join(str(value).split()):
        kept.append(character)
        used += _columns(character)
        if used > width:
            while kept and used > width - 1:
                used -= _columns(kept.pop())
            return "".join(kept).rstrip() + "…"
    return "".join(kept)


def _columns(character: str) -> int:
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _attribute(value: object) -> str:
    if isinstance(value, float):
        # Coordinates: a hundredth of a unit is finer than any screen or printer.
        return f"{value:.2f}".rstrip("0").rstrip(".") or "0"
    return clean(str(value))


def _flat(parts: Iterable[object]) -> Iterable[object]:
    for part in parts:
        if isinstance(part, list | tuple):
            yield from _flat(part)
        else:
            yield part


#: A step into a document: a key of an object or a position in a list.
Step = str | int
Path = tuple[Step, ...]

_UNKNOWN = element("span", "not known", class_="unknown")


class Figures:
    """A document, or the part of it at *path*: what is printed carries its exact value, and is remembered as shown."""

    def __init__(self, value: Any, path: Path = (), *, shown: set[str] | None = None, words: str | None = None) -> None:
        self.value = value
        self._path = path
        self._shown = set() if shown is None else shown
        self._words = words

    def __getitem__(self, step: Step) -> Figures:
        """What stands below; where there is nothing, figures of None."""
        below = None
        if isinstance(self.value, Mapping):
            below = self.value.get(step)
        elif isinstance(self.value, list | tuple) and isinstance(step, int) and step < len(self.value):
            below = self.value[step]
        return Figures(below, (*self._path, step), shown=self._shown)

    def __iter__(self) -> Iterator[Figures]:
        """The entries of a list."""
        return (self[place] for place in range(len(self)))

    def __len__(self) -> int:
        return len(self.value) if isinstance(self.value, list | tuple) else 0

    def __bool__(self) -> bool:
        return bool(self.value)

    def at(self, *path: Step) -> Figures:
        """What stands at a path below."""
        return reduce(Figures.__getitem__, path, self)

    def names(self, *known: str) -> list[str]:
        """The keys of an object: the *known* ones in their order, then the others in theirs."""
        found = self.value if isinstance(self.value, Mapping) else {}
        return [key for key in known if key in found] + [str(key) for key in found if key not in known]

    @property
    def is_known(self) -> bool:
        return self.value is not None

    @property
    def number(self) -> float | None:
        """The value, if it is a finite number."""
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        return self.value if is_number and math.isfinite(self.value) else None

    def words(self, words: str | None) -> Figures:
        """The same value, for which *words* are printed."""
        return Figures(self.value, self._path, shown=self._shown, words=words)

    @property
    def share(self) -> Figures:
        """A share, printed as a percentage."""
        return self.words(None if self.number is None else percent(self.number))

    def __html__(self) -> str:
        """The figure in a sentence."""
        if self.value is None:
            return _UNKNOWN
        return element("span", self._words or shown(self.value), class_="figure", **self._marks())

    @property
    def cell(self) -> Markup:
        """The figure as a table cell; a list is one figure after the other."""
        if self.value is None:
            return element("td", _UNKNOWN, class_="number")
        if isinstance(self.value, list | tuple):
            return element("td", series(list(self)) if self.value else "none")
        kind = "number" if isinstance(self.value, int | float) else None
        return element("td", self._words or shown(self.value), class_=kind, **self._marks())

    def leaves(self) -> list[Figures]:
        """Everything below that holds a value."""
        if isinstance(self.value, Mapping):
            return [leaf for key in self.value for leaf in self[key].leaves()]
        if isinstance(self.value, list | tuple):
            return [leaf for each in self for leaf in each.leaves()]
        return [] if self.value is None else [self]

    def rest(self) -> list[list[object]]:
        """Rows of everything below that has not been shown: its pointer and its figure."""
        left = [(pointer(leaf._path), leaf) for leaf in self.leaves()]
        return [[foreign(where), leaf] for where, leaf in left if where not in self._shown]

    def row(self, keys: Iterable[str]) -> list[object]:
        """What stands below under each of *keys*."""
        return [self[key] for key in keys]

    def listed(self, names: Mapping[str, str]) -> list[list[object]]:
        """Rows of what is known below under these keys: its name and its figure."""
        return [[name, self[key]] for key, name in names.items() if self[key].is_known]

    def parameter_rows(self, *names: str) -> list[list[object]]:
        """Rows of parameters, those of one attacker or column by its name."""
        if isinstance(self.value, Mapping):
            return [row for key in self.value for row in self[key].parameter_rows(*names, str(key))]
        return [[join("Parameter ", foreign(", ".join(names))), self]] if self.is_known else []

    def _marks(self) -> dict[str, str]:
        where = pointer(self._path)
        self._shown.add(where)
        if isinstance(self.value, str):
            return {"data_key": where, "data_value": self.value}
        exact = json.dumps(self.value)
        return {"data_key": where, "data_value": exact, "title": exact}


def series(parts: Sequence[object]) -> Markup:
    """Parts one after the other, with commas between them."""
    return join([[", " if place else None, part] for place, part in enumerate(parts)])


def cell(value: object) -> Markup:
    """A table cell: of a figure, or of anything else."""
    return value.cell if isinstance(value, Figures) else element("td", value, class_="number")


def pointer(path: Path) -> str:
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
