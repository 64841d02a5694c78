"""What reaches a terminal: lines and JSON in which nothing that came from a file acts on it.

A name may hold an escape sequence that clears the screen, hides a line or turns text around. Characters that do so are
shown as Python writes them: `\\x1b`, `\\u202e`. JSON has them in its own writing, so that whoever reads it gets them
back. Files keep what they are given.
"""

from __future__ import annotations

import json
import re
from typing import Any

import click

#: Controls (C0, DEL, C1), ends of lines that are none here, what turns text around, tags, and halves of characters.
_ACTS = (
    "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff"
)
_ACTING = re.compile(f"[{_ACTS}]")
#: The same but for the line feed, which stands between the lines of a document, and never within its texts.
_ACTING_IN_JSON = re.compile(f"(?!\\n)[{_ACTS}]")


def visible(text: str) -> str:
    """A *text* in which what would act on a terminal is seen.

    >>> visible("red \\x1b[31m and \\u202egnuoy")
    'red \\\\x1b[31m and \\\\u202egnuoy'
    """
    return _ACTING.sub(lambda found: ascii(found[0])[1:-1], text)


def visible_json(document: Any, *, indent: int | None = None) -> str:
    """A *document* as JSON; the same numbers give the same bytes.

    >>> visible_json({"name": "\\x9bm é"})
    '{"name": "\\\\u009bm é"}'
    """
    text = json.dumps(document, ensure_ascii=False, indent=indent, allow_nan=False)
    return _ACTING_IN_JSON.sub(lambda found: json.dumps(found[0])[1:-1], text)


def say(text: str, *, err: bool = False) -> None:
    """Say a line."""
    click.echo(visible(text), err=err)


def say_json(document: Any) -> None:
    """Say one JSON document."""
    click.echo(visible_json(document, indent=2))
