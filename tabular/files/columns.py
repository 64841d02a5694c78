"""What a column of texts holds: numbers, dates or words, and which text marks a missing value.

A number remembers how it was written, so that `1.50` and `1e3` are written back unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import compress
from operator import eq, is_not, not_
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import (
    CONTINUOUS,
    FEW,
    NOMINAL,
    ORDINAL,
    Attribute,
    LabelReader,
    Members,
    Value,
    is_number,
    kind_of_numbers,
    text_of,
)
from tabular.errors import InvalidInput
from tabular.files.schema import Description

#: More digits than this and a number is a name for something: an account, a card.
_DIGITS = 18
#: A zero in front of digits says that the digits are a code: a postcode, a class.
_NUMBER = re.compile(rf" *[+-]?(?!0\d)(\d{{1,{_DIGITS}}}(\.\d*)?|\.\d+)([eE][+-]?\d{{1,3}})? *", re.ASCII)

#: Texts that mark a missing value anywhere, and those that do so only among numbers or dates.
_EVERYWHERE = ("", "?", "NULL", "null", "NaN", "nan", "N/A", "n/a", "#N/A", "<NA>")
_AMONG_NUMBERS = ("NA", "na", "-", "--", ".", "..", "None", "none", "unknown")

_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?", re.ASCII)

NUMBERS, WHOLE, DATES, TEXT, CODES, NOTHING = ("numbers", "whole numbers", "dates", "text", "number codes", "nothing")


class WrittenNumber(float):
    """A number that is not written as Python would: equal to the number, shown as its text."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, number: float, text: str) -> WrittenNumber:
        made = super().__new__(cls, number)
        made.text = text
        return made

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (float(self), self.text)


