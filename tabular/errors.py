"""What can go wrong, as a tree.

ReportedError               its text is shown, word for word, to whoever asked
  InvalidInput              the caller can correct it
    InvalidParameter        an option has a value it cannot have
    InvalidRecord           a file holds a record that cannot be taken; the text names the record
    InvalidHierarchy        levels that do not coarsen one another
    UnknownName             nothing is called that
    NameTaken               something is called that already
  NoSolution                sound input, but nothing satisfies it
  SourceUnavailable         a social network did not answer
  StoreUnavailable          the store did not answer; `can_retry` says whether trying again can help
  FileFailure               a file could not be written: the disk is full, or it failed

A text may hold values of a domain, never what belongs to a person: a handle, a name, an id, a post, a token.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class ReportedError(Exception):
    """An error whose text is written for the person who asked."""


class InvalidInput(ReportedError):
    """The caller can correct it."""


class InvalidParameter(InvalidInput):
    """An option has a value it cannot have."""


class InvalidRecord(InvalidInput):
    """A file holds a record that cannot be taken; the text names the record."""


class InvalidHierarchy(InvalidInput):
    """Levels of a hierarchy that do not coarsen one another."""


class UnknownName(InvalidInput):
    """Nothing is called that; the text offers the nearest name."""

    @classmethod
    def among(cls, what: str, name: str, known: Iterable[str]) -> UnknownName:
        """Say that no *what* is called *name* and offer the nearest of the *known* names.

        >>> str(UnknownName.among("protection", "rank-swaping", ["pram", "rank-swapping"]))
        "No protection is called 'rank-swaping'; did you mean 'rank-swapping'?"
        >>> str(UnknownName.among("graph", "x", []))
        "No graph is called 'x'; there is none yet."
        """
        known = sorted(known)
        near = get_close_matches(name, known, n=1)
        if near:
            hint = f"did you mean {near[0]!r}?"
        elif not known:
            hint = "there is none yet."
        else:
            shown = ", ".join(known if len(known) <= 12 else [*known[:8], "…"])
            hint = f"there is {shown}."
        return cls(f"No {what} is called {name!r}; {hint}")


class NameTaken(InvalidInput):
    """Something is called that already."""


class NoSolution(ReportedError):
    """Sound input, but nothing satisfies what was asked."""


class SourceUnavailable(ReportedError):
    """A social network did not answer."""


class StoreUnavailable(ReportedError):
    """The store did not answer."""

    def __init__(self, text: str, *, can_retry: bool = False) -> None:
        super().__init__(text)
        self.can_retry = can_retry


class FileFailure(ReportedError):
    """A file could not be written: the disk is full, or it failed."""
