"""A crawl as a job: a worker that is killed leaves what another one goes on with."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from graphpriv.store import open_store
from tests.api.jobs.conftest import TOP, WorkerProcess, until
from tests.crawler.crawling.crawls import agrees_with, asked_in_one_go, billed, made, world


@pytest.fixture
def there():
    with world(made(160), clock=time.time) as there:
        yield there


@pytest.fixture
def worker(there, settings, tmp_path):
    """Start a worker that knows the network."""
    known = {"PYTHONPATH": str(TOP), "GRAPHPRIV_X_TOKEN": "made", "GRAPHPRIV_X_URL": there.url}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.api.jobs.nursery"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | known,
    ) as nursery:  # fmt: skip
        started = []

        def start():
            started.append(WorkerProcess(nursery, settings, tmp_path / f"worker-{len(started)}.txt"))
            return started[-1]

        yield start
        assert "Traceback" not in "".join(each.end() for each in started)
        nursery.stdin.close()


@pytest.mark.heavy
def test_a_crawl_goes_on_in_another_worker(there, jobs, worker, tmp_path) -> None:
    options = {"source": "x", "graph": "town", "users": 120, "posts": 5, "start": there.start}
    job = jobs.submit("crawl", options, account="a", seed=7)
    assert "start" not in jobs.get(job.id).options
    first = worker()
    until(lambda: len(there.interface.log) > 60, 30)
    first.kill()
    worker()
    ended = jobs.wait(job.id, 120)
    assert ended.state == "done", jobs.failure(job.id)
    document = jobs.result(job.id).document
    assert (document["users"]["kept"], document["ended"]) == (120, "users")
    asked_in_one_go(there.interface.log)
    with open_store(f"file:{tmp_path / 'graphs.db'}", create=False) as store:
        agrees_with(there.network, store)
        billed(there, store)
        assert store.check() == []
    handle = there.start.encode()
    assert not any(handle in path.read_bytes() for path in tmp_path.glob("jobs/**/*") if path.is_file())
