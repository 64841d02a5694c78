"""A release is counted once more, and does not go out where that says anything else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tabular import Table
from tabular.lattice.rechecking import WrittenRelease, recheck
from tabular.lattice.release import released
from tabular.lattice.space import Limits
from tests.tabular.lattice.illnesses import HIERARCHIES, PEOPLE
from tests.tabular.lattice.slow import SlowEvaluator


def kept(node, **limits):
    evaluator = SlowEvaluator(PEOPLE, HIERARCHIES, limits=Limits(**limits), sensitive="illness")
    return evaluator, evaluator.evaluate([node]).document(0), evaluator.suppressed_rows(node)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"k": 4}, "another k"),
        ({"suppressed": 0}, "another suppressed"),
        ({"l": 1}, "another l"),
        ({"t": 0.5}, "another t"),
        ({"glm": 1.0}, "another glm"),
    ],
)
def test_a_release_that_is_not_what_the_search_found_does_not_go_out(change, part):
    evaluator, found, out = kept((1, 0), k=2, suppression=0.15)
    with pytest.raises(RuntimeError, match=part):
        released(PEOPLE, HIERARCHIES, (1, 0), evaluator.limits, out, found | change, sensitive="illness")


@pytest.mark.parametrize("change", [{"k": 4}, {"l": 3}, {"t": 0.1}, {"suppression": 0.1}])
def test_a_release_that_breaks_the_limits_does_not_go_out(change):
    evaluator, found, out = kept((1, 0), k=2, suppression=0.15)
    with pytest.raises(RuntimeError, match="does not keep the limits"):
        broken = replace(evaluator.limits, **change)
        released(PEOPLE, HIERARCHIES, (1, 0), broken, out, found, sensitive="illness")


def test_a_row_that_should_have_gone_is_noticed():
    evaluator, found, _ = kept((1, 0), k=2, suppression=0.15)
    with pytest.raises(RuntimeError, match="another k"):
        nobody = np.zeros(7, dtype=bool)
        released(PEOPLE, HIERARCHIES, (1, 0), evaluator.limits, nobody, found, sensitive="illness")


def test_a_cell_that_does_not_hold_its_value_is_noticed():
    def check(written, level=0, gone=(), **options):
        out = np.isin(np.arange(7), gone)
        release = WrittenRelease(PEOPLE, written, HIERARCHIES, {"age": level, "sex": 0}, out, **options)
        recheck(release, Limits(k=1), {})

    plain = {name: PEOPLE.values(name) for name in PEOPLE.names}
    check(PEOPLE)
    wrong = PEOPLE.masked({**plain, "age": [25, *plain["age"][1:]]})
    with pytest.raises(RuntimeError, match="column 'age'"):
        check(wrong)
    with pytest.raises(RuntimeError, match="column 'illness'"):
        check(PEOPLE.masked({**plain, "illness": ["flu"] * 7}))
    with pytest.raises(RuntimeError, match="rows and columns"):
        check(PEOPLE.rows(np.arange(6)))
    # Neither may the row of another label be there, nor a row that goes, nor a `*` in one that stays.
    ages = ["young", "young", "old", "old", "old", "old", "young"]
    check(Table.from_columns({**plain, "age": ages}, PEOPLE.attributes[1:]), 1)
    for place, word in ((0, "old"), (3, "*")):
        broken = Table.from_columns({**plain, "age": [*ages[:place], word, *ages[place + 1 :]]}, PEOPLE.attributes[1:])
        with pytest.raises(RuntimeError, match="column 'age'"):
            check(broken, 1)
    with pytest.raises(RuntimeError, match="column 'age'"):
        check(Table.from_columns({**plain, "age": ages}, PEOPLE.attributes[1:]), 1, [2])
    # Of sets none may have more values or fewer than the label.
    sets = ["[17,25]"] * 2 + ["[31,47]"] * 4 + ["[17,25]"]
    check(PEOPLE.masked({**plain, "age": sets}), 1, as_sets=True)
    with pytest.raises(RuntimeError, match="column 'age'"):
        check(PEOPLE.masked({**plain, "age": ["[17,31]", *sets[1:]]}), 1, as_sets=True)
