"""Labels for a set of values: `[a,b]` for a range, `{a|b}` for a choice, and `*` for any value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Attribute, Value
from tabular.errors import InvalidInput, named

#: The codes of the values a label stands for, ascending, two or more.
Members: TypeAlias = tuple[int, ...]

ANY = "*"
RANGE, CHOICE = ",", "|"


def text_of(value: Value) -> str:
    """A value as it is written in a label; a missing one is empty."""
    return "" if value is None else str(value)


def write_label(attribute: Attribute, members: Sequence[int]) -> str:
    """The label of a set of codes.

    >>> size = Attribute(name="size", kind="ordinal", domain=("S", "M", "L", "XL"))
    >>> write_label(size, (0, 1, 2)), write_label(size, (0, 2)), write_label(size, (0, 1, 2, 3))
    ('[S,L]', '{S|L}', '*')
    """
    if len(members) == len(attribute.domain):
        return ANY
    first, last = members[0], members[-1]
    if attribute.is_ordered and last - first + 1 == len(members):
        return f"[{text_of(attribute.domain[first])}{RANGE}{text_of(attribute.domain[last])}]"
    return "{" + CHOICE.join(text_of(attribute.domain[member]) for member in members) + "}"


class LabelReader:
    """Reads the labels of one attribute."""

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute
        self.codes: dict[str, list[int]] = {}
        for code, value in enumerate(attribute.domain):
            self.codes.setdefault(text_of(value), []).append(code)

    def members(self, text: str) -> Members:
        """The codes that *text* stands for: just one if it is a value.

        >>> size = Attribute(name="size", kind="ordinal", domain=("S", "M", "L", "XL"))
        >>> LabelReader(size).members("[M,XL]")
        (1, 2, 3)
        """
        if text in self.codes:
            return tuple(self._only([[code] for code in self.codes[text]]))
        if text == ANY:
            return tuple(range(len(self.attribute.domain)))
        if text.startswith("[") and text.endswith("]"):
            return self._range(text[1:-1])
        if text.startswith("{") and text.endswith("}"):
            return tuple(sorted(set(self._parts(text[1:-1], CHOICE))))
        raise InvalidInput(
            f"neither a value of the domain nor a set of such ([a,b], {{a|b}} or {ANY}); the labels of a hierarchy are "
            f"not known here, so a release to be measured is written with {named('labels')} sets"
        )

    def _range(self, text: str) -> Members:
        if not self.attribute.is_ordered:
            raise InvalidInput("a range needs an order, and the attribute is nominal; write {a|b}")
        ends = self._parts(text, RANGE, limit=2)
        if len(ends) != 2 or ends[0] > ends[1]:
            raise InvalidInput("a range has two ends, the lower one first")
        return tuple(range(ends[0], ends[1] + 1))

    def _parts(self, text: str, separator: str, limit: int | None = None) -> list[int]:
        """The codes of the values that *text* lists; a value may hold the separator itself."""
        pieces = text.split(separator)
        longest = 1 + max((known.count(separator) for known in self.codes), default=0)
        # ways[i]: the ways to read the first i pieces; more than one way is ambiguous, so two are enough.
        ways: list[list[list[int]]] = [[[]]]
        for end in range(1, len(pieces) + 1):
            found = [
                [*before, code]
                for start in range(max(0, end - longest), end)
                for code in self.codes.get(separator.join(pieces[start:end]), ())
                for before in ways[start]
                if limit is None or len(before) < limit
            ]
            ways.append(found if limit is not None else found[:2])
        return self._only(ways[-1])

    @staticmethod
    def _only(ways: list[list[int]]) -> list[int]:
        if len(ways) > 1:
            raise InvalidInput("the label can be read in several ways, since values of the domain are written alike")
        if not ways:
            raise InvalidInput("the set names a value that is not in the domain")
        return ways[0]


def canonical(
    codes: NDArray[np.integer], sets: Sequence[Iterable[int]], size: int
) -> tuple[NDArray[np.int32], tuple[Members, ...]]:
    """Codes and sets in their canonical form: each set once, in order, and in use; a set of one value is that value.

    Codes from *size* on number the *sets*; equal sets become one label, however they were written.
    """
    if not len(sets):
        return codes.astype(np.int32), ()
    members = [tuple(sorted({int(member) for member in each})) for each in sets]
    used = np.unique(codes[codes >= size]) - size
    kept = sorted({members[index] for index in used.tolist() if len(members[index]) > 1})
    place = {each: size + index for index, each in enumerate(kept)}
    renamed = np.arange(size + len(members), dtype=np.int32)
    for index in used.tolist():
        each = members[index]
        renamed[size + index] = place[each] if len(each) > 1 else each[0]
    return renamed[codes], tuple(kept)
