"""Fingerprints of tables, and how to add numbers and texts to a fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tabular.labels import text_of, write_label
from tabular.table import Table


def fingerprint_of_table(table: Table) -> str:
    """The SHA-256 of the content of a table, however its file is written."""
    digest = hashlib.sha256(b"table 1\n")
    add_texts(digest, table.names)
    for attribute in table.attributes:
        values = ["" if value is None else f"={text_of(value)}" for value in attribute.domain]
        labels = [write_label(attribute, members) for members in table.sets[attribute.name]]
        add_texts(digest, [attribute.kind, *values, *labels])
        add_numbers(digest, table.columns[attribute.name])
    return f"sha256:{digest.hexdigest()}"


def add_texts(digest: hashlib._Hash, texts: Iterable[str]) -> None:
    """Add a list of texts to a *digest*."""
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    # With the lengths before them, no two lists of texts read the same.
    add_numbers(digest, np.array([len(part) for part in parts], dtype=np.int64))
    digest.update(b"".join(parts))


def add_numbers(digest: hashlib._Hash, numbers: NDArray[np.integer]) -> None:
    """Add an array of numbers with its shape to a *digest*."""
    digest.update(np.array(numbers.shape, dtype="<i8").tobytes())
    digest.update(np.ascontiguousarray(numbers, dtype="<i8").tobytes())
