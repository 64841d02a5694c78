"""What geocoders have answered, kept in memory and, if wanted, in a file that its owner alone can read.

The file has one JSON object a line. A text stands there as its SHA-256; the answer to it is a place. Lines that are no
answer, such as one that a kill cut short, are passed over.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawler.places.contract import Located
from tabular.errors import InvalidInput

_DAY = 86_400.0
_MOST = 200_000


@dataclass
class Answers:
    """The answers of one geocoder."""

    #: Which geocoder it is, at which address.
    of: str
    path: str | None
    #: How many days an answer stands.
    days: float
    _known: dict[str, tuple[float, Located]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path is not None:
            self._known.update(self._read(self.path))

    def get(self, text: str, now: float) -> Located | None:
        """The answer to a *text*, unless it is too old."""
        found = self._known.get(self._key(text))
        return found[1] if found is not None and now - found[0] < self.days * _DAY else None

    def add(self, text: str, place: Located, now: float) -> None:
        """Keep the answer to a *text*."""
        key = self._key(text)
        if len(self._known) >= _MOST:
            del self._known[next(iter(self._known))]
        self._known[key] = (now, place)
        if self.path is not None:
            # The line before it may have been cut short.
            line = "\n" + json.dumps({"key": key, "time": now, "place": place}, ensure_ascii=False) + "\n"
            file = _opened(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            with os.fdopen(file, "ab") as out:
                out.write(line.encode())

    def _key(self, text: str) -> str:
        return hashlib.sha256(f"{self.of}\n{text}".encode()).hexdigest()

    def _read(self, path: str) -> Iterator[tuple[str, tuple[float, Located]]]:
        if not Path(path).exists():
            return
        with os.fdopen(_opened(path, os.O_RDONLY), encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    kept = json.loads(line)
                    yield str(kept["key"]), (float(kept["time"]), _place(*kept["place"]))
                except (ValueError, KeyError, TypeError):
                    continue


def _place(path: list[list[str]], score: float, country: str | None, others: list[Any]) -> Located:
    """A place as it is kept."""
    return Located(_path(path), float(score), country, tuple((_path(each), float(its)) for each, its in others))


def _path(steps: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(kind)) for name, kind in steps)


def _opened(path: str, flags: int) -> int:
    """A file of answers, opened; one that others can read is refused, since it tells what people wrote."""
    try:
        file = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}; name a file that can be written.") from None
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode) or found.st_mode & 0o077:
        os.close(file)
        raise InvalidInput(f"{path}: others can read this file of answers; let only its owner read it (mode 600).")
    return file
