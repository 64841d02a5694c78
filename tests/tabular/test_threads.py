"""Work on threads: everything done once, in order, however many there are."""

from __future__ import annotations

import threading

import pytest

from tabular.threads import on_threads, processors


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


def test_there_is_at_least_one_processor(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert processors() == 1
