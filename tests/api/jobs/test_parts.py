"""The parts of a job on the disk, shared by processes that may die at any moment."""

from __future__ import annotations

import fcntl
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from api.jobs import parts
from api.jobs.parts import WANTED, SharedParts

EIGHT = [{"n": [number]} for number in range(8)]


class Worked:
    """Does parts, and counts them."""

    def __init__(self):
        self.done = []

    def __call__(self, number):
        self.done.append(number)
        return {"n": np.array([number])}


def each(shared, work, count=8, **given):
    return [
        {name: array.tolist() for name, array in values.items()}
        for _, values in shared.each("key", work, count, **given)
    ]


def files(folder):
    return sorted(path for path in folder.iterdir() if path.name != WANTED)


def test_what_is_done_is_not_done_again(tmp_path):
    work = Worked()
    with pytest.raises(ZeroDivisionError):
        each(SharedParts(tmp_path), lambda number: work(number) if number < 3 else 1 / 0)
    assert each(SharedParts(tmp_path), work) == EIGHT
    assert each(SharedParts(tmp_path), work, workers=3) == EIGHT
    assert work.done == list(range(8))
    assert each(SharedParts(tmp_path), lambda number: work(number + 10), 9)[8] == {"n": [18]}
    assert next(SharedParts(tmp_path).each("another key", work, 1))[1] == {"n": np.array([0])}
    assert {path.stat().st_mode & 0o777 for path in files(tmp_path)} == {0o600}


def test_what_is_not_whole_is_done_again(tmp_path):
    work = Worked()
    each(SharedParts(tmp_path), work)
    torn, changed, swapped, other = files(tmp_path)[:4]
    torn.write_bytes(torn.read_bytes()[:-1])
    changed.write_bytes(changed.read_bytes()[:-1] + b"!")
    swapped.write_bytes(other.read_bytes())
    assert each(SharedParts(tmp_path), work) == EIGHT
    assert len(work.done) == 8 + 3


def test_arrays_are_never_pickles(tmp_path):
    shared = SharedParts(tmp_path)
    with pytest.raises(ValueError, match="allow_pickle"):
        list(shared.each("key", lambda number: {"n": np.array([{}], dtype=object)}, 1))


def test_two_at_once_do_each_part_once_and_count_those_of_the_other(tmp_path):
    work, met, told = Worked(), threading.Barrier(2, timeout=20), [[], []]

    def slow(number):
        # Nobody ends a part before the other one is at one, too.
        met.wait()
        return work(number)

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda mine: each(SharedParts(tmp_path), slow, told=mine.append), told))
    assert found == [EIGHT, EIGHT]
    assert sorted(work.done) == list(range(8))
    for mine in told:
        assert mine == sorted(set(mine))
        assert (mine[0], mine[-1]) == (0, 8)


def test_a_part_whose_process_died_is_done_by_another(tmp_path):
    (tmp_path / "parts").mkdir()
    shared = SharedParts(tmp_path / "parts")
    taken, free = os.pipe()
    child = os.fork()
    if child == 0:
        with shared._locked(shared._name("key", 3)):
            os.write(free, b"!")
            threading.Event().wait()
    os.read(taken, 1)
    work, waits = Worked(), threading.Event()

    def told(done):
        if done == 7:
            waits.set()

    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(each, shared, work, told=told)
        assert waits.wait(20)
        assert 3 not in work.done
        os.kill(child, 9)
        os.waitpid(child, 0)
        assert found.result(20) == EIGHT
    assert sorted(work.done) == list(range(8))


def test_a_part_whose_process_stands_still_is_done_by_another_after_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "_PATIENCE", 0.1)
    shared, work = SharedParts(tmp_path), Worked()
    with (tmp_path / f"{shared._name('key', 3)}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert each(shared, work) == EIGHT
    assert work.done[-1] == 3


def test_what_is_kept_again_takes_the_room_of_what_was_kept_before(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "_ROOM", 3000)
    shared = SharedParts(tmp_path)
    for number in range(50):
        shared.keep("where it stands", {"n": np.array([number])})
        assert shared.recall("where it stands")["n"].tolist() == [number]
    assert len(files(tmp_path)) == 1
    assert SharedParts(tmp_path).recall("where it stands")["n"].tolist() == [49]


def test_without_room_or_a_folder_parts_are_given_and_not_kept(tmp_path, monkeypatch):
    work = Worked()
    assert each(SharedParts(tmp_path / "gone", help_after=60.0), work) == EIGHT
    monkeypatch.setattr(parts, "_ROOM", 1000)
    assert each(SharedParts(tmp_path), work) == EIGHT
    kept = len(files(tmp_path))
    assert 0 < kept < 8
    assert each(SharedParts(tmp_path), work) == EIGHT
    assert len(work.done) == 8 + 8 + 8 - kept


def test_who_helps_does_no_part_of_a_job_that_is_gone(tmp_path):
    work, looks = Worked(), iter(range(20))
    assert each(SharedParts(tmp_path / "gone"), work, stop=lambda: next(looks, None) is None) == []
    assert not work.done


def test_a_stop_begins_nothing_and_leaves_out_what_is_not_done(tmp_path):
    work = Worked()
    assert each(SharedParts(tmp_path), work, stop=lambda: len(work.done) == 2) == EIGHT[:2]
    with (tmp_path / f"{SharedParts(tmp_path)._name('key', 5)}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert each(SharedParts(tmp_path), work, stop=lambda: len(work.done) == 7) == EIGHT[:5] + EIGHT[6:]


def test_what_takes_long_is_kept(tmp_path):
    work = Worked()
    for _ in range(2):
        assert SharedParts(tmp_path, quick=0).kept("long", lambda: work(1))["n"].tolist() == [1]
        assert SharedParts(tmp_path, quick=60).kept("short", lambda: work(2))["n"].tolist() == [2]
    assert work.done == [1, 2, 2]


def test_help_is_wanted_by_who_leads_after_a_while_and_if_there_are_parts(tmp_path):
    for after, count, is_wanted in ((None, 8, False), (60.0, 8, False), (0.0, 1, False), (0.0, 2, True)):
        list(SharedParts(tmp_path, after).each(f"{after} {count}", Worked(), count))
        assert (tmp_path / WANTED).exists() == is_wanted
