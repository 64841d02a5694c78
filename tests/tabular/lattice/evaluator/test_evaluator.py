import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tabular import Table
from tabular.errors import InvalidInput, InvalidParameter, NoSolution
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.evaluator import node_classes
from tabular.lattice.evaluator import node_classes as module
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.space import Limits, as_tuples
from tests.strategies import seeds
from tests.tabular.lattice.problems import limits, problems, shares, wide_problem
from tests.tabular.lattice.slow import SlowEvaluator

GIVEN = {"sensitive": "sensitive", "class_label": "label"}


def same(found, expected):
    assert set(expected.values) == set(found.values)
    for name, array in expected.values.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-7, atol=1e-6, err_msg=name)


def exactly(found, expected):
    assert set(expected.values) == set(found.values)
    for name, array in expected.values.items():
        assert found[name].tobytes() == array.tobytes(), name


@settings(max_examples=100)
@given(problems(), limits | shares, st.integers(1, 3))
def test_every_node_of_a_small_lattice_is_as_its_table_says(problem, asked, values):
    assume((asked.k or 1) <= len(problem[0]))
    slow = SlowEvaluator(*problem, limits=asked, values=values, **GIVEN)
    quick = Evaluator(*problem, limits=asked, recursive=values, workers=1, **GIVEN)
    nodes = quick.lattice.everything()[:80]
    same(quick.evaluate(nodes), slow.evaluate(nodes))


@settings(max_examples=50)
@given(problems(max_rows=30), limits | shares, seeds)
def test_it_does_not_matter_from_which_node_another_is_rolled_up(problem, asked, seed):
    assume((asked.k or 1) <= len(problem[0]))
    rng = np.random.default_rng(seed)
    nodes = Evaluator(*problem).lattice.everything()
    nodes = nodes[rng.permutation(len(nodes))][:60]
    by_steps = Evaluator(*problem, limits=asked, **GIVEN).evaluate(nodes)
    many = np.concatenate([nodes] * 8)
    for workers in (1, 3):
        walked = Evaluator(*problem, limits=asked, workers=workers, **GIVEN).evaluate(many)
        exactly(walked.take(np.arange(len(nodes))), by_steps)


@pytest.mark.parametrize("asked", [Limits(suppression=0.1), Limits(k=2, l=2, suppression=0.3), Limits(k=3, t=0.4)])
@pytest.mark.parametrize("values", [4, 90])
def test_keys_of_several_words_and_many_sensitive_values(asked, values):
    table, levels = wide_problem(1, attributes=12, size=40, rows=60, values=values)
    rng = np.random.default_rng(2)
    quick, slow = (kind(table, levels, limits=asked, **GIVEN) for kind in (Evaluator, SlowEvaluator))
    tops = np.array(quick.lattice.heights)
    # Near the top, where rows share classes.
    nodes = np.maximum(tops - rng.integers(0, 2, (150, 12)) * rng.integers(0, 3, (150, 12)), 0)
    expected = slow.evaluate(nodes)
    same(quick.evaluate(nodes), expected)
    one_by_one = Evaluator(table, levels, limits=asked, **GIVEN)
    same(one_by_one.evaluate(nodes[:100]), expected.take(np.arange(100)))


def test_only_what_is_asked_for_is_computed_and_is_the_same():
    table, levels = wide_problem(3, attributes=4, size=9, rows=80, values=5)
    full = Evaluator(table, levels, limits=Limits(k=2, suppression=0.1), **GIVEN)
    nodes = full.lattice.everything()[::3]
    everything = full.evaluate(nodes)
    for wanted in (["l"], ["l", "cm"], ["s_l"], ["cm"], ["non_uniform_entropy"], []):
        found = Evaluator(table, levels, limits=Limits(k=2, suppression=0.1), metrics=wanted, **GIVEN).evaluate(nodes)
        assert {"k", "suppressed", "satisfies", "s_k", "glm", "precision", *wanted} <= set(found.values)
        for name in found.values:
            assert found[name].tobytes() == everything[name].tobytes(), (wanted, name)


