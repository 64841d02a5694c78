"""What generalising and suppressing cost, by the table that comes of it."""

from __future__ import annotations

from fractions import Fraction
from math import fsum, log2

import numpy as np

from tabular.anonymity import Anonymity
from tabular.errors import InvalidInput
from tabular.measures.contract import paired_columns


def discernibility(table, quasi_identifiers, *, suppressed=None):
    """DM: for each row the rows it cannot be told from, of a suppressed one all; summed (Bayardo and Agrawal 2005)."""
    out = np.zeros(len(table), dtype=np.bool_) if suppressed is None else suppressed
    sizes = np.zeros(0, dtype=np.int64)
    if not out.all():
        sizes = Anonymity.of(table, quasi_identifiers, suppressed=out).classes.sizes
    return int((sizes**2).sum()) + int(out.sum()) * len(table)


def normalized_average_class_size(table, quasi_identifiers, k=1, *, suppressed=None):
    """C_AVG: the mean size of a class over *k*, the size it needs; 1 is the best (LeFevre and others 2006)."""
    found = Anonymity.of(table, quasi_identifiers, suppressed=suppressed)
    return len(found.kept) / len(found.classes.sizes) / k


def general_loss(table, attributes, *, suppressed=None):
    """GLM: for each cell the values its label stands for less one, over those of the domain less one; summed.

    A cell of a suppressed row costs 1; a cell of a domain of one value costs nothing else (Iyengar 2002).

    >>> from tabular.table import Table
    >>> table = Table.from_columns({"size": [1, 2, 3, 4, 5]})
    >>> general_loss(table.masked({"size": ["[1,3]", "[1,3]", 3, "{4|5}", "*"]}), ["size"])
    2.25
    """
    out = _suppressed(table, suppressed)
    total = Fraction(0)
    for name in attributes:
        others = len(table.attribute(name).domain) - 1
        covered = np.array([0] * (others + 1) + [len(members) - 1 for members in table.sets[name]])
        # Counted by label, so that the order of the rows does not show in the last digit.
        rows = np.bincount(table.columns[name][~out], minlength=len(covered))
        total += Fraction(int(np.dot(covered, rows)), max(others, 1)) + int(out.sum())
    return float(total)


def classification_loss(table, quasi_identifiers, class_label, *, suppressed=None):
    """CM: the rows that are suppressed, or whose class label is not the commonest one of their class; summed.

    Of several commonest labels one counts as the commonest (Iyengar 2002).
    """
    out = _suppressed(table, suppressed)
    if out.all():
        return len(table)
    found = Anonymity.of(table, quasi_identifiers, suppressed=out).diversity(class_label)
    return int(out.sum() + found.rows.sum() - found.majorities.sum())


def non_uniform_entropy(original, masked, attributes, *, suppressed=None):
    """Bits that are needed to tell each original value from the others of its label, by their frequencies; summed.

    -log2 of the value's frequency over that of all values of the label; a suppressed row stands for all values. A
    label that does not hold the value of the row is no generalisation and is refused (Gionis and Tassa 2009).

    >>> from tabular.table import Table
    >>> original = Table.from_columns({"size": [1, 1, 2, 3]})
    >>> round(non_uniform_entropy(original, original.masked({"size": ["[1,2]", "[1,2]", "[1,2]", 3]}), ["size"]), 4)
    2.7549
    """
    out = _suppressed(original, suppressed)
    bits = []
    for column in paired_columns(original, masked, attributes):
        frequencies = np.bincount(column.original, minlength=column.size)
        labels = np.where(out, column.size + len(column.sets), column.masked)
        keys, rows = np.unique(labels.astype(np.int64) * column.size + column.original, return_counts=True)
        for label, value, count in zip(keys // column.size, keys % column.size, rows.tolist(), strict=True):
            everything = label == column.size + len(column.sets)
            members = range(column.size) if everything else column.members(int(label))
            if value not in members:
                row = int(np.flatnonzero((labels == label) & (column.original == value))[0])
                raise InvalidInput(
                    f"Column {column.name!r}, row {row + 1}: the label does not hold the original value; non-uniform "
                    "entropy is a measure of generalisations."
                )
            bits.append(-count * log2(frequencies[value] / frequencies[list(members)].sum()))
    return abs(fsum(bits))


def _suppressed(table, suppressed):
    return np.zeros(len(table), dtype=np.bool_) if suppressed is None else np.asarray(suppressed)
