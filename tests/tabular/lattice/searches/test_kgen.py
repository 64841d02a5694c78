"""KGEN and its operators."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular import Hierarchy, Table
from tabular.errors import InvalidParameter, NoSolution
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.metrics import Readings
from tabular.lattice.searches.kgen import (
    OLD,
    Kgen,
    _Evolution,
    _Members,
    between,
    crossed,
    moved_sideways,
    mutated,
    pairs,
    weights,
)
from tabular.lattice.searching import Finds, Question, run
from tabular.lattice.space import Lattice, Limits, as_nodes, as_tuples
from tests.strategies import seeds
from tests.tabular.lattice import kgen_tables
from tests.tabular.lattice.known_nodes import KnownNodes, counted, satisfying, searched
from tests.tabular.lattice.problems import limits, problems, shares
from tests.tabular.lattice.slow import SlowEvaluator


def known_of(problem, asked, **given):
    """All nodes known, with the bounds; None where there are no such bounds."""
    known, slow = KnownNodes.of(problem, asked, **given), SlowEvaluator(*problem, limits=asked)
    try:
        bounds = slow.lower_levels()
    except NoSolution:
        return None
    known.lower_levels = lambda: bounds
    return known


def test_kgen_table_3_bounds_and_optimum():
    known = known_of(kgen_tables.problem(4), Limits(k=2))
    found = searched("kgen", known, "precision")
    assert found.remarks["bounds"] == [2, 1, 0]
    # Of heights 4, 5 and 1 the minimal nodes cost (2/4 + 1/5 + 1)/3 and (3/4 + 4/5 + 0)/3.
    assert found.solutions.tuples() == [(3, 4, 0)]
    assert found.lower_bound == found.solutions["precision"][0] == pytest.approx(1.55 / 3)
    # Ages 2 to 4, postcodes 1 to 5, both genders: all of them, and nothing below the bounds.
    assert found.evaluated == len(set(known.asked)) == 3 * 5 * 2
    assert all(age >= 2 and code >= 1 for age, code, _ in known.asked)
    assert found.satisfying == len(kgen_tables.SATISFYING)


def test_kgen_node_2_1_1_has_the_classes_of_rows_1_2_and_3_4():
    table, hierarchies = kgen_tables.problem(4)
    maps = [
        kgen_tables.support_map(table, each)[level] for each, level in zip(hierarchies.values(), (2, 1, 1), strict=True)
    ]
    classes = [
        set(age) & set(code) & set(sex)
        for age in maps[0].values()
        for code in maps[1].values()
        for sex in maps[2].values()
    ]
    assert sorted(sorted(each) for each in classes if each) == [[0, 1], [2, 3]]
    reading = Evaluator(table, hierarchies, limits=Limits(k=2)).evaluate([(2, 1, 1)])
    assert reading["k"].tolist() == [2]
    assert reading.satisfying.all()


def test_kgen_table_8_takes_the_bounds_with_the_limit_and_rejects_the_node_of_all_values():
    problem, asked = kgen_tables.problem(3), Limits(k=2, suppression=0.35)
    known = known_of(problem, asked)
    bottom = known.evaluate([(0, 0, 0)])
    assert bottom["suppressed"].tolist() == [3]
    assert not bottom.satisfying.any()
    known.asked.clear()
    found = searched("kgen", known, "precision")
    assert found.remarks["bounds"] == [2, 1, 0]
    assert (0, 0, 0) not in known.asked
    assert found.solutions.tuples() == searched("exhaustive", known, "precision").solutions.tuples()[:1]


@settings(max_examples=200)
@given(problems(max_attributes=3), limits, st.sampled_from(["precision", "glm"]), seeds)
def test_where_the_evaluations_cover_the_lattice_the_optimum_is_found_and_known_to_be_it(problem, asked, metric, seed):
    known = known_of(problem, asked)
    found, nodes = known and searched("kgen", known, metric, seed=seed, patience=3), counted(problem, asked)
    good = satisfying(nodes)
    if found is None:
        assert not good
        return
    (best,) = found.solutions.tuples()
    optimum = min(getattr(nodes[node], metric) for node in good)
    assert nodes[best].satisfies
    assert found.solutions[metric][0] == pytest.approx(getattr(nodes[best], metric)) == pytest.approx(optimum)
    assert found.lower_bound == pytest.approx(optimum)
    assert found.satisfying == len(good)
    assert all((np.array(node) >= found.remarks["bounds"]).all() for node in known.asked)


@settings(max_examples=200)
@given(problems(max_attributes=3), limits | shares, st.integers(1, 30), st.integers(2, 8), seeds)
def test_with_few_evaluations_the_best_of_those_seen_is_returned_and_it_keeps_the_limits(
    problem, asked, evaluations, population, seed
):
    known = known_of(problem, asked)
    options = {"evaluations": evaluations, "population": population, "patience": 4}
    found = known and searched("kgen", known, "precision", seed=seed, **options)
    nodes = counted(problem, asked)
    if found is None:
        assert not satisfying(nodes)
        return
    seen = set(known.asked)
    assert found.evaluated == len(seen) <= evaluations
    (best,) = found.solutions.tuples()
    assert nodes[best].satisfies
    assert nodes[best].precision == pytest.approx(min(nodes[node].precision for node in seen if nodes[node].satisfies))
    optimum = min(nodes[node].precision for node in satisfying(nodes))
    assert found.lower_bound <= optimum + 1e-12
    assert nodes[best].precision >= optimum - 1e-12


@settings(max_examples=50)
@given(problems(), limits, seeds)
def test_the_seed_alone_decides_whichever_evaluator_is_asked(problem, asked, seed):
    known = known_of(problem, asked)
    if known is None:
        return
    table, hierarchies = problem
    options = {"evaluations": 40, "population": 6, "patience": 4}
    found = searched("kgen", known, "precision", seed=seed, **options)
    sensitive = None if asked.l is None else "sensitive"
    other = searched(
        "kgen", Evaluator(table, hierarchies, limits=asked, sensitive=sensitive), "precision", seed=seed, **options
    )
    assert (found is None) == (other is None)
    if found is not None:
        assert found.solutions.nodes.tobytes() == other.solutions.nodes.tobytes()
        assert found.solutions["suppressed"].tolist() == other.solutions["suppressed"].tolist()
        assert (found.evaluated, found.remarks) == (other.evaluated, other.remarks)


@settings(max_examples=60)
@given(problems(max_attributes=3), st.integers(1, 3), st.sampled_from([0.0, 0.3, 0.6]), seeds)
def test_t_is_kept_also_where_rows_may_go(problem, k, t, seed):
    asked = Limits(k=k, t=t, suppression=0.25)
    known = known_of(problem, asked)
    found = known and searched("kgen", known, "precision", seed=seed, patience=3)
    exact = searched("exhaustive", known, "precision") if known else None
    assert (found is None) == (exact is None)
    if found is not None:
        assert (found.solutions["t"] <= t).all()
        assert found.solutions["precision"][0] == pytest.approx(exact.solutions["precision"].min())


@pytest.mark.parametrize("metric", ["cm", "discernibility", "normalized_average_class_size", "non_uniform_entropy"])
def test_any_loss_is_taken_for_a_metric(metric):
    known = known_of(kgen_tables.problem(4), Limits(k=2, suppression=0.25), class_label="label")
    found, exact = (searched(name, known, metric) for name in ("kgen", "exhaustive"))
    assert found.solutions[metric][0] == exact.solutions[metric].min()


class Steep:
    """Ten attributes of ten levels: a node holds from a height on that nodes drawn at random do not reach."""

    def __init__(self, height=85):
        self.lattice = Lattice(tuple(f"q{place}" for place in range(10)), (9,) * 10)
        self.limits, self.rows, self.height = Limits(k=2), 100, height
        self.asked = 0

    def lower_levels(self):
        return (0,) * 10

    def loss_without_suppression(self, metric, nodes):
        return as_nodes(nodes, 10).mean(axis=1) / 9

    def evaluate(self, nodes):
        nodes = as_nodes(nodes, 10)
        self.asked += len(nodes)
        suppressed = np.maximum(self.height - nodes.sum(axis=1), 0)
        # The first attribute costs most, the last one least.
        precision = (nodes * np.arange(10, 0, -1)).sum(axis=1) / 495
        return Readings(nodes, {"suppressed": suppressed, "satisfies": suppressed == 0, "precision": precision})


def best_of(search, *, seed=0):
    evaluator = Steep()
    found = run("kgen", search, Question(evaluator, "precision"), rng=np.random.default_rng(seed))
    assert found.evaluated == evaluator.asked <= search.evaluations
    return float(found.solutions["precision"][0])


def test_it_climbs_to_where_the_limits_hold_and_goes_down_from_there():
    # Five of the ninety levels can be spared: the optimum spares them where they cost most.
    optimum = 1 - 5 * 10 / 495
    assert [best_of(Kgen(evaluations=3000), seed=seed) for seed in range(3)] == pytest.approx([optimum] * 3, abs=0.01)


def test_without_any_operator_only_the_first_population_is_seen_and_it_ends_by_its_patience():
    evaluator = Steep()
    search = Kgen(crossover=0, mutation=0, horizontal=0, population=20, patience=7)
    found = run("kgen", search, Question(evaluator, "precision"), rng=np.random.default_rng(0))
    assert evaluator.asked == 20
    assert found.remarks["generations"] == 7
    # None of those drawn holds: the fallback is the node of one class.
    assert found.solutions.tuples() == [(9,) * 10]


def evolution(**options):
    return _Evolution(Kgen(**options), Question(Steep(height=4), "precision"), Finds(), np.random.default_rng(0))


def test_nodes_that_do_not_hold_never_take_the_place_of_one_that_does():
    work = evolution(population=4)
    worst, good, near, far, twice = (
        (9,) * 10,
        (0,) * 9 + (4,),
        (1, 0, 0, 0, 0, 0, 0, 0, 0, 2),
        (0,) * 10,
        (0,) * 9 + (3,),
    )
    nodes = [far, near, worst, twice, good, good, twice]
    found = work.survivors(Steep(height=4).evaluate(nodes), np.array([0, 1, 2, 3, 4, 0, 0]))
    # Those that hold by their loss, then the others by their rows too many, then by their loss; each once, as the
    # older of two.
    assert found.readings.tuples() == [good, worst, twice, near]
    assert found.ages.tolist() == [4, 2, 3, 1]


def test_who_lives_on_is_a_generation_older_and_a_child_is_not():
    work = evolution(population=10, crossover=0.0, mutation=1.0, horizontal=0.0)
    beginning = work.top()
    beginning.send(None)
    with pytest.raises(StopIteration):
        beginning.send(work.question.evaluator.evaluate([(9,) * 10]))
    nodes = np.zeros((1, 10), dtype=np.int16) + 5
    members = _Members(work.question.evaluator.evaluate(nodes), np.array([3]))
    course = work.generation(members)
    asked = course.send(None)
    with pytest.raises(StopIteration) as end:
        course.send(work.question.evaluator.evaluate(asked))
    ages = dict(zip(end.value.value.readings.tuples(), end.value.value.ages.tolist(), strict=True))
    assert ages.pop((5,) * 10) == 4
    assert set(ages.values()) == {0}


def test_a_front_is_refused():
    known = known_of(kgen_tables.problem(4), Limits(k=2))
    with pytest.raises(InvalidParameter, match="kgen finds the best node by one metric"):
        searched("kgen", known, objectives=("k", "glm"))


def test_with_one_evaluation_the_answer_is_the_node_of_one_class():
    found = searched("kgen", known_of(kgen_tables.problem(4), Limits(k=2)), "precision", evaluations=1)
    assert found.solutions.tuples() == [(4, 5, 1)]
    assert found.evaluated == 1


def test_a_lattice_of_one_node_is_answered_by_it():
    table = Table.from_columns({"colour": ["red", "red"], "shape": ["round", "round"]})
    hierarchies = {name: Hierarchy.of(name, table.attribute(name).domain, []) for name in table.names}
    found = searched("kgen", Evaluator(table, hierarchies, limits=Limits(k=2)), "precision")
    assert found.solutions.tuples() == [(0, 0)]
    assert (found.evaluated, found.satisfying, found.lower_bound) == (1, 1, 0.0)


def test_where_the_node_of_one_class_breaks_the_limits_no_other_is_asked_for():
    known = known_of(kgen_tables.problem(4), Limits(l=5))
    question = Question(known, "precision")
    with pytest.raises(NoSolution, match="No node satisfies l=5"):
        run("kgen", Kgen(), question, rng=np.random.default_rng(0))
    assert known.asked == [(4, 5, 1)]


def rows(*nodes):
    return as_nodes(nodes, len(nodes[0]))


def flags(*given):
    return np.array(given, dtype=bool)


def test_weights_fall_with_the_loss_and_with_every_generation_to_nothing_at_the_tenth():
    losses = np.array([0.0, 0.11, 0.33, 0.33, 0.33, 0.33, 1.0])
    found = weights(losses, np.array([0, 0, 0, 1, 9, 10, 0]))
    assert found.tolist() == pytest.approx([1.0, 0.89, 0.67, 0.67 * 0.9, 0.67 * 0.1, 0.0, 0.0])
    assert weights(np.zeros(3), np.array([OLD - 1, OLD, 3 * OLD])).tolist() == pytest.approx([0.1, 0, 0])


def test_parents_are_drawn_by_their_share_of_the_weights():
    weight, count = np.array([0.5, 0.0, 0.3, 0.2]), 20_000
    first, second = pairs(weight, count, 1, np.random.default_rng(3))
    shares = np.bincount(first, minlength=4) / count
    # Five standard deviations of a share are 0.018 at most.
    assert shares == pytest.approx([0.5, 0, 0.3, 0.2], abs=0.018)
    after_the_first = np.bincount(second[first == 0], minlength=4) / (first == 0).sum()
    assert after_the_first == pytest.approx([0, 0, 0.6, 0.4], abs=0.026)
    assert (first != second).all()


def test_of_several_draws_the_heaviest_is_the_parent():
    weight, count = np.array([0.5, 0.3, 0.2]), 20_000
    first, _ = pairs(weight, count, 2, np.random.default_rng(3))
    # The heaviest is missed by both draws, or the second, too.
    assert np.bincount(first) / count == pytest.approx([1 - 0.5**2, 0.5**2 - 0.2**2, 0.2**2], abs=0.018)


def test_where_one_node_alone_or_none_has_a_weight_all_others_are_alike():
    first, second = pairs(np.array([0.0, 1.0, 0.0]), 3000, 1, np.random.default_rng(3))
    assert set(first.tolist()) == {1}
    assert np.bincount(second, minlength=3) / 3000 == pytest.approx([0.5, 0, 0.5], abs=0.046)
    first, second = pairs(np.zeros(3), 3000, 1, np.random.default_rng(3))
    assert np.bincount(first) / 3000 == pytest.approx([1 / 3] * 3, abs=0.044)
    assert (first != second).all()
    assert [each.tolist() for each in pairs(np.ones(1), 2, 1, np.random.default_rng(3))] == [[0, 0], [0, 0]]


@given(st.lists(st.sampled_from([0.0, 1e-300, 0.1, 1.0]), min_size=2, max_size=6), st.integers(1, 3), seeds)
def test_who_has_no_weight_is_a_parent_only_where_too_few_have_one(given_weights, rounds, seed):
    weight = np.array(given_weights)
    first, second = pairs(weight, 50, rounds, np.random.default_rng(seed))
    assert (first != second).all()
    if weight.any():
        assert (weight[first] > 0).all()
    if (weight > 0).sum() > 1:
        assert (weight[second] > 0).all()


#: As in Figure 6: of Age, Postcode and Gender, two parents neither of which is above the other.
FIRST, SECOND = rows((1, 3, 0)), rows((2, 1, 1))
LOWEST, HIGHEST = (1, 1, 0), (2, 3, 1)


def children(first_holds, second_holds, lowest_holds=False, seed=0):
    hold = (flags(first_holds), flags(second_holds))
    return as_tuples(crossed((FIRST, SECOND), hold, flags(lowest_holds), np.random.default_rng(seed)))


def test_two_parents_that_hold_have_their_lowest_node_for_a_child_if_it_holds():
    assert children(True, True, lowest_holds=True) == [LOWEST]


def test_two_parents_that_hold_have_else_one_child_below_each_of_them():
    below_first = {(1, 1, 0), (1, 2, 0), (1, 3, 0)}
    below_second = {(age, 1, gender) for age in (1, 2) for gender in (0, 1)}
    found = [children(True, True, seed=seed) for seed in range(200)]
    assert {one for one, _ in found} == below_first
    assert {other for _, other in found} == below_second


def test_two_parents_that_do_not_hold_have_their_highest_node_for_a_child():
    assert children(False, False) == [HIGHEST]


def test_of_one_parent_that_holds_the_child_is_between_it_and_the_lowest_node():
    found = [children(False, True, seed=seed) for seed in range(200)]
    assert {child for (child,) in found} == {(age, 1, gender) for age in (1, 2) for gender in (0, 1)}
    found = [children(True, False, seed=seed) for seed in range(200)]
    assert {child for (child,) in found} == {(1, 1, 0), (1, 2, 0), (1, 3, 0)}


def test_pairs_are_crossed_each_by_its_own_case():
    first, second = rows((0, 2), (0, 2), (3, 0), (1, 1)), rows((2, 0), (2, 0), (0, 3), (1, 1))
    hold = flags(True, False, False, True), flags(True, False, False, True)
    found = crossed((first, second), hold, flags(True, False, False, False), np.random.default_rng(0))
    assert as_tuples(found) == [(0, 0), (1, 1), (1, 1), (2, 2), (3, 3)]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=6), seeds)
def test_between_has_both_ends_and_nothing_outside(pairs_of_levels, seed):
    low = np.array([[min(each) for each in pairs_of_levels]], dtype=np.int16)
    high = np.array([[max(each) for each in pairs_of_levels]], dtype=np.int16)
    found = between(np.repeat(low, 400, axis=0), np.repeat(high, 400, axis=0), np.random.default_rng(seed))
    for column, (small, great) in zip(
        found.T.tolist(), zip(low[0].tolist(), high[0].tolist(), strict=True), strict=True
    ):
        assert set(column) == set(range(small, great + 1))


def test_kgen_example_of_a_horizontal_mutation():
    # Five attributes from 0 to 4, all on 2, half of them: one goes up from 2 to 4, one down from 2 to 0.
    low, high, node = (np.full(5, level, dtype=np.int16) for level in (0, 4, 2))
    many = np.repeat(node[None], 20_000, axis=0)
    found = set(as_tuples(moved_sideways(many, low, high, rate=1.0, share=0.5, rng=np.random.default_rng(0))))
    expected = set()
    for up in range(5):
        for down in set(range(5)) - {up}:
            for more in (0, 1, 2):
                for less in (0, 1, 2):
                    moved = [2] * 5
                    moved[up] += more
                    moved[down] -= less
                    expected.add(tuple(moved))
    assert found == expected
    assert (2, 2, 3, 0, 2) in found


@pytest.mark.parametrize(
    ("attributes", "share", "moved"), [(1, 1.0, 0), (2, 0.0, 2), (3, 0.5, 2), (7, 0.5, 3), (4, 1.0, 4)]
)
def test_a_horizontal_mutation_takes_its_share_rounded_down_and_two_at_least(attributes, share, moved):
    low, high = np.zeros(attributes, dtype=np.int16), np.full(attributes, 1000, dtype=np.int16)
    many = np.full((500, attributes), 500, dtype=np.int16)
    found = moved_sideways(many, low, high, rate=1.0, share=share, rng=np.random.default_rng(1))
    up, down = (found > 500).sum(axis=1), (found < 500).sum(axis=1)
    assert up.max() == (moved + 1) // 2
    assert down.max() == moved // 2
    assert (many == 500).all()


@pytest.mark.parametrize("rate", [0.0, 0.2, 1.0])
def test_a_standard_mutation_puts_one_attribute_to_another_level(rate):
    low, high = np.array([1, 2, 0], dtype=np.int16), np.array([4, 2, 1], dtype=np.int16)
    many = np.repeat(rows((2, 2, 1)), 4000, axis=0)
    found = mutated(many, low, high, rate, np.random.default_rng(2))
    changed = found[(found != many).any(axis=1)]
    # Five standard deviations at most.
    assert len(changed) / 4000 == pytest.approx(rate, abs=0.04)
    assert set(as_tuples(changed)) == ({(1, 2, 1), (3, 2, 1), (4, 2, 1), (2, 2, 0)} if rate else set())
    assert ((changed != rows((2, 2, 1))).sum(axis=1) == 1).all()


def test_nothing_is_mutated_where_there_is_no_other_level():
    level = np.array([1, 3], dtype=np.int16)
    assert as_tuples(mutated(rows((1, 3)), level, level, 1.0, np.random.default_rng(0))) == [(1, 3)]
