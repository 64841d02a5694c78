"""Which hierarchy to begin with, by what a column holds."""

from __future__ import annotations

import re

from tabular.attributes import Attribute, is_number, text_of
from tabular.files.columns import are_dates
from tabular.hierarchies.builders import present

#: With more values than this, numbers are put into intervals.
_FEW = 12

#: Codes that go from general to specific: digits, perhaps after letters.
_CODE = re.compile(r"[A-Za-z]{0,2}[ -]?\d{3,}")


def proposed(attribute: Attribute) -> str | None:
    """The kind of hierarchy to propose for an attribute; None if only a person can tell what belongs together.

    >>> proposed(Attribute(name="age", kind="continuous", domain=tuple(range(80))))
    'range'
    >>> proposed(Attribute(name="zip", domain=("08001", "08002", "17001")))
    'star'
    >>> proposed(Attribute(name="town", domain=("Lleida", "Reus")))
    """
    values = present(attribute)
    texts = [text_of(value) for value in values]
    if values and all(map(is_number, values)) and attribute.is_ordered and len(values) > _FEW:
        return "range"
    if texts and are_dates(texts):
        return "date"
    if len(set(map(len, texts))) == 1 and all(map(_CODE.fullmatch, texts)):
        return "star"
    return "balanced" if attribute.is_ordered and len(values) > 1 else None