class OtherSpelling(WrittenNumber):
    """A second spelling of a number in a column: as large, but a value of its own, so that it is written back."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OtherSpelling) and other.text == self.text

    def __ne__(self, other: object) -> bool:
        return not self == other

    # As the number's, so that the order in which sets give their values is the same in every process.
    __hash__ = float.__hash__


Number: TypeAlias = int | float


def is_number_text(text: str) -> bool:
    """Whether *text* is a number, and not a code with zeros in front.

    >>> [is_number_text(text) for text in ("1.50", "-3", "1e3", "007", "1_000", "nan", "")]
    [True, True, True, False, False, False, False]
    """
    return _NUMBER.fullmatch(text) is not None


def are_number_texts(texts: Iterable[str]) -> bool:
    """Whether all of *texts* are numbers."""
    return all(map(_NUMBER.fullmatch, texts))


def are_dates(texts: Iterable[str]) -> bool:
    """Whether all of *texts* are dates, with or without a time, year first."""
    return all(map(_DATE.fullmatch, texts))


def numbers_in(words: Sequence[str], decimal: str = ".") -> list[Number] | None:
    """The numbers that distinct *words* write, or None where one of them is no number.

    >>> [str(number) for number in numbers_in(["1.50", "2", "1e3", "0.5"])]
    ['1.50', '2', '1e3', '0.5']
    >>> numbers_in(["1", "007"]), numbers_in(["0,5"], decimal=",") == [0.5]
    (None, True)
    """
    # Most columns are written in one plain way; looking at them as a whole is far quicker.
    joined = "".join(words)
    if joined.isascii() and joined.isdecimal() and all(0 < len(word) <= _DIGITS for word in words):
        wholes = list(map(int, words))
        if list(map(str, wholes)) == list(words):
            return list(wholes)
    # A point beside decimal commas is no decimal mark: it would group digits.
    plain = words if decimal == "." else ["" if "." in word else word.replace(",", ".", 1) for word in words]
    try:
        floats = list(map(float, plain))
    except ValueError:
        return None
    if not np.isfinite(floats).all():
        return None
    same = list(map(eq, map(repr, floats), words))
    if all(same):
        return list(floats)
    if not are_number_texts(compress(plain, map(not_, same))):
        return None
    return [
        number if plainly else _number(word, number) for word, number, plainly in zip(words, floats, same, strict=True)
    ]


def ordered_numbers(numbers: Sequence[Number]) -> tuple[list[int], list[Number]]:
    """Where each number stands in ascending order, and the numbers in that order, no two of them equal.

    Of several spellings of a number the plainest is the number itself.

    >>> places, domain = ordered_numbers(numbers_in(["2", "1.0", "1"]))
    >>> places, [str(number) for number in domain], domain[1] == 1
    ([2, 1, 0], ['1', '1.0', '2'], False)
    """
    types = list(map(type, numbers))
    kind, plain = (int, np.int64) if set(types) == {int} else (float, np.float64)
    # A column of Parquet may hold whole numbers of more than 64 bits.
    is_long = kind is int and max(map(abs, numbers)) >= 2**63
    sizes: NDArray[Any] = np.array(numbers, dtype=object if is_long else plain)
    order = np.argsort(sizes, kind="stable")
    # Numbers made one after the other lie side by side in memory, which makes all that follows quicker.
    domain: list[Number] = sizes[order].tolist()
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    for at in compress(range(len(numbers)), map(partial(is_not, kind), types)):
        domain[places[at]] = numbers[at]
    if (np.diff(sizes[order]) == 0).any():
        return _spelt_apart(numbers)
    return places.tolist(), domain


def _spelt_apart(numbers: Sequence[Number]) -> tuple[list[int], list[Number]]:
    """The same where some numbers are written in several ways."""
    plainest = (int, float, WrittenNumber)
    order = sorted(
        range(len(numbers)),
        key=lambda at: (float(numbers[at]), plainest.index(type(numbers[at])), str(numbers[at])),
    )
    domain: list[Number] = []
    for number in (numbers[place] for place in order):
        twin = bool(domain) and float(domain[-1]) == float(number)
        domain.append(OtherSpelling(float(number), str(number)) if twin else number)
    return np.argsort(order).tolist(), domain


def _number(word: str, number: float) -> Number:
    """A *number* that Python would not write as *word*."""
    # A whole number of many digits is more than a float holds.
    whole = int(word) if word.removeprefix("-").isdecimal() else None
    return whole if str(whole) == word else WrittenNumber(number, word)  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class Words:
    """A column as a file has it: its distinct texts, and the code of each row among them."""

    texts: Sequence[str]
    codes: NDArray[np.int32]

    @property
    def longest(self) -> int:
        """How many characters its longest text has."""
        return max(map(len, self.texts), default=0)


@dataclass(frozen=True, eq=False)
class Column:
    """A column as a table has it; *marker* is the text that marked a missing value, *form* what the others are."""

    attribute: Attribute
    codes: NDArray[np.int32]
    sets: tuple[Members, ...] = ()
    marker: str | None = None
    form: str = TEXT
    doubts: tuple[str, ...] = ()


def found_markers(columns: Sequence[Words], kept: Sequence[frozenset[str]]) -> list[str | None]:
    """For each column, the text that marks a missing value; *kept* are texts that a schema lists as values.

    Only the most frequent one of a column counts, so that it can be written back, and only if the column has other
    values.
    """
    found = [_marker(words, known) for words, known in zip(columns, kept, strict=True)]
    elsewhere = {marker for marker in found if marker}
    for place, words in enumerate(columns):
        # A column that holds nothing else: what stands for no value in other columns does so here.
        if found[place] is None and len(words.texts) == 1 and words.texts[0] in {*elsewhere, ""} - kept[place]:
            found[place] = words.texts[0]
    return found


def _marker(words: Words, kept: frozenset[str]) -> str | None:
    candidates = {*_EVERYWHERE, *_AMONG_NUMBERS}.difference(kept).intersection(words.texts)
    if not candidates:
        return None
    others = [text for text in words.texts if text not in candidates]
    if not others:
        return None
    if not all(is_number_text(text) or _DATE.fullmatch(text) for text in others):
        candidates &= set(_EVERYWHERE)
    return _most_frequent(words, candidates)


def _most_frequent(words: Words, texts: Set[str]) -> str | None:
    if not texts:
        return None
    counts = np.bincount(words.codes, minlength=len(words.texts))
    found = [(-int(counts[code]), text) for code, text in enumerate(words.texts) if text in texts]
    return min(found)[1] if found else None


def interpreted(
    name: str,
    words: Words,
    *,
    missing: Iterable[str] = (),
    decimal: str = ".",
    described: Description | None = None,
) -> Column:
    """The column *name* in codes; *missing* are the texts that mark a missing value, *described* is from a schema."""
    gone = set(missing)
    known = described or Description()
    present = [text for text in words.texts if text not in gone]
    marker = _most_frequent(words, gone)
    if known.domain:
        values, domain, sets = _in_domain(name, words, present, known, decimal)
        form = WHOLE if all(isinstance(value, int) for value in domain) else TEXT
        doubts: tuple[str, ...] = ()
    else:
        values, domain, form, doubts = _ordered(present, decimal, is_guess=known.kind is None)
        sets = ()
    kind = _kind(name, words, present, known, form)
    if marker is not None:
        domain = [*domain, None]
        # Sets count from the end of the domain.
        values = [value + (value >= len(domain) - 1) for value in values]
    attribute = Attribute(
        name=name, role=known.role, kind=kind, domain=tuple(domain), declared=bool(known.domain), bounds=known.bounds
    )
    by_text = np.array(values, dtype=np.int32)
    if gone:
        code = iter(values)
        by_text = np.array([len(domain) - 1 if text in gone else next(code) for text in words.texts], dtype=np.int32)
    codes = by_text[words.codes] if len(by_text) else words.codes
    codes.flags.writeable = False
    _refuse_outside(attribute, codes)
    return Column(attribute, codes, sets, marker, form, doubts)


def _refuse_outside(attribute: Attribute, codes: NDArray[np.integer]) -> None:
    """Refuse a number outside the bounds that a schema declares, by the first row that has one."""
    if attribute.bounds is None:
        return
    low, high = attribute.bounds
    # What is missing or no number lies nowhere.
    numbers = np.array([float(str(value)) if is_number(value) else np.nan for value in attribute.domain])
    rows = np.flatnonzero(((numbers < low) | (numbers > high))[codes])
    if len(rows):
        # The value itself may be that of one person.
        is_low = bool(numbers[codes[rows[0]]] < low)
        raise BadCell(int(rows[0]), f"lies {'below' if is_low else 'above'} its bound {low if is_low else high:g}")


def kind_of(form: str, distinct: int) -> str:
    """The kind of a column by what it holds and how many values it has, where no schema says it."""
    if form in (WHOLE, NUMBERS):
        return kind_of_numbers(distinct, whole=form == WHOLE)
    return ORDINAL if form == DATES else NOMINAL


def _kind(name: str, words: Words, present: Sequence[str], known: Description, form: str) -> str:
    inferred = kind_of(form, len(present))
    if known.kind is None or known.domain or form == NOTHING:
        return known.kind or inferred
    if known.kind == CONTINUOUS and form not in (WHOLE, NUMBERS):
        bad = np.array([text in present and not is_number_text(text) for text in words.texts])
        row = int(np.argmax(bad[words.codes]))
        is_code = _is_code(words.texts[words.codes[row]])
        raise BadCell(row, "has zeros in front, or too many digits for a number" if is_code else "is no number")
    if known.kind == ORDINAL and inferred == NOMINAL:
        raise InvalidInput(f"{name!r} is ordinal and holds text: give its order in the schema.")
    return known.kind


def _is_code(text: str) -> bool:
    """Whether *text*, which is no number, is digits alone."""
    return text.strip().lstrip("+-").isdecimal()


class BadCell(Exception):
    """A cell that is wrong, and its row; the reader of the file turns the row into a line."""

    def __init__(self, row: int, what: str) -> None:
        super().__init__(what)
        self.row, self.what = row, what


def _ordered(
    present: Sequence[str], decimal: str, *, is_guess: bool
) -> tuple[list[int], list[Value], str, tuple[str, ...]]:
    """The place of each text in the domain, the domain, what it holds, and doubts about that."""
    if not present:
        return [], [], NOTHING, ()
    numbers = numbers_in(present, decimal)
    if numbers is not None:
        places, domain = ordered_numbers(numbers)
        form = WHOLE if all(float(number).is_integer() for number in domain) else NUMBERS
        return places, list(domain), form, _doubts_of_numbers(domain, form if is_guess else NUMBERS)
    return ordered_texts(present)


def ordered_texts(present: Sequence[str]) -> tuple[list[int], list[Value], str, tuple[str, ...]]:
    """The same for texts that are not numbers."""
    texts = sorted(present)
    place = {text: code for code, text in enumerate(texts)}
    places = [place[text] for text in present]
    if are_dates(texts):
        # Written like this, dates in the order of their texts are in the order of time.
        return places, list(texts), DATES, ()
    if all(map(_is_code, texts)):
        return places, list(texts), CODES, ("digits with zeros in front, or too many of them, are taken for codes",)
    return places, list(texts), TEXT, _doubts_of_text(texts)


#: Doubts about the kind that whole numbers were given.
DOUBTFUL_KINDS = (
    "few whole numbers may as well be codes without an order (nominal)",
    f"more than {FEW} whole numbers are taken for a quantity; say ordinal if only their order counts",
)


def _doubts_of_numbers(domain: Sequence[object], form: str) -> tuple[str, ...]:
    doubts = []
    if OtherSpelling in set(map(type, domain)):
        doubts.append("some numbers are written in two ways, which count as two values")
    if form == WHOLE and len(domain) <= 10:
        doubts.append(DOUBTFUL_KINDS[0])
    elif form == WHOLE and len(domain) > FEW:
        doubts.append(DOUBTFUL_KINDS[1])
    return tuple(doubts)


def _doubts_of_text(texts: Sequence[str]) -> tuple[str, ...]:
    numbers = sum(map(is_number_text, texts))
    doubts = []
    if numbers > len(texts) / 2:
        doubts.append(f"{numbers} of its {len(texts)} values are numbers, the others are not, so all are taken as text")
    if any(text in (*_EVERYWHERE, *_AMONG_NUMBERS) for text in texts):
        doubts.append("a text that often stands for no value is taken as a value; if it is none, list it as missing")
    if any(text != text.strip() for text in texts):
        doubts.append("some values begin or end with spaces")
    return tuple(doubts)


def _in_domain(
    name: str, words: Words, present: Sequence[str], known: Description, decimal: str
) -> tuple[list[int], list[Value], tuple[Members, ...]]:
    """The code of each text in the domain of a schema, whose numbers are then written as in the file."""
    domain = list(known.domain)
    code_of = {text_of(value): code for code, value in enumerate(domain)}
    by_number = {float(value): code for code, value in enumerate(domain) if is_number(value)}  # type: ignore[arg-type]
    reader = LabelReader(Attribute(name=name, kind=known.kind or NOMINAL, domain=known.domain))
    codes: list[int] = []
    sets: list[Members] = []
    for text in present:
        code = code_of.get(text)
        if code is None and by_number and is_number_text(text):
            code = by_number.get(float(text))
            if code is not None and code not in codes:
                domain[code] = ordered_numbers(numbers_in([text], decimal) or [])[1][0]
        if code is None:
            try:
                members = reader.members(text)
            except InvalidInput:
                row = int(np.argmax(words.codes == words.texts.index(text)))
                raise BadCell(row, "is not in the domain") from None
            code = len(domain) + len(sets)
            sets.append(members)
        codes.append(code)
    return codes, domain, tuple(sets)
