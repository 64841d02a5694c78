"""Every sum of the evaluator at 10^9 rows: each row of a small table stands for a million."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tabular import Table
from tabular.attributes import Attribute
from tabular.errors import InvalidInput
from tabular.hierarchies import build
from tabular.lattice.evaluator import evaluator as module
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.evaluator.rollup import UNIT, bits_of, coding_of, unit_for
from tabular.lattice.space import MOST_ROWS, Limits
from tests.tabular.lattice.slow import SlowEvaluator

ROWS = 1000
TIMES = MOST_ROWS // ROWS
GIVEN = {"sensitive": "sensitive", "class_label": "label"}


class HeavyEvaluator(Evaluator):
    """Each row of the table stands for so many."""

    times = TIMES

    def _check(self):
        self.rows = len(self.table) * self.times
        super()._check()

    def _prepare(self):
        self._columns = [replace(each, counts=each.counts * self.times) for each in self._columns]
        self._bits = bits_of(self._columns)
        return super()._prepare()

    def _distinct_rows(self, options, with_counts):
        base = super()._distinct_rows(options, with_counts)
        times = np.array([1, 1, self.times], dtype=np.int32)
        return base._replace(
            sizes=base.sizes * np.int32(self.times), sensitive=base.sensitive * times, labels=base.labels * times
        )


def problem(kind, values=ROWS, size=ROWS):
    """A thousand rows with up to so many sensitive values; their attributes have 40 bits."""
    rng = np.random.default_rng(7)
    names = [f"q{place}" for place in range(4)]
    domain = tuple(map(str, range(size)))
    columns = {name: [str(value) for value in rng.permutation(ROWS) % size] for name in names}
    # Few in the one half of the table, many in the other.
    columns["sensitive"] = [str(row * row // ROWS * values // ROWS) for row in rng.permutation(ROWS).tolist()]
    columns["label"] = [str(value) for value in rng.integers(0, 3, ROWS)]
    described = [Attribute(name=name, kind="ordinal", domain=domain) for name in names]
    of_values = Attribute(name="sensitive", kind=kind, domain=tuple(map(str, range(values))))
    levels = {each.name: build(each, "balanced", fan_out=10) for each in described}
    return Table.from_columns(columns, [*described, of_values]), levels


def both(kind, limits, **sizes):
    """The readings of some nodes by rows that stand for a million, and those of the rows as they are."""
    table, levels = problem(kind, **sizes)
    heavy = HeavyEvaluator(table, levels, limits=replace(limits, k=limits.k and limits.k * TIMES), **GIVEN)
    nodes = heavy.lattice.everything()[[0, -1, -2, -3, 100, 150, 200, 219, 230, 239]]
    return heavy.evaluate(nodes), SlowEvaluator(table, levels, limits=limits, **GIVEN).evaluate(nodes)


LIMITS = [Limits(k=1), Limits(k=20, suppression=0.4), Limits(k=3, suppression=1.0)]


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
@pytest.mark.parametrize("limits", LIMITS)
def test_every_metric_of_a_thousand_million_rows_is_what_that_of_a_thousand_says(kind, limits):
    heavy, light = both(kind, limits)
    for name, power in (("k", 1), ("suppressed", 1), ("cm", 1), ("s_k", 2), ("s_l", 2), ("discernibility", 2)):
        assert heavy[name].tolist() == [each * TIMES**power for each in light[name].tolist()], name
    for name in ("satisfies", "l", "precision"):
        assert heavy[name].tolist() == light[name].tolist(), name
    for name in ("glm", "non_uniform_entropy"):
        np.testing.assert_allclose(heavy[name], light[name] * TIMES, rtol=1e-7, atol=0.01, err_msg=name)
    for name in ("t", "l_entropy", "l_recursive"):
        np.testing.assert_allclose(heavy[name], light[name], rtol=1e-7, atol=1e-12, err_msg=name)


@pytest.mark.parametrize(("t", "meets"), [(0.2, False), (0.26, True)])
def test_a_distance_that_takes_two_words_is_exact_and_held_against_the_limit(t, meets):
    # Two classes, of each half of the values: half of the rows move by half of the domain.
    values = [str(value) for value in range(ROWS)]
    described = Attribute(name="sensitive", kind="ordinal", domain=tuple(values))
    half = Attribute(name="half", kind="ordinal", domain=("0", "1"))
    columns = {"half": [str(2 * row // ROWS) for row in range(ROWS)], "sensitive": values}
    table = Table.from_columns(columns, [half, described])
    found = HeavyEvaluator(table, {"half": build(half, "star")}, limits=Limits(k=1, t=t), sensitive="sensitive")
    readings = found.evaluate([(0,), (1,)])
    assert readings["t"].tolist() == [float(Fraction(250, 999)), 0.0]
    assert readings.satisfying.tolist() == [meets, True]


def test_bits_of_many_attributes_are_counted_in_a_unit_in_which_they_stay_within_62_bits():
    table, levels = problem("ordinal")
    light, heavy = Evaluator(table, levels), HeavyEvaluator(table, levels)
    assert unit_for(light._columns) == UNIT
    unit = unit_for(heavy._columns)
    assert UNIT > unit >= 1 << 20
    coding = coding_of(heavy._columns)
    assert coding.unit == unit
    assert sum(coding.all_bits.max(axis=1).tolist()) < 2**62
    # In this unit the sum is as large as it can be within a factor of a few.
    assert sum(coding.all_bits.max(axis=1).tolist()) > 2**60


def test_logarithms_that_are_not_at_hand_are_taken_where_they_are_needed(monkeypatch):
    table, levels = problem("nominal", values=20)
    nodes = [(3, 3, 3, 3), (2, 3, 3, 3), (1, 3, 3, 3)]
    expected = Evaluator(table, levels, **GIVEN).evaluate(nodes)["l_entropy"]
    monkeypatch.setattr("tabular.lattice.evaluator.node_classes._LOGARITHMS", 1)
    found = Evaluator(table, levels, **GIVEN).evaluate(nodes)["l_entropy"]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_more_rows_are_refused_in_one_line(monkeypatch):
    table, levels = problem("ordinal")
    monkeypatch.setattr(HeavyEvaluator, "times", TIMES + 1)
    with pytest.raises(InvalidInput) as caught:
        HeavyEvaluator(table, levels)
    assert str(caught.value) == (
        "The table has 1,000,001,000 records; a search takes up to 1,000,000,000. Search in a part of them."
    )
    monkeypatch.setattr(module, "MOST_ROWS", ROWS - 1)
    with pytest.raises(InvalidInput, match="The table has 1,000 records; a search takes up to 999"):
        Evaluator(table, levels)
