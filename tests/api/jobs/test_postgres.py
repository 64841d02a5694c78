"""Jobs on a real Postgres, as several machines share it, also while it is started anew."""

from __future__ import annotations

import time

import pytest

from tabular.errors import StoreUnavailable
from tests.api.jobs.conftest import until
from tests.contracts.jobs import JobsContract, WorkersContract

pytestmark = pytest.mark.postgres


@pytest.fixture
def database(postgres_url):
    return postgres_url


class TestOnPostgres(JobsContract):
    schema = "dbos"


@pytest.mark.heavy
class TestWorkersOnPostgres(WorkersContract):
    schema = "dbos"


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
