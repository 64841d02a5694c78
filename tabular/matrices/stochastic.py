"""Transition matrices: checked, or made from the frequencies of a column (Mares Soler 2013, section 2.3.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Attribute, text_of
from tabular.errors import InvalidInput

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


def retaining(frequencies: NDArray[np.integer], retain: float) -> NDArray[np.float64]:
    """Keep each value with probability *retain*; the rarer another category, the sooner it is taken (eq 2.3).

    Where two categories are all, the other one takes what is left; where one alone occurs, nothing changes.

    >>> retaining(np.array([6, 3, 1]), 0.8).round(3).tolist()
    [[0.8, 0.05, 0.15], [0.029, 0.8, 0.171], [0.067, 0.133, 0.8]]
    """
    counts = np.asarray(frequencies, dtype=np.float64)
    size = len(counts)
    if np.count_nonzero(counts) < 2:
        return np.eye(size)
    others = counts.sum() - counts[:, None]
    # With two categories eq 2.3 is 0/0.
    weights = (others - counts) / ((size - 2) * others) if size > 2 else np.ones((2, 2))
    matrix = (1 - retain) * weights
    np.fill_diagonal(matrix, retain)
    return matrix


def by_frequency(frequencies: NDArray[np.integer], theta: float) -> NDArray[np.float64]:
    """Change each value of the rarest category with probability *theta*, of others the less the more there are.

    What is changed goes to all other categories alike (eq 2.4 and 2.5). A category that does not occur stays; where
    one alone occurs, nothing changes.

    >>> by_frequency(np.array([6, 3, 0]), 0.5).tolist()
    [[0.75, 0.125, 0.125], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]]
    """
    counts = np.asarray(frequencies, dtype=np.float64)
    size = len(counts)
    occurring = counts > 0
    if occurring.sum() < 2:
        return np.eye(size)
    changed = np.zeros(size)
    changed[occurring] = np.clip(theta * counts[occurring].min() / counts[occurring], 0, 1)
    matrix = np.repeat(changed[:, None] / (size - 1), size, axis=1)
    np.fill_diagonal(matrix, 1 - changed)
    return matrix
