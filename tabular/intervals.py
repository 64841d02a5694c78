"""Sets of neighbouring codes, held by their ends, and the numbers that are published as ends.

A label of a long domain covers many values: it is kept as two codes, never as a list of them. Where the ends that are
published are no values of the domain, as those of a grid are not, they are kept beside the codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from operator import eq
from typing import overload

import numpy as np
from numpy.typing import NDArray


class Span(Sequence[int]):
    """All codes from *first* to *last*; equal to a tuple of the same codes.

    *low* and *high* are the ends as published: a number, or an infinite one where the label is open; None: the value
    of the domain at that end.

    >>> Span(2, 4) == (2, 3, 4), len(Span(2, 4)), 3 in Span(2, 4)
    (True, 3, True)
    """

    __slots__ = ("first", "high", "last", "low")

    def __init__(self, first: int, last: int, low: float | None = None, high: float | None = None) -> None:
        self.first, self.last, self.low, self.high = first, last, low, high

    def __len__(self) -> int:
        return self.last - self.first + 1

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[int, ...]: ...
    def __getitem__(self, place: int | slice) -> int | tuple[int, ...]:
        codes = range(self.first, self.last + 1)
        return tuple(codes[place]) if isinstance(place, slice) else codes[place]

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.last + 1))

    def __contains__(self, code: object) -> bool:
        return code in range(self.first, self.last + 1)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Span):
            return (self.first, self.last) == (other.first, other.last)
        return isinstance(other, tuple) and len(other) == len(self) and all(map(eq, self, other))

    def __hash__(self) -> int:
        # As the tuple's, to which it is equal.
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Span({self.first}, {self.last})"

    def moved(self, places: NDArray[np.integer]) -> Span:
        """The same label in a domain where the code c of this one is *places*[c], in the same order."""
        return Span(int(places[self.first]), int(places[self.last]), self.low, self.high)


@dataclass(frozen=True, eq=False)
class Spans(Sequence[Span]):
    """Many spans, as arrays; an end that is not a number stands for the value of the domain there."""

    firsts: NDArray[np.int64]
    lasts: NDArray[np.int64]
    lows: NDArray[np.float64]
    highs: NDArray[np.float64]

    @classmethod
    def of(cls, spans: Sequence[Span]) -> Spans:
        """*spans* as arrays."""
        return cls(
            np.fromiter((each.first for each in spans), np.int64, len(spans)),
            np.fromiter((each.last for each in spans), np.int64, len(spans)),
            np.fromiter((nan if each.low is None else each.low for each in spans), np.float64, len(spans)),
            np.fromiter((nan if each.high is None else each.high for each in spans), np.float64, len(spans)),
        )

    def take(self, places: NDArray[np.integer]) -> Spans:
        """The spans at *places*."""
        return Spans(self.firsts[places], self.lasts[places], self.lows[places], self.highs[places])

    def __len__(self) -> int:
        return len(self.firsts)

    @overload
    def __getitem__(self, place: int) -> Span: ...
    @overload
    def __getitem__(self, place: slice) -> Spans: ...
    def __getitem__(self, place: int | slice) -> Span | Spans:
        if isinstance(place, slice):
            return self.take(np.arange(len(self))[place])
        low, high = float(self.lows[place]), float(self.highs[place])
        return Span(
            int(self.firsts[place]),
            int(self.lasts[place]),
            None if isnan(low) else low,
            None if isnan(high) else high,
        )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Spans):
            return np.array_equal(self.firsts, other.firsts) and np.array_equal(self.lasts, other.lasts)
        return isinstance(other, Sequence) and len(other) == len(self) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]


def first_and_last(sets: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lowest and the highest code of each of *sets*, which are in order."""
    if isinstance(sets, Spans):
        return sets.firsts, sets.lasts
    count = len(sets)
    return (
        np.fromiter((each[0] for each in sets), np.int64, count),
        np.fromiter((each[-1] for each in sets), np.int64, count),
    )


def sizes_of(sets: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """How many codes each of *sets* has."""
    if isinstance(sets, Spans):
        return sets.lasts - sets.firsts + 1
    return np.fromiter((len(each) for each in sets), np.int64, len(sets))


def runs_of(sets: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], Spans]:
    """The runs of neighbouring codes that *sets* are made of, and the set of each, in order.

    >>> owners, runs = runs_of([(1, 2, 5), (0, 1)])
    >>> owners.tolist(), runs.firsts.tolist(), runs.lasts.tolist()
    ([0, 0, 1], [1, 5, 0], [2, 5, 1])
    """
    if isinstance(sets, Spans):
        return np.arange(len(sets)), sets
    found = [(owner, first, last) for owner, each in enumerate(sets) for first, last in _runs(each)]
    owners, firsts, lasts = np.array(found, dtype=np.int64).reshape(-1, 3).T
    nothing = np.full(len(found), nan)
    return owners, Spans(firsts, lasts, nothing, nothing)


def _runs(members: Sequence[int]) -> list[tuple[int, int]]:
    if members[-1] - members[0] + 1 == len(members):
        return [(members[0], members[-1])]
    codes = codes_in(members)
    ends = np.flatnonzero(np.diff(codes) > 1)
    firsts, lasts = codes[np.append(0, ends + 1)], codes[np.append(ends, len(codes) - 1)]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def codes_in(members: Sequence[int]) -> NDArray[np.int64]:
    """The codes of one set."""
    if isinstance(members, Span):
        return np.arange(members.first, members.last + 1)
    return np.array(members, dtype=np.int64)


def place_of(members: Sequence[int]) -> tuple[int, ...]:
    """Where a set stands among others: they sort as the tuples of their codes do, and equal ones alone are equal.

    >>> sets = [(1, 2, 5), (1, 2), (1, 3), (1, 2, 3, 4), (0, 7)]
    >>> sorted(sets) == sorted(sets, key=place_of)
    True
    """
    *others, (first, last) = _runs(members)
    # A run that others follow sorts behind one that ends the set, and the shorter behind the longer one.
    return *(part for begin, end in others for part in (begin, 1, -end)), first, 0, last


def number_text(number: float) -> str:
    """A published end as written.

    >>> number_text(20.0), number_text(0.5), number_text(-1e300)
    ('20', '0.5', '-1e+300')
    """
    return str(int(number)) if float(number).is_integer() and abs(number) < 2**53 else repr(float(number))


def interval_text(low: str | None, high: str | None) -> str:
    """The label of an interval; an end that is None is open, and one end is not.

    >>> interval_text("20", "30"), interval_text(None, "20"), interval_text("30", None)
    ('[20,30]', '<=20', '>=30')
    """
    if low is None:
        return f"<={high}"
    return f">={low}" if high is None else f"[{low},{high}]"


def is_open(end: float | None) -> bool:
    """Whether a published end is that of an open label."""
    return end is not None and abs(end) == inf
