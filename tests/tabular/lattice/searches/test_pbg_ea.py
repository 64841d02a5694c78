from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.errors import InvalidParameter
from tabular.lattice.front import boxes, checked_epsilon, non_dominated
from tabular.lattice.searches.pbg_ea import PbgEa, crossed, dominance_fitness, first_population, stepped, tournaments
from tabular.lattice.searching import Finds, Question
from tabular.lattice.space import Lattice, Limits
from tests.strategies import seeds
from tests.tabular.lattice import kgen_tables
from tests.tabular.lattice.known_nodes import Huge, KnownNodes, searched
from tests.tabular.lattice.problems import limits, problems, shares
from tests.tabular.lattice.slow import SlowEvaluator
from tests.tabular.lattice.test_front import dominates, points

#: What can be proven of nodes that were not looked at; l cannot.
proven = st.lists(st.sampled_from(["k", "s_k", "s_l", "glm", "cm", "precision"]), min_size=1, max_size=3, unique=True)
generators = st.sampled_from(["paper", "local"])
LITTLE = {"population": 6, "iterations": 6}


def known_of(problem, asked):
    return KnownNodes(SlowEvaluator(*problem, limits=asked, sensitive="sensitive", class_label="label"))


def asked_values(known, objectives):
    """The values, more being better, of what was asked for and satisfies."""
    readings = known.evaluate(list(dict.fromkeys(known.asked)))
    return -readings.take(readings.satisfying).costs(objectives)


@settings(max_examples=60)
@given(
    problem=problems(max_attributes=3),
    asked=limits | shares,
    generator=generators,
    sides=st.sampled_from([(1, 1, 1), (2, 1, 3), (0.5, 2, 10)]),
    seed=seeds,
)
def test_the_answer_is_one_node_for_each_non_dominated_box_of_what_was_looked_at(
    problem, asked, generator, sides, seed
):
    objectives, known = ("k", "l", "glm"), known_of(problem, asked)
    found = searched("pbg-ea", known, objectives=objectives, seed=seed, generator=generator, epsilon=sides, **LITTLE)
    values, epsilon = asked_values(known, objectives), checked_epsilon(sides, objectives)
    if found is None:
        assert not len(values)
        return
    theirs = -found.solutions.costs(objectives)
    # Theorem 1: nothing that was generated dominates a member.
    assert not any(((values >= value).all(axis=1) & (values > value).any(axis=1)).any() for value in theirs)
    all_boxes = boxes(values, epsilon)
    marked = {tuple(row) for row in all_boxes[non_dominated(-all_boxes)].tolist()}
    assert sorted(map(tuple, boxes(theirs, epsilon).tolist())) == sorted(marked)


@settings(max_examples=100)
@given(problem=problems(max_attributes=3), asked=shares, objectives=proven, seed=seeds)
def test_ours_leaves_no_box_of_the_exact_front_out_where_it_ends_by_itself(problem, asked, objectives, seed):
    known = known_of(problem, asked)
    found = searched("pbg-ea", known, objectives=objectives, seed=seed, population=3, iterations=1000)
    exact = known.evaluate(known.lattice.everything()).costs(objectives)
    sides = checked_epsilon(None, objectives)
    all_boxes = boxes(-exact, sides)
    marked = {tuple(row) for row in all_boxes[non_dominated(-all_boxes)].tolist()}
    assert {tuple(row) for row in boxes(-found.solutions.costs(objectives), sides).tolist()} == marked


@settings(max_examples=30)
@given(problem=problems(), seed=seeds, generator=generators)
def test_it_begins_with_the_bottom_and_the_top(problem, seed, generator):
    known = known_of(problem, Limits())
    searched("pbg-ea", known, objectives=("k", "glm"), seed=seed, generator=generator, **LITTLE)
    assert {known.lattice.bottom, known.lattice.top} <= set(known.asked[:6])


def test_the_first_population_is_the_bottom_the_top_and_nodes_at_random():
    lattice = Lattice(("a", "b"), (6, 3))
    drawn = first_population(lattice, 200, np.random.default_rng(0))
    assert drawn[0].tolist() == [0, 0]
    assert drawn[1].tolist() == [6, 3]
    assert len(drawn) == 200
    assert len({tuple(node) for node in drawn.tolist()}) == lattice.size


def test_the_paper_s_generator_makes_as_many_children_as_there_are_parents_in_each_generation():
    known = known_of(kgen_tables.problem(4), Limits(suppression=0.25))
    question = Question(known, objectives=("k", "glm"))
    course = PbgEa(generator="paper", population=7, iterations=5).course(question, Finds(), np.random.default_rng(0))
    nodes, generations = next(course), 0
    with pytest.raises(StopIteration):
        while True:
            assert len(nodes) == 7
            generations += 1
            nodes = course.send(known.evaluate(nodes))
    assert generations == 6


