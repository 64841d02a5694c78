import numpy as np
import pytest
from hypothesis import given, settings

from tabular.errors import InvalidParameter
from tabular.lattice.searches import exhaustive, searches
from tabular.lattice.searching import Question
from tabular.lattice.space import Limits
from tabular.loop import after_evaluations
from tests.tabular.lattice import kgen_tables
from tests.tabular.lattice.known_nodes import Huge, KnownNodes, counted, satisfying, searched
from tests.tabular.lattice.problems import limits, problems, shares


@pytest.mark.parametrize(("rows", "suppression"), [(4, 0.0), (3, 0.35)])
def test_kgen_tables_3_and_8_have_19_nodes(rows, suppression):
    known = KnownNodes.of(kgen_tables.problem(rows), Limits(k=2, suppression=suppression))
    found = searched("exhaustive", known, "precision")
    assert sorted(found.solutions.tuples()) == kgen_tables.SATISFYING
    assert (found.satisfying, found.evaluated) == (19, known.lattice.size)
    # (3/4 + 4/5 + 0) / 3
    assert found.solutions.tuples()[0] == (3, 4, 0)
    assert found.lower_bound == pytest.approx(1.55 / 3)
    assert found.gap == 0


@settings(max_examples=200)
@given(problems(max_attributes=3), limits | shares)
def test_all_that_satisfy_are_found_and_no_others_best_first(problem, asked):
    nodes, found = counted(problem, asked), searched("exhaustive", KnownNodes.of(problem, asked))
    if found is None:
        assert not satisfying(nodes)
        return
    assert sorted(found.solutions.tuples()) == satisfying(nodes)
    assert found.satisfying == len(satisfying(nodes))
    losses = [nodes[node].glm for node in found.solutions.tuples()]
    np.testing.assert_allclose(losses, sorted(losses), atol=1e-9)
    assert found.lower_bound == pytest.approx(min(losses), abs=1e-9)


@settings(max_examples=100)
@given(problems(max_attributes=3), limits)
def test_of_two_objectives_those_are_left_that_none_dominates(problem, asked):
    nodes, known = counted(problem, asked), KnownNodes.of(problem, asked)
    found = searched("exhaustive", known, objectives=("glm", "precision"))
    costs = {node: (round(nodes[node].glm, 6), round(nodes[node].precision, 6)) for node in satisfying(nodes)}
    front = [
        node
        for node, cost in costs.items()
        if not any(other != cost and other[0] <= cost[0] and other[1] <= cost[1] for other in costs.values())
    ]
    assert ([] if found is None else sorted(found.solutions.tuples())) == front


def test_batches_put_together_are_the_whole(monkeypatch):
    known = KnownNodes.of(kgen_tables.problem(4), Limits(k=2))
    monkeypatch.setattr(exhaustive, "BATCH", 7)
    found = searched("exhaustive", known)
    assert sorted(found.solutions.tuples()) == kgen_tables.SATISFYING
    assert known.asked == list(known.lattice)
    stopped = searched("exhaustive", known, stop=after_evaluations(45))
    # Up to the batch in which the count is reached.
    assert sorted(stopped.solutions.tuples()) == [
        node for node in kgen_tables.SATISFYING if node in list(known.lattice)[:49]
    ]
    assert (stopped.evaluated, stopped.ended, stopped.satisfying, stopped.lower_bound) == (49, False, None, None)


def test_a_lattice_of_10_to_the_18_nodes_is_refused_at_once():
    with pytest.raises(InvalidParameter) as refused:
        searched("exhaustive", Huge(18))
    assert str(refused.value) == (
        "The lattice has 10^18 nodes, and exhaustive goes through 5,000,000 at most. Use kgen, optimal, pbg-ea or "
        "random, or raise most if time and memory allow."
    )
    with pytest.raises(InvalidParameter, match=r"has 10\^6000 nodes"):
        searched("exhaustive", Huge(6000))


def test_a_lattice_of_one_node_too_many_is_refused():
    known = KnownNodes.of(kgen_tables.problem(4), Limits(k=2))
    with pytest.raises(InvalidParameter, match="has 60 nodes, and exhaustive goes through 59 at most"):
        searched("exhaustive", known, most=59)
    assert searched("exhaustive", known, most=60).satisfying == 19


def test_t_with_suppression_is_taken():
    known = KnownNodes.of(kgen_tables.problem(4), Limits(k=2, t=0.5, suppression=0.5))
    searches["exhaustive"].method().check(Question(known))
    found = searched("exhaustive", known)
    assert (found.solutions["t"] <= 0.5).all()
    assert sorted(found.solutions.tuples()) == [
        node for node, good in zip(known.lattice, known.evaluate(list(known.lattice)).satisfying, strict=True) if good
    ]
