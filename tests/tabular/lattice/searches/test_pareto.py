import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.errors import InvalidParameter
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.metrics import OBJECTIVES, Readings
from tabular.lattice.searches import exhaustive
from tabular.lattice.searching import Finds, Question
from tabular.lattice.space import Limits
from tests.tabular.lattice import kgen_tables
from tests.tabular.lattice.known_nodes import Huge, KnownNodes, searched
from tests.tabular.lattice.problems import limits, problems, shares
from tests.tabular.lattice.slow import SlowEvaluator
from tests.tabular.lattice.test_front import dominates

several = st.lists(st.sampled_from(OBJECTIVES), min_size=1, max_size=4, unique=True)


def known_of(problem, asked):
    return KnownNodes(SlowEvaluator(*problem, limits=asked, sensitive="sensitive", class_label="label"))


def front_of(known, objectives):
    """By definition: of the nodes that satisfy those that no other one dominates."""
    everything = known.evaluate(known.lattice.everything())
    good = everything.take(everything.satisfying)
    costs = good.costs(objectives)
    return sorted(
        node
        for node, cost in zip(good.tuples(), costs, strict=True)
        if not any(dominates(other, cost) for other in costs)
    )


@settings(max_examples=200)
@given(problems(max_attributes=3), limits | shares, several)
def test_the_front_is_what_no_other_node_dominates(problem, asked, objectives):
    known = known_of(problem, asked)
    found = searched("pareto", known, objectives=objectives)
    assert ([] if found is None else sorted(found.solutions.tuples())) == front_of(known, objectives)


@settings(max_examples=100)
@given(problems(max_attributes=4), shares)
def test_losses_that_are_equal_dominate_neither_each_other_whatever_they_are_added_up_from(problem, asked):
    # The slow evaluator adds up fractions.
    expected = front_of(known_of(problem, asked), ("glm", "precision"))
    found = searched("pareto", Evaluator(*problem, limits=asked), objectives=("glm", "precision"))
    assert ([] if found is None else sorted(found.solutions.tuples())) == expected


def test_sums_of_squares_are_compared_as_whole_numbers():
    squares = np.array([10**18, 10**18 - 1, 10**18])
    values = {"s_k": squares, "k": np.array([5, 5, 5]), "satisfies": np.ones(3, dtype=bool)}
    readings = Readings(np.array([[0], [1], [2]], dtype=np.int16), values)
    finds = Finds()
    finds.keep(readings, Question(Huge(1), objectives=("k", "s_k")))
    assert finds.solutions.tuples() == [(0,), (2,)]
    assert readings.ordered(("s_k",)).tuples() == [(0,), (2,), (1,)]


def test_batches_put_together_are_the_whole(monkeypatch):
    known = known_of(kgen_tables.problem(4), Limits(suppression=0.25))
    whole = searched("pareto", known, objectives=("k", "glm"))
    monkeypatch.setattr(exhaustive, "BATCH", 7)
    parts = searched("pareto", known, objectives=("k", "glm"))
    assert parts.solutions.tuples() == whole.solutions.tuples()
    assert (parts.evaluated, parts.satisfying) == (known.lattice.size, known.lattice.size)


def test_nodes_of_equal_values_are_all_in_the_front():
    known = known_of(kgen_tables.problem(4), Limits(k=2))
    found = searched("pareto", known, objectives=("precision",))
    assert len(found.solutions) == len(front_of(known, ("precision",)))
    assert np.unique(found.solutions["precision"]).size == 1


def test_a_lattice_of_10_to_the_18_nodes_is_refused_with_what_takes_it():
    with pytest.raises(InvalidParameter, match=r"has 10\^18 nodes, and pareto goes through .* pbg-ea"):
        searched("pareto", Huge(18), objectives=("k", "glm"))


def test_without_objectives_it_is_refused():
    with pytest.raises(InvalidParameter, match="pareto finds a front; name its objectives, as in k,glm"):
        searched("pareto", known_of(kgen_tables.problem(4), Limits(k=2)))
