"""CSV text: its dialects, rows with line numbers for errors, and cells written so that a spreadsheet runs nothing.

A text cell that a spreadsheet could take for a formula gets an apostrophe in front, and loses it again on reading. A
cell that begins with apostrophes before such a character gets one more, so that every text comes back as it was.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import IO

from tabular.errors import InvalidInput, InvalidParameter, InvalidRecord, UnknownName, named
from tabular.files.disk import decode
from tabular.files.limits import TooMuch

#: The delimiter that stands for a run of spaces and tabs.
BLANKS = " "
#: Delimiters by the words they may be called.
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "blanks": BLANKS, "\\t": "\t"}
#: Quotes by the words they may be called; none takes quotes as part of the cells.
QUOTES = {"double": '"', "single": "'", "none": ""}

#: What a spreadsheet takes for the beginning of a formula, and what it skips before one.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_HARMLESS = re.compile(r"'+[=+\-@\t\r]")
#: A cell with one of these in it, or with a space at either end, stands in quotes; so does a comment that is none.
_QUOTED = re.compile(r'[",;|\t\r\n]|^[ #\ufeff]| $')

_BLOCK = 1 << 16
_BLANK = "[ \\t\\r\\n]"
_SPACE = re.compile(f"{_BLANK}+")
#: Other characters at which `str.split` parts words.
_OTHER_SPACE = re.compile(b"[\x0b\x0c\x1c-\x1f]")
#: Where a comment or a line of spaces could begin.
_LEFT_OUT = (b"\n#", b"\r#", b"\n ", b"\r ")


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


def harmless(cell: str) -> str:
    """The *cell* as text that no spreadsheet runs.

    >>> harmless("=1+1"), harmless("@someone"), harmless("'s-Gravenhage")
    ("'=1+1", "'@someone", "'s-Gravenhage")
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def plain(cell: str) -> str:
    """The text that `harmless` was given.

    >>> plain("'=1+1"), plain(harmless("'=1+1")), plain("'s-Gravenhage")
    ('=1+1', "'=1+1", "'s-Gravenhage")
    """
    return cell[1:] if cell.startswith("'") and _HARMLESS.match(cell) else cell


def write_csv(
    file: IO[bytes], header: Sequence[str], rows: Iterable[Sequence[str | float | None]], *, delimiter: str = ","
) -> None:
    """Write *rows* under *header*; texts are made harmless, numbers stay numbers, None is an empty cell."""
    block: list[str] = [delimiter.join(map(written_cell, header))] if header else []
    for row in rows:
        line = delimiter.join(map(written_cell, row))
        # A single empty cell would be a blank line, which readers skip.
        block.append(line or '""')
        if len(block) == _BLOCK:
            file.write("\n".join(block).encode() + b"\n")
            block = []
    if block:
        file.write("\n".join(block).encode() + b"\n")


def written_cell(cell: str | float | None) -> str:
    """A cell as it stands in a file: harmless, and in quotes where it must be.

    >>> written_cell("a,b"), written_cell("-1"), written_cell(-1), written_cell(None)
    ('"a,b"', "'-1", '-1', '')
    """
    if cell is None:
        return ""
    text = harmless(cell) if isinstance(cell, str) else str(cell)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def rows_of(lines: Iterable[str], dialect: Dialect, *, strict: bool = True) -> Iterator[list[str]]:
    """The rows in *lines*, without empty ones."""
    return filter(None, _rows_and_empty(lines, dialect, strict=strict))


def _rows_and_empty(lines: Iterable[str], dialect: Dialect, *, strict: bool) -> Iterator[list[str]]:
    if dialect.delimiter == BLANKS:
        return _parted_by_blanks(lines, dialect.quote)
    return csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quotechar=dialect.quote or None,
        quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
        skipinitialspace=dialect.spaced,
        strict=strict,
    )


def _parted_by_blanks(lines: Iterable[str], quote: str) -> Iterator[list[str]]:
    # Where nothing quotes, no line has this.
    quoted = _Quoted(quote or "\n")
    for line in lines:
        if quoted.is_open or (quote and quote in line):
            row = quoted.row(line)
            if row is not None:
                yield row
        else:
            # Other kinds of space than these belong to the cells.
            row = _SPACE.split(line.strip(" \t\r\n"))
            yield row if row and row[0] else []
    if quoted.is_open:
        raise csv.Error("unexpected end of data")


