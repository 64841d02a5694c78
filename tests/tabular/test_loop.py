from __future__ import annotations

import threading

import numpy as np
import pytest

from tabular import loop
from tabular.loop import (
    ALONE,
    Enough,
    Progress,
    Standing,
    after_evaluations,
    after_seconds,
    key_of,
    never,
    on_threads,
    processors,
)


class Climb:
    """Asks for one number after another and keeps the greatest square."""

    def __init__(self, numbers):
        self.numbers, self.told, self.seen, self.best, self.closed = numbers, [], set(), None, False

    def steps(self):
        try:
            for number in self.numbers:
                square = yield number
                self.told.append((number, square))
                self.best = square if self.best is None else max(self.best, square)
        finally:
            self.closed = True

    def evaluate(self, number):
        self.seen.add(number)
        return number**2

    def standing(self):
        return Standing(len(self.seen), self.best)


class Clock:
    """Each look takes a second."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1
        return self.now


def run(climb, **given):
    return loop.run(climb.steps(), climb.evaluate, climb.standing, clock=Clock(), **given)


def test_each_candidate_is_evaluated_and_told_until_the_work_ends():
    climb = Climb([1, 3, 2])
    trace = run(climb)
    assert trace.ended
    assert climb.told == [(1, 1), (3, 9), (2, 4)]
    assert climb.closed


def test_nothing_is_evaluated_where_it_stops_at_once():
    climb = Climb([1, 2])
    trace = run(climb, stop=lambda progress: True)
    assert (trace.ended, climb.told, climb.seen, trace.moments) == (False, [], set(), ())
    assert climb.closed


def test_work_that_asks_for_nothing_ends():
    trace = run(Climb([]))
    assert trace.ended
    assert [each.evaluated for each in trace.moments] == [0]


@pytest.mark.parametrize(
    ("stop", "told"),
    [
        (after_evaluations(2), [1, 1, 5]),
        # The clock has been looked at once before the first generation.
        (after_seconds(3), [1, 1, 5]),
        (never, [1, 1, 5, 5, 5, 6]),
    ],
)
def test_conditions_stop_it(stop, told):
    climb = Climb([1, 1, 5, 5, 5, 6])
    trace = run(climb, stop=stop)
    assert [number for number, _ in climb.told] == told
    assert trace.ended == (len(told) == 6)


def test_it_can_be_cancelled_from_outside():
    climb = Climb([4, 5, 6])
    trace = run(climb, stop=lambda progress: climb.best == 25)
    assert not trace.ended
    assert climb.best == 25


def test_what_evaluates_can_say_that_the_means_are_spent():
    climb = Climb([1, 2, 3])

    def evaluate(number):
        if number == 2:
            raise Enough
        return climb.evaluate(number)

    trace = loop.run(climb.steps(), evaluate, climb.standing)
    assert (trace.ended, climb.told, climb.closed) == (False, [(1, 1)], True)


def test_another_error_comes_out_and_the_work_is_closed():
    climb = Climb([1])
    with pytest.raises(ZeroDivisionError):
        loop.run(climb.steps(), lambda number: number // 0, climb.standing)
    assert climb.closed


def test_progress_is_reported_after_each_generation():
    climb, reports = Climb([2, 2, 3]), []
    run(climb, report=reports.append)
    # The last number is told, and the work ends: there is no generation after it.
    assert reports == [
        Progress(evaluated=1, best=4, seconds=1.0),
        Progress(evaluated=1, best=4, seconds=2.0),
    ]


def test_moments_are_kept_where_the_best_changes_and_at_the_end():
    climb = Climb([1, 1, 1, 1, 2, 1, 1, 1])
    trace = run(climb)
    assert [(each.seconds, each.best) for each in trace.moments] == [(1, 1), (4, 1), (5, 4), (8, 4)]
    assert trace.seconds > trace.moments[-1].seconds


@pytest.mark.parametrize("workers", [None, 1, 2, 7])
def test_results_come_in_the_order_of_the_items(workers):
    assert list(on_threads(lambda number: number * number, range(50), workers)) == [each**2 for each in range(50)]


def test_one_worker_needs_no_thread():
    names = set(on_threads(lambda _: threading.current_thread().name, range(5), 1))
    assert names == {threading.current_thread().name}
    several = set(on_threads(lambda _: threading.current_thread().name, range(5), 2))
    assert threading.current_thread().name not in several


@pytest.mark.parametrize("workers", [1, 3])
def test_an_error_comes_out_where_its_result_would(workers):
    found = on_threads(lambda number: 6 // (3 - number), range(5), workers)
    assert [next(found), next(found), next(found)] == [2, 3, 6]
    with pytest.raises(ZeroDivisionError):
        next(found)


def test_processors_are_those_that_this_process_may_use(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {1, 3, 5})
    assert processors() == 3
    monkeypatch.delattr("os.sched_getaffinity")
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert processors() == 1


def numbered(number: int) -> dict[str, np.ndarray]:
    return {"n": np.array([number])}


def test_parts_come_in_their_order_and_are_told() -> None:
    for workers in (1, 3):
        told: list[int] = []
        found = [
            (number, int(values["n"][0]))
            for number, values in ALONE.each("", numbered, 4, workers=workers, told=told.append)
        ]
        assert found == [(number, number) for number in range(4)]
        assert told == [0, 1, 2, 3, 4]


def test_a_part_is_begun_only_when_the_one_before_was_taken() -> None:
    begun: list[int] = []
    found = ALONE.each("", lambda number: begun.append(number) or numbered(number), 3)
    next(found)
    assert begun == [0]


def test_after_a_stop_no_part_is_begun() -> None:
    begun: list[int] = []
    found = ALONE.each("", lambda number: begun.append(number) or numbered(number), 9, stop=lambda: len(begun) == 2)
    assert [number for number, _ in found] == begun == [0, 1]


def test_keys_differ_where_anything_does() -> None:
    things = [
        (),
        (1,),
        ("1",),
        (1, 2),
        (12,),
        (np.array([1]),),
        (np.array([1.0]),),
        (np.array([[1]]),),
        (np.array([1, 2]),),
        (None,),
    ]
    assert len({key_of(*each) for each in things}) == len(things)
    assert key_of(np.arange(6)[::2]) == key_of(np.array([0, 2, 4]))
