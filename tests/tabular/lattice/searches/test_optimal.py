"""The exact optimum, listed or branched, against all nodes of small lattices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular import Table
from tabular.errors import InvalidParameter, NoSolution
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.metrics import ADDITIVE, LOSSES
from tabular.lattice.searches import searches
from tabular.lattice.searching import Finds, Memory, Question, run
from tabular.lattice.space import Limits
from tests.strategies import seeds
from tests.tabular.lattice.known_nodes import Huge
from tests.tabular.lattice.problems import limits, problems, shares

Optimal = searches["optimal"].method

#: All nodes listed, or none.
LISTED, BRANCHED = 10**6, 0

with_closeness = st.builds(
    Limits,
    k=st.none() | st.integers(1, 3),
    l=st.none() | st.integers(1, 2),
    t=st.sampled_from([0.0, 0.2, 0.4, 0.7]),
    suppression=st.sampled_from([0.0, 0.2, 0.5]),
)


def evaluator_or_none(problem, asked):
    try:
        return Evaluator(*problem, limits=asked, sensitive="sensitive", class_label="label", workers=1)
    except NoSolution:
        return None


def optimum_of(evaluator, metric):
    """The least of the metric over all nodes that satisfy, or None."""
    readings = evaluator.evaluate(evaluator.lattice.everything())
    good = readings.take(readings.satisfying)
    return float(good[metric].min()) if len(good) else None


def check_every_moment(evaluator, metric, most, seed):
    """Run the search by hand; its bound holds and never falls, and at the end it meets the optimum."""
    question, finds = Question(evaluator, metric), Finds()
    optimum, memory = optimum_of(evaluator, metric), Memory(evaluator, evaluator.evaluate)
    course = Optimal(most=most).course(question, finds, np.random.default_rng(seed))
    before, best = -np.inf, np.inf
    readings = None
    while True:
        try:
            nodes = course.send(readings)
        except StopIteration:
            break
        bound = -np.inf if finds.lower_bound is None else finds.lower_bound
        assert bound >= before
        assert optimum is None or bound <= optimum + 1e-9 * max(1.0, abs(optimum))
        found = finds.best(metric)
        assert found is None or optimum <= found <= best
        before, best = bound, best if found is None else found
        readings = memory.evaluate(nodes)
    assert (
        finds.best(metric) == pytest.approx(optimum, rel=1e-9, abs=1e-9)
        if optimum is not None
        else (finds.solutions is None)
    )
    if optimum is not None:
        assert finds.lower_bound == pytest.approx(optimum, rel=1e-9, abs=1e-9)


@settings(max_examples=200)
@given(problem=problems(), asked=limits, metric=st.sampled_from(ADDITIVE), seed=seeds)
def test_branching_finds_the_optimum_and_its_bound_holds_at_every_moment(problem, asked, metric, seed):
    evaluator = evaluator_or_none(problem, asked)
    if evaluator is not None:
        check_every_moment(evaluator, metric, BRANCHED, seed)


@settings(max_examples=200)
@given(problem=problems(), asked=limits, metric=st.sampled_from(LOSSES), seed=seeds)
def test_listing_finds_the_optimum_and_its_bound_holds_at_every_moment(problem, asked, metric, seed):
    evaluator = evaluator_or_none(problem, asked)
    if evaluator is not None:
        check_every_moment(evaluator, metric, LISTED, seed)


@settings(max_examples=60)
@given(
    problem=problems(max_attributes=3),
    asked=shares | with_closeness,
    metric=st.sampled_from(ADDITIVE),
    most=st.sampled_from([LISTED, BRANCHED]),
    seed=seeds,
)
def test_limits_that_are_not_closed_upwards_prune_by_k_and_l_alone(problem, asked, metric, most, seed):
    evaluator = evaluator_or_none(problem, asked)
    if evaluator is not None:
        check_every_moment(evaluator, metric, most, seed)


def test_a_lattice_too_large_to_list_is_refused_by_a_metric_without_a_bound_for_its_parts():
    with pytest.raises(InvalidParameter, match="glm, precision, non_uniform_entropy"):
        run("optimal", Optimal(), Question(Huge(20), "discernibility"), rng=np.random.default_rng(0))


@pytest.mark.parametrize("metric", ["glm", "precision", "discernibility"])
def test_of_equal_nodes_the_first_by_its_levels_is_the_answer(metric):
    table = Table.from_columns({"a": ["x"] * 6, "b": ["y"] * 6})
    levels = {name: Hierarchy.of(name, domain, [[domain[0]], ["*"]]) for name, domain in (("a", ["x"]), ("b", ["y"]))}
    evaluator = Evaluator(table, levels, limits=Limits(k=2))
    found = run("optimal", searches["optimal"].method(), Question(evaluator, metric), rng=np.random.default_rng(0))
    assert found.solutions.tuples() == [(0, 0)]