def test_a_chain_that_does_not_fit_is_cut_short(monkeypatch):
    table, levels = wide_problem(4, attributes=5, size=12, rows=200)
    plenty = Evaluator(table, levels, limits=Limits(k=3), workers=1, **GIVEN)
    nodes = plenty.lattice.everything()[:500]
    workspace_for = module.workspace_for
    monkeypatch.setattr(module, "workspace_for", lambda base, depth, *rest: workspace_for(base, 0, *rest))
    scarce = Evaluator(table, levels, limits=Limits(k=3), workers=1, **GIVEN)
    exactly(scarce.evaluate(nodes), plenty.evaluate(nodes))


@pytest.mark.parametrize("count", [40, 400])
def test_each_node_is_rolled_up_once(monkeypatch, count):
    calls = []
    real_step, real_walk = module.step, module.walk
    monkeypatch.setattr(module, "step", lambda *given: calls.append(1) or real_step(*given))

    def counted(*given):
        calls.append(real_walk(*given))
        return calls[-1]

    monkeypatch.setattr(module, "walk", counted)
    table, levels = wide_problem(5, attributes=6, size=9, rows=100)
    evaluator = Evaluator(table, levels, limits=Limits(k=3))
    nodes = evaluator.lattice.everything()[:count]
    evaluator.evaluate(nodes)
    assert sum(calls) == evaluator.evaluated == count


def test_nodes_far_from_the_distinct_rows_share_others_half_the_way(monkeypatch):
    table, levels = wide_problem(6, attributes=7, size=9, rows=300)
    asked = Evaluator(table, levels, limits=Limits(k=3)).lattice.everything()
    asked = asked[np.random.default_rng(7).permutation(len(asked))[:100]]
    calls = []
    real_step = module.step
    monkeypatch.setattr(module, "step", lambda *given: calls.append(1) or real_step(*given))
    without = Evaluator(table, levels, limits=Limits(k=3), **GIVEN).evaluate(asked)
    assert len(calls) == len(asked)
    monkeypatch.setattr("tabular.lattice.evaluator.node_classes._FAR", 20)
    evaluator = Evaluator(table, levels, limits=Limits(k=3), **GIVEN)
    exactly(evaluator.evaluate(asked), without)
    halfway = len(calls) - 2 * len(asked)
    assert evaluator.evaluated == len(asked)
    assert 0 < halfway <= 9 + len(asked) // 4


@settings(max_examples=60)
@given(problems(), limits | shares)
def test_the_rows_that_go_are_those_of_the_slow_version(problem, asked):
    assume((asked.k or 1) <= len(problem[0]))
    slow = SlowEvaluator(*problem, limits=asked, **GIVEN)
    quick = Evaluator(*problem, limits=asked, **GIVEN)
    for node in as_tuples(quick.lattice.everything()[:20]):
        assert quick.suppressed_rows(node).tolist() == slow.suppressed_rows(node).tolist()


@settings(max_examples=100)
@given(problems(), limits | shares)
def test_what_the_levels_alone_cost_is_never_more_than_the_metric_there_or_above(problem, asked):
    assume((asked.k or 1) <= len(problem[0]))
    evaluator = Evaluator(*problem, limits=asked, sensitive="sensitive")
    nodes = evaluator.lattice.everything()[:60]
    found = evaluator.evaluate(nodes)
    for metric in ("glm", "precision", "non_uniform_entropy"):
        alone = evaluator.loss_without_suppression(metric, nodes)
        for place, node in enumerate(nodes):
            above = (nodes >= node).all(axis=1)
            assert (found[metric][above] >= alone[place] - 1e-6).all()


@settings(max_examples=100)
@given(problems(), limits)
def test_nodes_above_one_that_satisfies_do_so_as_well(problem, asked):
    assume(asked.k <= len(problem[0]))
    evaluator = Evaluator(*problem, limits=asked, sensitive="sensitive")
    nodes = evaluator.lattice.everything()[:100]
    good = evaluator.evaluate(nodes).satisfying
    for node in nodes[good]:
        assert good[(nodes >= node).all(axis=1)].all()


