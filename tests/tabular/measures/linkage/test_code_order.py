from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tabular.measures.linkage.code_order import first_in_code_order
from tabular.measures.linkage.transport import Problem, optimum
from tests.strategies import seeds


def first_by_linear_programs(problem):
    """Maximise the flows one after the other in code order, each under those before it and the least cost."""
    rows, columns = problem.patterns.shape
    costs = problem.costs[problem.patterns].ravel().astype(float)
    sums = [np.repeat(np.eye(rows), columns, axis=1), np.tile(np.eye(columns), (1, rows))]
    equal, right = np.concatenate(sums), np.concatenate([problem.supply, problem.demand]).astype(float)
    least = linprog(costs, A_eq=equal, b_eq=right).fun
    equal, right = np.vstack([equal, costs]), np.append(right, round(least))
    flows = []
    for edge in range(rows * columns):
        wanted = np.zeros(rows * columns)
        wanted[edge] = -1
        fixed = [(flow, flow) for flow in flows] + [(0, None)] * (rows * columns - edge)
        flows.append(round(-linprog(wanted, A_eq=equal, b_eq=right, bounds=fixed).fun))
    return np.array(flows).reshape(rows, columns)


@settings(max_examples=15, deadline=None)
@given(seeds, st.integers(2, 4), st.integers(2, 4), st.integers(1, 3))
def test_of_the_best_transports_the_first_in_code_order_is_taken(seed, rows, columns, kinds):
    rng = np.random.default_rng(seed)
    supply = rng.integers(1, 5, rows)
    demand = np.bincount(rng.permutation(np.repeat(np.arange(supply.sum()) % columns, 1)), minlength=columns)
    demand = demand + np.where(demand == 0, 1, 0)
    supply[0] += demand.sum() - supply.sum()
    problem = Problem(
        rng.integers(0, kinds, (rows, columns)).astype(np.uint8), np.arange(kinds), supply, demand.astype(np.int64)
    )
    edges = first_in_code_order(problem, *optimum(problem, 10**9), 10**6)
    found = np.zeros((rows, columns), dtype=np.int64)
    found[edges.rows, edges.columns] = edges.flows
    assert found.tolist() == first_by_linear_programs(problem).tolist()


def test_where_all_edges_are_alike_the_north_west_corner_comes_first():
    problem = Problem(
        np.zeros((3, 3), dtype=np.uint8), np.zeros(1, dtype=np.int64), np.array([4, 1, 2]), np.array([2, 3, 2])
    )
    edges = first_in_code_order(problem, *optimum(problem, 10**9), 10**6)
    assert edges.flows.reshape(3, 3).tolist() == [[2, 2, 0], [0, 1, 0], [0, 0, 2]]
