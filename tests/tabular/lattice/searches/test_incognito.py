import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.errors import InvalidParameter
from tabular.lattice.space import Limits
from tabular.loop import after_evaluations
from tests.tabular.lattice import kgen_tables
from tests.tabular.lattice.known_nodes import Huge, KnownNodes, counted, satisfying, searched
from tests.tabular.lattice.problems import limits, problems, shares


@settings(max_examples=200)
@given(problems(), limits | shares)
def test_all_that_satisfy_are_found_and_no_others(problem, asked):
    nodes, known = counted(problem, asked), KnownNodes.of(problem, asked)
    found, good = searched("incognito", known, "precision"), satisfying(nodes)
    if found is None:
        assert not good
        return
    assert sorted(found.solutions.tuples()) == good
    assert found.satisfying == len(good)
    best = min(nodes[node].precision for node in good)
    assert found.solutions["precision"][0] == pytest.approx(best)
    assert found.lower_bound == pytest.approx(best)
    assert searched("incognito", known, "glm").lower_bound == pytest.approx(min(nodes[node].glm for node in good))


@pytest.mark.parametrize(("rows", "suppression"), [(4, 0.0), (3, 0.35)])
def test_kgen_tables_3_and_8_subset_by_subset(rows, suppression):
    known = KnownNodes.of(kgen_tables.problem(rows), Limits(k=2, suppression=suppression))
    found = searched("incognito", known)
    assert sorted(found.solutions.tuples()) == kgen_tables.SATISFYING
    age, code, gender = (range(height) for height in known.lattice.heights)
    # The top; each attribute alone, the others at their tops, from below until it satisfies: age from level 2 on, the
    # postcode from level 1 on, gender at once.
    alone = (
        {(level, 5, 1) for level in age[:3]}
        | {(4, level, 1) for level in code[:2]}
        | {(4, 5, level) for level in gender}
    )
    # Two attributes, of levels that satisfy alone, from below: age and postcode at once, by which the rest is known.
    # With gender, age must be 3, and the postcode 4: those below break k.
    two = {(2, 1, 1)} | {(2, 5, 0), (3, 5, 0)} | {(4, 1, 0), (4, 2, 0), (4, 3, 0), (4, 4, 0)}
    # All three, of levels that satisfy by two and two.
    three = {(3, 4, 0)}
    tested = {known.lattice.top} | alone | two | three
    assert found.remarks["tested"] == len(tested)
    assert set(known.asked[: len(tested)]) == tested
    # All that satisfy are read, the others are not.
    assert set(known.asked) == tested | set(kgen_tables.SATISFYING)
    assert found.evaluated == len(known.asked) == len(set(known.asked))


def test_where_the_top_breaks_the_limits_nothing_else_is_asked():
    known = KnownNodes.of(kgen_tables.problem(4), Limits(k=5))
    assert searched("incognito", known) is None
    assert known.asked == [known.lattice.top]


def test_stopped_it_has_nodes_of_subsets():
    known = KnownNodes.of(kgen_tables.problem(4), Limits(k=2))
    found = searched("incognito", known, stop=after_evaluations(8))
    assert set(found.solutions.tuples()) <= set(kgen_tables.SATISFYING)
    assert (found.satisfying, found.lower_bound, found.ended) == (None, None, False)


@settings(max_examples=60)
@given(problems(max_attributes=3), st.integers(1, 4), st.sampled_from([0.0, 0.3, 0.6]))
def test_t_is_taken_where_no_row_may_go(problem, k, t):
    known = KnownNodes.of(problem, Limits(k=k, t=t))
    found, everything = searched("incognito", known), searched("exhaustive", known)
    assert (found is None) == (everything is None)
    if found is not None:
        assert found.solutions.tuples() == everything.solutions.tuples()


def test_t_with_suppression_is_refused_and_a_front_and_a_lattice_too_large():
    known = KnownNodes.of(kgen_tables.problem(4), Limits(k=2, t=0.5, suppression=0.5))
    with pytest.raises(InvalidParameter, match=r"incognito takes t only .* Use exhaustive or optimal"):
        searched("incognito", known)
    with pytest.raises(InvalidParameter, match="incognito finds the best node by one metric"):
        searched("incognito", known, objectives=("k", "glm"))
    with pytest.raises(InvalidParameter, match=r"has 10\^18 nodes, and incognito goes through 5,000,000 at most"):
        searched("incognito", Huge(18))
