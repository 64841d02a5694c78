"""What can go wrong, as a tree.

ReportedError               its text is shown, word for word, to whoever asked
  InvalidInput              the caller can correct it
    InvalidParameter        an option has a value it cannot have
    InvalidRecord           a file holds a record that cannot be taken; the text names the record
    InvalidHierarchy        levels that do not coarsen one another
    UnknownName             nothing is called that
    NameTaken               something is called that already
    Outdated                what is to be changed is no longer in the state that was named
    AlreadyReleased         another release of the same original is live
  NoSolution                sound input, but nothing satisfies it
  SourceUnavailable         a social network did not answer
  StoreUnavailable          the store did not answer; `can_retry` says whether trying again can help
  FileFailure               a file could not be written: the disk is full, or it failed

A text may hold values of a domain, never what belongs to a person: a handle, a name, an id, a post, a token.

What a parameter is called depends on the door: `--at-risk` on the command line, `/at_risk` over HTTP, `at_risk` in
Python. So a text names parameters by `named`, and the door says what they are called there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

#: Stand around the name of a parameter in a text; no text of a user has these two, which mean nothing in Unicode.
_BEGIN, _END = "\ue000", "\ue001"
#: Of a name that does not exist, and of each that does, an error shows so many characters.
_LONGEST = 100
#: An error has no more characters, so many of them from its end.
_LONGEST_TEXT, _TAIL = 2_000, 200
_LINE_ENDS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_NAMED = re.compile(f"{_BEGIN}([^{_END}]*){_END}")


def named(parameter: str) -> str:
    """The name of a parameter within the text of an error, for the door to word.

    >>> str(InvalidInput(f"The file exists; give {named('overwrite')} to replace it."))
    'The file exists; give overwrite to replace it.'
    """
    return f"{_BEGIN}{parameter}{_END}"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A number of things: the *noun* for one of them, its *plural* for any other number.

    >>> counted(1, "user"), counted(2000, "user"), counted(0, "category", "categories")
    ('1 user', '2,000 users', '0 categories')
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def worded(text: str, name_of: Callable[[str], str | None]) -> str:
    """A *text* with each parameter that it names under the name that *name_of* gives it; None leaves its own."""
    return _NAMED.sub(lambda found: name_of(found[1]) or found[1], text)


class ReportedError(Exception):
    """An error whose text is written for the person who asked."""

    def __init__(self, text: str) -> None:
        # What a file or an option holds may be of any length, and have ends of lines in it.
        text = _LINE_ENDS.sub(lambda found: repr(found[0])[1:-1], text)
        text = text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - _TAIL]} … {text[-_TAIL:]}"
        super().__init__(text)
        self._text = text

    @property
    def named(self) -> tuple[str, ...]:
        """The parameters that the text names, in its order."""
        return tuple(_NAMED.findall(self._text))

    def worded(self, name_of: Callable[[str], str | None]) -> str:
        """The text with each parameter under the name that *name_of* gives it; None leaves its own.

        >>> InvalidInput(f"Give {named('at_risk')}.").worded(lambda name: f"--{name.replace('_', '-')}")
        'Give --at-risk.'
        """
        return worded(self._text, name_of)

    def __str__(self) -> str:
        return self.worded(lambda _: None)


class InvalidInput(ReportedError):
    """The caller can correct it."""


class InvalidParameter(InvalidInput):
    """A parameter has a value it cannot have.

    *parameter* is its name, *must* what it has to do, *was* its value, *owner* whose parameter it is. Where a text of
    its own says more than that, the first parameter it names is the one.
    """

    def __init__(self, text: str, *, must: str | None = None, was: Any = None, owner: str | None = None) -> None:
        super().__init__(text)
        self.must, self.was, self.owner = must, was, owner

    @classmethod
    def wrong(cls, parameter: str, *, must: str, was: Any, owner: str | None = None) -> InvalidParameter:
        """Say what a *parameter* must be and what it was instead.

        >>> str(InvalidParameter.wrong("percent", must="be from 0 to 100", was=250, owner="RankSwapping"))
        'RankSwapping: percent must be from 0 to 100, not 250.'
        """
        return cls(f"{named(parameter)} must {must}, not {was!r}.", must=must, was=was, owner=owner)

    @property
    def parameter(self) -> str | None:
        """The parameter that is wrong."""
        return self.named[0] if self.named else None

    def worded(self, name_of: Callable[[str], str | None]) -> str:
        """As for every error; the owner is said only where the parameter has no other name."""
        text = super().worded(name_of)
        is_known = self.parameter is not None and name_of(self.parameter) is not None
        return text if self.owner is None or is_known else f"{self.owner}: {text}"


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
            few = known if len(known) <= 12 else [*known[:8], "…"]
            shown = ", ".join(each if len(each) <= _LONGEST else f"{each[:_LONGEST]}…" for each in few)
            hint = f"there is {shown}."
        asked = name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"
        return cls(f"No {what} is called {asked!r}; {hint}")


class NameTaken(InvalidInput):
    """Something is called that already."""


class Outdated(InvalidInput):
    """What is to be changed is no longer in the state that was named."""


class AlreadyReleased(InvalidInput):
    """Another release of the same original is live, and both together would not keep what each promises."""


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
