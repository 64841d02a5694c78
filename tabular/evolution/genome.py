"""The genome of masked numbers: where their Gray codes differ from the original's (Mares Soler 2013, Table 3.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidInput


def gray_code(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The Gray code of each whole number; neighbours differ in one bit.

    >>> [f"{code:b}" for code in gray_code(np.array([1000, 1500]))]
    ['1000011100', '11100110010']
    """
    numbers = np.asarray(numbers, dtype=np.int64)
    if (numbers < 0).any():
        raise InvalidInput("Gray codes are of whole numbers from 0 on; shift the column so that its least value is 0.")
    return numbers ^ (numbers >> 1)


def from_gray_code(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers that have these Gray codes.

    >>> from_gray_code(gray_code(np.array([0, 56, 1900]))).tolist()
    [0, 56, 1900]
    """
    numbers = np.array(codes, dtype=np.int64)
    for reach in (1, 2, 4, 8, 16, 32):
        numbers ^= numbers >> reach
    return numbers


def genome(masked: NDArray[np.float64], original: NDArray[np.float64], *, decimals: int = 0) -> NDArray[np.int64]:
    """The bits in which each masked number differs from its original, both in units of the last of *decimals*.

    >>> f"{genome(np.array([1500]), np.array([1000]))[0]:b}"
    '10100101110'
    """
    return gray_code(_units(masked, decimals)) ^ gray_code(_units(original, decimals))


def from_genome(genes: NDArray[np.int64], original: NDArray[np.float64], *, decimals: int = 0) -> NDArray[np.float64]:
    """The masked numbers that a genome stands for.

    >>> from_genome(genome(np.array([1.25]), np.array([3.5]), decimals=2), np.array([3.5]), decimals=2).tolist()
    [1.25]
    """
    units = from_gray_code(np.asarray(genes, dtype=np.int64) ^ gray_code(_units(original, decimals)))
    return units / 10.0**decimals


def _units(numbers: NDArray[np.float64], decimals: int) -> NDArray[np.int64]:
    scaled = np.rint(np.asarray(numbers, dtype=np.float64) * 10.0**decimals)
    if not (np.abs(scaled) < 2.0**62).all():
        raise InvalidInput("A genome is of numbers below 2^62 in units of the last decimal; take fewer decimals.")
    return scaled.astype(np.int64)
