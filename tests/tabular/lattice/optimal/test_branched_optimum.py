"""Descents that end where the limits do, and shares of one search: none is lost, whatever the number of threads."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import assume, given, settings

from tabular import Table, loop
from tabular.attributes import Attribute
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice import recalling
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.metrics import ADDITIVE
from tabular.lattice.optimal import branched_optimum, shares
from tabular.lattice.optimal import steps as kept_steps
from tabular.lattice.optimal.branched_optimum import descended, gained
from tabular.lattice.optimal.class_splits import LevelLosses, grid_of, scratch_for
from tabular.lattice.searching import Question, run
from tabular.lattice.space import Limits
from tests.contracts.parts import Remembered
from tests.strategies import generators
from tests.tabular.lattice.problems import limits, problems
from tests.tabular.lattice.searches.test_optimal import BRANCHED, Optimal, check_every_moment


def wide_problem(seed):
    """Up to seven attributes that depend on one another, with hierarchies at random."""
    rng = np.random.default_rng(seed)
    rows, columns, attributes, hierarchies = int(rng.integers(8, 120)), {}, [], {}
    common = rng.integers(0, 5, rows)
    for place in range(int(rng.integers(5, 8))):
        name, size = f"q{place}", int(rng.integers(2, 6))
        codes = np.where(rng.random(rows) < 0.5, common % size, rng.integers(0, size, rows))
        columns[name] = [str(code) for code in codes]
        values = [str(value) for value in range(size)]
        attributes.append(Attribute(name=name, domain=tuple(values)))
        merged = rng.integers(0, size - 1, size).tolist()
        hierarchies[name] = Hierarchy.of(name, values, [[f"g{group}" for group in merged], ["*"] * size])
    return Table.from_columns(columns, attributes), hierarchies


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_shared_out_and_blocks_bounded_anew_without_harm(seed, monkeypatch):
    # Little room and short slices, so that small lattices go through all of it.
    monkeypatch.setattr(shares, "_A_SHARE", [500, 5000][seed % 2])
    monkeypatch.setattr(shares, "_WIDE", [0.0, 0.4][seed // 2 % 2])
    monkeypatch.setattr(shares, "_EFFORT", [200, 10**6][seed // 4 % 2])
    monkeypatch.setattr(branched_optimum, "_WIDEST", 2 + seed % 5)
    rng = np.random.default_rng(seed)
    asked = Limits(k=int(rng.integers(2, 6)), suppression=float(rng.choice([0.0, 0.05, 0.1, 0.3])))
    evaluator = Evaluator(*wide_problem(seed), limits=asked, workers=1)
    for metric in ADDITIVE:
        check_every_moment(evaluator, metric, BRANCHED, seed)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    monkeypatch.setattr(shares, "_A_SHARE", 2000)
    found = []
    for number in (1, 4):
        monkeypatch.setattr(loop.os, "cpu_count", lambda number=number: number)
        question = Question(Evaluator(*wide_problem(3), limits=Limits(k=3, suppression=0.05), workers=1), "precision")
        document = run("optimal", Optimal(most=BRANCHED), question, rng=np.random.default_rng(5)).document()
        del document["seconds"]
        found.append(document)
    assert found[0] == found[1]
    assert found[0]["evaluated"] > 0


@settings(max_examples=200)
@given(problems(), limits, generators)
def test_a_descent_ends_where_every_step_further_breaks_the_limits(problem, asked, rng):
    assume(asked.k <= len(problem[0]))
    question = Question(Evaluator(*problem, limits=asked, sensitive="sensitive", workers=1), "precision")
    lattice, top = question.lattice, question.lattice.top
    assume(question.evaluator.evaluate([top])["suppressed"][0] <= question.suppressible)
    losses = LevelLosses.of(question)
    grid = grid_of(question, losses)
    start = np.zeros_like(grid.steps)
    steps = descended(grid, grid.steps, start, 1, rng, scratch_for(grid))
    assert not start.any()
    node = tuple((grid.steps - steps).tolist())
    cost = sum(int(each[level]) for each, level in zip(losses.losses, node, strict=True))
    assert gained(grid, steps) == losses.most - cost
    # Where nothing is gained by it the node it began at is given back.
    if node != top:
        found = question.evaluator.evaluate([node, *lattice.predecessors(node)])
        assert (found["suppressed"] <= question.suppressible).tolist() == [True] + [False] * (len(found) - 1)


@given(problems(), generators)
def test_more_rounds_gain_no_less_and_stay_within_bounds(problem, rng):
    evaluator = Evaluator(*problem, workers=1)
    question = Question(evaluator, "glm")
    grid = grid_of(question, LevelLosses.of(question))
    most, seed = grid.steps // 2, int(rng.integers(1 << 30))
    few, many = (
        descended(grid, most, np.zeros_like(most), rounds, np.random.default_rng(seed), scratch_for(grid))
        for rounds in (1, 20)
    )
    assert (many <= most).all()
    assert gained(grid, many) >= gained(grid, few)


class Killed(BaseException):
    """Ends a search wherever it is."""


class Steps:
    """Counts the long steps of a search, and ends it after some of them."""

    def __init__(self, monkeypatch):
        self.done, self.most = 0, 10**9
        for module, names in ((branched_optimum, ("descended", "advance")), (shares, ("advance_bounding",))):
            for name in names:
                monkeypatch.setattr(module, name, self.counted(getattr(module, name)))

    def counted(self, step):
        def done(*given, **named):
            self.done += 1
            if self.done > self.most:
                raise Killed
            return step(*given, **named)

        return done

    def begin(self, most=10**9):
        self.done, self.most = 0, most


@pytest.mark.parametrize("seed", range(8))
def test_a_search_that_is_killed_again_and_again_ends_as_without_and_does_little_twice(seed, monkeypatch):
    monkeypatch.setattr(shares, "_A_SHARE", [200, 2000][seed % 2])
    monkeypatch.setattr(branched_optimum, "_WIDEST", 2 + seed % 5)
    monkeypatch.setattr(recalling, "_OFTEN", 0.0)
    monkeypatch.setattr(recalling, "_RARELY", 0.0)
    steps, chance = Steps(monkeypatch), random.Random(seed)
    asked = Limits(k=3, suppression=[0.0, 0.1][seed // 2 % 2])

    def search(parts=loop.ALONE, key="a", seed=seed):
        told = []
        question = Question(Evaluator(*wide_problem(seed), limits=asked, workers=1), "precision")
        rng = np.random.default_rng(seed)
        method = Optimal(most=BRANCHED)
        found = run("optimal", method, question, rng=rng, parts=parts, key=key, report=told.append).document()
        del found["seconds"]
        return found, [each.best for each in told if each.best is not None]

    plain, _ = search()
    alone, parts = steps.done, Remembered()
    done, kills = 0, 0
    while True:
        steps.begin(chance.randint(1, 2 + alone // 4))
        try:
            found, bests = search(parts)
            break
        except Killed:
            done += steps.done
            kills += 1
    done += steps.done
    assert found == plain
    assert kills >= 3
    # A kill takes no more than a slice of each share with it, and the step that it hit.
    assert done <= alone + kills * 9
    # What is told again is not shown again: the best so far never gets worse.
    assert bests == sorted(bests, reverse=True)
    # What is kept belongs to one search: another begins at its beginning.
    steps.begin()
    assert search(parts, key="b")[0] == plain
    assert steps.done == alone


def test_steps_are_kept_every_two_seconds_or_more_rarely_where_that_takes_long(monkeypatch):
    now = [0.0]

    class Slow(Remembered):
        def keep(self, key, values):
            super().keep(key, values)
            now[0] += 1.0

    monkeypatch.setattr(recalling, "perf_counter", lambda: now[0])
    kept = recalling.Kept(Slow(), "a search")
    due = []
    for second in range(60):
        now[0] = max(now[0], second)
        if kept.is_due:
            due.append(now[0])
            kept.keep({})
    assert due == [2, 23, 44]
    now[0] += 10**6
    # Where nothing is kept, and for a helper, which is behind the one that leads.
    helper = Slow()
    helper.helps = True
    assert [kept.is_due, recalling.Kept().is_due, recalling.Kept(helper).is_due] == [True, False, False]


#: Limits under which the table of seed 15 takes several passes.
ASKED = Limits(k=3, suppression=0.1)


def test_a_pass_that_would_take_too_much_room_is_done_again_from_its_beginning(monkeypatch):
    monkeypatch.setattr(shares, "_A_SHARE", 200)
    monkeypatch.setattr(recalling, "_OFTEN", 0.0)
    monkeypatch.setattr(recalling, "_RARELY", 0.0)
    monkeypatch.setattr(kept_steps, "_MOST", 0)
    steps, parts, slices = Steps(monkeypatch), Remembered(), []
    plain_go = shares.advance_bounding
    monkeypatch.setattr(shares, "advance_bounding", lambda *given: slices.append(1) or plain_go(*given))

    def search(parts):
        question = Question(Evaluator(*wide_problem(15), limits=ASKED, workers=1), "precision")
        found = run("optimal", Optimal(most=BRANCHED), question, rng=np.random.default_rng(1), parts=parts).document()
        del found["seconds"]
        return found

    plain, alone = search(loop.ALONE), steps.done
    passed = len(slices)
    steps.begin(alone - 1)
    with pytest.raises(Killed):
        search(parts)
    slices.clear()
    steps.begin()
    assert search(parts) == plain
    # The descents and the blocks are known; of the passes those that were done.
    assert 1 < len(slices) <= passed
    assert len(slices) <= steps.done < alone // 2
