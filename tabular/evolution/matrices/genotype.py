"""The genome of a transition matrix: Gray codes of its thousandths (Mares Soler 2013, sections 4.1.1 and 4.1.2).

Of more than ten categories an even share would be few thousandths, or none: units are halved until it is a hundred.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.evolution.genome import from_gray_code, gray_code

#: A probability of 1 is so many units; the bits of a value can hold up to 1023 of them.
UNITS, BITS = 1000, 10

#: Up to so many categories have these units.
FEW = 10

Genes = NDArray[np.int64]


def halvings(size: int) -> int:
    """How often the units of a matrix of *size* categories are halved; each takes another bit.

    >>> [halvings(size) for size in (2, 10, 11, 300)]
    [0, 0, 1, 5]
    """
    return max((size - 1) // FEW, 0).bit_length()


def encoded(matrix: NDArray[np.float64]) -> Genes:
    """The genome of *matrix*; a probability is rounded to a unit, where the thesis cuts it off.

    Of many categories a row keeps its sum, which would else be off by as many halves of a unit.

    >>> [f"{gene:010b}" for gene in encoded(np.array([[0.185, 0.283, 0.532]]))[0]]
    ['0011100101', '0110010110', '1100011110']
    """
    finer = halvings(np.shape(matrix)[-1])
    units = (UNITS << finer) * np.asarray(matrix, dtype=np.float64)
    return gray_code((_whole(units) if finer else np.rint(units)).astype(np.int64))


def _whole(units: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of whole *units* with the same sums: what was cut off goes to where most of it was."""
    whole = np.floor(units)
    missing = np.rint((units - whole).sum(axis=1)).astype(np.int64)
    order = np.argsort(whole - units, axis=1, kind="stable")
    places = np.argsort(order, axis=1, kind="stable")
    return np.asarray(whole + (places < missing[:, None]))


def decoded(genes: Genes, allowed: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
    """The matrix of a genome, each row divided by its sum; a row without any probability keeps its value.

    Where cells are *allowed*, the others hold none.

    >>> decoded(gray_code(np.array([[300, 100], [0, 0]]))).tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """
    units = from_gray_code(genes).astype(np.float64)
    if allowed is not None:
        units *= allowed
    empty = ~units.any(axis=1)
    units[empty, empty] = 1
    return np.asarray(units / units.sum(axis=1, keepdims=True))


def mutated(genes: Genes, rng: np.random.Generator, allowed: NDArray[np.bool_] | None = None) -> Genes:
    """The genome with one bit of one value turned over; of an *allowed* one where that is said."""
    places = np.arange(genes.size) if allowed is None else np.flatnonzero(allowed)
    place, bit = rng.choice(places), rng.integers(BITS + halvings(genes.shape[-1]))
    changed = genes.copy()
    changed.flat[place] ^= 1 << bit
    return changed


def crossed(genes: Genes, rng: np.random.Generator) -> Genes:
    """The genome with two ranges of equal length exchanged, read row by row; they do not overlap.

    From two places s and r on up to |s - r| values are exchanged, and no more than there are after the last one.
    """
    if genes.size < 2:
        return genes.copy()
    first, second = np.sort(rng.choice(genes.size, size=2, replace=False)).tolist()
    most = min(genes.size - 1 - second, second - first - 1)
    return exchanged(genes, first, second, int(rng.integers(most + 1)) + 1)


def exchanged(genes: Genes, first: int, second: int, count: int) -> Genes:
    """The genome with *count* values from place *first* on exchanged for those from *second* on."""
    changed = genes.copy()
    changed.flat[first : first + count] = genes.flat[second : second + count]
    changed.flat[second : second + count] = genes.flat[first : first + count]
    return changed
