import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.errors import InvalidParameter
from tabular.lattice.searches import samarati
from tabular.lattice.space import Limits, as_tuples
from tests.tabular.lattice import kgen_tables
from tests.tabular.lattice.known_nodes import KnownNodes, counted, satisfying, searched
from tests.tabular.lattice.problems import limits, problems, shares


@pytest.mark.parametrize(("rows", "suppression"), [(4, 0.0), (3, 0.35)])
def test_kgen_tables_3_and_8_have_one_node_of_the_least_height(rows, suppression):
    known = KnownNodes.of(kgen_tables.problem(rows), Limits(k=2, suppression=suppression))
    found = searched("samarati", known, "precision")
    # Not the optimum of precision, which is (3, 4, 0).
    assert found.solutions.tuples() == [(2, 1, 1)]
    assert found.remarks["height"] == 4
    assert found.lower_bound is None


@settings(max_examples=200)
@given(problems(), limits | shares, st.sampled_from([1, 3, 1024]))
def test_the_height_is_the_least_and_all_nodes_of_it_that_satisfy_are_found(problem, asked, batch):
    nodes, known = counted(problem, asked), KnownNodes.of(problem, asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samarati, "_BATCH", batch)
        found, good = searched("samarati", known), satisfying(nodes)
    if found is None:
        assert not good
        return
    least = min(sum(node) for node in good)
    assert found.remarks["height"] == least
    assert sorted(found.solutions.tuples()) == [node for node in good if sum(node) == least]


def test_heights_are_halved():
    known = KnownNodes.of(kgen_tables.problem(4), Limits(k=2))
    searched("samarati", known)
    heights = [sum(node) for node in dict.fromkeys(known.asked)]
    assert list(dict.fromkeys(heights)) == [10, 5, 2, 4, 3]


def test_all_nodes_of_a_height_come_in_the_order_of_their_levels():
    lattice = KnownNodes.of(kgen_tables.problem(4), Limits(k=2)).lattice
    for height in range(sum(lattice.heights) + 1):
        found = [node for batch in samarati._of_height(lattice, height) for node in as_tuples(batch)]
        assert found == [node for node in lattice if sum(node) == height]


def test_t_with_suppression_is_refused_and_a_front():
    known = KnownNodes.of(kgen_tables.problem(4), Limits(k=2, t=0.5, suppression=0.5))
    with pytest.raises(InvalidParameter, match=r"samarati takes t only .* Use exhaustive or optimal"):
        searched("samarati", known)
    with pytest.raises(InvalidParameter, match="samarati finds the best node by one metric"):
        searched("samarati", known, objectives=("k", "glm"))
