"""Markup that is safe by construction: whatever is not markup yet is escaped on its way in."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from html import escape

#: Elements that have no content and no end tag.
_VOID = frozenset({"meta", "br", "col", "hr"})

#: What neither HTML nor XML can hold: control characters, lone surrogates, the two non-characters.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

#: The replacement character stands for each of them.
_REPLACEMENT = "\ufffd"

#: Isolates whose direction does not leak into what stands around them.
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"

#: Marks with which a text could turn the direction of what follows it.
_DIRECTION_MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")


class Markup(str):
    """A string that is markup already and is not escaped again."""

    __slots__ = ()


def text(value: object) -> Markup:
    """Escape a value for content and attributes alike.

    >>> text('<script>"&')
    '&lt;script&gt;&quot;&amp;'
    """
    if isinstance(value, Markup):
        return value
    return Markup(escape(_FORBIDDEN.sub(_REPLACEMENT, str(value)), quote=True))


def join(*parts: object) -> Markup:
    """One piece of markup from many; None is left out and lists are flattened."""
    return Markup("".join(text(part) for part in _flat(parts)))


def element(tag: str, /, *content: object, **attributes: object) -> Markup:
    """One element; an attribute that is None or False is left out, `class_` is class, `data_value` data-value.

    >>> element("td", "a < b", class_="number", data_value=3, hidden=None)
    '<td class="number" data-value="3">a &lt; b</td>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(_attribute(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if tag in _VOID:
        return Markup(f"<{tag}{written} />")
    return Markup(f"<{tag}{written}>{join(*content)}</{tag}>")


def foreign(value: object) -> Markup:
    """A text from the data, kept from turning the direction of the sentence around it."""
    return element("bdi", str(value))


def isolated(value: object) -> str:
    """The same for places where there can be no element: a tooltip, a label of a chart."""
    return f"{_ISOLATE}{_DIRECTION_MARKS.sub('', str(value))}{_END_ISOLATE}"


def shortened(value: object, width: int) -> str:
    """A text cut to *width* columns, where wide characters take two.

    >>> shortened("Technology", 6)
    'Techn…'
    """
    kept, used = [], 0
    whole = " ".join(str(value).split())
    for character in whole:
        used += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        kept.append(character)
        if used > width:
            while kept and used > width - 1:
                used -= 2 if unicodedata.east_asian_width(kept.pop()) in "WF" else 1
            return "".join(kept).rstrip() + "…"
    return whole


def _attribute(value: object) -> object:
    if isinstance(value, float):
        # Coordinates: a hundredth of a unit is finer than any screen or printer.
        return f"{value:.2f}".rstrip("0").rstrip(".") or "0"
    return "" if value is True else value


def _flat(parts: Iterable[object]) -> Iterable[object]:
    for part in parts:
        if part is None:
            continue
        if isinstance(part, list | tuple):
            yield from _flat(part)
        else:
            yield part
