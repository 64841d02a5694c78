"""Checks of a transition matrix: a row and a column for each category, rows of probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Attribute
from tabular.errors import InvalidInput
from tabular.labels import text_of

#: How far the sum of a row may be from 1: the loss of a file with three decimals.
ROUNDING = 0.01

#: A sum nearer to 1 than this is one of unrounded floating-point numbers.
EXACT = 1e-9

#: The most categories of a matrix; more take too much memory, and leave a release hardly masked.
MOST_CATEGORIES = 5_000


def stochastic(attribute: Attribute, matrix: Any) -> NDArray[np.float64]:
    """*matrix* as numbers whose rows sum to 1, or an error where it is no transition matrix of *attribute*.

    A row whose sum was rounded is made to sum to 1.
    """
    what, size = f"The matrix of {attribute.name!r}", len(attribute.domain)
    try:
        numbers = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{what} must hold numbers, in rows of equal length.") from None
    if numbers.ndim != 2 or numbers.shape[0] != numbers.shape[1]:
        raise InvalidInput(f"{what} must be square; it is {' x '.join(map(str, numbers.shape)) or 'a single number'}.")
    if len(numbers) != size:
        raise InvalidInput(f"{what} must be {size} x {size}, as the domain is; it is {len(numbers)} x {len(numbers)}.")
    for row, label in zip(numbers, attribute.domain, strict=True):
        outside = row[~((row >= 0) & (row <= 1 + ROUNDING))]
        if len(outside):
            raise InvalidInput(f"{what}, row {text_of(label)!r}: a probability is from 0 to 1, not {outside[0]:g}.")
        total = row.sum()
        if abs(total - 1) > ROUNDING:
            raise InvalidInput(f"{what}, row {text_of(label)!r}: the probabilities must sum to 1, not {total:g}.")
    sums = numbers.sum(axis=1, keepdims=True)
    # A matrix that was written in full comes back as it was, to the bit.
    return np.where(abs(sums - 1) > EXACT, numbers / sums, numbers)


def refuse_many(attribute: Attribute) -> None:
    """Refuse an attribute with more categories than a matrix can have."""
    if len(attribute.domain) > MOST_CATEGORIES:
        raise InvalidInput(
            f"Column {attribute.name!r} has {len(attribute.domain)} categories, and a matrix holds at most "
            f"{MOST_CATEGORIES}: join categories first."
        )
