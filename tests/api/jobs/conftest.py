"""Fixtures of jobs: a home of their own, the verbs of tests, and workers as the processes they are."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from api.jobs.jobs import Jobs
from api.jobs.records import Settings
from api.verbs import verbs
from tests.api.jobs import samples

TOP = Path(__file__).parents[3]

#: Quick enough for tests; a busy machine must not silence a worker.
QUICK = {"beat": 0.2, "silence": 2.0, "patience": 0.5}


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


class WorkerProcess:
    """One worker; ended without its consent when the test ends."""

    def __init__(self, settings):
        given = {name: value for name, value in dataclasses.asdict(settings).items() if value is not None}
        options = [text for name, value in given.items() for text in (f"--{name.replace('_', '-')}", str(value))]
        environment = os.environ | {"PYTHONPATH": str(TOP)}
        command = [sys.executable, "-m", "api.jobs", *options]
        self.process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)

    def send(self, number):
        self.process.send_signal(number)

    def kill(self):
        """As kill -9 does."""
        self.process.kill()
        return self.process.wait(10)

    def leave(self):
        """Ask it to end, and wait for it."""
        self.process.terminate()
        return self.process.wait(10)

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        return self.process.communicate()[1]


@pytest.fixture
def worker(settings):
    """Start a worker."""
    started = []

    def start(**changed):
        started.append(WorkerProcess(dataclasses.replace(settings, **changed)))
        return started[-1]

    yield start
    said = "".join(each.end() for each in started)
    assert "Traceback" not in said, said


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
