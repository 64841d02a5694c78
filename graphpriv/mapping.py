"""The mapping from originals to a release: a private file, apart from the release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidRecord
from tabular.files.csv_tables import read_table, write_csv
from tabular.files.disk import read_bytes

HEADER = ("original", "released")

#: A user without a counterpart.
NONE = -1


def write_mapping(
    file: IO[bytes], original: Sequence[str], released: Sequence[str], mapping: NDArray[np.int64]
) -> None:
    """Write the CSV `original,released`; a forgotten user has no line."""
    pairs = ((original[user], released[to]) for user, to in enumerate(mapping.tolist()) if to != NONE)
    write_csv(file, HEADER, pairs)


def read_mapping(path: str | Path, original: Sequence[str], released: Sequence[str]) -> NDArray[np.int64]:
    """The mapping in a CSV `original,released`, as positions; a user without a line has none."""
    header, rows, line = read_table(read_bytes(path), str(path))
    if tuple(header) != HEADER:
        raise InvalidRecord(f"{path}, line 1: the header must be {','.join(HEADER)}.")
    positions = {name: position for position, name in enumerate(original)}
    targets = {name: position for position, name in enumerate(released)}
    mapping = np.full(len(original), NONE, dtype=np.int64)
    taken: set[int] = set()
    for number, (one, other) in enumerate(rows):
        user, to = positions.get(one), targets.get(other)
        if user is None or to is None:
            which, column = ("original", "original") if user is None else ("released", "released")
            raise InvalidRecord(f"{path}, line {line(number)}: the id under {column!r} is not in the {which} graph.")
        if mapping[user] != NONE or to in taken:
            raise InvalidRecord(f"{path}, line {line(number)}: a user occurs in the mapping twice.")
        mapping[user] = to
        taken.add(to)
    return mapping


def mapping_by_id(original: Sequence[str], released: Sequence[str]) -> NDArray[np.int64] | None:
    """The mapping of a release that keeps the ids; None where any original id is missing from it."""
    targets = {name: position for position, name in enumerate(released)}
    found = [targets.get(name, NONE) for name in original]
    return None if NONE in found else np.array(found, dtype=np.int64)
