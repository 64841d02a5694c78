"""Figures of levels: by hand, and as the evaluator of nodes has them."""

from __future__ import annotations

import numpy as np
import pytest

from tabular.attributes import Attribute
from tabular.hierarchies import build
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.level_figures import figures_at, smallest_classes
from tabular.table import Table

AGE = Attribute(name="age", kind="continuous", domain=(20, 25, 31, 90))
TOWN = Attribute(name="town", domain=("A", "B"))
TABLE = Table(
    (AGE, TOWN),
    {
        "age": np.array([0, 0, 1, 1, 2, 2], dtype=np.int32),
        "town": np.array([0, 0, 0, 1, 1, 1], dtype=np.int32),
    },
)
AGES = Hierarchy.of("age", AGE.domain, [["20s", "20s", "30+", "30+"], ["*"] * 4])
TOWNS = Hierarchy.of("town", TOWN.domain, [["*", "*"]])


def test_by_hand():
    alone = [figures_at(TABLE, {"age": AGES}, level) for level in range(3)]
    assert [each.k for each in alone] == [2, 2, 6]
    # On level 1 each label covers one of the three other values.
    assert [each.loss for each in alone] == pytest.approx([0, 1 / 3, 1])
    both = {"age": AGES, "town": TOWNS}
    assert [figures_at(TABLE, both, level).k for level in range(3)] == [1, 2, 6]
    # The town is at its last level from 1 on.
    assert figures_at(TABLE, both, 1).loss == pytest.approx((1 / 3 + 1) / 2)
    assert smallest_classes(TABLE, both, 0, "age").tolist() == [2, 1, 2, 0]
    assert smallest_classes(TABLE, both, 1, "age").tolist() == [4, 4, 2, 0]


def test_they_are_those_of_the_evaluator():
    rng = np.random.default_rng(3)
    ages = Attribute(name="age", kind="continuous", domain=tuple(range(60)))
    towns = Attribute(name="town", domain=tuple(f"{number:05}" for number in range(40)))
    columns = {
        each.name: np.r_[np.arange(len(each.domain)), rng.integers(0, len(each.domain), 500)] for each in (ages, towns)
    }
    table = Table((ages, towns), {name: codes[-500:].astype(np.int32) for name, codes in columns.items()})
    for each in (ages, towns):
        table.columns[each.name].flags.writeable = False
    found = {"age": build(ages, "range"), "town": build(towns, "star")}
    levels = range(max(each.height for each in found.values()) + 1)
    nodes = [tuple(min(level, each.height) for each in found.values()) for level in levels]
    readings = Evaluator(table, found, metrics=()).evaluate(nodes)
    figures = [figures_at(table, found, level) for level in levels]
    assert [each.k for each in figures] == readings["k"].tolist()
    assert [each.loss for each in figures] == pytest.approx((readings["glm"] / (500 * 2)).tolist())


def test_a_table_without_rows_has_figures():
    empty = Table((TOWN,), {"town": np.zeros(0, dtype=np.int32)})
    assert figures_at(empty, {"town": TOWNS}, 1).loss == 0
