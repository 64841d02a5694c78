import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular import Hierarchy, Table
from tabular.errors import InvalidParameter
from tabular.lattice.space import Limits
from tests.tabular.lattice import kgen_tables
from tests.tabular.lattice.known_nodes import Huge, KnownNodes, counted, minimal, satisfying, searched
from tests.tabular.lattice.problems import limits, problems, shares


@pytest.mark.parametrize(("rows", "suppression"), [(4, 0.0), (3, 0.35)])
def test_kgen_tables_3_and_8_have_two_minimal_nodes(rows, suppression):
    known = KnownNodes.of(kgen_tables.problem(rows), Limits(k=2, suppression=suppression))
    found = searched("ola", known, "precision")
    # The best by precision, 1.55 / 3, is not the lower one, 1.7 / 3.
    assert found.solutions.tuples() == [(3, 4, 0), (2, 1, 1)]
    assert (found.lower_bound, found.satisfying) == (found.solutions["precision"][0], 19)
    assert found.evaluated < known.lattice.size


@settings(max_examples=200)
@given(problems(), limits | shares)
def test_the_minimal_nodes_are_found_and_the_optimum_of_precision_and_without_suppression_of_glm(problem, asked):
    nodes, known = counted(problem, asked), KnownNodes.of(problem, asked)
    good, found = satisfying(nodes), searched("ola", known, "precision")
    if found is None:
        assert not good
        return
    assert sorted(found.solutions.tuples()) == minimal(good)
    assert found.satisfying == len(good)
    least = min(nodes[node].precision for node in good)
    assert nodes[found.solutions.tuples()[0]].precision == pytest.approx(least)
    assert found.lower_bound == pytest.approx(least)
    by_loss = searched("ola", known, "glm")
    if asked.suppressible(len(problem[0])) == 0:
        assert by_loss.solutions["glm"][0] == pytest.approx(min(nodes[node].glm for node in good))
        assert by_loss.lower_bound == by_loss.solutions["glm"][0]
        assert "note" not in by_loss.remarks
    else:
        assert by_loss.solutions["glm"][0] == pytest.approx(min(nodes[node].glm for node in minimal(good)))
        assert by_loss.lower_bound is None
        assert "best of the minimal nodes" in by_loss.remarks["note"]


@settings(max_examples=60)
@given(problems(max_attributes=3), st.integers(1, 4))
def test_without_suppression_no_metric_is_better_above_a_minimal_node(problem, k):
    known = KnownNodes.of(problem, Limits(k=k), class_label="label")
    for metric in ("cm", "discernibility", "normalized_average_class_size", "non_uniform_entropy"):
        found, everything = searched("ola", known, metric), searched("exhaustive", known, metric)
        assert (found is None) == (everything is None)
        if found is not None:
            assert found.lower_bound == pytest.approx(everything.lower_bound, abs=1e-9)


def test_with_suppression_a_node_above_the_minimal_ones_can_have_less_glm():
    # Five rows of a, one each of b and c; one level puts b and c together. Two rows may go, so the bottom satisfies
    # and loses two cells of b and c; on level 1 they are a class of two, and lose half a cell each.
    levels = Hierarchy.of("q", ["a", "b", "c"], [["a", "bc", "bc"], ["*"] * 3])
    table = Table.from_columns({"q": list("aaaaabc"), "sensitive": list("xxxxxxx"), "label": list("xxxxxxx")})
    known = KnownNodes.of((table, {"q": levels}), Limits(k=2, suppression=0.3))
    found = searched("ola", known, "glm")
    assert (found.solutions.tuples(), found.solutions["glm"].tolist()) == ([(0,)], [2.0])
    assert searched("exhaustive", known, "glm").solutions["glm"].tolist()[0] == 1.0


def test_each_node_decides_others():
    # Twelve levels, of which the first seven break k: by halves, after the bottom and the top.
    words = [["*" if level >= 7 else f"{level}.{code}" for code in range(4)] for level in range(1, 13)]
    table = Table.from_columns({"q": list("0123"), "sensitive": list("0123"), "label": list("0123")})
    problem = (table, {"q": Hierarchy.of("q", list("0123"), words)})
    known = KnownNodes.of(problem, Limits(k=2))
    found = searched("ola", known)
    assert known.asked == [(0,), (12,), (6,), (9,), (7,)]
    assert (found.solutions.tuples(), found.satisfying) == ([(7,)], 6)


@settings(max_examples=60)
@given(problems(max_attributes=3), st.integers(1, 4), st.sampled_from([0.0, 0.3, 0.6]))
def test_t_is_taken_where_no_row_may_go(problem, k, t):
    known = KnownNodes.of(problem, Limits(k=k, t=t))
    found, everything = searched("ola", known), searched("exhaustive", known)
    assert (found is None) == (everything is None)
    if found is not None:
        assert found.solutions["glm"][0] == pytest.approx(everything.solutions["glm"][0])


def test_t_with_suppression_is_refused_and_a_front_and_a_lattice_too_large():
    known = KnownNodes.of(kgen_tables.problem(4), Limits(k=2, t=0.5, suppression=0.5))
    with pytest.raises(InvalidParameter, match=r"ola takes t only .* Use exhaustive or optimal, or a suppression of 0"):
        searched("ola", known)
    with pytest.raises(InvalidParameter, match=r"ola finds the best node by one metric, .* exhaustive"):
        searched("ola", known, objectives=("k", "glm"))
    with pytest.raises(InvalidParameter, match=r"has 10\^18 nodes, and ola goes through 5,000,000 at most"):
        searched("ola", Huge(18))


def test_attributes_without_a_level_to_go_to_are_taken():
    flat = Hierarchy.of("q0", ["x"], [])
    table, levels = kgen_tables.problem(4)
    columns = {
        "q0": ["x"] * 4,
        **{name: [table.attribute(name).domain[code] for code in table.columns[name]] for name in table.names},
    }
    known = KnownNodes.of((Table.from_columns(columns), {"q0": flat, **levels}), Limits(k=2))
    assert searched("ola", known, "precision").solutions.tuples() == [(0, 3, 4, 0), (0, 2, 1, 1)]
    alone = KnownNodes.of((Table.from_columns(columns), {"q0": flat}), Limits(k=2))
    assert (searched("ola", alone).solutions.tuples(), alone.asked) == ([(0,)], [(0,)])
