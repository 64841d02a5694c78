"""The second prover against every node of small lattices, and the optimum of large ones against it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.searches import searches
from tabular.lattice.searching import Question, run
from tabular.lattice.space import Limits
from tests.tabular.lattice.problems import problems, wide_problem
from tests.tabular.lattice.second_prover import gains_more
from tests.tabular.lattice.slow import SlowEvaluator


@settings(max_examples=200)
@given(problems(), st.integers(2, 4), st.sampled_from([0.0, 0.1, 0.3]))
def test_it_says_of_the_best_node_alone_that_none_is_better(problem, k, suppression):
    assume(k <= len(problem[0]))
    asked = Limits(k=k, suppression=suppression)
    slow = SlowEvaluator(*problem, limits=asked)
    found = slow.evaluate(slow.lattice.everything())
    good = found.take(found.satisfying)
    assume(len(good))
    least = good["precision"].min()
    for node, precision in zip(good.nodes.tolist(), good["precision"], strict=True):
        assert gains_more(*problem, tuple(node), asked)[0] == (precision > least + 1e-9)


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("suppression", [0.0, 0.03])
def test_the_optimum_of_a_lattice_too_large_to_list_stands_up_to_it(k, suppression):
    table, levels = wide_problem(11, attributes=14, size=12, rows=150)
    asked = Limits(k=k, suppression=suppression)
    question = Question(Evaluator(table, levels, limits=asked, metrics=("precision",)), "precision")
    assert question.lattice.size > 200_000
    found = run("optimal", searches["optimal"].method(), question, rng=np.random.default_rng(5))
    assert found.ended
    assert found.gap == 0
    node = found.solutions.tuples()[0]
    assert not gains_more(table, levels, node, asked)[0]
    # One level higher where it is lowest: the optimum itself is better than that.
    dearer = tuple(level + (place == int(np.argmin(node))) for place, level in enumerate(node))
    assert gains_more(table, levels, dearer, asked)[0]
