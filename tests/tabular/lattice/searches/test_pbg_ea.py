import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.errors import InvalidParameter
from tabular.lattice.fronts.front import boxes, checked_epsilon, non_dominated
from tabular.lattice.limits import Limits
from tabular.lattice.searches.pbg_ea import PbgEa, first_population
from tabular.lattice.searching import Finds, Question
from tabular.lattice.space import Lattice
from tests.strategies import seeds
from tests.tabular.lattice import kgen_tables
from tests.tabular.lattice.known_nodes import Huge, KnownNodes, searched
from tests.tabular.lattice.problems import limits, problems, shares
from tests.tabular.lattice.slow import SlowEvaluator

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
    with pytest.raises(InvalidParameter, match="pbg-ea seeks a front"):
        searched("pbg-ea", Huge(18))