class _Quoted:
    """Parts lines with quotes at their blanks; each line is looked at once, however many a cell goes over."""

    def __init__(self, quote: str) -> None:
        self._quote, q = quote, re.escape(quote)
        self._inside = re.compile(rf"[^{q}]*(?:{q}{q}[^{q}]*)*")
        self._bare = re.compile(rf"[^{q} \t\r\n][^ \t\r\n]*")
        self._cells: list[str] = []
        #: What has come of a cell whose quote is not closed yet.
        self._open: list[str] | None = None

    @property
    def is_open(self) -> bool:
        """Whether a cell goes on in the next line."""
        return self._open is not None

    def row(self, line: str) -> list[str] | None:
        """The row that ends with a *line*, if one does."""
        place, end = 0, len(line.rstrip(" \t\r\n"))
        while self.is_open or place < end:
            if self.is_open or line[place] == self._quote:
                place = self._go_on(line, place if self.is_open else place + 1)
                if self.is_open:
                    return None
            elif line[place] in " \t\r\n":
                place += 1
            else:
                place = self._take_bare(line, place)
        row, self._cells = self._cells, []
        return row

    def _go_on(self, line: str, place: int) -> int:
        """Take what is within quotes from a *place* on; gives where it ends."""
        inside: str = self._inside.match(line, place)[0]  # type: ignore[index]
        parts, after = self._open or [], place + len(inside) + 1
        parts.append(inside)
        if after > len(line):
            self._open = parts
            return len(line)
        if line[after : after + 1].strip(" \t\r\n"):
            raise csv.Error("delimiter expected after quote")
        self._cells.append("".join(parts).replace(self._quote * 2, self._quote))
        self._open = None
        return after

    def _take_bare(self, line: str, place: int) -> int:
        bare: str = self._bare.match(line, place)[0]  # type: ignore[index]
        self._cells.append(bare)
        return place + len(bare)


class Lines:
    """Lines that are counted as they are read.

    With *comments*, blank lines and lines that begin with `#` are left out, but not those inside a quoted cell.
    """

    def __init__(self, lines: Iterable[str], *, comments: bool) -> None:
        self._lines = iter(lines)
        self._comments = comments
        self._in_quotes = False
        self.read = 0

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> str:
        for line in self._lines:
            self.read += 1
            if self._comments:
                if not self._in_quotes and (line.startswith("#") or not line.strip(" \r\n")):
                    continue
                self._in_quotes ^= line.count('"') % 2 == 1
            return line
        raise StopIteration


class Rows:
    """The rows of CSV text in a known dialect; *name* is the file to name in errors.

    With *comments*, blank lines and lines that begin with `#` are left out.
    """

    def __init__(self, data: bytes, name: str, dialect: Dialect, *, comments: bool = False) -> None:
        self.data, self.name, self.dialect = data, name, dialect
        # Looking for these in all the text is far quicker than looking at each line.
        first = data[:4].removeprefix(codecs.BOM_UTF8)[:1]
        self.comments = comments and (first in (b"#", b" ") or any(mark in data for mark in _LEFT_OUT))

    def __iter__(self) -> Iterator[list[str]]:
        lines = Lines(self._lines(), comments=True) if self.comments else self._lines()
        if self._only_words():
            yield from filter(None, map(str.split, lines))
            return
        try:
            yield from rows_of(lines, self.dialect)
        except csv.Error:
            # Once more, to name the line.
            deque(self._located(), maxlen=0)
            raise

    def begins(self, row: int, width: int) -> int:
        """The line on which a row begins; in a table of *width* columns, lines of spaces are not rows."""
        found = (begin for begin, _, cells in self._located() if not is_blank(cells, width))
        return next(islice(found, row, None))

    def ends(self, row: int) -> int:
        """The line on which a row ends; found when an error needs it, so that reading need not count."""
        return next(islice((end for _, end, _ in self._located()), row, None))

    def _only_words(self) -> bool:
        """Whether no quotes and no rarer kinds of space stand between the blanks: then the quick way is right."""
        is_plain = (
            self.dialect.delimiter == BLANKS and self.dialect.encoding.startswith("utf-8") and self.data.isascii()
        )
        return is_plain and self.dialect.quote.encode() not in self.data and not _OTHER_SPACE.search(self.data)

    def _lines(self) -> Iterable[str]:
        """The lines of the file, each with its end as it stands there."""
        return io.TextIOWrapper(io.BytesIO(self.data), encoding=self.dialect.encoding, newline="")

    def _located(self) -> Iterator[tuple[int, int, list[str]]]:
        """Each row with the lines it begins and ends on; a row that cannot be read is an error with its line."""
        lines = Lines(self._lines(), comments=self.comments)
        begins = 1
        try:
            for cells in _rows_and_empty(lines, self.dialect, strict=True):
                if cells:
                    yield begins, lines.read, cells
                begins = lines.read + 1
        except csv.Error as error:
            what = str(error)
            if "unexpected end" in what:
                what = "a quote opens here and is never closed"
            elif "expected after" in what:
                what = "something stands between a closing quote and the delimiter"
            elif "field limit" in what:
                most = csv.field_size_limit()
                raise TooMuch(f"{self.name}, line {begins}: a cell has more than {most:,} characters.") from None
            raise InvalidRecord(f"{self.name}, line {begins}: this is no row of a table: {what}.") from None


