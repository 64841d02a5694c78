"""The workers of a machine, as the processes they are."""

from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import sys

import psutil
import pytest

from api.jobs.workers import Workers, command_of
from tests.api.jobs.conftest import TOP, has_ended, until


@pytest.fixture
def workers(settings, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    monkeypatch.setattr("api.jobs.workers._PAUSE", 0.1)
    started = Workers(settings, 1)
    yield started
    with contextlib.suppress(psutil.NoSuchProcess):
        started.stop()


def test_they_do_jobs_are_started_anew_when_killed_and_leave_when_told_to(jobs, workers):
    job = jobs.submit("sample draw", {"numbers": 1}, account="a")
    assert jobs.wait(job.id, 30).state == "done"
    (first,) = workers._processes
    assert psutil.Process(first.pid).nice() >= 10
    # Neither a worker nor its verbs wait for anybody from outside.
    everybody = [psutil.Process(first.pid), *psutil.Process(first.pid).children()]
    assert [each.net_connections() for each in everybody] == [[]] * len(everybody)
    first.kill()
    until(lambda: workers._processes[0].pid != first.pid)
    again = jobs.submit("sample draw", {"numbers": 1}, account="a")
    assert jobs.wait(again.id, 30).state == "done"
    (second,) = workers._processes
    workers.stop()
    assert has_ended(second.pid)
    assert second.returncode == 0


def test_they_leave_when_whoever_started_them_is_killed(settings, monkeypatch):
    code = (
        "import sys, time; from pathlib import Path; from api.jobs.records import Settings;"
        "from api.jobs.workers import Workers\n"
        "print(Workers(Settings(home=Path(sys.argv[1]), beat=0.1), 1)._processes[0].pid, flush=True); time.sleep(60)"
    )
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    with subprocess.Popen([sys.executable, "-c", code, settings.home], stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        worker = int(service.stdout.readline())
        until((settings.home / "jobs.db").exists)
        assert not has_ended(worker)
        service.kill()
    until(lambda: has_ended(worker))


def test_no_address_with_a_password_stands_on_a_command_line(settings):
    given = dataclasses.replace(
        settings,
        database="postgresql://me:secret@host/jobs",
        store="neo4j://me:secret@host",
        private="postgresql://me:secret@host/private",
    )
    assert "secret" not in " ".join(command_of(given))
