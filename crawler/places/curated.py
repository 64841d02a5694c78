"""The names that the gazetteers lack, from the file `names.txt` beside this one, which says how it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files

#: A code: capitals, with or without full stops.
_CODE = re.compile(r"(?:[A-Z]\.?){2,3}")
#: The sections that are words alone.
PLAIN = ("words", "doubtful", "before", "after")


@dataclass(frozen=True)
class Line:
    """One line: what a place is called in paths, where it lies, and what else it is called."""

    name: str
    where: tuple[str, ...]
    others: tuple[str, ...]
    #: The code of a region in the gazetteer, where the names do not tell it.
    code: str = ""


@dataclass
class Curated:
    """All lines, by section."""

    countries: list[Line] = field(default_factory=list)
    continents: list[Line] = field(default_factory=list)
    regions: list[Line] = field(default_factory=list)
    areas: list[Line] = field(default_factory=list)
    cities: list[Line] = field(default_factory=list)
    parts: list[Line] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)


def is_code(name: str) -> bool:
    """Whether a name is a code, which is read as one only where it is written like one.

    >>> is_code("TX"), is_code("D.C."), is_code("Tex"), is_code("OHIO")
    (True, True, False, False)
    """
    return _CODE.fullmatch(name) is not None


def curated_text() -> str:
    """The whole file."""
    return files(__package__).joinpath("names.txt").read_text(encoding="utf-8")


def curated(text: str) -> Curated:
    """The lines of a file of names."""
    found = Curated()
    for section, where, line in _lines(text):
        entries = getattr(found, section)
        entries += _listed(line) if section in PLAIN else [_line(where, line)]
    return found


def _lines(text: str) -> Iterator[tuple[str, tuple[str, ...], str]]:
    section, where = "", tuple[str, ...]()
    joined = re.sub(r"\n +", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    for line in filter(None, joined.split("\n")):
        if line.startswith("["):
            section, _, place = line.strip("[]").partition(" ")
            where = tuple(_listed(place))
        else:
            yield section, where, line


def _line(where: tuple[str, ...], line: str) -> Line:
    head, _, tail = line.partition(":")
    name, *own = _listed(head)
    code = re.match(r" \((\w+)\) ", tail)
    return Line(
        name, tuple(own) or where, tuple(_listed(tail[code.end() :] if code else tail)), code[1] if code else ""
    )


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]