def is_blank(row: Sequence[str], width: int) -> bool:
    """Whether a row of a table of *width* columns is a line of spaces."""
    return width > 1 and len(row) == 1 and not row[0].strip()


def commented_rows(data: bytes, name: str, delimiter: str | None) -> Rows:
    """The rows of UTF-8 text without blank lines and comments; a *delimiter* of None is any run of spaces and tabs."""
    decode(data, name, "utf-8")
    dialect = Dialect(delimiter=delimiter or BLANKS, encoding="utf-8-sig", spaced=True)
    return Rows(data, name, dialect, comments=True)


def read_table(data: bytes, name: str) -> tuple[list[str], Iterator[list[str]], Callable[[int], int]]:
    """The header and the rows of a small table, and a function that gives the line of a row; the delimiter is detected.

    Cells lose the apostrophes that made them harmless; every row has as many as the header.
    """
    rows = commented_rows(data, name, found_delimiter(first_line(data)) or ",")
    body = iter(rows)
    header = [plain(cell).strip() for cell in next(body, [])]
    if not header:
        raise InvalidInput(f"{name}: there is no line with the names of the columns.")
    if twice := repeated(header):
        raise InvalidRecord(f"{name}, line {rows.ends(0)}: column {twice} has the name of another one.")

    def line(row: int) -> int:
        return rows.ends(row + 1)

    return header, _even(body, name, len(header), line), line


def _even(rows: Iterator[list[str]], name: str, width: int, line: Callable[[int], int]) -> Iterator[list[str]]:
    for number, row in enumerate(rows):
        if len(row) != width:
            raise InvalidRecord(f"{name}, line {line(number)}: this line has {len(row)} cells, the header {width}.")
        yield [plain(cell) if cell[:1] == "'" else cell for cell in row]


def repeated(names: Sequence[str]) -> int | None:
    """The number, from 1, of the first column whose name was used before.

    Errors tell only the number: without a header the first line is a record, perhaps of a person.
    """
    return next((place for place, name in enumerate(names, start=1) if name in names[: place - 1]), None)


def first_line(data: bytes) -> str:
    """The first line of a table that is neither blank nor a comment."""
    for found in re.finditer(rb"[^\r\n]+", data.removeprefix(codecs.BOM_UTF8)):
        if found.group().strip(b" ") and not found.group().startswith(b"#"):
            return found.group().decode("utf-8", "replace")
    return ""


def found_delimiter(line: str) -> str | None:
    """The delimiter that a *line* of a table uses: the one seen most outside quotes; None for spaces.

    >>> found_delimiter('1;"a,b,c"'), found_delimiter("12 34")
    (';', None)
    """
    outside = outside_quotes(line)
    most = max("\t;,|", key=outside.count)
    return most if outside.count(most) else None


def outside_quotes(line: str) -> str:
    """A *line* without its quoted parts."""
    return re.sub(r'"(?:[^"]|"")*"', "", line)
