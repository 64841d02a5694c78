from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from tabular.measures.linkage import candidates, transport
from tabular.measures.linkage.transport import optimum
from tests.strategies import seeds
from tests.tabular.measures.linkage.spaces import small


def check(problem, links):
    """The flows send everything, and cost as little as another solver's; no tight edge is missing."""
    supply, demand, costs = problem.pairs.original.counts, problem.pairs.masked.counts, problem.costs
    rows, others = problem.pairs.original.of_row, problem.pairs.masked.of_row
    each = costs[np.ix_(rows, others)]
    least = each[linear_sum_assignment(each)].sum()
    assert (links.flows * costs[links.originals, links.masked]).sum() == least
    assert np.bincount(links.originals, weights=links.flows).tolist() == supply.tolist()
    assert np.bincount(links.masked, weights=links.flows).tolist() == demand.tolist()
    assert links.flows.min() >= 0
    found = np.zeros(costs.shape, dtype=np.int64)
    found[links.originals, links.masked] += 1
    assert found.max() == 1


@pytest.mark.parametrize("sizes", [(5, 4, 6), (3, 2), (40, 40, 3, 5), (1, 1), (200,)])
@pytest.mark.parametrize("seed", range(3))
def test_the_assignment_is_as_good_as_another_solver_finds(sizes, seed):
    problem = small(seed, 400, sizes)
    check(problem, optimum(problem.space, problem.pairs.masked.counts, 10**9, 10**6))


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(1, 40), st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 6))
def test_short_lists_find_the_same(seed, rows, sizes, length):
    problem = small(seed, rows, sizes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "LISTED", length)
        patch.setattr(candidates, "ROOM", length + 1)
        check(problem, optimum(problem.space, problem.pairs.masked.counts, 10**9, 10**6))


def test_where_no_agreement_counts_every_edge_is_tight():
    problem = small(3, 300, (30, 20), gains=[0, 0])
    links = optimum(problem.space, problem.pairs.masked.counts, 10**9, 10**6)
    assert len(links.flows) == problem.costs.size
    check(problem, links)


def test_flows_that_outgrow_their_room_get_more(monkeypatch):
    problem = small(5, 300, (30, 20))
    demand = problem.pairs.masked.counts
    expected = optimum(problem.space, demand, 10**9, 10**6)
    with_room = transport._with_room
    monkeypatch.setattr(
        transport,
        "_with_room",
        lambda entries, originals, room: with_room(entries, originals, room if entries else originals + 1),
    )
    found = optimum(problem.space, demand, 10**9, 10**6)
    assert [part.tolist() for part in found] == [part.tolist() for part in expected]


def test_too_many_steps_or_edges_are_not_taken():
    problem = small(5, 300, (30, 20))
    demand = problem.pairs.masked.counts
    assert optimum(problem.space, demand, 1, 10**6) is None
    assert optimum(problem.space, demand, 10**9, 3) is None
