"""Adult as ARX has it, with its hierarchies: real rows for the tests that compare with other programs."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest


def adult_folder():
    """The folder of the data; the test is skipped where it is not."""
    shared = os.environ.get("GRAPHPRIV_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data")
    folder = Path(shared) / "adult" / "arx"
    if not folder.exists():
        pytest.skip("the shared data are not here; name their folder in GRAPHPRIV_SHARED_DATA")
    return folder


def adult_columns():
    """The columns of the file, as text."""
    header, *rows = _cells(adult_folder() / "adult.csv")
    return dict(zip(header, zip(*rows, strict=True), strict=True))


def generalised(columns, levels):
    """The columns that have a level, each value replaced by its label of that level."""
    found = {}
    for name, level in levels.items():
        labels = {cells[0]: cells[level] for cells in _cells(adult_folder() / f"adult_hierarchy_{name}.csv")}
        found[name] = [labels[value] for value in columns[name]]
    return found


def _cells(path):
    with path.open(newline="", encoding="utf-8") as file:
        return [row for row in csv.reader(file, delimiter=";") if row]
