"""Descents from the top: each ends at a node that keeps the limits while no node a step below it does."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings

from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.optimal.class_splits import scratch_for
from tabular.lattice.optimal.greedy_descent import descended, gained
from tabular.lattice.optimal.grid import LevelLosses, grid_of
from tabular.lattice.question import Question
from tests.strategies import generators
from tests.tabular.lattice.problems import limits, problems


@settings(max_examples=200)
@given(problems(), limits, generators)
def test_a_descent_ends_where_every_step_further_breaks_the_limits(problem, asked, rng):
    assume(asked.k <= len(problem[0]))
    question = Question(Evaluator(*problem, limits=asked, sensitive="sensitive", workers=1), "precision")
    lattice, top = question.lattice, question.lattice.top
    assume(question.evaluator.evaluate([top])["suppressed"][0] <= question.suppressible)
    losses = LevelLosses.of(question)
    grid = grid_of(question, losses)
    start = np.zeros_like(grid.steps)
    steps = descended(grid, grid.steps, start, 1, rng, scratch_for(grid))
    assert not start.any()
    node = tuple((grid.steps - steps).tolist())
    cost = sum(int(each[level]) for each, level in zip(losses.losses, node, strict=True))
    assert gained(grid, steps) == losses.most - cost
    # Where nothing is gained by it the node it began at is given back.
    if node != top:
        found = question.evaluator.evaluate([node, *lattice.predecessors(node)])
        assert (found["suppressed"] <= question.suppressible).tolist() == [True] + [False] * (len(found) - 1)


@given(problems(), generators)
def test_more_rounds_gain_no_less_and_stay_within_bounds(problem, rng):
    evaluator = Evaluator(*problem, workers=1)
    question = Question(evaluator, "glm")
    grid = grid_of(question, LevelLosses.of(question))
    most, seed = grid.steps // 2, int(rng.integers(1 << 30))
    few, many = (
        descended(grid, most, np.zeros_like(most), rounds, np.random.default_rng(seed), scratch_for(grid))
        for rounds in (1, 20)
    )
    assert (many <= most).all()
    assert gained(grid, many) >= gained(grid, few)
