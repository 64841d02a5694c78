"""Elements of HTML and SVG outside templates, and the texts of others made fit to stand in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

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
