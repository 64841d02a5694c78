"""Formulas that make transition matrices of frequencies: read, written, and worked out (Mares Soler 2013, section 4.2).

A formula says how much of category i goes to category j. It knows the number of records, the greatest and the smallest
frequency that occurs, and those of i and j, and it is the same for every column of every table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidParameter, named

#: What a formula can know of a column, and of the cell of the matrix that is worked out.
TERMINALS = ("N", "freq_max", "freq_min", "freq_i", "freq_j")

#: 1 on the diagonal and 0 elsewhere: an extension, which the thesis has not.
SAME = "i=j"

#: The longest text that is read.
MOST_CHARACTERS = 10_000

_TOKEN = re.compile(r"\s*(?:(?P<same>i\s*=\s*j\b)|(?P<word>\w+)|(?P<mark>[-+*/()]))")
_STRENGTHS = {"+": 1, "-": 1, "*": 2, "/": 2}
_OPEN, _CLOSE = "(", ")"


def quotient(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """*one* divided by *other*; 1 where *other* is 0."""
    one, other = np.broadcast_arrays(one, other)
    return np.divide(one, other, out=np.ones(one.shape), where=other != 0)


FUNCTIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": quotient,
}


@dataclass(frozen=True)
class Formula:
    """A formula, its elements in postorder: each function stands behind its two operands.

    >>> formula = Formula.read("(freq_j - freq_min) / N + i=j")
    >>> formula.elements
    ('freq_j', 'freq_min', '-', 'N', '/', 'i=j', '+')
    >>> str(formula)
    '(freq_j - freq_min) / N + (i=j)'
    """

    elements: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> Formula:
        """The formula that is written in *text*, or an error with the place where it cannot be read."""
        if not isinstance(text, str):
            raise InvalidParameter.wrong("formula", must="be a text such as 'freq_j / N'", was=text)
        if len(text) > MOST_CHARACTERS:
            raise InvalidParameter(f"{named('formula')} has {len(text):,} characters; {MOST_CHARACTERS:,} are read.")
        return cls(_Reader(text).elements())

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        """The formula with as few brackets as will do; read again, it is the same formula."""
        stack: list[tuple[str, int]] = []
        for element in self.elements:
            if element in FUNCTIONS:
                strength = _STRENGTHS[element]
                (right, right_strength), (left, left_strength) = stack.pop(), stack.pop()
                left = f"({left})" if left_strength < strength else left
                right = f"({right})" if right_strength <= strength else right
                stack.append((f"{left} {element} {right}", strength))
            else:
                stack.append((f"({SAME})" if element == SAME else element, 3))
        return stack.pop()[0]

    @cached_property
    def canonical(self) -> str:
        """A text that formulas share which differ only in the order of what is added or multiplied.

        >>> Formula.read("N * freq_i").canonical == Formula.read("freq_i * N").canonical
        True
        """
        stack: list[str] = []
        for element in self.elements:
            if element in FUNCTIONS:
                right, left = stack.pop(), stack.pop()
                both = sorted((left, right)) if element in "+*" else (left, right)
                element = f"({both[0]}{element}{both[1]})"
            stack.append(element)
        return stack.pop()

    def values(self, frequencies: NDArray[np.integer]) -> NDArray[np.float64]:
        """What the formula gives for each cell of the matrix, a row for i and a column for j (Algorithm 8)."""
        known = _known(np.asarray(frequencies, dtype=np.float64))
        stack: list[NDArray[np.float64]] = []
        with np.errstate(over="ignore", invalid="ignore"):
            for element in self.elements:
                if element in FUNCTIONS:
                    right, left = stack.pop(), stack.pop()
                    stack.append(FUNCTIONS[element](left, right))
                else:
                    stack.append(known[element])
        return np.array(np.broadcast_to(stack.pop(), (len(frequencies), len(frequencies))), dtype=np.float64)

    def matrix(self, frequencies: NDArray[np.integer]) -> NDArray[np.float64]:
        """The transition matrix: negative values count as 0, each row is made to sum to 1.

        A row without a positive value keeps its category; where one category alone occurs, nothing changes.

        >>> Formula.read("freq_j").matrix(np.array([6, 3, 1])).round(3).tolist()
        [[0.6, 0.3, 0.1], [0.6, 0.3, 0.1], [0.6, 0.3, 0.1]]
        """
        if np.count_nonzero(frequencies) < 2:
            return np.eye(len(frequencies))
        return normalised(self.values(frequencies))


def is_too_long(formula: Formula) -> bool:
    """Whether the text of a formula could not be read."""
    # Each element is a character or more.
    return len(formula.elements) > MOST_CHARACTERS or len(str(formula)) > MOST_CHARACTERS


def normalised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows of *values* without what is negative, or no number, made to sum to 1; a row of zeros keeps its category.

    >>> normalised(np.array([[3.0, 1.0], [-2.0, 0.0]])).tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """
    greatest = np.finfo(np.float64).max
    weights = np.clip(np.nan_to_num(values, nan=0.0, posinf=greatest, neginf=0.0), 0, None)
    largest = weights.max(axis=1, keepdims=True)
    empty = largest[:, 0] == 0
    weights[empty, empty] = 1.0
    # Divided by the largest first: a sum of great numbers can be more than a float holds.
    weights /= np.where(empty[:, None], 1.0, largest)
    shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return shares


