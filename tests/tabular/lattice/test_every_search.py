"""What all searches promise, over the registry: one entered there is held to it without more ado."""

from __future__ import annotations

import contextlib
import json
import re
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.errors import InvalidInput, InvalidParameter, NoSolution
from tabular.lattice import recalling
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.searches import searches
from tabular.lattice.searching import Question, run
from tabular.lattice.space import Limits, as_nodes, as_tuples
from tabular.loop import ALONE, after_evaluations, never
from tests.contracts.parts import Remembered
from tests.strategies import seeds
from tests.tabular.lattice import kgen_tables
from tests.tabular.lattice.known_nodes import counted, satisfying
from tests.tabular.lattice.problems import limits, problems, shares
from tests.tabular.lattice.slow import SlowEvaluator

NAMES = tuple(searches)
every_search = pytest.mark.parametrize("name", NAMES)
of_front = pytest.mark.parametrize("name", [name for name in NAMES if searches[name].method.seeks_front])
of_one = pytest.mark.parametrize("name", [name for name in NAMES if searches[name].method.seeks_one])

#: Where a method has an option of that name, the tests give it little to do.
FEW = {"population": 6, "iterations": 8, "generations": 8, "patience": 4, "evaluations": 40}

OBJECTIVES = ("k", "glm")


class Watched:
    """An evaluator that notes for which nodes it is asked."""

    def __init__(self, problem, asked):
        self._evaluator = Evaluator(
            *problem, limits=asked, sensitive="sensitive", class_label="label", metrics=("glm", "l", "t"), workers=1
        )
        self.asked = []

    def __getattr__(self, name):
        return getattr(self._evaluator, name)

    def evaluate(self, nodes):
        self.asked += as_tuples(as_nodes(nodes, len(self._evaluator.lattice.heights)))
        return self._evaluator.evaluate(nodes)


def method_of(name):
    few = {each.name: FEW[each.name] for each in searches[name].parameters if each.name in FEW}
    return searches[name].method(**few)


def question_of(name, watched):
    return Question(watched, "glm") if searches[name].method.seeks_one else Question(watched, "glm", OBJECTIVES)


def outcome(name, question, *, seed=0, stop=never, parts=ALONE):
    """What the search found, or the error that says why nothing."""
    try:
        return run(name, method_of(name), question, rng=np.random.default_rng(seed), stop=stop, parts=parts)
    except NoSolution as nothing:
        return nothing


def watched_or_none(problem, asked):
    try:
        return Watched(problem, asked)
    except NoSolution:
        return None


def document_of(found):
    """All that a result says but the time it took."""
    if isinstance(found, NoSolution):
        return str(found)
    document = found.document()
    del document["seconds"]
    return json.dumps(document, allow_nan=False, sort_keys=True)


def check_solutions(problem, asked, found):
    """Each solution satisfies, by its table made and measured anew, and stands once."""
    if isinstance(found, NoSolution):
        return
    slow = SlowEvaluator(*problem, limits=asked, sensitive="sensitive", class_label="label")
    anew = slow.evaluate(found.solutions.nodes)
    # A t that is the limit itself may be written a last digit above it by another way of adding up.
    at_limit = np.zeros(len(anew), dtype=np.bool_) if asked.t is None else np.abs(anew["t"] - asked.t) < 1e-9
    assert (anew.satisfying | at_limit).all()
    for metric in ("suppressed", "glm"):
        np.testing.assert_allclose(found.solutions[metric], anew[metric], rtol=1e-7, atol=1e-6)
    assert len(set(found.solutions.tuples())) == len(found.solutions) > 0


def bytes_of(problem):
    table, hierarchies = problem
    columns = [(name, table.columns[name].tobytes(), table.attribute(name)) for name in table.names]
    levels = [
        (name, [(level.groups.tobytes(), level.labels) for level in each.levels]) for name, each in hierarchies.items()
    ]
    return columns, levels


