"""How a CSV file is written: delimiter, quotes, encoding, line ends, header, decimal mark."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, fields, replace

from tabular.errors import InvalidParameter, UnknownName, named

#: The delimiter that stands for a run of spaces and tabs.
BLANKS = " "

#: Delimiters by the words they may be called.
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "blanks": BLANKS, "\\t": "\t"}
#: Quotes by the words they may be called; none takes quotes as part of the cells.
QUOTES = {"double": '"', "single": "'", "none": ""}


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """A way to write CSV; a space as *delimiter* means any run of blanks, *spaced* a space after each delimiter."""

    delimiter: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    line_end: str = "\n"
    header: bool = True
    spaced: bool = False
    decimal: str = "."

    def shown(self) -> dict[str, str | bool]:
        """The dialect in words."""
        return {
            "delimiter": called(self.delimiter, DELIMITERS),
            "quote": called(self.quote, QUOTES),
            "encoding": self.encoding,
            "line_end": {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}[self.line_end],
            "header": self.header,
            "space_after_delimiter": self.spaced,
            "decimal": self.decimal,
        }


@dataclass(frozen=True, kw_only=True)
class DialectOptions:
    """What the user says about the dialect of a file; None is to be detected.

    *missing* are the texts that mark a missing value, in any column.
    """

    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    header: bool | None = None
    spaced: bool | None = None
    decimal: str | None = None
    missing: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "delimiter", _mark("delimiter", self.delimiter, DELIMITERS))
        object.__setattr__(self, "quote", _mark("quote", self.quote, QUOTES))
        if self.delimiter == "" or (self.delimiter is not None and self.delimiter == self.quote):
            raise InvalidParameter(f"{named('delimiter')} and {named('quote')} must be two different characters.")
        if self.decimal not in (None, ".", ","):
            raise InvalidParameter(f"{named('decimal')} must be . or , and not {self.decimal!r}.", was=self.decimal)
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))

    def over(self, other: DialectOptions) -> DialectOptions:
        """These options, completed by those of *other*."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(other, **{name: value for name, value in said.items() if value is not None})


def called(mark: str, names: dict[str, str]) -> str:
    """The word for a *mark* among *names*, or else the mark itself.

    >>> called(";", DELIMITERS), called("~", DELIMITERS)
    ('semicolon', '~')
    """
    return next((name for name, known in names.items() if known == mark), mark)


def _mark(what: str, text: str | None, names: dict[str, str]) -> str | None:
    if text is None or text in names.values():
        return text
    if text.lower() in names:
        return names[text.lower()]
    if len(text) != 1 or text in "\r\n" or text.isalnum():
        known = [name for name in names if name.isalpha()]
        near = UnknownName.among(what, text, known)
        raise InvalidParameter(f"{named(what)} must be one character or one of {', '.join(known)}. {near}")
    return text


def _encoding(name: str) -> str:
    try:
        found = codecs.lookup(name).name
        "a".encode(found)
    except (LookupError, TypeError, ValueError):
        known = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252")
        raise UnknownName(str(UnknownName.among("encoding", name, known))) from None
    return found
