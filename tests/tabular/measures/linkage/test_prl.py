from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog

from tabular.errors import InvalidInput
from tabular.measures import measures
from tabular.measures.comparison import Pairs, paired_columns
from tabular.measures.linkage import agreement, prl
from tabular.measures.linkage.code_order import first_in_code_order
from tabular.measures.linkage.nearest import Labels
from tabular.measures.linkage.transport import Problem, optimum
from tabular.table import Table
from tests.strategies import seeds
from tests.tabular.pairs_of_tables import members_of, pairs_of_tables, random_pair

PRL = measures["prl"].method


def slow_pattern(original, masked, row, masked_row):
    return tuple(
        int(int(original.columns[name][row]) in members_of(masked, name, masked_row)) for name in original.names
    )


def slow_patterns(original, masked):
    records = range(len(original))
    return [[slow_pattern(original, masked, row, other) for other in records] for row in records]


def weights_of(original, masked):
    columns = paired_columns(original, masked, original.names)
    _, counts = agreement.patterns(Pairs.of(columns), Labels.of(columns))
    return agreement.pattern_weights(counts, len(original))


def slow_prl(original, masked):
    """All assignments of records are tried; the transports they make are paired_columns in code order."""
    records = range(len(original))
    weights = weights_of(original, masked)
    found = slow_patterns(original, masked)
    weight = [[int(weights[sum(bit << place for place, bit in enumerate(cell))]) for cell in line] for line in found]
    before = list(zip(*(original.columns[name].tolist() for name in original.names), strict=True))
    after = list(zip(*(masked.columns[name].tolist() for name in original.names), strict=True))
    edges = [(a, b) for a in sorted(set(before)) for b in sorted(set(after))]
    totals = {choice: sum(weight[row][choice[row]] for row in records) for choice in permutations(records)}
    most = max(totals.values())
    best = [choice for choice, total in totals.items() if total == most]
    transports = (Counter((before[row], after[choice[row]]) for row in records) for choice in best)
    flows = max({tuple(sent[edge] for edge in edges) for sent in transports})
    true = list(zip(before, after, strict=True))
    return sum(
        flow * true.count((a, b)) / (before.count(a) * after.count(b))
        for (a, b), flow in zip(edges, flows, strict=True)
    )


@settings(max_examples=40, deadline=None)
@given(pairs_of_tables(max_rows=5))
def test_the_slow_version_says_the_same(pair):
    original, masked = pair
    reading = PRL().measure(original, masked, original.names)
    assert reading.raw == pytest.approx(slow_prl(original, masked))
    assert reading.percent == pytest.approx(100 * reading.raw / len(original))
    assert reading.bound == 0


@given(pairs_of_tables())
def test_patterns_are_counted_over_all_pairs_of_records(pair):
    original, masked = pair
    columns = paired_columns(original, masked, original.names)
    pairs = Pairs.of(columns)
    found, counts = agreement.patterns(pairs, Labels.of(columns))
    expected = np.zeros_like(counts)
    for row, line in enumerate(slow_patterns(original, masked)):
        for other, cell in enumerate(line):
            number = sum(bit << place for place, bit in enumerate(cell))
            expected[number] += 1
            assert found[pairs.original.of_row[row], pairs.masked.of_row[other]] == number
    assert counts.tolist() == expected.tolist()


def test_em_finds_the_probabilities_the_patterns_were_made_with():
    together, apart = np.array([0.95, 0.8, 0.9, 0.7]), np.array([0.1, 0.3, 0.02, 0.25])
    agrees = (np.arange(16)[:, None] >> np.arange(4)) & 1
    records = 1000

    def share(probability):
        return np.prod(np.where(agrees, probability, 1 - probability), axis=1)

    counts = 1e9 * (share(together) / records + share(apart) * (1 - 1 / records))
    weights = agreement.pattern_weights(np.rint(counts).astype(np.int64), records)
    gains = np.log(together / apart) - np.log((1 - together) / (1 - apart))
    assert weights[[1, 2, 4, 8]] * agreement.UNIT == pytest.approx(gains, abs=0.01)
    assert weights[0] == 0
    assert weights[13] == weights[1] + weights[4] + weights[8]


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


def test_a_constant_column_gives_one_record_in_n():
    original = Table.from_columns({"a": ["x", "y", "y", "z"]})
    for label in ("y", "*"):
        assert PRL().measure(original, original.masked({"a": [label] * 4}), ["a"]).percent == pytest.approx(25)
    constant = Table.from_columns({"a": ["x"] * 5})
    assert PRL().measure(constant, constant, ["a"]).percent == pytest.approx(20)


def test_distinct_records_that_did_not_change_are_all_linked():
    original = Table.from_columns({"a": list(range(20)), "b": [row % 7 for row in range(20)]})
    assert PRL().measure(original, original, ["a", "b"]).percent == 100


def test_what_cannot_be_solved_is_given_with_a_bound(monkeypatch):
    original, masked = random_pair(6, 80, (4, 3))
    exact = PRL().measure(original, masked, original.names)
    for name, value in (("MEMORY", 10), ("EDGES", 3)):
        with monkeypatch.context() as patch:
            patch.setattr(prl, name, value)
            rough = PRL().measure(original, masked, original.names)
        assert rough.bound > 0
        assert abs(rough.percent - exact.percent) <= rough.bound
    assert PRL(steps=1).measure(original, masked, original.names) == rough


def test_more_attributes_than_patterns_have_bits_are_refused():
    table = Table.from_columns({f"a{number}": ["x", "y"] for number in range(25)})
    with pytest.raises(InvalidInput, match="at most 24 attributes, not 25"):
        PRL().measure(table, table, table.names)


@pytest.mark.heavy
@pytest.mark.parametrize("kept", [0.9, 0.5])
def test_five_thousand_distinct_records_are_linked_exactly(kept):
    original, masked = random_pair(9, 5000, (100, 90, 80, 70, 6, 5, 4, 3), kept=kept, sets=0.01)
    assert len(Pairs.of(paired_columns(original, masked, original.names)).original) > 4990
    assert PRL().measure(original, masked, original.names).bound == 0
