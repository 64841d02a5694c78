"""What generalising and suppressing cost: the general loss metric and the classification metric."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tabular.anonymity import Anonymity
from tabular.errors import InvalidInput
from tabular.table import Table


def general_loss(table: Table, attributes: Sequence[str], *, suppressed: NDArray[np.bool_] | None = None) -> float:
    """GLM: for each cell the values its label stands for less one, over those of the domain less one; summed.

    A cell of a suppressed row costs 1; a cell of a domain of one value costs nothing else (Iyengar 2002).

    >>> table = Table.from_columns({"size": [1, 2, 3, 4, 5]})
    >>> general_loss(table.masked({"size": ["[1,3]", "[1,3]", 3, "{4|5}", "*"]}), ["size"])
    2.25
    """
    out = _suppressed(table, suppressed)
    total = 0.0
    for name in attributes:
        others = len(table.attribute(name).domain) - 1
        covered = np.array([0] * (others + 1) + [len(members) - 1 for members in table.sets[name]])
        # Counted by label, so that the order of the rows does not show in the last digit.
        rows = np.bincount(table.columns[name][~out], minlength=len(covered))
        total += int(np.dot(covered, rows)) / max(others, 1) + int(out.sum())
    return total


def classification_loss(
    table: Table, quasi_identifiers: Sequence[str], class_label: str, *, suppressed: NDArray[np.bool_] | None = None
) -> int:
    """CM: the rows that are suppressed, or whose class label is not the commonest one of their class; summed.

    Of several commonest labels one counts as the commonest (Iyengar 2002).
    """
    out = _suppressed(table, suppressed)
    if out.all():
        return len(table)
    counts = Anonymity.of(table, quasi_identifiers, suppressed=out).diversity(class_label).counts
    return int(out.sum() + counts.sum() - counts.max(axis=1).sum())


def _suppressed(table: Table, suppressed: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    if suppressed is None:
        return np.zeros(len(table), dtype=np.bool_)
    if len(suppressed) != len(table):
        raise InvalidInput(f"Suppression is said row by row: {len(suppressed)} given for {len(table)} rows.")
    return np.asarray(suppressed, dtype=np.bool_)
