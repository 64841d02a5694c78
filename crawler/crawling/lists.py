"""One list, page by page, for all sources: where it ends, and whether it ended as it should."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

#: How a list ended. `capped` was cut by who asked, `incomplete` by the network.
Ending = Literal["complete", "incomplete", "capped", "hidden"]

#: A list ends after so many pages in a row without an entry that was not on an earlier one.
BARREN = 2


@dataclass(kw_only=True)
class Listing:
    """How far one list is; all of it is kept between two pages."""

    #: Where the next page begins; None before the first.
    cursor: str | None = field(default=None, repr=False)
    #: Marks of all cursors that there were.
    cursors: list[str] = field(default_factory=list, repr=False)
    pages: int = 0
    barren: int = 0
    got: int = 0
    ending: Ending | None = None

    def turn(
        self, entries: Sequence[str], cursor: str | None, seen: set[str], *, cap: int | None, told: int | None = None
    ) -> list[str]:
        """Take a page: the entries that are new, at most as many as the *cap* leaves; *seen* gains them.

        A list that ends before the length that the network *told* is incomplete.
        """
        new = [each for each in dict.fromkeys(entries) if each not in seen]
        kept = new if cap is None else new[: max(cap - self.got, 0)]
        seen.update(kept)
        self.got += len(kept)
        self.pages += 1
        self.barren = 0 if new else self.barren + 1
        self.ending = self._ending(cursor, cap, told, cut=len(kept) < len(new))
        self.cursor = cursor if self.ending is None else None
        return kept

    def _ending(self, cursor: str | None, cap: int | None, told: int | None, *, cut: bool) -> Ending | None:
        if cut or (cap is not None and self.got >= cap and cursor is not None):
            return "capped"
        if cursor is None:
            return "incomplete" if told is not None and self.got < told else "complete"
        mark = _mark(cursor)
        if mark in self.cursors or self.barren >= BARREN:
            return "incomplete"
        self.cursors.append(mark)
        return None


def _mark(cursor: str) -> str:
    return hashlib.sha256(cursor.encode()).hexdigest()[:16]


def share(seen: int, told: int | None) -> float | None:
    """The share of a list that was seen, of as many entries as the network told of.

    >>> share(30, 40), share(41, 40), share(0, 0), share(3, None)
    (0.75, 1.0, 1.0, None)
    """
    if told is None:
        return None
    return min(seen / told, 1.0) if told else 1.0
