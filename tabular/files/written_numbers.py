"""Numbers that remember how they were written, so that `1.50` and `1e3` are written back unchanged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: More digits than this and a number is a name for something: an account, a card.
_DIGITS = 18
#: A zero in front of digits says that the digits are a code: a postcode, a class.
_NUMBER = re.compile(rf" *[+-]?(?!0\d)(\d{{1,{_DIGITS}}}(\.\d*)?|\.\d+)([eE][+-]?\d{{1,3}})? *", re.ASCII)


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
    if list(map(repr, floats)) == list(words):
        return list(floats)
    if not all(map(_NUMBER.fullmatch, plain)):
        return None
    return [_number(word, number) for word, number in zip(words, floats, strict=True)]


def ordered_numbers(numbers: Sequence[Number]) -> tuple[list[int], list[Number]]:
    """Where each number stands in ascending order, and the numbers in that order, no two of them equal.

    Of several spellings of a number the plainest is the number itself.

    >>> places, domain = ordered_numbers(numbers_in(["2", "1.0", "1"]))
    >>> places, [str(number) for number in domain], domain[1] == 1
    ([2, 1, 0], ['1', '1.0', '2'], False)
    """
    kind: type = np.float64
    if set(map(type, numbers)) == {int}:
        # A column of Parquet may hold whole numbers of more than 64 bits.
        kind = object if max(map(abs, numbers)) >= 2**63 else np.int64
    sizes: NDArray[Any] = np.array(numbers, dtype=kind)
    order = np.argsort(sizes, kind="stable").tolist()
    domain = [numbers[place] for place in order]
    if (np.diff(sizes[order]) == 0).any():
        plainest = (int, float, WrittenNumber)
        order.sort(key=lambda at: (float(numbers[at]), plainest.index(type(numbers[at])), str(numbers[at])))
        domain = []
        for number in (numbers[place] for place in order):
            twin = bool(domain) and float(domain[-1]) == float(number)
            domain.append(OtherSpelling(float(number), str(number)) if twin else number)
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return places.tolist(), domain


def _number(word: str, number: float) -> Number:
    if repr(number) == word:
        return number
    # A whole number of many digits is more than a float holds.
    whole = int(word) if word.removeprefix("-").isdecimal() else None
    return whole if str(whole) == word else WrittenNumber(number, word)  # type: ignore[return-value]
