from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from tabular.measures.contract import Pairs, paired_columns
from tabular.measures.linkage import agreement
from tabular.measures.linkage.code_order import first_in_code_order
from tabular.measures.linkage.nearest import Labels
from tabular.measures.linkage.transport import Problem, optimum
from tests.tabular.pairs_of_tables import random_pair


@pytest.mark.parametrize("sizes", [(5, 4, 6), (3, 2), (40, 40, 3, 5)])
def test_the_assignment_is_as_good_as_another_solver_finds(sizes):
    original, masked = random_pair(4, 120, sizes)
    columns = paired_columns(original, masked, original.names)
    pairs = Pairs.of(columns)
    found, counts = agreement.patterns(pairs, Labels.of(columns))
    weights = agreement.pattern_weights(counts, len(original))
    problem = Problem(found, weights.max() - weights, pairs.original.counts, pairs.masked.counts)
    edges = first_in_code_order(problem, *optimum(problem, 10**9), 10**6)
    costs = problem.costs[found]
    rows, others = linear_sum_assignment(costs[np.ix_(pairs.original.of_row, pairs.masked.of_row)])
    best = costs[pairs.original.of_row[rows], pairs.masked.of_row[others]].sum()
    assert (edges.flows * costs[edges.rows, edges.columns]).sum() == best
    assert np.bincount(edges.rows, weights=edges.flows).tolist() == pairs.original.counts.tolist()
    assert np.bincount(edges.columns, weights=edges.flows).tolist() == pairs.masked.counts.tolist()
    assert edges.flows.min() >= 0


def test_many_small_flows_find_room():
    rng = np.random.default_rng(5)
    supply = np.full(30, 90)
    problem = Problem(
        rng.integers(0, 50, (30, 90)).astype(np.uint8), rng.integers(0, 10**6, 50), supply, np.full(90, 30)
    )
    state, entries = optimum(problem, 10**9)
    edges = first_in_code_order(problem, state, entries, 10**6)
    least = (state.of_rows * supply).sum() + 30 * state.of_columns.sum()
    assert (edges.flows * problem.costs[problem.patterns[edges.rows, edges.columns]]).sum() == least
