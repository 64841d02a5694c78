import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.errors import InvalidParameter
from tabular.lattice.space import Limits
from tests.tabular.lattice import kgen_tables
from tests.tabular.lattice.known_nodes import KnownNodes, counted, satisfying, searched
from tests.tabular.lattice.problems import limits, problems, shares


def test_kgen_table_3_step_by_step():
    known = KnownNodes.of(kgen_tables.problem(4), Limits(k=2))
    found = searched("datafly", known)
    # Four ages and four postcodes: the age goes first, as it stands first, to its two decades; then the postcode to
    # its two beginnings; then, of three attributes with two values each, the first again; and so on.
    assert known.asked == [
        *[(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 1, 0), (3, 1, 0), (3, 2, 0), (3, 3, 0)],
        (3, 4, 0),
    ]
    assert found.solutions.tuples() == [(3, 4, 0)]


def test_kgen_table_8_step_by_step():
    known = KnownNodes.of(kgen_tables.problem(3), Limits(k=2, suppression=0.35))
    assert searched("datafly", known).solutions.tuples() == [(3, 4, 0)]
    assert len(known.asked) == 8


@settings(max_examples=200)
@given(problems(), limits | shares)
def test_the_node_satisfies_and_each_step_takes_the_attribute_of_the_most_values(problem, asked):
    nodes, known = counted(problem, asked), KnownNodes.of(problem, asked)
    found = searched("datafly", known)
    table, hierarchies = problem
    for node, following in zip(known.asked, known.asked[1:], strict=False):
        assert not nodes[node].satisfies
        distinct = []
        for (name, hierarchy), level in zip(hierarchies.items(), node, strict=True):
            labels = {
                hierarchy.levels[level].labels[hierarchy.levels[level].groups[code]] for code in table.columns[name]
            }
            distinct.append(len(labels) if level < hierarchy.height else 0)
        place = distinct.index(max(distinct))
        assert following == tuple(level + (other == place) for other, level in enumerate(node))
    if found is None:
        assert not satisfying(nodes)
        assert known.asked[-1] == known.lattice.top
    else:
        assert found.solutions.tuples() == [known.asked[-1]]
        assert nodes[known.asked[-1]].satisfies


@settings(max_examples=60)
@given(problems(max_attributes=3), st.integers(1, 3), st.sampled_from([0.0, 0.3, 0.6]))
def test_t_is_taken_also_where_rows_may_go(problem, k, t):
    known = KnownNodes.of(problem, Limits(k=k, t=t, suppression=0.25))
    found = searched("datafly", known)
    if found is not None:
        assert (found.solutions["t"] <= t).all()
        assert found.solutions.satisfying.all()


def test_a_front_is_refused():
    known = KnownNodes.of(kgen_tables.problem(4), Limits(k=2))
    with pytest.raises(InvalidParameter, match="datafly finds the best node by one metric"):
        searched("datafly", known, objectives=("k", "glm"))
