"""Fixtures of jobs: a home of their own, the verbs of tests, and workers as the processes they are."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import sqlalchemy as sa

from api.jobs.jobs import Jobs
from api.jobs.records import Settings
from api.verbs import verbs
from api.verbs.contract import Work, perform
from api.verbs.values import made
from tests.api.jobs import samples

TOP = Path(__file__).parents[3]

#: Quick enough for tests; a busy machine must not silence a worker.
QUICK = {"beat": 0.1, "silence": 1.0, "patience": 0.5, "spare": False}


@pytest.fixture(autouse=True)
def sample_verbs():
    """The verbs of tests, for the time of one."""
    samples.enter()
    yield
    for name in samples.SAMPLES:
        del verbs[name]


@pytest.fixture
def database():
    """No Postgres: an SQLite file."""
    nothing: str | None = None
    return nothing


@pytest.fixture
def settings(tmp_path, database):
    (tmp_path / "tables").mkdir()
    return Settings(
        home=tmp_path,
        store=f"file:{tmp_path / 'graphs.db'}",
        database=database,
        files="tests.api.jobs.entered:tables_of_home",
        **QUICK,
    )


@pytest.fixture
def jobs(settings):
    with contextlib.closing(Jobs.opened(settings)) as opened:
        yield opened


@pytest.fixture(scope="session")
def nursery():
    """Where workers are forked; see `nursery.py`."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.api.jobs.nursery"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(TOP)},
    ) as process:  # fmt: skip
        yield process


class WorkerProcess:
    """One worker; ended without its consent when the test ends."""

    def __init__(self, nursery, settings, errors):
        self.errors = errors
        given = {"settings": dataclasses.asdict(settings), "errors": str(errors)}
        nursery.stdin.write(json.dumps(given, default=str) + "\n")
        nursery.stdin.flush()
        self.pid = int(nursery.stdout.readline())

    def send(self, number):
        os.kill(self.pid, number)

    @property
    def is_alive(self):
        return not has_ended(self.pid)

    def kill(self):
        """As kill -9 does."""
        self.send(signal.SIGKILL)
        until(lambda: not self.is_alive)

    def leave(self):
        """Ask it to end, and wait for it."""
        self.send(signal.SIGTERM)
        until(lambda: not self.is_alive)

    def end(self):
        if self.is_alive:
            self.kill()
        return self.errors.read_text() if self.errors.exists() else ""


@pytest.fixture
def worker(nursery, settings, tmp_path):
    """Start a worker."""
    started = []

    def start(**changed):
        errors = tmp_path / f"worker-{len(started)}.txt"
        started.append(WorkerProcess(nursery, dataclasses.replace(settings, **changed), errors))
        return started[-1]

    yield start
    said = "".join(each.end() for each in started)
    print(said)
    assert "Traceback" not in said


def freeze(jobs, worker):
    """Stop a worker, but not within a transaction: on SQLite all others would wait for it, as for a stopped machine."""
    while True:
        worker.send(signal.SIGSTOP)
        try:
            with jobs.ledger.engine.connect() as connection:
                if connection.dialect.name == "sqlite":
                    connection.exec_driver_sql("PRAGMA busy_timeout=100")
                    connection.exec_driver_sql("BEGIN IMMEDIATE")
                    connection.invalidate()
            return
        except sa.exc.OperationalError:
            worker.send(signal.SIGCONT)
            time.sleep(0.05)


def children(worker):
    """The processes that a worker has started and that live."""
    found = psutil.Process(worker.pid).children()
    return [each.pid for each in found if not has_ended(each.pid)]


def has_ended(process):
    """Whether a process does nothing any more."""
    try:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def until(holds, seconds=20.0):
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)
    return found


def is_running(jobs, job):
    """Whether the verb of a job is at work: something was told of it."""
    return jobs.get(job.id).progress is not None


def left_by(jobs, job):
    """What a job has left, byte by byte."""
    found = {name: jobs.file(job.id, name).read_bytes() for name in jobs.files(job.id)}
    return {"document": jobs.result(job.id).document, **found}


def without_jobs(verb, options, seed, folder, store=None):
    """What a verb gives on the command line, byte by byte; the *folder* holds what it reads, or is made."""
    folder.mkdir(exist_ok=True)
    inputs = {each.name for each in folder.iterdir()}
    before = Path.cwd()
    os.chdir(folder)
    try:
        given = {} if store is None else {"store": store}
        document = perform(made(verbs[verb].method, options), Work(seed=seed, **given)).document
    finally:
        os.chdir(before)
    written = [each for each in folder.rglob("*") if each.is_file() and each.relative_to(folder).parts[0] not in inputs]
    return {"document": document, **{each.relative_to(folder).as_posix(): each.read_bytes() for each in written}}
