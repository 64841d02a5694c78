"""Jobs on a real Postgres, as several machines share it, also while it is started anew."""

from __future__ import annotations

import dataclasses
import random
import time
from unittest.mock import Mock

import pytest

from api.jobs.worker import Worker
from tabular.errors import StoreUnavailable
from tests.api.jobs.conftest import left_by, until, without_jobs
from tests.contracts.jobs import JobsContract, PartsContract, WorkersContract

pytestmark = pytest.mark.postgres


@pytest.fixture
def database(postgres_url):
    return postgres_url


@pytest.fixture
def settings(settings, postgres_url):
    return dataclasses.replace(settings, private=postgres_url)


class TestOnPostgres(JobsContract):
    schema = "dbos"

    @pytest.mark.heavy
    def test_several_workers_perform_each_job_once(self, jobs, worker, tmp_path):
        super().test_several_workers_perform_each_job_once(jobs, worker, tmp_path)


@pytest.mark.heavy
class TestWorkersOnPostgres(WorkersContract):
    schema = "dbos"


@pytest.mark.heavy
class TestPartsOnPostgres(PartsContract):
    pass


@pytest.fixture
def server(postgres_server):
    if isinstance(postgres_server, str):
        pytest.skip("a server that was named is not ended")
    return postgres_server


def states(jobs, sent):
    """The states of jobs, or none while the database does not answer."""
    try:
        return [jobs.get(each.id).state for each in sent]
    except StoreUnavailable:
        return []


def test_a_server_that_starts_anew_in_the_midst_of_a_take_over_strands_no_job(jobs, worker, server):
    # dbos #716: an error of the connection was logged, and the jobs of the dead worker belonged to it for ever.
    first, second = (worker(at_once=2, per_account=4) for _ in range(2))
    sent = [jobs.submit("sample draw", {"numbers": 60, "pause": 0.02}, account="a", seed=each) for each in range(4)]
    until(lambda: states(jobs, sent) == ["running"] * 4)
    first.kill()
    # The other one is about to notice.
    time.sleep(jobs.settings.silence - 0.3)
    server.stop()
    with pytest.raises(StoreUnavailable):
        jobs.get(sent[0].id)
    time.sleep(0.6)
    server.start()
    until(lambda: states(jobs, sent))
    server.stop()
    server.start()
    until(lambda: states(jobs, sent) == ["done"] * 4, 40)
    assert [jobs.result(each.id).document["count"] for each in sent] == [60] * 4
    assert second.is_alive


def test_a_worker_that_starts_before_its_server_waits_for_it(jobs, worker, server):
    sent = jobs.submit("sample draw", {"numbers": 5, "pause": 0.0}, account="a", seed=1)
    server.stop()
    early = worker()
    time.sleep(0.5)
    server.start()
    until(lambda: states(jobs, [sent]) == ["done"], 40)
    assert early.is_alive


def test_a_server_that_goes_away_while_a_worker_starts_is_told_without_its_address(jobs, settings, server, monkeypatch):
    starting = Worker(settings)
    monkeypatch.setattr(starting, "_beats", Mock())
    monkeypatch.setattr("signal.signal", Mock())
    server.stop()
    try:
        with pytest.raises(StoreUnavailable, match=r"^The database of jobs does not answer; try again\.$"):
            starting.run()
    finally:
        server.start()


@pytest.mark.heavy
def test_thirty_kills_of_the_server_and_of_workers_change_nothing(jobs, worker, server, tmp_path):
    chance = random.Random(4)
    options = {"numbers": 100, "pause": 0.02}
    sent = [jobs.submit("sample draw", options, account=str(each % 4), seed=each) for each in range(30)]
    workers = [worker(at_once=2) for _ in range(2)]
    for kill in range(30):
        time.sleep(chance.uniform(0.1, 1.5))
        if kill % 3:
            server.stop()
            time.sleep(chance.uniform(0.0, 0.5))
            server.start()
        else:
            chosen = chance.randrange(2)
            workers[chosen].kill()
            workers[chosen] = worker(at_once=2)
    until(lambda: states(jobs, sent) == ["done"] * 30, 180)
    for number, job in enumerate(sent):
        expected = without_jobs("sample draw", options | {"pause": 0.0}, number, tmp_path / f"expected-{number}")
        assert left_by(jobs, job) == expected