@every_search
@settings(max_examples=25)
@given(problem=problems(max_attributes=3), asked=limits | shares, seed=seeds)
def test_no_solution_breaks_the_limits_and_each_node_is_evaluated_once(name, problem, asked, seed):
    before, watched = bytes_of(problem), watched_or_none(problem, asked)
    if watched is None:
        return
    found = outcome(name, question_of(name, watched), seed=seed)
    check_solutions(problem, asked, found)
    assert len(watched.asked) == len(set(watched.asked)) == watched.evaluated
    if not isinstance(found, NoSolution):
        assert found.evaluated == len(watched.asked)
        assert set(found.solutions.tuples()) <= set(watched.asked)
        assert found.ended
    assert bytes_of(problem) == before


class CutOff(Watched):
    """An evaluator that is cut off after so many nodes."""

    nodes = 5

    def evaluate(self, nodes):
        if len(self.asked) >= self.nodes:
            raise InterruptedError
        return super().evaluate(nodes)


@every_search
@settings(max_examples=15)
@given(problem=problems(max_attributes=3), asked=limits, seed=seeds)
def test_a_search_that_was_cut_off_evaluates_nothing_twice_and_finds_the_same(name, problem, asked, seed):
    watched = watched_or_none(problem, asked)
    if watched is None:
        return
    whole, parts = outcome(name, question_of(name, watched), seed=seed), Remembered()
    cut, later = CutOff(problem, asked), Watched(problem, asked)
    with mock.patch.object(recalling, "_OFTEN", 0.0):
        with contextlib.suppress(InterruptedError):
            outcome(name, question_of(name, cut), seed=seed, parts=parts)
        found = outcome(name, question_of(name, later), seed=seed, parts=parts)
    assert document_of(found) == document_of(whole)
    assert cut.asked + later.asked == watched.asked


@of_one
@settings(max_examples=25)
@given(problem=problems(max_attributes=3), asked=limits, metric=st.sampled_from(["glm", "precision"]), seed=seeds)
def test_bounds_and_counts_are_true_at_every_moment(name, problem, asked, metric, seed):
    watched = watched_or_none(problem, asked)
    if watched is None:
        return
    found, nodes = outcome(name, Question(watched, metric), seed=seed), counted(problem, asked)
    good = satisfying(nodes)
    if isinstance(found, NoSolution):
        # A search that draws may miss what there is; the others go on to the top.
        assert searches[name].method.draws or not good
        return
    optimum = min(getattr(nodes[node], metric) for node in good)
    assert all(each.lower_bound is None or each.lower_bound <= optimum + 1e-9 for each in found.moments)
    assert found.lower_bound is None or found.lower_bound <= optimum + 1e-9
    assert found.satisfying in (None, len(good))
    losses = found.solutions[metric].tolist()
    assert losses == sorted(losses)
    assert found.gap is None or found.gap >= losses[0] - optimum - 1e-9


@of_front
@settings(max_examples=25)
@given(problem=problems(max_attributes=3), asked=limits | shares, seed=seeds)
def test_solutions_of_a_front_satisfy_the_limits(name, problem, asked, seed):
    watched = watched_or_none(problem, asked)
    if watched is not None:
        found = outcome(name, Question(watched, "glm", OBJECTIVES), seed=seed)
        check_solutions(problem, asked, found)
        assert len(watched.asked) == len(set(watched.asked))


@every_search
@settings(max_examples=15)
@given(problem=problems(max_attributes=3), asked=limits, seed=seeds)
def test_the_seed_alone_decides_what_is_asked_and_found(name, problem, asked, seed):
    first, second, third = (watched_or_none(problem, asked) for _ in range(3))
    if first is None:
        return
    found = [outcome(name, question_of(name, each), seed=seed) for each in (first, second)]
    assert first.asked == second.asked
    assert document_of(found[0]) == document_of(found[1])
    if not searches[name].method.draws:
        assert document_of(outcome(name, question_of(name, third), seed=seed + 1)) == document_of(found[0])
        assert third.asked == first.asked