def test_where_no_node_satisfies_it_ends_without_an_answer():
    known = known_of(kgen_tables.problem(4), Limits(k=2, l=5))
    assert max(known.evaluate(known.lattice.everything())["l"]) < 5
    for generator in ("paper", "local"):
        assert searched("pbg-ea", known, objectives=("k", "glm"), generator=generator, **LITTLE) is None


@pytest.mark.parametrize(
    ("epsilon", "said"), [("5", "one number for each of k,glm"), ((1, 0), "epsilon of glm must be above 0")]
)
def test_an_epsilon_that_does_not_fit_the_objectives_is_refused_before_anything_is_looked_at(epsilon, said):
    with pytest.raises(InvalidParameter, match=said):
        searched("pbg-ea", Huge(18), objectives=("k", "glm"), epsilon=epsilon)


def test_without_objectives_it_is_refused():
    with pytest.raises(InvalidParameter, match="pbg-ea finds a front"):
        searched("pbg-ea", Huge(18))


@given(points())
def test_fitness_is_the_sum_of_the_dominance_counts_of_those_that_dominate(costs):
    counts = [sum(dominates(row, other) for other in costs) for row in costs]
    expected = [
        sum(count for other, count in zip(costs, counts, strict=True) if dominates(other, row)) for row in costs
    ]
    assert dominance_fitness(costs).tolist() == expected


def test_a_tournament_is_won_by_the_lower_fitness():
    rng = np.random.default_rng(0)
    won = Counter(tournaments(np.array([0, 7, 7]), 9000, rng).tolist())
    # The best wins wherever it is drawn: 1 - (2/3)^2; the others share the rest.
    assert won[0] / 9000 == pytest.approx(5 / 9, abs=0.02)
    assert won[1] / 9000 == pytest.approx(2 / 9, abs=0.02)


@given(st.integers(1, 9), st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0]), seeds)
def test_crossover_keeps_the_levels_of_each_attribute_and_exchanges_the_ends_of_pairs(count, width, chance, seed):
    # The level says whose it was.
    nodes = np.tile(np.arange(count, dtype=np.int16)[:, np.newaxis], (1, width))
    children = crossed(nodes, chance, np.random.default_rng(seed))
    assert children.shape == nodes.shape
    for place in range(width):
        assert sorted(children[:, place].tolist()) == list(range(count))
    for first in range(0, count - 1, 2):
        pair = children[first : first + 2]
        mixed = {tuple(row) for row in pair.T.tolist()}
        assert len(mixed) <= 2
        changes = (np.diff(pair[0].astype(int)) != 0).sum()
        assert changes <= 1
        if chance == 1 and width > 1:
            assert changes == 1
        if chance == 0:
            assert changes == 0
    if count % 2:
        assert len(set(children[-1].tolist())) == 1


def test_every_crossover_point_is_as_likely():
    nodes = np.array([[0, 0, 0, 0], [1, 1, 1, 1]], dtype=np.int16)
    rng, found = np.random.default_rng(1), Counter()
    for _ in range(3000):
        found[int(np.flatnonzero(np.diff(crossed(nodes, 1.0, rng)[0]))[0])] += 1
    assert set(found) == {0, 1, 2}
    assert all(count / 3000 == pytest.approx(1 / 3, abs=0.04) for count in found.values())


def test_mutation_moves_each_level_by_one_up_or_down_with_its_chance():
    heights = np.array([6, 6], dtype=np.int16)
    nodes = np.full((20_000, 2), 3, dtype=np.int16)
    moved = stepped(nodes, heights, 0.25, np.random.default_rng(0)) - nodes
    shares = Counter(moved.ravel().tolist())
    assert set(shares) == {-1, 0, 1}
    assert shares[1] / 40_000 == pytest.approx(0.125, abs=0.01)
    assert shares[-1] / 40_000 == pytest.approx(0.125, abs=0.01)


def test_mutation_stays_within_the_hierarchies():
    heights = np.array([1, 0, 2], dtype=np.int16)
    nodes = np.array([[0, 0, 2], [1, 0, 0]] * 200, dtype=np.int16)
    moved = stepped(nodes, heights, 1.0, np.random.default_rng(0))
    assert moved.min() == 0
    assert (moved <= heights).all()
    assert set(moved[::2, 0].tolist()) == {0, 1}
