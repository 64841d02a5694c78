"""A free text cut into passages: where one place ends and the next begins, and which is of now and which of once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

#: Between a place and the larger one it lies in, and what has no meaning.
_SYMBOLS = (
    "\u00a1-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u060c\u061b\u061f\u0964\u2010-\u218f\u2200-\u2707\u2709-\u2793\u2795-\u27a0\u27a2-\u2bff"
    "\u3001-\u3004\u3008-\u3020\u3030\u303d\u30fb\ufe00-\ufe6f\uff00-\uff20\U0001f000-\U0001faff\U000e0000-\U000e01ef"
)
_WITHIN = re.compile(
    rf"[,;:!?()\[\]{{}}|\"<>=~*_^%$\n\r\t\\{_SYMBOLS}]+|\s-+\s|-+\s|\s-+|\.{{2,}}|(?<=[^\W\d]{{4}})\.\s+|\s\.(?=\w)"
)
#: Between places of which neither lies in the other.
_ARROWS = "\u2190-\u21ff\u2708\u27a1\u2794"
_BESIDE = re.compile(rf"[/&+{_ARROWS}]+|(?<=[^\s,;]) +(?:and|or|und|et|y|og|och|vs|then|to) +(?=\S)", re.IGNORECASE)
_ONCE = (
    r"born(?: and raised| & raised| \+ raised)? (?:in|at)|raised in|grew up in|originally(?: from)?"
    r"|formerly(?: of| in| from)?|former|from|via|by way of|bwo|ex|native of|hometown|né|née|birthplace|roots in"
    r"|wish(?: i (?:was|were))?(?: in)?"
)
_NOW = (
    r"(?:now |currently |presently )?(?:living|lives?|resid(?:e|es|ing)|based|located|moved|relocated|stuck|working"
    r"|studying)(?: now| currently)? (?:in|to|at|near)|(?:now|currently|presently)(?: in| at)?"
)
_TIME = re.compile(rf"\b(?:(?P<once>{_ONCE})|(?P<now>{_NOW}))\b", re.IGNORECASE)
_LINK = re.compile(r"(?:https?://|www\.)\S*|\S+@\S+|@\w+|\b[\w.-]+\.(?:com|org|net|co|io|tv|me|ly|info|edu|gov)\b\S*")
#: What somebody is called, there or elsewhere: it is no place even if a place is called so.
_CALLED = re.compile(
    r"\b(?:instagram|insta|ig|snap(?:chat)?|tik ?tok|twitter|discord|telegram|kik|steam|psn|xbox|twitch|you ?tube"
    r"|facebook|fb|e-?mail|cash ?app|venmo|paypal|spotify|soundcloud|name|pronouns)\s*[:=]\s*[\w.@-]+",
    re.IGNORECASE,
)
_LONG = 200


class Passage(NamedTuple):
    """A part of a text, which names a place at most, or a place and those that it lies in, without marks between."""

    text: str
    #: Whether it stands beside the passage after it, such as in "A / B", instead of within, such as in "A, B".
    is_beside: bool = False
    #: 1 where somebody says to be now, -1 where they were once, 0 if neither is said.
    time: int = 0


def passages(text: str, is_name: Callable[[str], bool] = lambda text: False) -> list[Passage]:
    """The passages of a text; what *is_name* says to be a name is not taken apart.

    >>> [each.text for each in passages("Born in Leeds, UK; living in NYC / LA")]
    ['Leeds', 'UK', 'NYC', 'LA']
    """
    text = text[:_LONG]
    if "." in text or "@" in text:
        text = _LINK.sub(" , ", text)
    if ":" in text or "=" in text:
        text = _CALLED.sub(" , ", text)
    found: list[Passage] = []
    for time, part in _times(text):
        for chunk in _WITHIN.split(part):
            pieces = _BESIDE.split(chunk)
            if len(pieces) > 1 and is_name(chunk):
                pieces = [chunk]
            for number, piece in enumerate(pieces, start=1):
                stripped, is_beside = piece.strip(), number < len(pieces)
                if stripped:
                    found.append(Passage(stripped, is_beside, time))
                elif is_beside and found:
                    found[-1] = found[-1]._replace(is_beside=True)
    return found


def _times(text: str) -> list[tuple[int, str]]:
    """The parts of a text with the time that each is of."""
    parts, begin, time = [], 0, 0
    for found in _TIME.finditer(text):
        parts.append((time, text[begin : found.start()]))
        begin, time = found.end(), 1 if found["now"] else -1
    return [*parts, (time, text[begin:])]