@every_search
@settings(max_examples=25)
@given(problem=problems(max_attributes=3), asked=limits, evaluations=st.integers(1, 12), seed=seeds)
def test_stopped_it_has_a_valid_answer_or_names_the_nearest_node(name, problem, asked, evaluations, seed):
    watched = watched_or_none(problem, asked)
    if watched is None:
        return
    found = outcome(name, question_of(name, watched), seed=seed, stop=after_evaluations(evaluations))
    check_solutions(problem, asked, found)
    if isinstance(found, NoSolution):
        told = re.search(r"the nearest is (.*), where (\d+) rows would have to go", str(found))
        nearest = tuple(int(each.split("=")[1]) for each in told[1].split(", "))
        nodes = list(watched.asked)
        gone = dict(zip(nodes, watched.evaluate(nodes)["suppressed"].tolist(), strict=True))
        assert gone[nearest] == min(gone.values()) == int(told[2])


@every_search
@settings(max_examples=25)
@given(
    problem=problems(max_attributes=3),
    k=st.integers(1, 3),
    t=st.sampled_from([0.0, 0.3, 0.6]),
    suppression=st.sampled_from([0.0, 0.25]),
)
def test_t_is_kept_or_refused_with_the_name_of_a_search_that_takes_it(name, problem, k, t, suppression):
    asked = Limits(k=k, t=t, suppression=suppression)
    watched = watched_or_none(problem, asked)
    if watched is None:
        return
    try:
        found = outcome(name, question_of(name, watched))
    except InvalidInput as refused:
        assert "exhaustive" in str(refused)
        assert not watched.asked
    else:
        check_solutions(problem, asked, found)


@every_search
def test_what_it_does_not_seek_is_refused_with_the_name_of_a_search_that_does(name):
    method = searches[name].method
    watched = Watched(kgen_tables.problem(4), Limits(k=2))
    for seeks, other in (
        (method.seeks_one, Question(watched, "glm")),
        (method.seeks_front, Question(watched, "glm", OBJECTIVES)),
    ):
        if seeks:
            assert not isinstance(outcome(name, other), InvalidInput)
        else:
            with pytest.raises(InvalidInput) as refused:
                outcome(name, other)
            assert any(each in str(refused.value) for each in NAMES if each != name)
    assert method.seeks_one or method.seeks_front


@every_search
def test_kgen_table_3_is_solved(name):
    watched = Watched(kgen_tables.problem(4), Limits(k=2))
    # With as many evaluations as there are nodes chance does not decide.
    found = run(name, searches[name].method(), question_of(name, watched), rng=np.random.default_rng(0))
    assert set(found.solutions.tuples()) <= set(kgen_tables.SATISFYING)


@every_search
def test_options_outside_their_bounds_are_refused(name):
    for each in searches[name].parameters:
        for bound, step in ((each.low, -1), (each.high, 1)):
            if bound is not None:
                with pytest.raises(InvalidParameter, match=f"{each.name} must be"):
                    searches[name].method(**{each.name: bound + step})


@every_search
def test_it_says_what_it_does_and_what_it_does_not(name):
    entry = searches[name]
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
    assert entry.cites
    assert entry.limits
    assert entry.summary.endswith(".")


@every_search
@settings(max_examples=15)
@given(problem=problems(), asked=limits, most=st.integers(1, 12))
def test_no_more_nodes_are_evaluated_than_may_be(name, problem, asked, most):
    if asked.k > len(problem[0]):
        return
    watched = Watched(problem, asked)
    try:
        found = run(name, method_of(name), question_of(name, watched), rng=np.random.default_rng(1), most=most)
    except NoSolution:
        pass
    else:
        assert found.evaluated <= most
        assert found.solutions.satisfying.all()
    assert len(watched.asked) <= most
