"""Certificates, checked by counting rows, and refused where a step is left out or untrue."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.kgen_metrics import precision
from tabular.errors import InvalidParameter, NoSolution
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.searches import searches
from tabular.lattice.searching import Question, run
from tabular.lattice.space import Limits
from tests.tabular.lattice.optimal.certificate import certificate
from tests.tabular.lattice.problems import limits, problems
from tests.tabular.lattice.proof_checker import Unproven, checker_of


def optimum(problem, asked):
    """The question and its best node, or nothing where there is none."""
    try:
        question = Question(Evaluator(*problem, limits=asked, sensitive="sensitive", workers=1), "precision")
        found = run("exhaustive", searches["exhaustive"].method(), question, rng=np.random.default_rng(0))
    except NoSolution:
        return None, None
    return question, found.solutions.tuples()[0]


@settings(max_examples=200)
@given(problem=problems(), asked=limits)
def test_a_certificate_of_the_optimum_holds_by_counting_rows(problem, asked):
    question, node = optimum(problem, asked)
    if question is not None:
        proof = certificate(question, node)
        checker_of(*problem, node, asked, sensitive="sensitive").check(proof.lines)


@settings(max_examples=100)
@given(problem=problems(), asked=limits, data=st.data())
def test_a_node_that_is_not_the_best_gets_no_certificate(problem, asked, data):
    question, node = optimum(problem, asked)
    if question is None:
        return
    readings = question.evaluator.evaluate(question.lattice.everything())
    worse = readings.take(readings.satisfying & (readings["precision"] > precision(node, question.lattice) + 1e-9))
    if len(worse):
        other = data.draw(st.sampled_from(worse.tuples()))
        with pytest.raises(InvalidParameter, match="not the optimum"):
            certificate(question, other)


@settings(max_examples=100)
@given(problem=problems(), asked=limits, data=st.data())
def test_a_proof_that_leaves_out_a_turn_is_seen_through(problem, asked, data):
    question, node = optimum(problem, asked)
    if question is None:
        return
    lines = certificate(question, node).lines
    out = data.draw(st.integers(0, len(lines) - 1))
    if lines[out, 0] in (0, 4):
        # Without these the walk goes astray.
        with pytest.raises(Unproven):
            checker_of(*problem, node, asked, sensitive="sensitive").check(np.delete(lines, out, axis=0))


@settings(max_examples=200)
@given(problem=problems(), asked=limits)
def test_a_proof_for_stricter_limits_is_seen_through_where_a_better_node_keeps_these(problem, asked):
    question, node = optimum(problem, asked)
    laxer = Limits(k=1, l=asked.l, suppression=asked.suppression)
    _, better = optimum(problem, laxer)
    if question is not None and precision(better, question.lattice) < precision(node, question.lattice) - 1e-9:
        lines = certificate(question, node).lines
        with pytest.raises(Unproven):
            checker_of(*problem, node, laxer, sensitive="sensitive").check(lines)


@given(problem=problems())
def test_a_certificate_is_refused_where_the_levels_do_not_say_it_all(problem):
    if len(problem[0]) > 1:
        asked = Evaluator(*problem, limits=Limits(k=1, suppression=0.5), workers=1)
        with pytest.raises(InvalidParameter, match="A certificate is of precision"):
            certificate(Question(asked, "glm"), asked.lattice.top)
