"""Cargo 2000 with a hierarchy for each column, as the benchmarks and tests of the lattice use it.

The file has 3,942 rows and, after the number of the row, 97 columns of whole numbers; none is constant. `?` is missing.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

from tabular.hierarchies.builders import Ranges
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.table import Table

SHARED = Path(os.environ.get("GRAPHPRIV_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
FOLDER = SHARED / "cargo2000"
FILE = "c2k_data_comma.csv"
#: Numbers of columns that KGEN is measured with, and what is asked of the release.
SIZES = (5, 10, 15, 20, 25)
ALL_K = (2, 5, 10)
SUPPRESSION = 0.005


def cargo_problem(columns: int | None = None, folder: Path = FOLDER) -> tuple[Table, dict[str, Hierarchy]]:
    """The table of the first so many *columns* that are not constant, or of all, and their hierarchies of height 5."""
    with (Path(folder) / FILE).open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    found: dict[str, list[int | None]] = {}
    for name, cells in list(zip(header, zip(*rows, strict=True), strict=True))[1:]:
        if len(found) == columns:
            break
        if len(set(cells)) > 1:
            found[name] = [None if cell == "?" else int(cell) for cell in cells]
    table = Table.from_columns(found)
    return table, {name: widening(table, name) for name in found}


def widening(table: Table, name: str) -> Hierarchy:
    """The hierarchy of height 5 of a column: intervals of widths w, 2w, 4w, 8w, then one label for all.

    w is the least power of two, 1 or more, that a sixteenth of the spread does not exceed. Missing values keep apart
    until the last level. A column of few values has levels that merge nothing.
    """
    attribute = table.attribute(name)
    numbers = [value for value in attribute.domain if isinstance(value, int)]
    width = 1
    while 16 * width < max(numbers) - min(numbers):
        width *= 2
    return Ranges(widths=",".join(str(width * step) for step in (1, 2, 4, 8))).build(attribute)
