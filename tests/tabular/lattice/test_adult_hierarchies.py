"""The hierarchies that are kept for Adult: of the stated heights, and every level of use."""

from __future__ import annotations

import csv
from itertools import pairwise

import pytest

from benchmarks.pbg_ea import ATTRIBUTES, HIERARCHIES
from tabular.attributes import Attribute
from tabular.hierarchies import read_hierarchy

#: Dewri and others (2010), Table 1(a): values and length of the hierarchy.
PUBLISHED = dict(zip(ATTRIBUTES, zip((74, 7, 16, 7, 5, 2, 41, 2), (6, 3, 3, 3, 1, 1, 4, 1), strict=True), strict=True))


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_p_table_1a_values_and_heights_and_no_level_is_idle(name):
    path = HIERARCHIES / f"{name}.csv"
    with path.open(newline="", encoding="utf-8") as file:
        values = tuple(row[0] for row in csv.reader(file, delimiter=";"))
    hierarchy = read_hierarchy(path, Attribute(name=name, domain=values))
    assert (len(values), hierarchy.height) == PUBLISHED[name]
    labels = [len(level.labels) for level in hierarchy.levels]
    # Each level merges some labels of the one below, and the last alone is constant.
    assert all(fine > coarse for fine, coarse in pairwise(labels))
    assert labels[-1] == 1 < labels[-2]
