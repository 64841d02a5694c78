"""The steps of branch and bound with as many rows as a table may have, and after as much work as can be."""

from __future__ import annotations

import pytest

from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.optimal.class_splits import STAMP, LevelLosses, Splits, grid_of, lost_rows, refine, scratch_for
from tabular.lattice.searching import Question
from tabular.lattice.space import MOST_ROWS, Limits
from tests.tabular.lattice.problems import wide_problem

ROWS = 200
TIMES = MOST_ROWS // ROWS


def grid(k, **limits):
    table, levels = wide_problem(5, attributes=4, size=12, rows=ROWS)
    found = Evaluator(table, levels, limits=Limits(k=k, **limits), sensitive="sensitive")
    question = Question(found, "precision")
    return grid_of(question, LevelLosses.of(question))


def split(grid, scratch, times=1):
    """The rows lost, and the classes, after each step down of each attribute: by counting, and by going there."""
    found = []
    for attribute in range(len(grid.codes)):
        for step in range(1, int(grid.steps[attribute]) + 1):
            splits = Splits.of(ROWS, 2, 2 * ROWS + 2)
            splits.row_at[1], splits.start_at[1] = ROWS, ROWS + 2
            splits.weights[:] = times
            lost = lost_rows(grid, splits, 0, grid.codes[attribute, step], scratch)
            refine(grid, splits, 0, 1, grid.codes[attribute, step], scratch)
            found.append((*lost, int(splits.classes[1]), int(splits.lost[1])))
    return found


@pytest.mark.parametrize("asked", [{"k": 30}, {"k": 25, "l": 4}])
def test_rows_that_stand_for_millions_are_lost_as_single_ones_are(asked):
    light = grid(**asked, suppression=1.0)
    heavy = light._replace(k=light.k * TIMES, limit=light.limit * TIMES)
    expected = split(light, scratch_for(light))
    found = split(heavy, scratch_for(heavy), TIMES)
    assert [each[0] for each in found] == [each[0] * TIMES for each in expected]
    assert [each[3] for each in found] == [each[3] * TIMES for each in expected]
    assert max(each[0] for each in expected) > ROWS // 2
    assert [each[1] for each in found] == [each[1] for each in expected]


@pytest.mark.parametrize("asked", [{"k": 30}, {"k": 25, "l": 4}])
def test_stamps_begin_anew_before_they_leave_64_bits(asked):
    one = grid(**asked, suppression=1.0)
    expected = split(one, scratch_for(one))
    scratch = scratch_for(one)
    scratch.totals[STAMP] = 2**63 - ROWS
    scratch.stamped[:] = scratch.table[:] = 2**63 - ROWS
    assert split(one, scratch) == expected
    assert scratch.totals[STAMP] < 2**61
