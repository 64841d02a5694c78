import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.lattice.searches import random_nodes
from tabular.lattice.space import Lattice, Limits, as_tuples
from tests.strategies import seeds
from tests.tabular.lattice import kgen_tables
from tests.tabular.lattice.known_nodes import KnownNodes, counted, searched
from tests.tabular.lattice.problems import limits, problems, shares


@settings(max_examples=200)
@given(problems(max_attributes=3), limits | shares, st.integers(1, 40), seeds)
def test_the_best_of_those_seen_is_returned_and_none_that_breaks_the_limits(problem, asked, evaluations, seed):
    nodes, known = counted(problem, asked), KnownNodes.of(problem, asked)
    found = searched("random", known, "glm", seed=seed, evaluations=evaluations)
    good = [node for node in known.asked if nodes[node].satisfies]
    assert len(known.asked) == len(set(known.asked)) == min(evaluations, known.lattice.size)
    if found is None:
        assert not good
        return
    assert found.evaluated == len(known.asked)
    assert len(found.solutions) == 1
    assert nodes[found.solutions.tuples()[0]].satisfies
    assert found.solutions["glm"][0] == pytest.approx(min(nodes[node].glm for node in good))
    saw_all = evaluations >= known.lattice.size
    assert found.satisfying == (len(good) if saw_all else None)
    assert (found.lower_bound is not None) == saw_all


@settings(max_examples=60)
@given(problems(max_attributes=3), limits, seeds)
def test_a_front_of_all_nodes_is_the_exact_one(problem, asked, seed):
    known, objectives = KnownNodes.of(problem, asked), ("k", "glm", "precision")
    found = searched("random", known, objectives=objectives, seed=seed)
    exact = searched("exhaustive", known, objectives=objectives)
    assert (found is None) == (exact is None)
    if found is not None:
        assert found.solutions.tuples() == exact.solutions.tuples()


@pytest.mark.parametrize("count", [10, 30, 45, 60, 100])
def test_each_node_has_the_same_chance_by_either_way_to_draw(count):
    # Sixty nodes: up to 29 are drawn one by one, from 30 on they are shuffled.
    lattice, drawn = Lattice(("a", "b", "c"), (4, 3, 2)), np.zeros(60)
    times = 600
    for seed in range(times):
        batches = list(random_nodes.distinct_nodes(lattice, count, np.random.default_rng(seed)))
        nodes = [node for batch in batches for node in as_tuples(batch)]
        assert len(nodes) == len(set(nodes)) == min(count, 60)
        for a, b, c in nodes:
            drawn[a * 12 + b * 3 + c] += 1
    share = min(count, 60) / 60
    # Five standard deviations: of 60 nodes one in 30,000 runs is further off, and the seeds are fixed.
    assert np.abs(drawn - times * share).max() <= 5 * np.sqrt(times * share * (1 - share))


def test_nodes_of_a_lattice_of_any_size_are_drawn():
    lattice = Lattice(tuple(f"q{place}" for place in range(100)), (9,) * 100)
    batches = list(random_nodes.distinct_nodes(lattice, 2500, np.random.default_rng(0)))
    nodes = [node for batch in batches for node in as_tuples(batch)]
    assert len(set(nodes)) == 2500
    assert all(node in lattice for node in nodes)
    assert all(as_tuples(batch) == sorted(as_tuples(batch)) for batch in batches)


def test_kgen_table_3_by_all_nodes():
    known = KnownNodes.of(kgen_tables.problem(4), Limits(k=2))
    found = searched("random", known, "precision")
    assert (found.solutions.tuples(), found.satisfying, found.evaluated) == ([(3, 4, 0)], 19, 60)
