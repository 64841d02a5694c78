"""Whether a file may tell of a person: their id, however the formats that are read and written have it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

#: So much of a file is looked at at a time, in bytes.
_BLOCK = 1 << 20

#: Encodings that a file may have, beside UTF-8.
_ENCODINGS = ("utf-8", "cp1252", "latin-1", "utf-16-le", "utf-16-be")

#: How files begin in which a text cannot be looked for: they are compressed, or hold numbers.
_OPAQUE = (b"PK", b"\x1f\x8b", b"PAR1", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"%PDF", b"SQLite format")

#: How the header of a CAR file goes on after its length; there, letters can stand right before a text.
_CAR = (b"\xa2eroots", b"\xa2gversion")


def may_tell_of(path: Path, person: str) -> bool:
    """Whether a file, or one in a folder, holds the id of a *person*, or cannot be searched for it."""
    if path.is_dir():
        return any(may_tell_of(each, person) for each in sorted(path.iterdir()) if not each.is_symlink())
    with path.open("rb") as file:
        head = file.read(16)
        if head.startswith(_OPAQUE) or any(each in head for each in _CAR):
            return True
        file.seek(0)
        return any(_pattern(person).search(block) for block in _blocks(iter(lambda: file.read(_BLOCK), b""), person))


def _blocks(parts: Iterator[bytes], person: str) -> Iterator[bytes]:
    """The *parts* of a file, each with the end of the one before, so that no id is cut in two."""
    kept = max(map(len, forms(person))) + 8
    before = b""
    for part in parts:
        yield before + part
        before = (before + part)[-kept:]


def _pattern(person: str) -> re.Pattern[bytes]:
    """Finds the id of a *person*, but not as a part of a longer word or number.

    Lists of Mastodon have names in capitals, too, which are no part of an id.
    """
    plain = b"|".join(re.escape(each) for each in forms(person))
    return re.compile(rb"(?<![0-9A-Za-z_])(?:" + plain + rb")(?![0-9A-Za-z_])", re.IGNORECASE)


def forms(person: str) -> set[bytes]:
    """How files may write the id of a *person*.

    >>> sorted(form for form in forms("a&b") if b"\\0" not in form)
    [b'a%26b', b'a&amp;b', b'a&b']
    """
    texts = {
        person,
        json.dumps(person)[1:-1],
        json.dumps(person, ensure_ascii=False)[1:-1],
        escape(person),
        escape(person, quote=False),
        quoteattr(person)[1:-1],
        person.replace('"', '""'),
        quote(person),
        quote(person, safe=""),
    }
    found = set()
    for text in texts:
        for encoding in _ENCODINGS:
            try:
                found.add(text.encode(encoding))
            except UnicodeEncodeError:
                continue
    return found
