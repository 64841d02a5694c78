"""Continuous attributes as the measures read them: numbers, record by record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tabular.measures.comparison import compared
from tabular.table import Table

Numbers: TypeAlias = NDArray[np.float64]


def numbers_of(original: Table, masked: Table, attributes: Sequence[str]) -> tuple[Numbers, Numbers]:
    """Both files, a row a record and a column an attribute.

    The records stand in the order of their values, so that sums do not depend on the order of the files.
    """
    compared(original, masked, attributes)
    before, after = (np.stack([table.numbers(name) for name in attributes], axis=1) for table in (original, masked))
    order = np.lexsort(np.concatenate([before, after], axis=1).T)
    return before[order], after[order]


def deviations(numbers: Numbers) -> Numbers:
    """The standard deviation of each column; 1 where it is 0, so that it can be divided by."""
    found = numbers.std(axis=0, ddof=1) if len(numbers) > 1 else np.zeros(numbers.shape[1])
    constant = numbers.max(axis=0) == numbers.min(axis=0)
    deviation: Numbers = np.where(constant, 1.0, found)
    return deviation