def _known(counts: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """What each terminal stands for in the matrix of a column with these frequencies."""
    return {
        "N": counts.sum(),
        "freq_max": counts.max(),
        "freq_min": counts[counts > 0].min(),
        "freq_i": counts[:, None],
        "freq_j": counts[None, :],
        SAME: np.eye(len(counts)),
    }


class _Reader:
    """Reads one text from left to right; operators wait on a stack until what binds them is known."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._output: list[str] = []
        self._waiting: list[tuple[str, int]] = []

    def elements(self) -> tuple[str, ...]:
        """The elements in postorder."""
        place, wants_operand = 0, True
        while self._text[place:].strip():
            token, place, begin = self._token(place)
            wants_operand = self._take_operand(token, begin) if wants_operand else self._take_operator(token, begin)
        if wants_operand:
            raise self._wrong(len(self._text), f"{_listed()} or ( is missing")
        while self._waiting:
            operator, begin = self._waiting.pop()
            if operator == _OPEN:
                raise self._wrong(begin, "this ( is never closed")
            self._output.append(operator)
        return tuple(self._output)

    def _token(self, place: int) -> tuple[str, int, int]:
        found = _TOKEN.match(self._text, place)
        if found is None:
            begin = place + len(self._text[place:]) - len(self._text[place:].lstrip())
            raise self._wrong(begin, f"{self._text[begin]!r} has no meaning in a formula")
        token = SAME if found["same"] else found["word"] or found["mark"]
        return token, found.end(), found.start(found.lastgroup or 0)

    def _take_operand(self, token: str, begin: int) -> bool:
        """Take what a value begins with; whether a value is still wanted."""
        if token == _OPEN:
            self._waiting.append((token, begin))
            return True
        if token not in (*TERMINALS, SAME):
            raise self._wrong(begin, f"{_short(token)!r} stands where {_listed()} or ( must stand")
        self._output.append(token)
        return False

    def _take_operator(self, token: str, begin: int) -> bool:
        """Take what can follow a value; whether another one is wanted."""
        if token not in (*FUNCTIONS, _CLOSE):
            raise self._wrong(begin, f"{_short(token)!r} stands where +, -, *, / or ) must stand")
        strength = _STRENGTHS.get(token, 0)
        while self._waiting and _STRENGTHS.get(self._waiting[-1][0], -1) >= strength:
            self._output.append(self._waiting.pop()[0])
        if token != _CLOSE:
            self._waiting.append((token, begin))
            return True
        if not self._waiting:
            raise self._wrong(begin, "this ) closes nothing")
        self._waiting.pop()
        return False

    def _wrong(self, begin: int, why: str) -> InvalidParameter:
        return InvalidParameter(f"{named('formula')} cannot be read at character {begin + 1}: {why}.")


def _short(token: str) -> str:
    return token if len(token) <= 20 else f"{token[:19]}…"


def _listed() -> str:
    return f"one of {', '.join((*TERMINALS, SAME))}"
