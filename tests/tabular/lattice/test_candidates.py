"""What nodes cost at least, held to what they cost on every pair of nodes of small lattices; and estimates."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular import Hierarchy, Table
from tabular.lattice.candidates import _applied, _fitted, least_above, least_below, least_by_levels
from tabular.lattice.space import Limits
from tests.strategies import generators
from tests.tabular.lattice import kgen_tables
from tests.tabular.lattice.problems import limits, problems, shares
from tests.tabular.lattice.slow import SlowEvaluator

OBJECTIVES = ("k", "l", "s_k", "s_l", "glm", "cm", "precision")
K, L, S_K, S_L, GLM, CM, PRECISION = range(len(OBJECTIVES))


def looked_at(problem, asked):
    slow = SlowEvaluator(*problem, limits=asked, sensitive="sensitive", class_label="label")
    return slow, slow.evaluate(slow.lattice.everything())


@settings(max_examples=200)
@given(problems(max_rows=12, max_attributes=3), limits | shares)
def test_no_node_that_satisfies_costs_less_than_is_said_of_it(problem, asked):
    slow, readings = looked_at(problem, asked)
    costs, nodes = readings.costs(OBJECTIVES), readings.tuples()
    below = least_below(readings, OBJECTIVES, asked, slow.rows)
    above = least_above(readings, OBJECTIVES)
    assert (least_by_levels(slow, OBJECTIVES, nodes) <= costs + 1e-9).all()
    for fine, cost in zip(nodes, costs, strict=True):
        for place, coarse in enumerate(nodes):
            if all(low <= high for low, high in zip(fine, coarse, strict=True)):
                if readings.satisfying[nodes.index(fine)]:
                    assert (below[place] <= cost).all()
                assert (above[nodes.index(fine)] <= costs[place]).all()


def test_of_each_objective_something_is_said():
    slow, readings = looked_at(kgen_tables.problem(4), Limits(suppression=0.25))
    below = least_below(readings, OBJECTIVES, slow.limits, slow.rows)
    assert np.isfinite(below[:, [K, S_K, S_L]]).all()
    assert np.isfinite(below[-1, L])
    assert np.isfinite(least_above(readings, OBJECTIVES)[:, CM]).all()
    assert np.isfinite(least_by_levels(slow, OBJECTIVES, readings.nodes)[:, [GLM, PRECISION]]).all()
    bold = least_below(readings, OBJECTIVES, slow.limits, slow.rows, proven=False)
    assert np.isfinite(bold[:, L]).all()


def merging(rows, merged):
    """One attribute: level 1 has the values of *merged* under one label; *rows* are pairs of value and sensitive."""
    values = sorted({value for value, _ in rows})
    labels = ["merged" if value in merged else value for value in values]
    table = Table.from_columns(
        {
            "value": [value for value, _ in rows],
            "sensitive": [own for _, own in rows],
            "label": ["x"] * len(rows),
        }
    )
    return table, {"value": Hierarchy.of("value", values, [labels, ["*"] * len(values)])}


def test_k_can_grow_downwards_where_the_rows_of_a_small_class_can_go():
    problem = merging([("a", "x")] * 5 + [("b", "x"), ("c", "x")], "bc")
    slow, readings = looked_at(problem, Limits(k=2, suppression=0.3))
    assert readings["k"].tolist() == [5, 2, 7]
    below = least_below(readings, OBJECTIVES, slow.limits, slow.rows)[:, K].tolist()
    # Two rows may go, so that k says nothing on level 1; at the top it does.
    assert below == [-5, -np.inf, -7]
    assert least_below(readings, OBJECTIVES, slow.limits, slow.rows, proven=False)[1, K] == -2


def test_l_can_grow_downwards_also_where_each_node_has_a_k_of_its_own():
    alone = [(value, "x") for value in "abcdef"]
    problem = merging([*alone, *(("m", own) for own in "vwxyz"), *(("n", own) for own in "vwxyz" * 4)], "abcdef")
    slow, readings = looked_at(problem, Limits(suppression=0.2))
    assert readings["k"].tolist() == [5, 6, 31]
    assert readings["l"].tolist() == [5, 1, 5]
    below = least_below(readings, OBJECTIVES, slow.limits, slow.rows)
    assert below[:, K].tolist() == [-5, -6, -31]
    assert below[:, L].tolist() == [-np.inf, -np.inf, -5]


@given(generators, st.integers(1, 40), st.integers(1, 12), st.integers(1, 3))
def test_the_regression_is_that_of_linear_algebra(rng, rows, size, columns):
    known = rng.integers(0, 2, (rows, size)) * rng.choice([1.0, 3.0], (rows, 1))
    rest = rng.normal(size=(rows, columns))
    expected = np.linalg.solve(known.T @ known + 0.3 * np.eye(size), known.T @ rest)
    effects = _fitted(known, rest, 0.3)
    np.testing.assert_allclose(effects, expected, atol=1e-9)
    np.testing.assert_allclose(_applied(known, effects), known @ expected, atol=1e-8)
