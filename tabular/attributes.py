"""Attributes of a table: role, kind and domain of a column, labels for sets of its values, and distances between them.

A label is `[a,b]` for a range, `{a|b}` for a choice, and `*` for any value.

Distances are those of Mares Soler (2013), eq 2.6 and 2.7. Ordinal: the difference of the ranks over the size of the
domain, so that a value is at 0 from itself (eq 2.6 counts both ends and would give 1 over the size). Nominal: 0 if
equal, else 1. A label that stands for a set: the mean distance to its members. A missing value is a category like the
others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, nan
from numbers import Real
from operator import ne
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidInput, named
from tabular.intervals import (
    Span,
    Spans,
    codes_in,
    first_and_last,
    interval_text,
    is_open,
    number_text,
    place_of,
    sizes_of,
)
from tabular.registry import check

#: A plain value of a cell; None is a missing one.
Value: TypeAlias = Hashable

ROLES = ("identifier", "quasi-identifier", "sensitive", "class-label", "insensitive")

#: At most so many distinct whole numbers are taken for grades, of which the order counts and not the distance.
FEW = 100

NOMINAL, ORDINAL, CONTINUOUS = KINDS = ("nominal", "ordinal", "continuous")
#: The codes of the values a label stands for, ascending, two or more.
Members: TypeAlias = tuple[int, ...] | Span

ANY = "*"
RANGE, CHOICE = ",", "|"
#: How the labels of open intervals begin.
UP_TO, FROM = "<=", ">="


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """A column's name, its role (None: unknown), its kind, and its domain in order.

    An empty domain stands for the values of the column. A missing value is a category of its own: it stands in the
    domain of a table only if it occurs there, at the place that was given or else at the end of the order.
    """

    name: str
    role: str | None = None
    kind: str = NOMINAL
    domain: tuple[Value, ...] = ()
    #: Whether the domain was declared: its values are then known to everybody, whoever occurs in the data.
    declared: bool = field(default=False, compare=False)
    #: The least and the greatest number that can occur, where they were declared.
    bounds: tuple[float, float] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        owner = f"Attribute {self.name!r}"
        check(owner, "kind", self.kind, {"choices": KINDS})
        if self.role is not None:
            check(owner, "role", self.role, {"choices": ROLES})
        domain = plain_values(self.domain, f"The domain of {self.name!r}")
        if len(set(domain)) < len(domain):
            raise InvalidInput(f"{owner}: a value appears twice in the domain.")
        if self.kind == CONTINUOUS and not all_numbers(domain, beside=type(None)):
            raise InvalidInput(f"{owner} is continuous, so its domain holds numbers only.")
        object.__setattr__(self, "domain", domain)

    @property
    def is_ordered(self) -> bool:
        """Whether the order of the domain means something."""
        return self.kind != NOMINAL

    @cached_property
    def codes(self) -> dict[Value, int]:
        """The code of each value: its place in the domain."""
        return {value: code for code, value in enumerate(self.domain)}

    @property
    def occurring_numbers(self) -> NDArray[np.float64]:
        """The ascending finite numbers that the column holds, without a missing value at the end of its domain.

        None where it holds anything else, or where the domain was declared: its values tell nothing of the records.
        """
        held = self.domain[: len(self.domain) - (len(self.domain) > 0 and self.domain[-1] is None)]
        if not self.is_ordered or self.declared or not all_numbers(held):
            return np.zeros(0)
        try:
            numbers = np.array(held, dtype=np.float64)
        except OverflowError:
            # Whole numbers beyond the greatest floating-point one.
            return np.zeros(0)
        return numbers if np.isfinite(numbers).all() and (numbers[1:] >= numbers[:-1]).all() else np.zeros(0)

    @property
    def missing(self) -> int | None:
        """The code of a missing value; None where the domain has none."""
        return self.domain.index(None) if None in self.domain else None


def is_number(value: Any) -> bool:
    """Whether *value* is a number; a truth value is not."""
    # Called for every value of long domains: comparing types is faster than isinstance with an abstract class.
    return type(value) in (int, float) or (isinstance(value, Real) and not isinstance(value, bool))


def all_numbers(values: Iterable[Any], *, beside: type | None = None) -> bool:
    """Whether each of *values* is a number, or of the type *beside*; long domains have few types to look at."""
    return all(issubclass(kind, Real) and not issubclass(kind, bool) for kind in set(map(type, values)) - {beside})


def plain_values(values: Iterable[Any], what: str) -> tuple[Value, ...]:
    """The plain values of a column or domain; a missing one is None."""
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    if not isinstance(listed, list):
        raise InvalidInput(f"{what} must be a sequence of values, not a single one.")
    if not all(issubclass(kind, Hashable) for kind in set(map(type, listed))):
        row, value = next(pair for pair in enumerate(listed) if not isinstance(pair[1], Hashable))
        raise InvalidInput(f"{what}, row {row + 1}: a cell holds one plain value, not a {type(value).__name__}.")
    # A value that differs from itself is NaN.
    if not any(map(ne, listed, listed)):
        return values if isinstance(values, tuple) else tuple(listed)
    return tuple([None if value is None or value != value else value for value in listed])


def resolved(attribute: Attribute, values: Iterable[Value]) -> Attribute:
    """*attribute* with the domain of a table in which *values* occur."""
    occurring = set(values)
    if attribute.domain:
        domain = tuple(value for value in attribute.domain if value is not None or None in occurring)
    else:
        domain = _in_order(attribute, occurring - {None})
    if None in occurring and None not in domain:
        domain = (*domain, None)
    return replace(attribute, domain=domain, declared=attribute.declared or bool(attribute.domain))


def widened(attribute: Attribute, values: Iterable[Value]) -> Attribute:
    """A continuous *attribute* with the numbers among *values* in its domain; a missing value keeps to the end."""
    new = {value for value in set(values).difference(attribute.domain) if is_number(value)}
    if not new:
        return attribute
    # Usually two sorted runs, which are merged quickly.
    numbers = sorted([*(value for value in attribute.domain if value is not None), *sorted(new)])  # type: ignore[type-var]
    domain = tuple(numbers) if attribute.missing is None else (*numbers, None)
    return replace(attribute, domain=domain)


def inferred(name: str, values: Iterable[Value]) -> Attribute:
    """The attribute of a column without a description."""
    present = {value for value in values if value is not None}
    if not present or not all(is_number(value) for value in present):
        return Attribute(name=name)
    whole = all(float(value).is_integer() for value in present)  # type: ignore[arg-type]
    return Attribute(name=name, kind=kind_of_numbers(len(present), whole=whole))


def kind_of_numbers(distinct: int, *, whole: bool) -> str:
    """The kind of a column of numbers where nobody says it: a few whole numbers are ordinal, all others a quantity."""
    return ORDINAL if whole and distinct <= FEW else CONTINUOUS


def _in_order(attribute: Attribute, values: Iterable[Value]) -> tuple[Value, ...]:
    # Sorted, so that the codes do not depend on the order of the rows.
    found = list(values)
    if attribute.kind == ORDINAL and any(isinstance(value, str) for value in found):
        raise InvalidInput(f"{attribute.name!r} is ordinal and holds text: give its domain in order.")
    try:
        return tuple(sorted(found, key=_place))
    except TypeError:
        raise InvalidInput(f"The values of {attribute.name!r} have no order: give its domain.") from None


def _place(value: Any) -> tuple[str, Any]:
    number = type(value) in (int, float) or isinstance(value, Real)
    return ("", value) if number else (type(value).__name__, value)


def text_of(value: Value) -> str:
    """A value as it is written in a label; a missing one is empty."""
    return "" if value is None else str(value)


def write_label(attribute: Attribute, members: Sequence[int]) -> str:
    """The label of a set of codes.

    >>> size = Attribute(name="size", kind="ordinal", domain=("S", "M", "L", "XL"))
    >>> write_label(size, (0, 1, 2)), write_label(size, (0, 2)), write_label(size, (0, 1, 2, 3))
    ('[S,L]', '{S|L}', '*')
    >>> age = Attribute(name="age", kind="ordinal", domain=(17, 21, 24, 90))
    >>> write_label(age, Span(1, 2, low=20, high=25)), write_label(age, Span(1, 3, low=20, high=inf))
    ('[20,25]', '>=20')
    """
    if len(members) == len(attribute.domain):
        return ANY
    first, last = members[0], members[-1]
    if attribute.is_ordered and last - first + 1 == len(members):
        low, high = (members.low, members.high) if isinstance(members, Span) else (None, None)
        return interval_text(_end(attribute, first, low), _end(attribute, last, high))
    return "{" + CHOICE.join(text_of(attribute.domain[member]) for member in members) + "}"


def words_of(attribute: Attribute, sets: Sequence[Members]) -> Sequence[Value]:
    """What each code of a column stands for: the values of the domain, then the labels of its *sets*."""
    if not len(sets):
        return attribute.domain
    if isinstance(sets, Spans) and attribute.is_ordered:
        return [*attribute.domain, *_labels_of(attribute, sets)]
    return [*attribute.domain, *(write_label(attribute, members) for members in sets)]


def _labels_of(attribute: Attribute, spans: Spans) -> Iterator[str]:
    """The labels of ranges; few of their ends differ, and each of these is written once."""
    lows, highs = _ends(attribute, spans.firsts, spans.lows), _ends(attribute, spans.lasts, spans.highs)
    for size, low, high in zip(sizes_of(spans).tolist(), lows, highs, strict=True):
        yield ANY if size == len(attribute.domain) else interval_text(low, high)


def _ends(attribute: Attribute, codes: NDArray[np.int64], published: NDArray[np.float64]) -> list[str | None]:
    ends, which = np.unique(published, return_inverse=True)
    texts = [None if np.isinf(end) else number_text(end) for end in ends.tolist()]
    written = [texts[place] for place in which.tolist()]
    for place in np.flatnonzero(np.isnan(published)).tolist():
        written[place] = text_of(attribute.domain[codes[place]])
    return written


def _end(attribute: Attribute, code: int, published: float | None) -> str | None:
    if is_open(published):
        return None
    return text_of(attribute.domain[code]) if published is None else number_text(published)


class LabelReader:
    """Reads the labels of one attribute."""

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute
        self.codes = {text_of(value): code for code, value in reversed(list(enumerate(attribute.domain)))}
        #: The codes of values that are written alike; hardly ever any.
        self.alike: dict[str, list[int]] = {}
        if len(self.codes) < len(attribute.domain):
            for code, value in enumerate(attribute.domain):
                self.alike.setdefault(text_of(value), []).append(code)

    def members(self, text: str) -> Members:
        """The codes that *text* stands for: just one if it is a value.

        >>> size = Attribute(name="size", kind="ordinal", domain=("S", "M", "L", "XL"))
        >>> LabelReader(size).members("[M,XL]") == (1, 2, 3)
        True
        """
        if text in self.codes:
            return tuple(self._only([[code] for code in self._codes(text)]))
        if text == ANY:
            return Span(0, len(self.attribute.domain) - 1)
        if text.startswith("[") and text.endswith("]"):
            return self._range(text[1:-1])
        if text.startswith("{") and text.endswith("}"):
            return tuple(sorted(set(self._parts(text[1:-1], CHOICE))))
        if text.startswith((UP_TO, FROM)):
            return self._open(text)
        raise InvalidInput(
            f"neither a value of the domain nor a set of such ([a,b], {{a|b}}, {UP_TO}a, {FROM}a or {ANY}); the labels "
            f"of a hierarchy are not known here, so a release to be measured is written with {named('labels')} sets"
        )

    def _range(self, text: str) -> Span:
        self._check_order()
        try:
            ends = self._parts(text, RANGE, limit=2)
        except _NotInDomain:
            pieces = text.split(RANGE)
            if len(pieces) != 2:
                raise
            last = len(self.attribute.domain) - 1
            if not pieces[1] and self.attribute.domain[last] is None:
                # Up to the missing value, which stands behind the numbers.
                covered = self._covered(self._number(pieces[0]), inf)
                return Span(covered.first, last, covered.low)
            return self._covered(*map(self._number, pieces))
        if len(ends) != 2 or ends[0] > ends[1]:
            raise InvalidInput("a range has two ends, the lower one first")
        return Span(ends[0], ends[1])

    def _open(self, text: str) -> Span:
        self._check_order()
        end = text[len(UP_TO) :]
        if end in self.codes:
            code = self._only([[code] for code in self._codes(end)])[0]
            last = len(self.attribute.domain) - 1
            # A missing value at the end of the order is neither great nor small.
            last -= self.attribute.domain[last] is None
            return Span(0, code, low=-inf) if text.startswith(UP_TO) else Span(code, last, high=inf)
        number = self._number(end)
        return self._covered(-inf, number) if text.startswith(UP_TO) else self._covered(number, inf)

    def _check_order(self) -> None:
        if not self.attribute.is_ordered:
            raise InvalidInput("a range needs an order, and the attribute is nominal; write {a|b}")

    def _number(self, text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = nan
        if number != number or not len(self._numbers):
            raise _NotInDomain("the set names a value that is not in the domain")
        return number

    @cached_property
    def _numbers(self) -> NDArray[np.float64]:
        """The domain as ascending numbers, without a missing value at its end; none if it is something else."""
        domain = self.attribute.domain
        held = domain[: len(domain) - (len(domain) > 0 and domain[-1] in (None, ""))]
        try:
            # A previous release is read by the texts of its hierarchy.
            numbers = np.array(held, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            return np.zeros(0)
        return numbers if (numbers[1:] >= numbers[:-1]).all() else np.zeros(0)

    def _covered(self, low: float, high: float) -> Span:
        """The values from *low* to *high*, which are ends that need not be values."""
        first = int(np.searchsorted(self._numbers, low, side="left"))
        last = int(np.searchsorted(self._numbers, high, side="right")) - 1
        if low > high or first > last:
            raise InvalidInput("the range covers no value of the domain")
        return Span(first, last, low, high)

    def _codes(self, text: str) -> Sequence[int]:
        if self.alike:
            return self.alike.get(text, ())
        return (self.codes[text],) if text in self.codes else ()

    def _parts(self, text: str, separator: str, limit: int | None = None) -> list[int]:
        """The codes of the values that *text* lists; a value may hold the separator itself."""
        pieces = text.split(separator)
        # ways[i]: the ways to read the first i pieces; more than one way is ambiguous, so two are enough.
        ways: list[list[list[int]]] = [[[]]]
        for end in range(1, len(pieces) + 1):
            found = [
                [*before, code]
                for start in range(max(0, end - self._longest[separator]), end)
                for code in self._codes(separator.join(pieces[start:end]))
                for before in ways[start]
                if limit is None or len(before) < limit
            ]
            ways.append(found if limit is not None else found[:2])
        return self._only(ways[-1])

    @cached_property
    def _longest(self) -> dict[str, int]:
        """The most pieces that a value is in, by separator."""
        return {
            separator: 1 + max((known.count(separator) for known in self.codes), default=0)
            for separator in (RANGE, CHOICE)
        }

    @staticmethod
    def _only(ways: list[list[int]]) -> list[int]:
        if len(ways) > 1:
            raise InvalidInput("the label can be read in several ways, since values of the domain are written alike")
        if not ways:
            raise _NotInDomain("the set names a value that is not in the domain")
        return ways[0]


class _NotInDomain(InvalidInput):
    """A label names what is no value of the domain."""


def canonical(
    codes: NDArray[np.integer], sets: Sequence[Members], size: int
) -> tuple[NDArray[np.int32], Sequence[Members]]:
    """Codes and sets in their canonical form: each set once, in order, and in use; a set of one value is that value.

    Only an interval with ends of its own stays a label although it covers one value.
    Codes from *size* on number the *sets*; equal sets become one label, however they were written.
    """
    if not len(sets):
        return codes.astype(np.int32), ()
    if not isinstance(sets, Spans) and all(isinstance(each, Span) for each in sets):
        sets = Spans.of(sets)  # type: ignore[arg-type]
    if isinstance(sets, Spans):
        return _canonical_spans(codes, sets, size)
    used = np.unique(codes[codes >= size]) - size
    members = {index: _members(sets[index]) for index in used.tolist()}
    keys = {index: place_of(each) for index, each in members.items()}
    kept = {key: members[index] for index, key in sorted(keys.items(), reverse=True) if _is_label(members[index])}
    place = {key: size + index for index, key in enumerate(sorted(kept))}
    renamed = np.arange(size + len(sets), dtype=np.int32)
    for index, key in keys.items():
        renamed[size + index] = place[key] if key in place else members[index][0]
    return renamed[codes], tuple(kept[key] for key in place)


def _members(members: Members) -> Members:
    return members if isinstance(members, Span) else tuple(sorted({int(member) for member in members}))


def _is_label(members: Members) -> bool:
    """Whether a set is not just a value: it has several, or ends of its own."""
    return len(members) > 1 or (isinstance(members, Span) and (members.low, members.high) != (None, None))


def _canonical_spans(
    codes: NDArray[np.integer], spans: Spans, size: int
) -> tuple[NDArray[np.int32], Sequence[Members]]:
    used = np.unique(codes[codes >= size]) - size
    firsts, lasts = spans.firsts[used], spans.lasts[used]
    several = (firsts < lasts) | ~np.isnan(spans.lows[used]) | ~np.isnan(spans.highs[used])
    _, found, which = np.unique(firsts[several] * size + lasts[several], return_index=True, return_inverse=True)
    renamed = np.arange(size + len(spans), dtype=np.int32)
    renamed[size + used] = firsts
    renamed[size + used[several]] = size + which
    kept = spans.take(used[several][found])
    return renamed[codes], kept if len(kept) else ()


def distances_to(members: Sequence[int], size: int, *, ordered: bool) -> NDArray[np.float64]:
    """The mean distance of each value of a domain of *size* to the *members* of a set.

    >>> distances_to((0, 1), 4, ordered=True).tolist()
    [0.125, 0.125, 0.375, 0.625]
    >>> distances_to((0, 1), 4, ordered=False).tolist()
    [0.5, 0.5, 1.0, 1.0]
    """
    held = np.zeros(size, dtype=np.int64)
    held[codes_in(members)] = 1
    count = len(members)
    if not ordered:
        return (count - held) / count
    # From one value to the next the sum grows by 1 for each member passed and shrinks by 1 for each still ahead.
    passed = np.cumsum(held)
    steps = 2 * passed[:-1] - count
    total = int(codes_in(members).sum())
    sums = np.concatenate(([total], total + np.cumsum(steps)))
    return sums / (count * size)


def paired_distances(
    values: NDArray[np.integer],
    labels: NDArray[np.integer],
    sets: Sequence[Members],
    size: int,
    *,
    ordered: bool,
) -> NDArray[np.float64]:
    """The distance from each value to the label in the same row; labels from *size* on count the *sets*."""
    distances = np.abs(values.astype(np.int64) - labels) / size if ordered else (values != labels).astype(np.float64)
    if not len(sets):
        return distances
    if ordered and isinstance(sets, Spans):
        spanned = labels >= size
        held = values[spanned].astype(np.int64)
        firsts, lasts = (ends[labels[spanned] - size] for ends in first_and_last(sets))
        distances[spanned] = sums_to_spans(held, firsts, lasts) / ((lasts - firsts + 1) * size)
        return distances
    # Rows by label, so that the distances to a set are computed once.
    rows = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[rows], np.arange(size, size + len(sets) + 1))
    for members, first, end in zip(sets, starts[:-1], starts[1:], strict=True):
        holders = rows[first:end]
        distances[holders] = distances_to(members, size, ordered=ordered)[values[holders]]
    return distances


def sums_to_spans(values: NDArray[np.int64], firsts: NDArray[np.int64], lasts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of the differences of each value from all codes of the span beside it."""
    counts = lasts - firsts + 1
    # The codes below the value, and those above it.
    below, above = np.clip(values - firsts, 0, counts), np.clip(lasts - values, 0, counts)
    inside = (below * (below + 1) + above * (above + 1)) // 2
    outside = np.abs(counts * values - counts * (firsts + lasts) // 2)
    return np.asarray(np.where((values >= firsts) & (values <= lasts), inside, outside))
