from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tabular.measures.linkage.code_order import first_in_code_order
from tabular.measures.linkage.transport import Links, optimum
from tests.strategies import seeds
from tests.tabular.measures.linkage.spaces import small


def first_by_linear_programs(costs, supply, demand):
    """Maximise the flows one after the other in code order, each under those before it and the least cost."""
    rows, columns = costs.shape
    costs = costs.ravel().astype(float)
    sums = [np.repeat(np.eye(rows), columns, axis=1), np.tile(np.eye(columns), (1, rows))]
    equal, right = np.concatenate(sums), np.concatenate([supply, demand]).astype(float)
    least = linprog(costs, A_eq=equal, b_eq=right).fun
    equal, right = np.vstack([equal, costs]), np.append(right, round(least))
    flows = []
    for edge in range(rows * columns):
        wanted = np.zeros(rows * columns)
        wanted[edge] = -1
        fixed = [(flow, flow) for flow in flows] + [(0, None)] * (rows * columns - edge)
        flows.append(round(-linprog(wanted, A_eq=equal, b_eq=right, bounds=fixed).fun))
    return np.array(flows).reshape(rows, columns)


def flows_of(links, problem):
    found = np.zeros(problem.costs.shape, dtype=np.int64)
    found[links.originals, links.masked] = links.flows
    return found.tolist()


@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(2, 9), st.sampled_from([(4,), (2, 2), (3, 2)]))
def test_of_the_best_transports_the_first_in_code_order_is_taken(seed, rows, sizes):
    problem = small(seed, rows, sizes, np.random.default_rng(seed).integers(-1, 3, len(sizes)))
    supply, demand = problem.pairs.original.counts, problem.pairs.masked.counts
    links = optimum(problem.space, demand, 10**9, 10**6)
    found = first_in_code_order(links, len(supply), len(demand))
    assert flows_of(found, problem) == first_by_linear_programs(problem.costs, supply, demand).tolist()


def test_where_all_edges_are_alike_the_north_west_corner_comes_first():
    edges = np.indices((3, 3)).reshape(2, -1)
    flows = np.array([[0, 2, 2], [1, 0, 0], [1, 1, 0]]).ravel()
    found = first_in_code_order(Links(*edges, flows), 3, 3)
    assert found.flows.reshape(3, 3).tolist() == [[2, 2, 0], [0, 1, 0], [0, 0, 2]]
