"""Joining categories: what global recoding, top coding and bottom coding have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidParameter
from tabular.table import Table


def with_joined(table: Table, name: str, categories: NDArray[np.integer], count: int) -> Table:
    """*table* with the first *count* of a column's *categories*, which are all of them, joined into one label."""
    size = len(categories)
    if size < 3:
        raise InvalidParameter(
            f"Column {name!r} has {size} {'category' if size == 1 else 'categories'}; joining two would leave nothing "
            f"to tell apart. Leave the column out."
        )
    if count >= size:
        raise InvalidParameter(
            f"Column {name!r} has {size} categories: count must be from 2 to {size - 1}, not {count}."
        )
    joined, codes = categories[:count], table.columns[name]
    return table.with_labels(name, np.where(np.isin(codes, joined), size, codes), [joined.tolist()])