def test_a_quasi_identifier_may_be_sensitive_and_its_own_values_count():
    table = Table.from_columns({"a": ["x", "y", "x", "y"], "b": ["1", "1", "2", "2"]})
    levels = {name: Hierarchy.of(name, table.attribute(name).domain, [["*", "*"]]) for name in ("a", "b")}
    found = Evaluator(table, levels, limits=Limits(k=1), sensitive="a").evaluate([(0, 1), (1, 0)])
    assert found["l"].tolist() == [1, 2]
    assert SlowEvaluator(table, levels, limits=Limits(k=1), sensitive="a").evaluate([(1, 0)])["l"].tolist() == [2]


def test_the_lowest_levels_and_the_labels_that_occur():
    table = Table.from_columns({"a": ["x", "y", "z", "z"]})
    levels = {"a": Hierarchy.of("a", ["x", "y", "z"], [["v", "v", "z"], ["*", "*", "*"]])}
    evaluator = Evaluator(table, levels, limits=Limits(k=2))
    assert evaluator.lower_levels() == (1,)
    assert evaluator.distinct_values == [[3, 2, 1]]


def test_what_it_cannot_take_is_refused():
    table = Table.from_columns({"a": ["x", "y"], "s": ["1", "2"]})
    levels = {"a": Hierarchy.of("a", ["x", "y"], [["*", "*"]])}
    with pytest.raises(InvalidInput, match="l and t need a sensitive attribute"):
        Evaluator(table, levels, limits=Limits(l=2))
    with pytest.raises(InvalidInput, match="'a' cannot be a quasi-identifier and the class label"):
        Evaluator(table, levels, class_label="a")
    with pytest.raises(NoSolution, match="No release with k=3 exists: the table has 2 records"):
        Evaluator(table, levels, limits=Limits(k=3))
    with pytest.raises(InvalidInput, match="cm needs the class label attribute; name one"):
        Evaluator(table, levels, metrics=["cm"])
    with pytest.raises(InvalidParameter, match=r"\(2,\) is not a node: the levels go up to \(1,\)"):
        Evaluator(table, levels).evaluate([(2,)])
    with pytest.raises(InvalidInput, match="no records"):
        Evaluator(table.rows(np.zeros(0, dtype=np.int64)), levels)
    with pytest.raises(InvalidParameter, match="Of cm the levels alone say nothing"):
        Evaluator(table, levels).loss_without_suppression("cm", [(0,)])


def test_what_is_kept_of_nodes_is_bounded_also_where_classes_hold_many_values(monkeypatch):
    monkeypatch.setattr(node_classes, "_BYTES", 100_000)
    table, levels = wide_problem(6, attributes=5, size=12, rows=400, values=300)
    evaluator = Evaluator(table, levels, limits=Limits(k=2), sensitive="sensitive")
    nodes = evaluator.lattice.everything()
    for place in range(0, 600, 40):
        evaluator.evaluate(nodes[-1 - place : -41 - place : -1])
    (classes,) = evaluator._classes.values()
    assert 0 < classes._cache._held <= max(100_000, 4 * node_classes._bytes(classes._base))


def test_all_metrics_of_a_few_nodes_come_from_the_same_evaluator(monkeypatch):
    table, levels = wide_problem(3, attributes=4, size=9, rows=80, values=5)
    limits = Limits(k=2, suppression=0.1)
    nodes = Evaluator(table, levels).lattice.everything()[::7]
    everything = Evaluator(table, levels, limits=limits, **GIVEN).evaluate(nodes)
    plain = Evaluator(table, levels, limits=limits, metrics=["glm"])
    given = Evaluator(table, levels, limits=limits, metrics=["glm"], **GIVEN)
    before = plain.evaluate(nodes)
    monkeypatch.setattr(Evaluator, "__init__", lambda *arguments, **options: pytest.fail("another evaluator was made"))
    assert "non_uniform_entropy" not in before
    found = plain.in_full(nodes)
    for name in found.values:
        assert found[name].tobytes() == everything[name].tobytes(), name
    exactly(given.in_full(nodes), everything)
    # Without a sensitive column and a class label the same classes do; nodes are counted only where they are searched.
    assert len(plain._classes) == 1
    assert (plain.evaluated, given.evaluated) == (len(nodes), 0)
